//! Events: what happened to context, as the journal tells it.

use contexture_core::EnvelopeId;
use contexture_store::event::{self, Event, StoredEvent};
use futures_util::FutureExt as _;

use crate::{Contexture, Envelopes, Result};

impl Contexture {
    /// Appends events to the journal, all or none, and returns their sequence numbers.
    pub async fn append_events(&self, events: Vec<Event>) -> Result<Vec<u64>> {
        Ok(self.store.write(self.scope(), events, |tx, events| event::append(tx, events).boxed()).await?)
    }

    /// Returns up to `limit` events after a sequence number, oldest first.
    pub async fn events_after(&self, seq: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let listing =
            self.store.read(self.scope(), (seq, limit), |tx, &(seq, limit)| event::after(tx, seq, limit).boxed());
        Ok(listing.await?)
    }
}

impl Envelopes<'_> {
    /// Returns up to `limit` events of an envelope after a sequence number, oldest first.
    pub async fn events(&self, envelope: EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let listing =
            self.engine.store.read(self.engine.scope(), (envelope, after, limit), |tx, (envelope, after, limit)| {
                event::of_envelope(tx, envelope, *after, *limit).boxed()
            });
        Ok(listing.await?)
    }
}
