//! The tokenizers of OpenAI's models, exactly.

mod letters;
mod merge;
mod split;
mod vocabulary;

use std::sync::LazyLock;

use self::{merge::Merger, split::Split, vocabulary::Vocabulary};
use super::TokenCounter;
use crate::measure::TokenCount;

/// Counts what OpenAI's models would count in a text.
///
/// Everything is ordinary text: what looks like a special token, such as `<|endoftext|>`, is counted letter by letter,
/// as the provider does with content. What surrounds messages is not counted.
///
/// The time is linear in the text, whatever it is. The first count of each makes its table, which takes some
/// milliseconds and megabytes, once in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenAi {
    /// GPT-4o and later models.
    O200k,
    /// GPT-4 and GPT-3.5.
    Cl100k,
}

static O200K: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::new(
        include_bytes!(concat!(env!("OUT_DIR"), "/o200k.lengths")),
        include_bytes!(concat!(env!("OUT_DIR"), "/o200k.tokens")),
    )
});

static CL100K: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::new(
        include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.lengths")),
        include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.tokens")),
    )
});

impl TokenCounter for OpenAi {
    fn name(&self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
        }
    }

    fn version(&self) -> u32 {
        1
    }

    fn count(&self, text: &str) -> TokenCount {
        let tokens: usize = match self {
            Self::O200k => {
                let mut merger = Merger::new(&O200K);
                Split::new(text, split::o200k).map(|piece| merger.count(piece.as_bytes())).sum()
            }
            Self::Cl100k => {
                let mut merger = Merger::new(&CL100K);
                Split::new(text, split::cl100k).map(|piece| merger.count(piece.as_bytes())).sum()
            }
        };
        TokenCount::new(tokens as u64)
    }

    fn is_costly(&self) -> bool {
        true
    }
}
