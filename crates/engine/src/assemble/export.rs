//! Exporting envelopes as records of the standard.

use std::collections::{BTreeMap, BTreeSet};

use contexture_assembly::{
    records::{self, Parcel},
    standard::{self, ContextEnvelopeId, ContextEvent, MissingContext, RecordReference},
};
use contexture_core::{ArtifactId, EnvelopeId, EventKind, Stream};
use contexture_store::Error as StoreError;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{
    event::{EventData, EventDraft, stored},
    gap_status::kind_of,
    keep::missing_record,
};
use crate::{AssemblyProblem, Envelopes, Error, Result};

/// Records that are read at once.
const PER_PAGE: u32 = 1000;

/// Records of the standard, as one JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextExport {
    /// The document.
    pub bytes: Vec<u8>,
    /// How many records it has.
    pub records: u64,
}

impl Envelopes<'_> {
    /// Writes envelopes with all that belongs to them as records of the standard, and journals that.
    pub async fn export(&self, ids: &[EnvelopeId]) -> Result<ContextExport> {
        let mut parcels = Vec::new();
        for id in ids {
            parcels.push(self.parcel(*id).await?);
        }
        let now = self.engine.now();
        let export = records::export(&parcels, concat!("contexture/", env!("CARGO_PKG_VERSION")), now);
        let nothing = BTreeMap::new();
        let mut events = Vec::new();
        for id in ids {
            let draft =
                EventDraft { source: self.engine.source(), at: now, envelope: Some(*id), correlation: &nothing };
            let event = draft.event(
                EventKind::Exported,
                &id.to_string(),
                &EventData::Export { records: export.records.len() },
            )?;
            let mut event = stored(event);
            event.envelope = Some(*id);
            events.push(event);
        }
        self.engine.append_events(events).await?;
        Ok(ContextExport { records: export.records.len() as u64, bytes: export.to_json() })
    }

    async fn parcel(&self, id: EnvelopeId) -> Result<Parcel> {
        let document = self.document(id).await?;
        let (inputs, assembled) = self.make_again(id, &document).await?;
        let mut injections: Vec<standard::ContextInjection> = Vec::new();
        let mut sent = Vec::new();
        let mut after = 0;
        loop {
            let page = self.injections(id, after, PER_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for stored in &page {
                let injection: standard::ContextInjection = read(stored.injection.document.as_str())?;
                if let Some(artifact) = injection.metadata.get("artifact").and_then(|artifact| artifact.as_str()) {
                    let artifact: ArtifactId =
                        artifact.parse().map_err(|_| AssemblyProblem::NoArtifactId { text: artifact.to_owned() })?;
                    let mut bytes = Vec::new();
                    self.engine.get_artifact(artifact, &mut bytes).await?;
                    sent.push(bytes);
                }
                injections.push(injection);
            }
        }
        let mut missing = Vec::new();
        let stream = Stream::new(document.stream.clone())?;
        // A gap is of the first envelope that has it, and so is what became of it.
        let mut raised_by: BTreeSet<EnvelopeId> = BTreeSet::new();
        for gap in &document.gaps {
            let mut record: MissingContext = match self.engine.missing(gap.id).await {
                Ok(known) => {
                    raised_by.extend(known.missing.envelope.filter(|envelope| *envelope != id));
                    read(known.missing.document.as_str())?
                }
                Err(Error::Store(StoreError::NoMissing(_))) => {
                    missing_record(gap, &stream, document.scope.as_str(), document.created_at)
                }
                Err(error) => return Err(error),
            };
            for reference in &mut record.resolution_refs {
                if let RecordReference::Id(named) = reference {
                    let outside = json!({"kind": kind_of(named), "id": named});
                    *reference = RecordReference::Object(outside.as_object().cloned().unwrap_or_default());
                }
            }
            missing.push(record);
        }
        let gaps: BTreeSet<String> = document.gaps.iter().map(|gap| gap.id.to_string()).collect();
        let mut events = Vec::new();
        for raiser in raised_by {
            let others = self.events_of(raiser).await?.into_iter();
            let is_settled =
                |event: &ContextEvent| event.subject.as_ref().is_some_and(|subject| gaps.contains(subject));
            // It happened to the gap, and the other envelope may not go along.
            let here = ContextEnvelopeId::new(id.to_string()).ok();
            events.extend(others.filter(is_settled).map(|event| ContextEvent { context_id: here.clone(), ..event }));
        }
        events.extend(self.events_of(id).await?);
        Ok(Parcel { id, document, inputs, assembled, injections, sent, missing, events })
    }

    /// Returns the events of an envelope, in their order.
    async fn events_of(&self, id: EnvelopeId) -> Result<Vec<ContextEvent>> {
        let mut events = Vec::new();
        let mut after = 0;
        loop {
            let page = self.events(id, after, PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(events) };
            after = last.seq;
            // Failures have no word in the standard; they stay in the journal.
            events.extend(
                page.iter()
                    .filter_map(|event| serde_json::from_str::<ContextEvent>(event.event.document.as_str()).ok()),
            );
        }
    }
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    Ok(serde_json::from_str(json).map_err(AssemblyProblem::Record)?)
}
