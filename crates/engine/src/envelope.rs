//! Envelopes: what was assembled is kept whole, in one transaction, and found again.

mod attach;
mod handle;

use contexture_core::{
    ArtifactId, CommitId, CounterName, EnvelopeId, EnvelopePrefix, EventKind, GapSeverity, GapStatus, MissingId,
    RecipeName, Stream, Subject, Timestamp,
};
use contexture_store::{
    JsonText, Tx,
    commit::Inserted,
    envelope::{self, EnvelopeRecord, Filter, StoredEnvelope},
    event::{self, Event},
    injection::{self, Injection},
    missing::{self, Missing},
    token_count::{self, TextDigest},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

pub use attach::Attachment;
pub use handle::Envelopes;

use crate::{
    CreateOutcome, Result,
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

impl Envelopes<'_> {
    /// Keeps what was assembled, durable when this returns.
    ///
    /// An envelope with the same document is kept once: then injections and missing context that are new are added, and
    /// no events are.
    pub async fn keep(&self, new: NewEnvelope) -> Result<KeptEnvelope> {
        self.keep_with(new, None).await
    }

    /// Keeps what was assembled, and with it what was counted for that.
    pub(crate) async fn keep_counted(&self, new: NewEnvelope, counted: FreshCounts) -> Result<KeptEnvelope> {
        self.keep_with(new, Some(counted).filter(|counted| !counted.counts.is_empty())).await
    }

    async fn keep_with(&self, new: NewEnvelope, counted: Option<FreshCounts>) -> Result<KeptEnvelope> {
        let NewEnvelope { document, stream, recipe, commit, created_at, artifacts, injections, missing, events } = new;
        let mut attached = Attached::default();
        let document = self.engine.attach(Attachment::bytes(document), &mut attached).await?;
        let mut ids = Vec::with_capacity(artifacts.len());
        for attachment in artifacts {
            let id = self.engine.attach(attachment, &mut attached).await?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let envelope = EnvelopeRecord { document, stream, recipe, commit, created_at, artifacts: ids };
        let id = envelope.id();
        let prepared = PreparedEnvelope {
            attached,
            envelope,
            injections: injections
                .into_iter()
                .map(|document| Injection { envelope: id, created_at, document })
                .collect(),
            missing: missing.into_iter().map(|missing| missing.since(Some(id), created_at)).collect(),
            settled: crate::missing::settled()?,
            events: events.into_iter().map(|event| event.of(id)).collect(),
            counted,
        };
        let writing =
            self.engine.store.write(self.engine.scope(), prepared, |tx, prepared| write(tx, prepared).boxed());
        writing.instrument(debug_span!("keep_envelope", envelope = %id)).await
    }

    /// Returns an envelope.
    pub async fn get(&self, id: EnvelopeId) -> Result<StoredEnvelope> {
        Ok(self.engine.store.glance(self.engine.scope(), id, |tx, id| envelope::show(tx, id).boxed()).await?)
    }

    /// Returns the envelope that an abbreviated id names.
    pub async fn find(&self, prefix: &EnvelopePrefix) -> Result<EnvelopeId> {
        let finding =
            self.engine.store.glance(self.engine.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
                envelope::ids_between(tx, first, last, MAX_CANDIDATES).boxed()
            });
        Ok(only("envelope", prefix, &finding.await?)?)
    }

    /// Returns the frozen inputs and renderings of an envelope, in the order in which they were given.
    pub async fn artifacts(&self, id: EnvelopeId) -> Result<Vec<ArtifactId>> {
        Ok(self.engine.store.read(self.engine.scope(), id, |tx, id| envelope::artifacts(tx, id).boxed()).await?)
    }

    /// Returns the latest envelope of a stream, or the latest of those before a given envelope.
    pub async fn latest(&self, stream: &Stream, before: Option<EnvelopeId>) -> Result<Option<StoredEnvelope>> {
        let finding =
            self.engine.store.glance(self.engine.scope(), (stream.clone(), before), |tx, (stream, before)| {
                envelope::latest(tx, stream, before.as_ref()).boxed()
            });
        Ok(finding.await?)
    }

    /// Returns up to `limit` envelopes that pass the filter, newest first, those before a sequence number.
    pub async fn list(&self, filter: &Filter, before: Option<u64>, limit: u32) -> Result<Vec<StoredEnvelope>> {
        let listing = self.engine.store.read(
            self.engine.scope(),
            (filter.clone(), before, limit),
            |tx, (filter, before, limit)| envelope::list(tx, filter, *before, *limit).boxed(),
        );
        Ok(listing.await?)
    }
}

/// An envelope that is ready for its transaction.
struct PreparedEnvelope {
    attached: Attached,
    envelope: EnvelopeRecord,
    injections: Vec<Injection>,
    missing: Vec<Missing>,
    /// The states of what is missing that end when it is missing again.
    settled: Vec<GapStatus>,
    events: Vec<Event>,
    counted: Option<FreshCounts>,
}

/// Token counts that are not kept yet.
pub(crate) struct FreshCounts {
    pub(crate) counter: CounterName,
    pub(crate) counts: Vec<(TextDigest, u64)>,
}

async fn write(tx: &mut Tx<'_>, prepared: &PreparedEnvelope) -> Result<KeptEnvelope> {
    prepared.attached.put(tx).await?;
    if let Some(FreshCounts { counter, counts }) = &prepared.counted {
        token_count::put(tx, counter, counts).await?;
    }
    let (id, inserted) = envelope::put(tx, &prepared.envelope).await?;
    for injection in &prepared.injections {
        injection::put(tx, injection).await?;
    }
    // What is sent again tells nothing new.
    let settled = if inserted == Inserted::New { prepared.settled.as_slice() } else { &[] };
    for missing in &prepared.missing {
        missing::notice(tx, missing, settled).await?;
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
