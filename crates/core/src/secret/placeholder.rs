//! What stands where a secret was.

use std::{fmt, str::FromStr};

use super::{Fingerprint, RuleId, rule_id};

/// What is shown instead of a secret: `[secret:RULE:FINGERPRINT]`.
///
/// It is ASCII without quotes and backslashes, so it can stand in a JSON string at any depth.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Placeholder {
    /// What kind of secret it was.
    pub rule: RuleId,
    /// Which secret it was.
    pub fingerprint: Fingerprint,
}

/// Says that a text is no placeholder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a placeholder: expected {}RULE:FINGERPRINT]", Placeholder::START)]
pub struct PlaceholderError {
    /// The text.
    pub text: String,
}

impl Placeholder {
    /// What every placeholder starts with.
    pub const START: &'static str = "[secret:";
    /// Length of the longest in bytes.
    pub const MOST_BYTES: usize = Self::START.len() + RuleId::MOST_BYTES + 1 + 2 * Fingerprint::LEN + 1;

    /// Tells how long the placeholder is with which these bytes begin, if they do.
    pub fn length_at(bytes: &[u8]) -> Option<usize> {
        let rest = bytes.strip_prefix(Self::START.as_bytes())?;
        let rule = rest.iter().take(RuleId::MOST_BYTES + 1).position(|&byte| byte == b':')?;
        let digits = rest.get(rule + 1..rule + 1 + 2 * Fingerprint::LEN)?;
        let whole = rule_id::is_name(&rest[..rule])
            && digits.iter().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit))
            && rest.get(rule + 1 + digits.len()) == Some(&b']');
        whole.then_some(Self::START.len() + rule + 1 + digits.len() + 1)
    }

    /// Tells whether there is a placeholder in some bytes.
    pub fn is_in(bytes: &[u8]) -> bool {
        memchr::memmem::find_iter(bytes, Self::START).any(|at| Self::length_at(&bytes[at..]).is_some())
    }

    /// Tells whether a stretch touches a placeholder.
    pub fn touches(bytes: &[u8], start: usize, end: usize) -> bool {
        let from = start.saturating_sub(Self::MOST_BYTES);
        let window = &bytes[from..end.min(bytes.len())];
        memchr::memmem::find_iter(window, Self::START).any(|at| {
            let at = from + at;
            at < end && Self::length_at(&bytes[at..]).is_some_and(|length| at + length > start)
        })
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}:{}]", Self::START, self.rule, self.fingerprint)
    }
}

impl FromStr for Placeholder {
    type Err = PlaceholderError;

    fn from_str(text: &str) -> Result<Self, PlaceholderError> {
        let refused = || PlaceholderError { text: text.to_owned() };
        if Self::length_at(text.as_bytes()) != Some(text.len()) {
            return Err(refused());
        }
        let (rule, fingerprint) =
            text[Self::START.len()..text.len() - 1].split_once(':').expect("a placeholder has two parts");
        Ok(Self {
            rule: rule.parse().map_err(|_| refused())?,
            fingerprint: fingerprint.parse().map_err(|_| refused())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_survives_its_text() {
        let placeholder = Placeholder {
            rule: RuleId::new("github-token").unwrap(),
            fingerprint: Fingerprint::from_bytes([1, 2, 3, 4, 5, 6, 7, 0xfe]),
        };
        let text = placeholder.to_string();
        assert_eq!(text, "[secret:github-token:01020304050607fe]");
        assert_eq!(text.parse(), Ok(placeholder));
        assert_eq!(Placeholder::length_at(format!("{text} and more").as_bytes()), Some(text.len()));
    }

    #[test]
    fn what_looks_like_a_placeholder_is_none() {
        for text in [
            "",
            "[secret:",
            "[secret::0102030405060708]",
            "[secret:a:010203040506070]",
            "[secret:a:0102030405060708",
            "[secret:A:0102030405060708]",
            "[secret:a--b:0102030405060708]",
            "[secret:a:0102030405060708] ",
        ] {
            assert_eq!(text.parse::<Placeholder>(), Err(PlaceholderError { text: text.to_owned() }));
        }
    }
}
