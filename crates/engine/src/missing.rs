//! Missing context: what is known not to be there, and what became of it.

use std::sync::Arc;

use contexture_core::{EnvelopeId, MissingId};
use contexture_store::{
    commit::Inserted,
    event::{self, Event},
    missing::{self, Filter, MissingChange, StoredMissing},
};
use futures_util::FutureExt as _;

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
        let record = Arc::new((missing.since(envelope, self.now()), events));
        let writing = self.store.write(self.scope(), move |tx| {
            let record = Arc::clone(&record);
            async move {
                Ok(match missing::put(tx, &record.0).await? {
                    Inserted::New => {
                        event::append(tx, &record.1).await?;
                        CreateOutcome::Created
                    }
                    Inserted::AlreadyThere => CreateOutcome::AlreadyThere,
                })
            }
            .boxed()
        });
        writing.await
    }

    /// Replaces the state of missing context, and records what happened with it.
    pub async fn change_missing(&self, id: MissingId, change: MissingChange, events: Vec<Event>) -> Result<()> {
        let record = Arc::new((change, events));
        let writing = self.store.write(self.scope(), move |tx| {
            let record = Arc::clone(&record);
            async move {
                missing::change(tx, &id, &record.0).await?;
                event::append(tx, &record.1).await?;
                Ok(())
            }
            .boxed()
        });
        writing.await
    }

    /// Returns missing context.
    pub async fn missing(&self, id: MissingId) -> Result<StoredMissing> {
        Ok(self.store.glance(self.scope(), move |tx| async move { missing::show(tx, &id).await }.boxed()).await?)
    }

    /// Returns up to `limit` of what is missing and passes the filter, newest first, those before a sequence number.
    pub async fn list_missing(&self, filter: &Filter, before: Option<u64>, limit: u32) -> Result<Vec<StoredMissing>> {
        let filter = filter.clone();
        let listing = self.store.read(self.scope(), move |tx| {
            let filter = filter.clone();
            async move { missing::list(tx, &filter, before, limit).await }.boxed()
        });
        Ok(listing.await?)
    }
}
