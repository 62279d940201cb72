//! Exporting envelopes as records of the standard.

use std::collections::BTreeMap;

use contexture_assembly::{
    records::{self, Parcel},
    standard,
};
use contexture_core::{ArtifactId, EnvelopeId, EventKind};
use serde::de::DeserializeOwned;

use super::event::{EventData, EventDraft, stored};
use crate::{AssemblyProblem, Envelopes, Result};

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
        for gap in &document.gaps {
            missing.push(read(self.engine.missing(gap.id).await?.missing.document.as_str())?);
        }
        let mut events = Vec::new();
        let mut after = 0;
        loop {
            let page = self.events(id, after, PER_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for event in &page {
                // Failures have no word in the standard; they stay in the journal.
                if let Ok(event) = serde_json::from_str(event.event.document.as_str()) {
                    events.push(event);
                }
            }
        }
        Ok(Parcel { id, document, inputs, assembled, injections, sent, missing, events })
    }
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    Ok(serde_json::from_str(json).map_err(AssemblyProblem::Record)?)
}
