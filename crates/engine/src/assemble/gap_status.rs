//! Gaps and what became of them.

use std::collections::BTreeMap;

use contexture_assembly::standard::{MissingContext, MissingStatus, RecordReference};
use contexture_core::{EventKind, GapStatus, MissingId, MissingPrefix};
use contexture_store::missing::{self, MissingChange, StoredMissing};
use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::event::{EventData, EventDraft, json_text, stored};
use crate::{
    AssemblyProblem, Contexture, Result,
    reference::{MAX_CANDIDATES, only},
};

impl Contexture {
    /// Returns the gap that an abbreviated id names.
    pub async fn find_missing(&self, prefix: &MissingPrefix) -> Result<MissingId> {
        let finding = self.store.glance(self.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
            missing::ids_between(tx, first, last, MAX_CANDIDATES).boxed()
        });
        Ok(only("gap", prefix, &finding.await?)?)
    }

    /// Reads what is known of a gap.
    pub fn missing_record(&self, stored: &StoredMissing) -> Result<MissingContext> {
        let missing = stored.missing.id;
        let read = serde_json::from_str(stored.missing.document.as_str());
        Ok(read.map_err(|source| AssemblyProblem::Missing { missing, source })?)
    }

    /// Says what became of a gap, and what answers it.
    pub async fn settle_missing(
        &self,
        id: MissingId,
        status: MissingStatus,
        with: Vec<String>,
        note: Option<String>,
    ) -> Result<MissingContext> {
        let with = with.into_iter().map(|with| json!({"kind": kind_of(&with), "id": with})).collect();
        self.settle_gap(id, status, with, note).await
    }

    /// Says what became of a gap, and which things outside of its record answer it.
    pub(super) async fn settle_gap(
        &self,
        id: MissingId,
        status: MissingStatus,
        with: Vec<Value>,
        note: Option<String>,
    ) -> Result<MissingContext> {
        let known = self.missing(id).await?;
        let mut record = self.missing_record(&known)?;
        record.status = status;
        let objects = with.into_iter().filter_map(|with| with.as_object().cloned());
        record.resolution_refs.extend(objects.map(RecordReference::Object));
        if let Some(note) = note {
            record.metadata.insert("resolution".to_owned(), note.into());
        }
        let kind = match status {
            MissingStatus::Requested | MissingStatus::Waiting => EventKind::MissingRequested,
            MissingStatus::Open => EventKind::MissingDetected,
            MissingStatus::Resolved | MissingStatus::Declined | MissingStatus::Blocked | MissingStatus::Expired => {
                EventKind::MissingResolved
            }
        };
        let nothing = BTreeMap::new();
        let envelope = known.missing.envelope;
        let draft = EventDraft { source: self.source(), at: self.now(), envelope, correlation: &nothing };
        let mut event = stored(draft.event(kind, &id.to_string(), &EventData::Missing(&record))?);
        event.envelope = envelope;
        let change = MissingChange { status: GapStatus::new(status.as_str())?, document: json_text(&record)? };
        self.change_missing(id, change, vec![event]).await?;
        Ok(record)
    }
}

/// Returns what kind of thing a text names.
pub(super) fn kind_of(reference: &str) -> &'static str {
    match reference.split_once('-') {
        Some(("ctx", _)) => "commit",
        Some(("art", _)) => "artifact",
        Some(("env", _)) => "context_envelope",
        _ => "reference",
    }
}
