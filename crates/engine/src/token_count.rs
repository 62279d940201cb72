//! Token counts that were worked out before.

use contexture_core::CounterName;
use contexture_store::token_count::{self, TextDigest};
use futures_util::FutureExt as _;

use crate::{Contexture, Result};

impl Contexture {
    /// Returns how many tokens each text has, in the order of the digests; nothing for those that are not known.
    pub async fn token_counts(&self, counter: &CounterName, digests: Vec<TextDigest>) -> Result<Vec<Option<u64>>> {
        let reading = self.store.read(self.scope(), (counter.clone(), digests), |tx, (counter, digests)| {
            token_count::find(tx, counter, digests).boxed()
        });
        Ok(reading.await?)
    }

    /// Remembers how many tokens texts have, for every space of the store. What is known already stays.
    pub async fn remember_token_counts(&self, counter: &CounterName, counts: Vec<(TextDigest, u64)>) -> Result<()> {
        let writing = self.store.write(self.scope(), (counter.clone(), counts), |tx, (counter, counts)| {
            token_count::put(tx, counter, counts).boxed()
        });
        Ok(writing.await?)
    }
}
