//! Estimates for Claude, whose tokenizer is not published.

use super::TokenCounter;
use crate::measure::TokenCount;

/// Estimates the tokens of Claude models from the length of a text in UTF-8.
///
/// The rates were measured on published Claude Code sessions: the growth of the prompt from one request to the next, as
/// the provider counted it, against the text that was added in between, where that were 2,000 tokens or more. The middle
/// half of 375 such steps had 2.6 to 3.0 bytes a token up to Opus 4.6, and of 31 steps 1.9 to 2.4 bytes since Opus 4.7.
/// Part of that is what surrounds messages and tool calls. Short texts, and texts that are not English or code, may be
/// off by half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaudeEstimate {
    /// Opus 4.7 and later models: 2.1 bytes a token.
    SinceOpus47,
    /// Models up to Opus 4.6 and Sonnet 4.6: 2.8 bytes a token.
    UntilOpus46,
}

impl TokenCounter for ClaudeEstimate {
    fn name(&self) -> &'static str {
        match self {
            Self::SinceOpus47 => "claude-estimate",
            Self::UntilOpus46 => "claude-4.6-estimate",
        }
    }

    fn version(&self) -> u32 {
        1
    }

    fn count(&self, text: &str) -> TokenCount {
        let bytes_per_ten_tokens = match self {
            Self::SinceOpus47 => 21,
            Self::UntilOpus46 => 28,
        };
        TokenCount::new((text.len() as u64).saturating_mul(10).div_ceil(bytes_per_ten_tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_estimated_from_bytes_and_rounded_up() {
        let count = |text: &str| (ClaudeEstimate::SinceOpus47.count(text), ClaudeEstimate::UntilOpus46.count(text));
        let counts = |since, until| (TokenCount::new(since), TokenCount::new(until));
        assert_eq!(count(&"a".repeat(84)), counts(40, 30));
        assert_eq!(count(&"a".repeat(85)), counts(41, 31));
        assert_eq!(count("é"), counts(1, 1));
    }
}
