//! The state of the store itself: its measures, and whether it is whole.

use contexture_store::{Location, fsck, inspect, stats};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{Clock, Contexture, Result};

impl Contexture {
    /// Looks at the place of a store. Nothing is made or changed there.
    pub async fn inspect(location: &Location, clock: &Clock) -> Result<inspect::Inspection> {
        Ok(inspect::look(location, &**clock).await?)
    }

    /// Checks everything in the space and says what is damaged.
    pub async fn fsck(&self, progress: &mut (dyn FnMut(fsck::Progress) + Send)) -> Result<fsck::FsckReport> {
        Ok(fsck::check(&self.store, &self.scope(), progress).instrument(debug_span!("fsck")).await?)
    }

    /// Returns the measures of the space.
    pub async fn stats(&self) -> Result<stats::Stats> {
        Ok(self.store.read(self.scope(), (), |tx, ()| stats::collect(tx).boxed()).await?)
    }

    /// Measures what the store takes on disk, with all its spaces.
    pub async fn footprint(&self) -> Result<stats::Footprint> {
        Ok(self.store.footprint().await?)
    }
}
