//! Token counters, by name.
//!
//! A budget means something only together with the counter that it was held with, so every counter has a name and a
//! version to be recorded beside the counts.

mod chars4;
mod claude;
mod openai;

use std::fmt;

use crate::{measure::TokenCount, mistake::meant, nearest::nearest};

pub use chars4::Chars4;
pub use claude::ClaudeEstimate;
pub use openai::OpenAi;

/// Counts the tokens of a text.
///
/// Implemented here for the counters that are known by name, and by callers that can ask their model's own tokenizer.
/// Called by whatever holds a budget. An implementation must never give another count for the same text under the same
/// name and version, nor count nothing in a text that is not empty.
///
/// Nothing is promised about a whole and its parts. Estimates by length never find more in a whole than in its parts
/// together. A tokenizer may: what ends one part and what begins the next can become a token that both of theirs have
/// to give way to. So whoever adds up parts must count the whole before it is held against a budget.
pub trait TokenCounter: fmt::Debug + Sync {
    /// Returns the name that requests and records use.
    fn name(&self) -> &'static str;

    /// Returns a number that is raised whenever some text would be counted otherwise.
    fn version(&self) -> u32;

    /// Counts the tokens of a text.
    fn count(&self, text: &str) -> TokenCount;

    /// Tells whether counting takes so long that counts are worth keeping.
    fn is_costly(&self) -> bool {
        false
    }
}

/// Says that no counter has such a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no token counter {name:?}; there are {}{}", names().join(", "), meant(*nearest))]
pub struct UnknownCounter {
    /// The name.
    pub name: String,
    /// A name that looks like it.
    pub nearest: Option<&'static str>,
}

/// Lists the counters that are known by name.
pub fn counters() -> &'static [&'static dyn TokenCounter] {
    &[&Chars4, &ClaudeEstimate::SinceOpus47, &ClaudeEstimate::UntilOpus46, &OpenAi::O200k, &OpenAi::Cl100k]
}

/// Finds a counter by its name.
pub fn counter(name: &str) -> Result<&'static dyn TokenCounter, UnknownCounter> {
    let found = counters().iter().copied().find(|counter| counter.name() == name);
    found.ok_or_else(|| UnknownCounter { name: name.to_owned(), nearest: nearest(name, names()) })
}

fn names() -> Vec<&'static str> {
    counters().iter().map(|counter| counter.name()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The counters that go by the length of a text.
    const BY_LENGTH: [&dyn TokenCounter; 3] = [&Chars4, &ClaudeEstimate::SinceOpus47, &ClaudeEstimate::UntilOpus46];

    #[test]
    fn counters_are_found_by_their_names() {
        for known in counters() {
            assert_eq!(counter(known.name()).map(TokenCounter::name), Ok(known.name()));
        }
        let known: Vec<_> = counters().iter().map(|counter| (counter.name(), counter.version())).collect();
        let all = ["chars4", "claude-estimate", "claude-4.6-estimate", "o200k", "cl100k"];
        assert_eq!(known, all.map(|name| (name, 1)));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_names_there_are() {
        let refusal = |name| counter(name).err().map(|error| error.to_string());
        let all = names().join(", ");
        assert_eq!(refusal("gpt"), Some(format!("there is no token counter \"gpt\"; there are {all}")));
        let hinted = format!("there is no token counter \"char4\"; there are {all}; did you mean `chars4`?");
        assert_eq!(refusal("char4"), Some(hinted));
    }

    proptest! {
        #[test]
        fn only_the_empty_text_has_no_tokens(text in "\\PC{0,40}") {
            for counter in counters() {
                prop_assert_eq!(counter.count(&text) == TokenCount::ZERO, text.is_empty(), "{}", counter.name());
            }
        }

        #[test]
        fn a_whole_is_not_longer_than_its_parts(start in "\\PC{0,40}", end in "\\PC{0,40}") {
            for counter in BY_LENGTH {
                let whole = counter.count(&format!("{start}{end}"));
                prop_assert!(whole <= counter.count(&start) + counter.count(&end), "{}", counter.name());
            }
        }
    }
}
