//! The state of the store itself: its measures, and whether it is whole.

use contexture_store::{fsck, stats};
use futures_util::FutureExt as _;

use crate::{Contexture, Error, Result};

impl Contexture {
    /// Checks everything in the space and says what is damaged.
    pub async fn fsck(&self, progress: &mut (dyn FnMut(fsck::Progress) + Send)) -> Result<fsck::Report> {
        Ok(fsck::check(&self.store, &self.scope(), progress).await?)
    }

    /// Returns the measures of the space.
    pub async fn stats(&self) -> Result<stats::Stats> {
        Ok(self.store.read(self.scope(), |tx| stats::collect(tx).boxed()).await?)
    }

    /// Returns the sizes of the files that hold the store, with all its spaces.
    pub fn store_files(&self) -> Result<stats::Files> {
        stats::files(&self.store).map_err(|source| Error::Io { attempt: "measure the store's files", source })
    }
}
