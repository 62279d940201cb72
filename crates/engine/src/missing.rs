//! Missing context: what is known not to be there, and what became of it.

use contexture_assembly::standard::MissingStatus;
use contexture_core::{EnvelopeId, GapStatus, MissingId};
use contexture_store::{
    commit::Inserted,
    event::{self, Event},
    missing::{self, Filter, MissingChange, Noticed, StoredMissing},
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

    /// Records what happened, and that something is missing for the reason; that is said again only where it was settled.
    pub(crate) async fn notice_missing(&self, missing: NewMissing, happened: Event, detected: Event) -> Result<()> {
        let missing = missing.since(None, self.now());
        let settled = settled()?;
        let writing = self.store.write(
            self.scope(),
            (missing, settled, happened, detected),
            |tx, (missing, settled, happened, detected)| {
                async move {
                    event::append(tx, std::slice::from_ref(happened)).await?;
                    if missing::notice(tx, missing, settled).await? != Noticed::Known {
                        event::append(tx, std::slice::from_ref(detected)).await?;
                    }
                    Ok(())
                }
                .boxed()
            },
        );
        writing.instrument(debug_span!("notice_missing")).await
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

/// Returns the states that end when the same is missing again. What was declined stays so.
pub(crate) fn settled() -> Result<Vec<GapStatus>> {
    let settled = [MissingStatus::Resolved, MissingStatus::Expired];
    Ok(settled.into_iter().map(|status| GapStatus::new(status.as_str())).collect::<Result<_, _>>()?)
}
