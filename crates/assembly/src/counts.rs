//! Counts that are made once: by the digest of a text, under one counter.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    counter::TokenCounter, digest::Digest, measure::TokenCount, render::IMAGE_TOKENS, shared_text::SharedText,
};

/// A counter with what it has counted before.
#[derive(Debug)]
pub struct TokenCounts<'c> {
    counter: &'c dyn TokenCounter,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    known: HashMap<Digest, TokenCount>,
    fresh: BTreeMap<Digest, TokenCount>,
}

impl<'c> TokenCounts<'c> {
    /// Starts to count.
    pub fn new(counter: &'c dyn TokenCounter) -> Self {
        Self { counter, counted: Mutex::default() }
    }

    /// Returns the counter.
    pub fn counter(&self) -> &'c dyn TokenCounter {
        self.counter
    }

    /// Takes over counts that were made before.
    pub fn learn(&self, known: impl IntoIterator<Item = (Digest, TokenCount)>) {
        self.lock().known.extend(known);
    }

    /// Tells whether a text need not be counted any more.
    pub fn knows(&self, digest: &Digest) -> bool {
        let counted = self.lock();
        counted.known.contains_key(digest) || counted.fresh.contains_key(digest)
    }

    /// Counts a text, unless that was done before.
    pub fn of(&self, text: &str) -> TokenCount {
        self.of_digested(text, || Digest::of(text.as_bytes()))
    }

    fn of_digested(&self, text: &str, digest: impl FnOnce() -> Digest) -> TokenCount {
        if !self.counter.is_costly() {
            return self.counter.count(text);
        }
        let digest = digest();
        let mut counted = self.lock();
        if let Some(tokens) = counted.known.get(&digest) {
            return *tokens;
        }
        *counted.fresh.entry(digest).or_insert_with(|| self.counter.count(text))
    }

    /// Counts a text with so many pictures.
    pub(crate) fn with_images(&self, text: &SharedText, images: u64) -> TokenCount {
        self.of_digested(text, || text.digest()) + TokenCount::new(images.saturating_mul(IMAGE_TOKENS))
    }

    /// Returns what was counted and is worth keeping.
    pub fn into_fresh(self) -> BTreeMap<Digest, TokenCount> {
        self.counted.into_inner().unwrap_or_else(PoisonError::into_inner).fresh
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        // Counts are right one by one, so one that panicked leaves nothing half done.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
