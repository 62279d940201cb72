//! Heads: making, moving, deleting, listing.

use contexture_core::{CommitId, HeadName};
use contexture_store::{
    Error as StoreError,
    head::{self, Expect, Head, HeadMove},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{Contexture, Result};

impl Contexture {
    /// Returns where a head points.
    pub async fn head(&self, name: &HeadName) -> Result<Option<CommitId>> {
        Ok(self.store.glance(self.scope(), name.clone(), |tx, name| head::find(tx, name).boxed()).await?)
    }

    /// Returns up to `limit` heads in name order, after a name, whose names start with a text.
    pub async fn heads(&self, prefix: &str, after: Option<&HeadName>, limit: u32) -> Result<Vec<Head>> {
        let query = (prefix.to_owned(), after.cloned(), limit);
        let reading = self.store.read(self.scope(), query, |tx, (prefix, after, limit)| {
            head::list(tx, prefix, after.as_ref(), *limit).boxed()
        });
        Ok(reading.await?)
    }

    /// Points a head to a commit, making it if need be. Returns where it was.
    pub async fn set_head(&self, name: &HeadName, target: CommitId, expect: Expect) -> Result<Option<CommitId>> {
        let writing = self.store.write(self.scope(), (name.clone(), target, expect), |tx, (name, target, expect)| {
            head::set(tx, name, *target, *expect).boxed()
        });
        Ok(writing.instrument(debug_span!("set_head", commit = %target)).await?)
    }

    /// Moves a head that exists. Returns where it was.
    pub async fn move_head(&self, name: &HeadName, target: CommitId, expect: Expect) -> Result<CommitId> {
        let writing = self.store.write(self.scope(), (name.clone(), target, expect), |tx, (name, target, expect)| {
            async move {
                let absent = || StoreError::NoHead(name.clone());
                if head::find(tx, name).await?.is_none() {
                    return Err(absent());
                }
                head::set(tx, name, *target, *expect).await?.ok_or_else(absent)
            }
            .boxed()
        });
        Ok(writing.instrument(debug_span!("move_head", commit = %target)).await?)
    }

    /// Starts a branch: a new head at a commit. A head of that name is a conflict.
    pub async fn fork(&self, from: CommitId, name: &HeadName) -> Result<()> {
        self.set_head(name, from, Expect::Absent).await.map(drop)
    }

    /// Deletes a head; the commits and the head's log stay. Returns where it was.
    pub async fn delete_head(&self, name: &HeadName, expect: Expect) -> Result<CommitId> {
        let writing = self
            .store
            .write(self.scope(), (name.clone(), expect), |tx, (name, expect)| head::delete(tx, name, *expect).boxed());
        Ok(writing.instrument(debug_span!("delete_head")).await?)
    }

    /// Returns up to `limit` moves of a head before a sequence number, newest first; also of one that was deleted.
    pub async fn head_log(&self, name: &HeadName, before: u64, limit: u32) -> Result<Vec<HeadMove>> {
        let reading = self.store.read(self.scope(), (name.clone(), before, limit), |tx, (name, before, limit)| {
            head::log(tx, name, *before, *limit).boxed()
        });
        Ok(reading.await?)
    }
}
