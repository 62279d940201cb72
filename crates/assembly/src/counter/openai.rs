//! The tokenizers of OpenAI's models, exactly.

use super::TokenCounter;
use crate::measure::TokenCount;

/// Counts what OpenAI's models would count in a text.
///
/// Everything is ordinary text: what looks like a special token, such as `<|endoftext|>`, is counted letter by letter,
/// as the provider does with content. What surrounds messages is not counted.
///
/// The time is linear in the text, whatever it is. The first count of each loads its tables, which takes a moment and
/// some tens of megabytes of memory, once in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenAi {
    /// GPT-4o and later models.
    O200k,
    /// GPT-4 and GPT-3.5.
    Cl100k,
}

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
        let tokenizer = match self {
            Self::O200k => bpe_openai::o200k_base(),
            Self::Cl100k => bpe_openai::cl100k_base(),
        };
        TokenCount::new(tokenizer.count(text) as u64)
    }

    fn is_costly(&self) -> bool {
        true
    }
}
