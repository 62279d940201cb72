//! Where a secret was: the commits, envelopes and machines that held it, and who was given it.

use std::collections::BTreeSet;

use contexture_core::{
    Actor, ArtifactId, CommitId, EnvelopeId, Fingerprint, JournalKind, Machine, RuntimeSessionId, Timestamp,
};
use contexture_store::{Tx, commit, envelope, finding};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::handle::Secrets;
use crate::Result;

/// Artifacts that are listed at once.
const PAGE: u32 = 256;

/// All that held a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretPlaces {
    /// The artifacts that hold it.
    pub artifacts: Vec<ArtifactId>,
    /// The commits whose content they are.
    pub commits: Vec<SecretCommit>,
    /// The envelopes that they belong to.
    pub envelopes: Vec<EnvelopeId>,
    /// The machines that the commits were made on.
    pub machines: Vec<Machine>,
    /// When content of the space was handed out as it is after the secret had come there.
    pub reveals: Vec<Reveal>,
}

/// A commit that holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretCommit {
    /// The commit.
    pub commit: CommitId,
    /// The session that it was made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<RuntimeSessionId>,
    /// The machine that it was made on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// Content that was handed out as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reveal {
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub actor: Actor,
    /// Which content.
    pub subject: String,
}

impl Secrets<'_> {
    /// Returns all that held a secret.
    pub async fn places(&self, fingerprint: Fingerprint) -> Result<SecretPlaces> {
        let engine = self.engine;
        let mut places = SecretPlaces::default();
        let mut after = None;
        loop {
            let listing = engine.store.read(engine.scope(), (fingerprint, after), |tx, (fingerprint, after)| {
                finding::artifacts_with(tx, *fingerprint, *after, PAGE).boxed()
            });
            let page = listing.await?;
            after = page.last().copied();
            let is_last = page.len() < PAGE as usize;
            places.artifacts.extend(page);
            if is_last {
                break;
            }
        }
        let (mut machines, mut first) = (BTreeSet::new(), u64::MAX);
        for artifact in places.artifacts.clone() {
            let finding = engine.store.read(engine.scope(), artifact, |tx, artifact| held_by(tx, *artifact).boxed());
            let (commits, envelopes) = finding.await?;
            for stored in commits {
                first = first.min(stored.seq);
                let provenance = stored.commit.provenance;
                machines.extend(provenance.machine.clone());
                places.commits.push(SecretCommit {
                    commit: stored.id,
                    session: provenance.session,
                    machine: provenance.machine,
                });
            }
            places.envelopes.extend(envelopes);
        }
        places.machines = machines.into_iter().collect();
        if first < u64::MAX {
            places.reveals = self.reveals_after(first).await?;
        }
        Ok(places)
    }

    /// Returns who was given content of the space as it is after a record of the journal.
    async fn reveals_after(&self, seq: u64) -> Result<Vec<Reveal>> {
        let engine = self.engine;
        let (mut reveals, mut after) = (Vec::new(), seq);
        loop {
            let page = engine.journal_after(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(reveals) };
            after = last.seq;
            let revealed = page.into_iter().filter(|record| record.kind == JournalKind::ContentRevealed);
            reveals.extend(revealed.map(|record| Reveal {
                at: record.at,
                actor: record.actor,
                subject: record.subject,
            }));
        }
    }
}

async fn held_by(
    tx: &mut Tx<'_>,
    artifact: ArtifactId,
) -> contexture_store::Result<(Vec<commit::StoredCommit>, Vec<EnvelopeId>)> {
    Ok((commit::with_artifact(tx, &artifact).await?, envelope::with_artifact(tx, &artifact).await?))
}
