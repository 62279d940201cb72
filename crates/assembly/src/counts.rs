//! Counts that are made once: by the digest of a text, under one counter.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
};

use crate::{counter::TokenCounter, digest::Digest, measure::TokenCount, render::IMAGE_TOKENS};

/// A counter with what it has counted before.
#[derive(Debug)]
pub struct Counts<'c> {
    counter: &'c dyn TokenCounter,
    known: HashMap<Digest, TokenCount>,
    fresh: RefCell<BTreeMap<Digest, TokenCount>>,
}

impl<'c> Counts<'c> {
    /// Starts with what is known.
    pub fn new(counter: &'c dyn TokenCounter, known: HashMap<Digest, TokenCount>) -> Self {
        Self { counter, known, fresh: RefCell::default() }
    }

    /// Returns the counter.
    pub fn counter(&self) -> &'c dyn TokenCounter {
        self.counter
    }

    /// Counts a text, unless that was done before.
    pub fn of(&self, text: &str) -> TokenCount {
        let digest = Digest::of(text.as_bytes());
        if let Some(tokens) = self.known.get(&digest) {
            return *tokens;
        }
        *self.fresh.borrow_mut().entry(digest).or_insert_with(|| self.counter.count(text))
    }

    /// Counts a text with so many pictures.
    pub(crate) fn with_images(&self, text: &str, images: u64) -> TokenCount {
        self.of(text) + TokenCount::new(images.saturating_mul(IMAGE_TOKENS))
    }

    /// Returns what was counted since.
    pub fn into_fresh(self) -> BTreeMap<Digest, TokenCount> {
        self.fresh.into_inner()
    }
}
