//! What is known to be missing: a model that knows of a gap can ask.

use std::collections::BTreeSet;

use contexture_assembly::{
    Hold, Item,
    envelope::GapKind,
    standard::{ContextKind, ItemId, MissingContext, MissingStatus},
};
use contexture_core::{GapStatus, MissingId};
use contexture_store::{Error as StoreError, missing::Filter};

use super::{Gathering, ItemDraft, fenced, origin};
use crate::{
    Error, Result,
    assemble::{
        keep::{KIND, SUBJECT, gap_id},
        stream,
    },
};

/// Most gaps that a model is shown.
const MAX_GAPS: usize = 20;
/// Most gaps of a stream that are looked at.
const MAX_KNOWN: u32 = 100;

/// A gap of an earlier assembly that is none any more.
#[derive(Debug, Clone)]
pub(in crate::assemble) struct FoundAgain {
    /// Which.
    pub(in crate::assemble) gap: MissingId,
    /// What answers it.
    pub(in crate::assemble) item: ItemId,
}

impl Gathering<'_> {
    /// Returns what this assembly could not read, and what earlier ones of its stream could not and nobody found since.
    ///
    /// What does not fit is a matter of the caller and not of the model. Prompts that nothing ties together but the recipe
    /// know nothing of each other.
    pub(super) async fn missing(&mut self, read: &[Item]) -> Result<Vec<ItemDraft>> {
        let stream = stream(self.request)?;
        let mut drafts = Vec::new();
        let mut told = BTreeSet::new();
        for gap in self.gaps.iter().filter(|gap| gap.kind == GapKind::Unreadable) {
            let id = gap_id(&stream, gap);
            if told.insert(gap.subject.clone()) && !self.is_declined(id).await? {
                drafts.push(draft(id, &format!("{} ({})", gap.question, gap.severity)));
            }
        }
        let is_continued =
            self.request.stream.is_some() || self.request.head.is_some() || self.request.commit.is_some();
        if is_continued {
            let status = Some(GapStatus::new(MissingStatus::Open.as_str())?);
            let filter = Filter { status, stream: Some(stream), ..Filter::default() };
            for stored in self.engine.list_missing(&filter, None, MAX_KNOWN).await? {
                let Ok(record) = serde_json::from_str::<MissingContext>(stored.missing.document.as_str()) else {
                    continue;
                };
                let said = |name: &str| record.metadata.get(name).and_then(|value| value.as_str());
                if said(KIND).is_some_and(|kind| kind != GapKind::Unreadable.as_str()) {
                    continue;
                }
                let id = stored.missing.id;
                let subject = said(SUBJECT).map_or_else(|| id.to_string(), str::to_owned);
                if let Some(item) = read.iter().find(|item| item.origin.uri == subject) {
                    self.found.push(FoundAgain { gap: id, item: item.id.clone() });
                } else if told.insert(subject) {
                    drafts.push(draft(id, &format!("{} ({})", record.question, record.severity)));
                }
            }
        }
        drafts.truncate(MAX_GAPS);
        Ok(drafts)
    }

    /// Tells whether somebody refused to say what is missing.
    async fn is_declined(&self, id: MissingId) -> Result<bool> {
        match self.engine.missing(id).await {
            Ok(known) => Ok(known.missing.status.as_str() == MissingStatus::Declined.as_str()),
            Err(Error::Store(StoreError::NoMissing(_))) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn draft(id: MissingId, text: &str) -> ItemDraft {
    ItemDraft {
        id: id.to_string(),
        kind: ContextKind::RuntimeState,
        title: Some("missing context".to_owned()),
        origin: origin("missing_context", id.to_string(), text.as_bytes(), Hold::Live, None),
        content: fenced(text.to_owned()),
        compact: None,
        messages: Vec::new(),
    }
}
