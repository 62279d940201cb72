//! Events: what happened to context, as the journal tells it.

use std::sync::Arc;

use contexture_core::EnvelopeId;
use contexture_store::event::{self, Event, StoredEvent};
use futures_util::FutureExt as _;

use crate::{Contexture, Result};

impl Contexture {
    /// Appends events to the journal, all or none, and returns their sequence numbers.
    pub async fn append_events(&self, events: Vec<Event>) -> Result<Vec<u64>> {
        let events = Arc::new(events);
        let writing = self.store.write(self.scope(), move |tx| {
            let events = Arc::clone(&events);
            async move { event::append(tx, &events).await }.boxed()
        });
        Ok(writing.await?)
    }

    /// Returns up to `limit` events of an envelope after a sequence number, oldest first.
    pub async fn envelope_events(&self, envelope: EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let listing = self
            .store
            .read(self.scope(), move |tx| async move { event::of_envelope(tx, &envelope, after, limit).await }.boxed());
        Ok(listing.await?)
    }

    /// Returns up to `limit` events after a sequence number, oldest first.
    pub async fn events_after(&self, seq: u64, limit: u32) -> Result<Vec<StoredEvent>> {
        let listing =
            self.store.read(self.scope(), move |tx| async move { event::after(tx, seq, limit).await }.boxed());
        Ok(listing.await?)
    }
}
