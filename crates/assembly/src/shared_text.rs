//! Texts that are worked out once and held by several.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::digest::Digest;

/// A text that several hold, with its digest once somebody asked for it.
#[derive(Debug, Clone)]
pub struct SharedText(Arc<DigestedText>);

#[derive(Debug)]
struct DigestedText {
    text: String,
    digest: OnceLock<Digest>,
}

impl SharedText {
    /// Returns the digest of the text.
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| Digest::of(self.0.text.as_bytes()))
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> Self {
        Self(Arc::new(DigestedText { text, digest: OnceLock::new() }))
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl PartialEq for SharedText {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for SharedText {}
