//! Injections: an assembly was really sent.

use contexture_assembly::{
    Digest,
    recipe::TargetSpec,
    standard::{self, InjectionPoint, RecordReference},
};
use contexture_core::{ArtifactId, EnvelopeId, EventKind, InjectionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::event::{EventData, EventDraft, json_text};
use crate::{AssemblyProblem, Envelopes, Result};

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

impl Envelopes<'_> {
    /// Records that a target was really given what was assembled, or something else that the caller sent in its place.
    pub async fn inject(
        &self,
        envelope: EnvelopeId,
        target: TargetSpec,
        point: InjectionPoint,
        native_id: Option<String>,
        sent: Option<Vec<u8>>,
    ) -> Result<Injected> {
        let document = self.document(envelope).await?;
        let made = document.targets.iter().find(|made| made.outcome.target == target);
        let made = made.ok_or(AssemblyProblem::NotMadeFor { envelope, target })?;
        let assembled = made.outcome.rendering.digest;
        let (hash, artifact) = match sent {
            None => (assembled, made.artifact),
            Some(bytes) => (Digest::of(&bytes), self.engine.put_artifact(std::io::Cursor::new(bytes)).await?.id),
        };
        let now = self.engine.now();
        let mut record = injection_record(envelope, target, point, hash, artifact, now);
        record.native_id = native_id;
        record.metadata.insert("as_assembled".to_owned(), (hash == assembled).into());
        let draft = EventDraft {
            source: self.engine.source(),
            at: now,
            envelope: Some(envelope),
            correlation: &document.correlation,
        };
        let data = EventData::Injection(&record);
        let event = draft.event(EventKind::InjectionApplied, record.injection_id.as_str(), &data)?;
        let injection = self.record_injection(envelope, json_text(&record)?, vec![event]).await?;
        Ok(Injected { injection, envelope, target, is_as_assembled: hash == assembled, hash })
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
) -> standard::ContextInjection {
    let mut metadata = json!({"artifact": artifact.to_string(), "rendering": target.rendering});
    if point == InjectionPoint::Custom {
        metadata["injection_point"] = target.to_string().into();
    }
    standard::ContextInjection {
        schema_version: standard::VERSION.to_owned(),
        injection_id: standard::ContextInjectionId::new(format!("{envelope}/injection/{target}/{}", at.as_micros()))
            .expect("it is not empty"),
        assembly_id: standard::AssemblyId::new(format!("{envelope}/assembly/{target}")).expect("it is not empty"),
        target: target.audience,
        injection_point: point,
        created_at: at,
        native_id: None,
        final_ref: Some(RecordReference::Id(hash.to_string())),
        hash: Some(hash.to_string()),
        visibility: vec![target.audience],
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        more: Map::new(),
    }
}
