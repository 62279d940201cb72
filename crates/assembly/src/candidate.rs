//! What may become part of a prompt.

use std::fmt;

use serde::Serialize;

use crate::{
    counter::TokenCounter,
    measure::{CharCount, TokenCount},
    vocabulary::vocabulary,
};

/// Something that may become part of a prompt, in one or two lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What decisions call it.
    pub id: CandidateId,
    /// How much it matters.
    pub priority: Priority,
    /// Where it stands among the others.
    pub place: Place,
    /// Whether it is cut only after all others that are required.
    pub preserve: bool,
    /// All of it; absent where that is nothing.
    pub full: Option<Measured>,
    /// A shorter text that may stand for it; absent where there is none.
    pub compact: Option<Measured>,
}

/// Names a candidate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CandidateId(String);

/// A place in the prompt; smaller ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The place that was asked for.
    pub order: i64,
    /// Tells those apart that asked for the same.
    pub tie: usize,
}

vocabulary! {
    /// How much a candidate matters, the most first.
    Priority {
        /// It is in, whatever the budget says.
        Required = "required",
        /// It is considered first.
        High = "high",
        /// It is considered after those.
        Medium = "medium",
        /// It is considered last.
        Low = "low",
    }
}

vocabulary! {
    /// Which text of a candidate is meant.
    Variant {
        /// All of it.
        Full = "full",
        /// The shorter one.
        Compact = "compact",
    }
}

/// A text that is not empty, with its lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    text: String,
    tokens: TokenCount,
    chars: CharCount,
}

impl CandidateId {
    /// Takes a text as an id; nothing where it is empty.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (!text.is_empty()).then_some(Self(text))
    }

    /// Borrows the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Measured {
    /// Measures a text; nothing where it is empty.
    pub fn new(counter: &dyn TokenCounter, text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (!text.is_empty()).then(|| Self { tokens: counter.count(&text), chars: CharCount::of(&text), text })
    }

    /// Borrows the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its length in tokens.
    pub fn tokens(&self) -> TokenCount {
        self.tokens
    }

    /// Returns its length in characters.
    pub fn chars(&self) -> CharCount {
        self.chars
    }
}
