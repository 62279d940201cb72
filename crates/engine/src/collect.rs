//! Removing what nothing refers to.

use contexture_store::collect::{self, CollectProgress, Collected, Collection};
use tracing::{Instrument as _, debug_span};

use crate::{Contexture, Result};

impl Contexture {
    /// Removes the artifacts of the space that nothing refers to, or counts them.
    ///
    /// Others may read and write meanwhile. Whoever takes longer than the grace between storing content and referring to it
    /// is told that it is gone, and nothing ever refers to what is not there.
    pub async fn collect(
        &self,
        collection: Collection,
        progress: &mut (dyn FnMut(CollectProgress) + Send),
    ) -> Result<Collected> {
        Ok(collect::collect(&self.store, &self.scope(), collection, progress)
            .instrument(debug_span!("collect"))
            .await?)
    }

    /// Returns how many bytes of the store's file hold nothing; nothing where the engine gives them back by itself.
    pub async fn spare_bytes(&self) -> Result<Option<u64>> {
        Ok(self.store.spare_bytes().await?)
    }

    /// Gives what holds nothing back to the disk, with all spaces of the store. Nobody can write meanwhile.
    pub async fn shrink_store(&self) -> Result<()> {
        Ok(self.store.shrink().instrument(debug_span!("shrink")).await?)
    }
}
