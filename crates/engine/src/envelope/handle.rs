//! The handle on envelopes: what can be done with those that are kept.

use contexture_assembly::{
    envelope::{Envelope, Inputs},
    recipe::TargetSpec,
    standard::InjectionPoint,
};
use contexture_core::{ArtifactId, EnvelopeId, EnvelopePrefix, InjectionId, Stream};
use contexture_store::{JsonText, envelope::StoredEnvelope, event::StoredEvent, injection::StoredInjection};

use super::{KeptEnvelope, NewEnvelope, NewEvent};
use crate::{ContextExport, Contexture, Injected, Replayed, Result, Why};

/// The envelopes of a space, with everything that can be done with them.
#[derive(Clone, Copy)]
pub struct Envelopes<'c> {
    pub(crate) engine: &'c Contexture,
}

impl Contexture {
    /// Returns the handle on the envelopes of the space.
    pub fn envelopes(&self) -> Envelopes<'_> {
        Envelopes { engine: self }
    }

    /// Keeps what was assembled: [`Envelopes::keep`].
    pub async fn keep_envelope(&self, new: NewEnvelope) -> Result<KeptEnvelope> {
        self.envelopes().keep(new).await
    }

    /// Returns an envelope: [`Envelopes::get`].
    pub async fn envelope(&self, id: EnvelopeId) -> Result<StoredEnvelope> {
        self.envelopes().get(id).await
    }

    /// Returns the envelope that an abbreviated id names: [`Envelopes::find`].
    pub async fn find_envelope(&self, prefix: &EnvelopePrefix) -> Result<EnvelopeId> {
        self.envelopes().find(prefix).await
    }

    /// Returns the latest envelope of a stream: [`Envelopes::latest`].
    pub async fn latest_envelope(&self, stream: &Stream, before: Option<EnvelopeId>) -> Result<Option<StoredEnvelope>> {
        self.envelopes().latest(stream, before).await
    }

    /// Returns the frozen inputs and renderings of an envelope: [`Envelopes::artifacts`].
    pub async fn envelope_artifacts(&self, id: EnvelopeId) -> Result<Vec<ArtifactId>> {
        self.envelopes().artifacts(id).await
    }

    /// Returns what an envelope says: [`Envelopes::document`].
    pub async fn envelope_document(&self, id: EnvelopeId) -> Result<Envelope> {
        self.envelopes().document(id).await
    }

    /// Returns the frozen inputs of an envelope: [`Envelopes::inputs`].
    pub async fn envelope_inputs(&self, artifact: ArtifactId) -> Result<Inputs> {
        self.envelopes().inputs(artifact).await
    }

    /// Returns up to `limit` events of an envelope: [`Envelopes::events`].
    pub async fn envelope_events(&self, envelope: EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        self.envelopes().events(envelope, after, limit).await
    }

    /// Makes an envelope again and compares: [`Envelopes::replay`].
    pub async fn replay_envelope(&self, id: EnvelopeId) -> Result<Replayed> {
        self.envelopes().replay(id).await
    }

    /// Tells whether something is in an envelope, and why: [`Envelopes::why`].
    pub async fn why(&self, envelope: EnvelopeId, thing: &str) -> Result<Why> {
        self.envelopes().why(envelope, thing).await
    }

    /// Records that a target was really given what was assembled: [`Envelopes::inject`].
    pub async fn inject(
        &self,
        envelope: EnvelopeId,
        target: TargetSpec,
        point: InjectionPoint,
        native_id: Option<String>,
        sent: Option<Vec<u8>>,
    ) -> Result<Injected> {
        self.envelopes().inject(envelope, target, point, native_id, sent).await
    }

    /// Records that an envelope became visible somewhere: [`Envelopes::record_injection`].
    pub async fn record_injection(
        &self,
        envelope: EnvelopeId,
        document: JsonText,
        events: Vec<NewEvent>,
    ) -> Result<InjectionId> {
        self.envelopes().record_injection(envelope, document, events).await
    }

    /// Returns up to `limit` injections of an envelope: [`Envelopes::injections`].
    pub async fn injections(&self, envelope: EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredInjection>> {
        self.envelopes().injections(envelope, after, limit).await
    }

    /// Writes envelopes as records of the standard, and journals that: [`Envelopes::export`].
    pub async fn export_context(&self, ids: &[EnvelopeId]) -> Result<ContextExport> {
        self.envelopes().export(ids).await
    }
}
