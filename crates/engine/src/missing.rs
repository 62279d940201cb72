//! Missing context: what is known not to be there, and what became of it.

use contexture_core::{EnvelopeId, MissingId};
use contexture_store::{
    commit::Inserted,
    event::{self, Event},
    missing::{self, Filter, MissingChange, StoredMissing},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{Contexture, CreateOutcome, NewMissing, Result};

impl Contexture {
    /// Records that something is missing, now, and what happened with it.
    ///
    /// What has the same id is kept once, and then no events are added.
    pub async fn record_missing(
        &self,
        missing: NewMissing,
        envelope: Option<EnvelopeId>,
        events: Vec<Event>,
    ) -> Result<CreateOutcome> {
        let missing = missing.since(envelope, self.now());
        let writing = self.store.write(self.scope(), (missing, events), |tx, (missing, events)| {
            async move {
                Ok(match missing::put(tx, missing).await? {
                    Inserted::New => {
                        event::append(tx, events).await?;
                        CreateOutcome::Created
                    }
                    Inserted::AlreadyThere => CreateOutcome::AlreadyThere,
                })
            }
            .boxed()
        });
        writing.instrument(debug_span!("record_missing", envelope = envelope.map(display))).await
    }

    /// Replaces the state of missing context, and records what happened with it.
    pub async fn change_missing(&self, id: MissingId, change: MissingChange, events: Vec<Event>) -> Result<()> {
        let writing = self.store.write(self.scope(), (id, change, events), |tx, (id, change, events)| {
            async move {
                missing::change(tx, id, change).await?;
                event::append(tx, events).await?;
                Ok(())
            }
            .boxed()
        });
        writing.instrument(debug_span!("change_missing", missing = %id)).await
    }

    /// Returns missing context.
    pub async fn missing(&self, id: MissingId) -> Result<StoredMissing> {
        Ok(self.store.glance(self.scope(), id, |tx, id| missing::show(tx, id).boxed()).await?)
    }

    /// Returns up to `limit` of what is missing and passes the filter, newest first, those before a sequence number.
    pub async fn list_missing(&self, filter: &Filter, before: Option<u64>, limit: u32) -> Result<Vec<StoredMissing>> {
        let listing = self.store.read(self.scope(), (filter.clone(), before, limit), |tx, (filter, before, limit)| {
            missing::list(tx, filter, *before, *limit).boxed()
        });
        Ok(listing.await?)
    }
}
