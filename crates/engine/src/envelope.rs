//! Envelopes: what was assembled is kept whole, in one transaction, and found again.

mod attach;

use std::sync::Arc;

use contexture_core::{
    ArtifactId, CommitId, EnvelopeId, EnvelopePrefix, EventKind, GapSeverity, GapStatus, MissingId, RecipeName, Stream,
    Subject, Timestamp,
};
use contexture_store::{
    JsonText, Tx, artifact,
    commit::Inserted,
    envelope::{self, Envelope, Filter, StoredEnvelope},
    event::{self, Event},
    injection::{self, Injection},
    missing::{self, Missing},
};
use futures_util::FutureExt as _;

pub use attach::Attachment;

use crate::{
    Contexture, CreateOutcome, Result,
    reference::{MAX_CANDIDATES, only},
};
use attach::Attached;

/// What was assembled, with all that goes with it.
pub struct NewEnvelope {
    /// The envelope's JSON. Its id follows from these bytes.
    pub document: Vec<u8>,
    /// What it follows others in.
    pub stream: Stream,
    /// What it was made by.
    pub recipe: RecipeName,
    /// The commit that it was made from.
    pub commit: Option<CommitId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Frozen inputs and renderings.
    pub artifacts: Vec<Attachment>,
    /// Where it became visible.
    pub injections: Vec<JsonText>,
    /// What it misses.
    pub missing: Vec<NewMissing>,
    /// What happened while it was made, in order.
    pub events: Vec<NewEvent>,
}

/// Something that an envelope misses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMissing {
    /// Its id.
    pub id: MissingId,
    /// What became of it.
    pub status: GapStatus,
    /// How much it matters.
    pub severity: GapSeverity,
    /// What is known of it.
    pub document: JsonText,
}

/// Something that happened to an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// What.
    pub kind: EventKind,
    /// To what.
    pub subject: Subject,
    /// What is known of it.
    pub document: JsonText,
}

/// An envelope that is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptEnvelope {
    /// Its id.
    pub id: EnvelopeId,
    /// Whether this request made it.
    pub outcome: CreateOutcome,
}

impl NewMissing {
    pub(crate) fn since(self, envelope: Option<EnvelopeId>, at: Timestamp) -> Missing {
        let Self { id, status, severity, document } = self;
        Missing { id, envelope, created_at: at, changed_at: at, status, severity, document }
    }
}

impl NewEvent {
    pub(crate) fn of(self, envelope: EnvelopeId) -> Event {
        let Self { kind, subject, document } = self;
        Event { kind, subject, envelope: Some(envelope), document }
    }
}

impl Contexture {
    /// Keeps what was assembled, durable when this returns.
    ///
    /// An envelope with the same document is kept once: then injections and missing context that are new are added, and
    /// no events are.
    pub async fn keep_envelope(&self, new: NewEnvelope) -> Result<KeptEnvelope> {
        let NewEnvelope { document, stream, recipe, commit, created_at, artifacts, injections, missing, events } = new;
        let mut attached = Attached::default();
        let document = self.attach(Attachment::bytes(document), &mut attached).await?;
        let mut ids = Vec::with_capacity(artifacts.len());
        for attachment in artifacts {
            let id = self.attach(attachment, &mut attached).await?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let envelope = Envelope { document, stream, recipe, commit, created_at, artifacts: ids };
        let id = envelope.id();
        let prepared = Arc::new(Prepared {
            attached,
            envelope,
            injections: injections
                .into_iter()
                .map(|document| Injection { envelope: id, created_at, document })
                .collect(),
            missing: missing.into_iter().map(|missing| missing.since(Some(id), created_at)).collect(),
            events: events.into_iter().map(|event| event.of(id)).collect(),
        });
        let writing = self.store.write(self.scope(), move |tx| {
            let prepared = Arc::clone(&prepared);
            async move { write(tx, &prepared).await }.boxed()
        });
        writing.await
    }

    /// Returns an envelope.
    pub async fn envelope(&self, id: EnvelopeId) -> Result<StoredEnvelope> {
        Ok(self.store.glance(self.scope(), move |tx| async move { envelope::show(tx, &id).await }.boxed()).await?)
    }

    /// Returns the envelope that an abbreviated id names.
    pub async fn find_envelope(&self, prefix: &EnvelopePrefix) -> Result<EnvelopeId> {
        let (first, last) = (prefix.first(), prefix.last());
        let finding = self.store.glance(self.scope(), move |tx| {
            async move { envelope::ids_between(tx, &first, &last, MAX_CANDIDATES).await }.boxed()
        });
        Ok(only("envelope", prefix, &finding.await?)?)
    }

    /// Returns the frozen inputs and renderings of an envelope, in the order in which they were given.
    pub async fn envelope_artifacts(&self, id: EnvelopeId) -> Result<Vec<ArtifactId>> {
        Ok(self.store.read(self.scope(), move |tx| async move { envelope::artifacts(tx, &id).await }.boxed()).await?)
    }

    /// Returns the latest envelope of a stream, or the latest of those before a given envelope.
    pub async fn latest_envelope(&self, stream: &Stream, before: Option<EnvelopeId>) -> Result<Option<StoredEnvelope>> {
        let stream = stream.clone();
        let finding = self.store.glance(self.scope(), move |tx| {
            let stream = stream.clone();
            async move { envelope::latest(tx, &stream, before.as_ref()).await }.boxed()
        });
        Ok(finding.await?)
    }

    /// Returns up to `limit` envelopes that pass the filter, newest first, those before a sequence number.
    pub async fn envelopes(&self, filter: &Filter, before: Option<u64>, limit: u32) -> Result<Vec<StoredEnvelope>> {
        let filter = filter.clone();
        let listing = self.store.read(self.scope(), move |tx| {
            let filter = filter.clone();
            async move { envelope::list(tx, &filter, before, limit).await }.boxed()
        });
        Ok(listing.await?)
    }
}

/// An envelope whose large artifacts are stored, ready for its transaction.
struct Prepared {
    attached: Attached,
    envelope: Envelope,
    injections: Vec<Injection>,
    missing: Vec<Missing>,
    events: Vec<Event>,
}

async fn write(tx: &mut Tx<'_>, prepared: &Prepared) -> Result<KeptEnvelope> {
    artifact::ensure_all(tx, prepared.attached.small()).await?;
    let (id, inserted) = envelope::put(tx, &prepared.envelope).await?;
    for injection in &prepared.injections {
        injection::put(tx, injection).await?;
    }
    for missing in &prepared.missing {
        missing::put(tx, missing).await?;
    }
    let outcome = match inserted {
        Inserted::New => {
            event::append(tx, &prepared.events).await?;
            CreateOutcome::Created
        }
        Inserted::AlreadyThere => CreateOutcome::AlreadyThere,
    };
    Ok(KeptEnvelope { id, outcome })
}
