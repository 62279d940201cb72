//! The journal: everything that happened in the space, in order.

use contexture_core::JournalRecord;
use contexture_store::journal;
use futures_util::FutureExt as _;

use crate::{Contexture, Result};

impl Contexture {
    /// Returns up to `limit` journal records after a sequence number, oldest first.
    pub async fn journal_after(&self, seq: u64, limit: u32) -> Result<Vec<JournalRecord>> {
        let reading =
            self.store.read(self.scope(), (seq, limit), |tx, &(seq, limit)| journal::after(tx, seq, limit).boxed());
        Ok(reading.await?)
    }

    /// Returns the sequence number of the last journal record, 0 when there is none.
    pub async fn journal_tip(&self) -> Result<u64> {
        let tip = self.store.glance(self.scope(), (), |tx, ()| journal::tip(tx).boxed()).await?;
        Ok(tip.map_or(0, |(seq, _)| seq))
    }
}
