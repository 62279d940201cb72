//! Injections: where envelopes became visible.

use contexture_core::{EnvelopeId, InjectionId};
use contexture_store::{
    JsonText,
    commit::Inserted,
    event,
    injection::{self, Injection, StoredInjection},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{Envelopes, NewEvent, Result};

impl Envelopes<'_> {
    /// Records that an envelope became visible somewhere, now, and what happened with it.
    ///
    /// An injection with the same document is kept once, and then no events are added.
    pub async fn record_injection(
        &self,
        envelope: EnvelopeId,
        document: JsonText,
        events: Vec<NewEvent>,
    ) -> Result<InjectionId> {
        let injection = Injection { envelope, created_at: self.engine.now(), document };
        let events: Vec<_> = events.into_iter().map(|event| event.of(envelope)).collect();
        let writing = self.engine.store.write(self.engine.scope(), (injection, events), |tx, (injection, events)| {
            async move {
                let (id, inserted) = injection::put(tx, injection).await?;
                if inserted == Inserted::New {
                    event::append(tx, events).await?;
                }
                Ok(id)
            }
            .boxed()
        });
        writing.instrument(debug_span!("record_injection", %envelope)).await
    }

    /// Returns up to `limit` injections of an envelope after a sequence number, oldest first.
    pub async fn injections(&self, envelope: EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredInjection>> {
        let listing =
            self.engine.store.read(self.engine.scope(), (envelope, after, limit), |tx, (envelope, after, limit)| {
                injection::list(tx, envelope, *after, *limit).boxed()
            });
        Ok(listing.await?)
    }
}
