//! What may become part of a prompt.

use std::fmt;

use contexture_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    counter::TokenCounter,
    measure::{CharCount, Size, TokenCount},
    shared_text::SharedText,
};

/// Something that may become part of a prompt, in one or two lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What decisions call it.
    pub id: CandidateId,
    /// How much it matters.
    pub priority: Priority,
    /// Where it stands among the others.
    pub place: PromptPlace,
    /// Whether it is cut only after all others that are required.
    pub preserve: bool,
    /// Which segment it is in, counted from 0.
    pub segment: usize,
    /// What it is in a segment that is a run.
    pub part: RunPart,
    /// All of it; absent where that is nothing.
    pub full: Option<Measured>,
    /// A shorter text that may stand for it; absent where there is none.
    pub compact: Option<Measured>,
}

/// What a candidate is in a segment that keeps the newest end of a run; elsewhere it means nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunPart {
    /// A step, which belongs to no turn.
    #[default]
    Alone,
    /// A step of this turn.
    Step(u64),
    /// What may stand for this turn where its steps are left out.
    Summary(u64),
}

/// Names a candidate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct CandidateId(String);

/// A place in the prompt; smaller ones come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PromptPlace {
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
    text: SharedText,
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
        (!text.is_empty()).then(|| Self {
            tokens: counter.count(&text),
            chars: CharCount::of(&text),
            text: text.into(),
        })
    }

    /// Takes a text with a count that was made before; nothing where it is empty.
    pub fn with_tokens(text: impl Into<String>, tokens: TokenCount) -> Option<Self> {
        let text = text.into();
        (!text.is_empty()).then(|| Self { tokens, chars: CharCount::of(&text), text: text.into() })
    }

    /// Takes a text whose lengths are known; nothing where it is empty.
    pub(crate) fn with_lengths(text: SharedText, tokens: TokenCount, chars: CharCount) -> Option<Self> {
        (!text.is_empty()).then_some(Self { text, tokens, chars })
    }

    /// Returns all its lengths.
    pub fn size(&self) -> Size {
        Size { tokens: self.tokens, chars: self.chars, bytes: self.text.len() as u64, items: 1 }
    }

    /// Borrows the text.
    pub fn text(&self) -> &SharedText {
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
