//! Token counts that were worked out before.

use std::sync::Arc;

use contexture_core::CounterName;
use contexture_store::token_count::{self, TextDigest};
use futures_util::FutureExt as _;

use crate::{Contexture, Result};

impl Contexture {
    /// Returns how many tokens each text has, in the order of the digests; nothing for those that are not known.
    pub async fn token_counts(&self, counter: &CounterName, digests: Vec<TextDigest>) -> Result<Vec<Option<u64>>> {
        let query = Arc::new((counter.clone(), digests));
        let reading = self.store.read(self.scope(), move |tx| {
            let query = Arc::clone(&query);
            async move { token_count::find(tx, &query.0, &query.1).await }.boxed()
        });
        Ok(reading.await?)
    }

    /// Remembers how many tokens texts have, for every space of the store. What is known already stays.
    pub async fn remember_token_counts(&self, counter: &CounterName, counts: Vec<(TextDigest, u64)>) -> Result<()> {
        let counts = Arc::new((counter.clone(), counts));
        let writing = self.store.write(self.scope(), move |tx| {
            let counts = Arc::clone(&counts);
            async move { token_count::put(tx, &counts.0, &counts.1).await }.boxed()
        });
        Ok(writing.await?)
    }
}
