//! Token counters, by name.
//!
//! A budget means something only together with the counter that it was held with, so every counter has a name and a
//! version to be recorded beside the counts.

mod chars4;
mod claude;

use std::fmt;

use crate::measure::TokenCount;

pub use chars4::Chars4;
pub use claude::ClaudeEstimate;

/// Counts the tokens of a text.
///
/// Implemented here for the counters that are known by name, and by callers that can ask their model's own tokenizer.
/// Called by whatever holds a budget. An implementation must never give another count for the same text under the same
/// name and version, nor count nothing in a text that is not empty.
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
#[error("there is no token counter {name:?}")]
pub struct UnknownCounter {
    name: String,
}

/// Lists the counters that are known by name.
pub fn counters() -> [&'static dyn TokenCounter; 3] {
    [&Chars4, &ClaudeEstimate::SinceOpus47, &ClaudeEstimate::UntilOpus46]
}

/// Finds a counter by its name.
pub fn counter(name: &str) -> Result<&'static dyn TokenCounter, UnknownCounter> {
    let found = counters().into_iter().find(|counter| counter.name() == name);
    found.ok_or_else(|| UnknownCounter { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        for known in counters() {
            assert_eq!(counter(known.name()).map(TokenCounter::name), Ok(known.name()));
        }
        let names = counters().map(|counter| (counter.name(), counter.version()));
        assert_eq!(names, [("chars4", 1), ("claude-estimate", 1), ("claude-4.6-estimate", 1)]);
        let error = counter("gpt").err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("there is no token counter \"gpt\""));
    }

    proptest! {
        #[test]
        fn only_the_empty_text_has_no_tokens(text in "\\PC{0,40}") {
            for counter in counters() {
                prop_assert_eq!(counter.count(&text) == TokenCount::ZERO, text.is_empty(), "{}", counter.name());
            }
        }

        #[test]
        fn a_whole_has_no_more_tokens_than_its_parts(start in "\\PC{0,40}", end in "\\PC{0,40}") {
            for counter in counters() {
                let whole = counter.count(&format!("{start}{end}"));
                prop_assert!(whole <= counter.count(&start) + counter.count(&end), "{}", counter.name());
            }
        }
    }
}
