//! Injections: where envelopes became visible.

use std::sync::Arc;

use contexture_core::{EnvelopeId, InjectionId};
use contexture_store::{
    JsonText,
    commit::Inserted,
    event,
    injection::{self, Injection, StoredInjection},
};
use futures_util::FutureExt as _;

use crate::{Contexture, NewEvent, Result};

impl Contexture {
    /// Records that an envelope became visible somewhere, now, and what happened with it.
    ///
    /// An injection with the same document is kept once, and then no events are added.
    pub async fn record_injection(
        &self,
        envelope: EnvelopeId,
        document: JsonText,
        events: Vec<NewEvent>,
    ) -> Result<InjectionId> {
        let injection = Injection { envelope, created_at: self.now(), document };
        let events: Vec<_> = events.into_iter().map(|event| event.of(envelope)).collect();
        let record = Arc::new((injection, events));
        let writing = self.store.write(self.scope(), move |tx| {
            let record = Arc::clone(&record);
            async move {
                let (id, inserted) = injection::put(tx, &record.0).await?;
                if inserted == Inserted::New {
                    event::append(tx, &record.1).await?;
                }
                Ok(id)
            }
            .boxed()
        });
        writing.await
    }

    /// Returns up to `limit` injections of an envelope after a sequence number, oldest first.
    pub async fn injections(&self, envelope: EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredInjection>> {
        let listing = self
            .store
            .read(self.scope(), move |tx| async move { injection::list(tx, &envelope, after, limit).await }.boxed());
        Ok(listing.await?)
    }
}
