//! What happens after an assembly: it is really sent, and gaps are settled.

use std::collections::BTreeMap;

use contexture_assembly::{
    Digest,
    recipe::TargetSpec,
    standard::{self, InjectionPoint, MissingContext, MissingStatus, Reference},
};
use contexture_core::{ArtifactId, EnvelopeId, EventKind, GapStatus, InjectionId, MissingId, MissingPrefix, Timestamp};
use contexture_store::missing::{self, MissingChange, StoredMissing};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::keep::{Draft, json_text, new_event, stored, value};
use crate::{
    Contexture, Error, Result,
    reference::{MAX_CANDIDATES, only},
};

/// An injection that is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Injected {
    /// Its id.
    pub injection: InjectionId,
    /// The envelope.
    pub envelope: EnvelopeId,
    /// Who was given it.
    pub target: TargetSpec,
    /// Whether what was sent is what was assembled.
    pub is_as_assembled: bool,
    /// The digest of what was sent.
    pub hash: Digest,
}

impl Contexture {
    /// Records that a target was really given what was assembled, or something else that the caller sent in its place.
    pub async fn inject(
        &self,
        envelope: EnvelopeId,
        target: TargetSpec,
        point: InjectionPoint,
        native_id: Option<String>,
        sent: Option<Vec<u8>>,
    ) -> Result<Injected> {
        let document = self.envelope_document(envelope).await?;
        let made = document.targets.iter().find(|made| made.outcome.target == target);
        let made = made.ok_or_else(|| Error::Assembly(format!("{envelope} was not made for {target}")))?;
        let assembled = made.outcome.rendering.digest;
        let (hash, artifact) = match sent {
            None => (assembled, made.artifact),
            Some(bytes) => (Digest::of(&bytes), self.put_artifact(std::io::Cursor::new(bytes)).await?.id),
        };
        let now = self.now();
        let mut record = injection_record(envelope, target, point, hash, artifact, now);
        record.native_id = native_id;
        record.metadata.insert("as_assembled".to_owned(), (hash == assembled).into());
        let draft =
            Draft { source: self.source(), at: now, envelope: Some(envelope), correlation: &document.correlation };
        let event = draft.event(EventKind::InjectionApplied, record.injection_id.as_str(), value(&record));
        let injection = self.record_injection(envelope, json_text(&record)?, vec![new_event(&event)?]).await?;
        Ok(Injected { injection, envelope, target, is_as_assembled: hash == assembled, hash })
    }

    /// Returns the gap that an abbreviated id names.
    pub async fn find_missing(&self, prefix: &MissingPrefix) -> Result<MissingId> {
        let finding = self.store.glance(self.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
            missing::ids_between(tx, first, last, MAX_CANDIDATES).boxed()
        });
        Ok(only("gap", prefix, &finding.await?)?)
    }

    /// Reads what is known of a gap.
    pub fn missing_record(&self, stored: &StoredMissing) -> Result<MissingContext> {
        let id = stored.missing.id;
        serde_json::from_str(stored.missing.document.as_str())
            .map_err(|error| Error::Assembly(format!("{id} cannot be read: {error}")))
    }

    /// Says what became of a gap, and what answers it.
    pub async fn settle_missing(
        &self,
        id: MissingId,
        status: MissingStatus,
        with: Vec<String>,
        note: Option<String>,
    ) -> Result<MissingContext> {
        let known = self.missing(id).await?;
        let mut record = self.missing_record(&known)?;
        record.status = status;
        record.resolution_refs.extend(with.into_iter().map(Reference::Id));
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
        let draft = Draft { source: self.source(), at: self.now(), envelope, correlation: &nothing };
        let mut event = stored(new_event(&draft.event(kind, &id.to_string(), value(&record)))?);
        event.envelope = envelope;
        let change = MissingChange { status: GapStatus::new(status.as_str())?, document: json_text(&record)? };
        self.change_missing(id, change, vec![event]).await?;
        Ok(record)
    }
}

/// Writes an injection as the standard does.
fn injection_record(
    envelope: EnvelopeId,
    target: TargetSpec,
    point: InjectionPoint,
    hash: Digest,
    artifact: ArtifactId,
    at: Timestamp,
) -> standard::Injection {
    let metadata = json!({"artifact": artifact.to_string(), "rendering": target.rendering});
    standard::Injection {
        schema_version: standard::VERSION.to_owned(),
        injection_id: standard::InjectionId::new(format!("{envelope}/injection/{target}/{}", at.as_micros()))
            .expect("it is not empty"),
        assembly_id: standard::AssemblyId::new(format!("{envelope}/assembly/{target}")).expect("it is not empty"),
        target: target.audience,
        injection_point: point,
        created_at: at,
        native_id: None,
        final_ref: Some(Reference::Id(hash.to_string())),
        hash: Some(hash.to_string()),
        visibility: vec![target.audience],
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        more: Map::new(),
    }
}
