//! Why: what became of something in an envelope.

use std::collections::HashMap;

use contexture_assembly::{
    envelope::{Envelope, Fate, ItemRecord, UnreadTurns},
    recipe::TargetSpec,
    standard::ItemId,
};
use contexture_core::{CommitId, EnvelopeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Envelopes, Error, Reference, Result, Stop};

/// What became of something, for each target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// The envelope.
    pub envelope: EnvelopeId,
    /// What was asked for.
    pub thing: String,
    /// The items that it stands for, and what became of each.
    pub answers: Vec<Answer>,
}

/// What became of an item for a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// For whom.
    pub target: TargetSpec,
    /// The item; none where it was not even read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// In, as what; or out, and why.
    #[serde(flatten)]
    pub fate: Fate,
}

impl Envelopes<'_> {
    /// Tells whether something is in an envelope, and why: an item, a commit, a head, a file, a segment or a kind.
    pub async fn why(&self, envelope: EnvelopeId, thing: &str) -> Result<Why> {
        let document = self.document(envelope).await?;
        let answers = answers_about(&document, |item| is_called(item, thing));
        if !answers.is_empty() {
            return Ok(Why { envelope, thing: thing.to_owned(), answers });
        }
        // A commit may be meant whose turn was not read.
        let commit = match thing.parse::<Reference>() {
            Ok(reference) => self.engine.find(&reference).await.ok(),
            Err(_) => None,
        };
        if let Some(commit) = commit {
            let answers = answers_about(&document, |item| item.origin.commit == Some(commit));
            if !answers.is_empty() {
                return Ok(Why { envelope, thing: thing.to_owned(), answers });
            }
            if let Some(unread) = self.unread_with(&document, commit).await? {
                let answers = document.targets.iter().map(|target| Answer {
                    target: target.outcome.target,
                    item: None,
                    title: Some(commit.to_string()),
                    fate: Fate::Omitted {
                        reason: contexture_assembly::standard::OmissionReason::BudgetLimit,
                        note: format!(
                            "one of {} older turns that were not read, because newer ones fill the budget",
                            unread.turns
                        ),
                        tokens: 0,
                    },
                });
                return Ok(Why { envelope, thing: thing.to_owned(), answers: answers.collect() });
            }
        }
        Err(Error::NotInEnvelope { envelope, thing: thing.to_owned() })
    }

    /// Returns the unread turns of an envelope, if a commit is one of them.
    async fn unread_with(&self, document: &Envelope, commit: CommitId) -> Result<Option<UnreadTurns>> {
        let Some(unread) = &document.unread else { return Ok(None) };
        // The walk from the newest unread turn to the commit exists if the commit is one of its ancestors.
        let is_before = self.engine.route(unread.last, Stop::At(commit)).await.is_ok();
        let is_after = self.engine.route(commit, Stop::At(unread.first)).await.is_ok();
        Ok((is_before && is_after).then(|| unread.clone()))
    }
}

fn answers_about(document: &Envelope, is_meant: impl Fn(&ItemRecord) -> bool) -> Vec<Answer> {
    let items: HashMap<&ItemId, &ItemRecord> =
        document.items.iter().filter(|item| is_meant(item)).map(|item| (&item.id, item)).collect();
    let mut answers = Vec::new();
    for target in &document.targets {
        for decision in &target.outcome.decisions {
            if let Some(item) = items.get(&decision.item) {
                answers.push(Answer {
                    target: target.outcome.target,
                    item: Some(item.id.clone()),
                    title: item.title.clone(),
                    fate: decision.fate.clone(),
                });
            }
        }
    }
    answers
}

/// Tells whether an item is what somebody asks for.
fn is_called(item: &ItemRecord, thing: &str) -> bool {
    let uri = item.origin.uri.as_str();
    item.id.as_str() == thing
        || uri == thing
        || uri.strip_prefix("file:").is_some_and(|file| file == thing)
        || item.title.as_deref() == Some(thing)
        || item.segment == thing
        || item.kind.as_str() == thing
}
