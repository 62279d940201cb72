//! Secrets in content: where one is, which rule found it, and what stands in its place where it must not be shown.

mod fingerprint;
mod placeholder;
mod rule_id;

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use fingerprint::{Fingerprint, FingerprintError, FingerprintKey};
pub use placeholder::{Placeholder, PlaceholderError};
pub use rule_id::{RuleId, RuleIdError};

use crate::UnknownWord;

/// A secret that was found in content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretFinding {
    /// Where it starts in the stored bytes.
    pub start: u64,
    /// How many bytes it takes up there.
    pub length: u64,
    /// What recognised it.
    pub rule: RuleId,
    /// Which secret it is.
    pub fingerprint: Fingerprint,
    /// What stands in its place where it is not shown.
    pub cover: SecretCover,
}

/// What stands in a secret's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SecretCover {
    /// A placeholder that names rule and fingerprint.
    Named,
    /// As much of it as takes up the bytes of the secret, because what lies around counts bytes.
    Sized,
}

/// Bytes that stand in the place of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteReplacement {
    /// Where the others start.
    pub start: u64,
    /// How many there are.
    pub length: u64,
    /// What stands in their place.
    pub bytes: Vec<u8>,
}

/// Puts bytes in the place of others in what comes piece by piece: placeholders for secrets, or secrets for placeholders.
#[derive(Debug)]
pub struct SecretMask {
    replacements: std::vec::IntoIter<ByteReplacement>,
    /// Where the next piece starts.
    offset: u64,
    /// The bytes that are being left out, or come next.
    next: Option<ByteReplacement>,
}

impl SecretFinding {
    /// Returns where it ends.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }

    /// Returns what stands in its place: text without quotes, backslashes or line ends, so that what it stands in stays
    /// well formed.
    pub fn placeholder(&self) -> String {
        let named = Placeholder { rule: self.rule.clone(), fingerprint: self.fingerprint }.to_string();
        match self.cover {
            SecretCover::Named => named,
            SecretCover::Sized => {
                let length = usize::try_from(self.length).unwrap_or(usize::MAX);
                named.chars().chain(std::iter::repeat('*')).take(length).collect()
            }
        }
    }
}

impl SecretCover {
    const ALL: [Self; 2] = [Self::Named, Self::Sized];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Sized => "sized",
        }
    }
}

impl FromStr for SecretCover {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let unknown = || UnknownWord::new(word, Self::ALL.iter().map(|known| known.as_str()));
        Self::ALL.into_iter().find(|known| known.as_str() == word).ok_or_else(unknown)
    }
}

impl From<&SecretFinding> for ByteReplacement {
    /// Hides a secret.
    fn from(finding: &SecretFinding) -> Self {
        Self { start: finding.start, length: finding.length, bytes: finding.placeholder().into_bytes() }
    }
}

impl ByteReplacement {
    /// Returns where the bytes end that something stands in the place of.
    fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

impl SecretMask {
    /// Makes these replacements, which are in the order of their places. Of those that overlap the first stands for all.
    pub fn new(replacements: Vec<ByteReplacement>) -> Self {
        let mut apart: Vec<ByteReplacement> = Vec::with_capacity(replacements.len());
        for replacement in replacements {
            match apart.last_mut() {
                Some(last) if replacement.start < last.end() => {
                    last.length = last.end().max(replacement.end()) - last.start;
                }
                _ => apart.push(replacement),
            }
        }
        let mut replacements = apart.into_iter();
        let next = replacements.next();
        Self { replacements, offset: 0, next }
    }

    /// Hides secrets.
    pub fn hiding(findings: &[SecretFinding]) -> Self {
        Self::new(findings.iter().map(ByteReplacement::from).collect())
    }

    /// Tells whether nothing is left to replace.
    pub fn is_done(&self) -> bool {
        self.next.is_none()
    }

    /// Returns what stands for the next bytes.
    pub fn apply(&mut self, piece: Vec<u8>) -> Vec<u8> {
        let (start, end) = (self.offset, self.offset + piece.len() as u64);
        self.offset = end;
        if self.next.as_ref().is_none_or(|replacement| replacement.start >= end) {
            return piece;
        }
        let within = |place: u64| usize::try_from(place.clamp(start, end) - start).expect("it is inside of the piece");
        let mut shown = Vec::with_capacity(piece.len());
        let mut copied = 0;
        while let Some(replacement) = self.next.take_if(|replacement| replacement.start < end) {
            let from = within(replacement.start);
            shown.extend_from_slice(&piece[copied.min(from)..from]);
            copied = within(replacement.end());
            if replacement.start >= start {
                shown.extend_from_slice(&replacement.bytes);
            }
            if replacement.end() > end {
                self.next = Some(replacement);
                return shown;
            }
            self.next = self.replacements.next();
        }
        shown.extend_from_slice(&piece[copied..]);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(start: u64, length: u64, cover: SecretCover) -> SecretFinding {
        let (rule, fingerprint) = (RuleId::new("test").unwrap(), Fingerprint::from_bytes([1; 8]));
        SecretFinding { start, length, rule, fingerprint, cover }
    }

    const SHOWN: &str = "[secret:test:0101010101010101]";

    #[test]
    fn secrets_are_hidden_however_the_bytes_are_cut() {
        let content = b"one SECRET two TOP, three HUSH".to_vec();
        let findings = vec![
            finding(4, 6, SecretCover::Named),
            finding(15, 3, SecretCover::Sized),
            finding(26, 4, SecretCover::Named),
        ];
        let expected = format!("one {SHOWN} two [se, three {SHOWN}");
        for size in 1..=content.len() {
            let mut mask = SecretMask::hiding(&findings);
            let shown: Vec<u8> = content.chunks(size).flat_map(|piece| mask.apply(piece.to_vec())).collect();
            assert_eq!(String::from_utf8(shown).unwrap(), expected, "in pieces of {size}");
            assert!(mask.is_done());
        }
    }

    #[test]
    fn a_cover_of_its_size_is_filled_up() {
        assert_eq!(finding(0, 33, SecretCover::Sized).placeholder(), format!("{SHOWN}***"));
        assert_eq!(finding(0, 3, SecretCover::Sized).placeholder(), "[se");
    }

    #[test]
    fn of_secrets_that_overlap_nothing_is_shown() {
        let findings =
            [finding(4, 6, SecretCover::Named), finding(5, 2, SecretCover::Named), finding(8, 5, SecretCover::Named)];
        let content = b"one SECRETSECRET two".to_vec();
        for size in 1..=content.len() {
            let mut mask = SecretMask::hiding(&findings);
            let shown: Vec<u8> = content.chunks(size).flat_map(|piece| mask.apply(piece.to_vec())).collect();
            assert_eq!(String::from_utf8(shown).unwrap(), format!("one {SHOWN}RET two"), "in pieces of {size}");
        }
    }

    #[test]
    fn what_hides_a_secret_hides_itself() {
        let mut mask = SecretMask::hiding(&[finding(2, 30, SecretCover::Named)]);
        let masked = format!("a {SHOWN} b").into_bytes();
        assert_eq!(mask.apply(masked.clone()), masked);
    }
}
