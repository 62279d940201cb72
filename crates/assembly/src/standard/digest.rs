//! Digests of content, by the algorithms that are in use.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

const SHA256: &str = "sha256:";

/// The digest of a content. Its text is `blake3:` or `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(extend("pattern" = "^(blake3|sha256):[0-9a-f]{64}$"))]
pub enum ContentDigest {
    /// BLAKE3, which ours are.
    Blake3(Digest),
    /// SHA-256, which those of others mostly are.
    Sha256([u8; 32]),
}

/// Says that a text is no digest that can be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no digest: expected blake3: or sha256: and 64 hexadecimal digits")]
pub struct NotADigest {
    text: String,
}

impl ContentDigest {
    /// Returns the BLAKE3 digest of a content.
    pub fn blake3(content: &[u8]) -> Self {
        Self::Blake3(Digest::of(content))
    }

    /// Returns the SHA-256 digest of a content.
    pub fn sha256(content: &[u8]) -> Self {
        Self::Sha256(Sha256::digest(content).into())
    }

    /// Returns the digest of a content by the same algorithm.
    #[must_use]
    pub fn of_other(self, content: &[u8]) -> Self {
        match self {
            Self::Blake3(_) => Self::blake3(content),
            Self::Sha256(_) => Self::sha256(content),
        }
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blake3(digest) => fmt::Display::fmt(digest, f),
            Self::Sha256(bytes) => write!(f, "{SHA256}{}", hex::encode(bytes)),
        }
    }
}

impl From<Digest> for ContentDigest {
    fn from(digest: Digest) -> Self {
        Self::Blake3(digest)
    }
}

impl FromStr for ContentDigest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let sha256 = || {
            let mut bytes = [0; 32];
            hex::decode_to_slice(text.strip_prefix(SHA256)?, &mut bytes).ok()?;
            Some(Self::Sha256(bytes))
        };
        let blake3 = text.parse().ok().map(Self::Blake3);
        blake3.or_else(sha256).ok_or_else(|| NotADigest { text: text.to_owned() })
    }
}

impl From<ContentDigest> for String {
    fn from(digest: ContentDigest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for ContentDigest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_that_other_programs_print() {
        let blake3 = "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
        let sha256 = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        for (text, digest) in [(blake3, ContentDigest::blake3(b"abc")), (sha256, ContentDigest::sha256(b"abc"))] {
            assert_eq!((digest.to_string().as_str(), text.parse()), (text, Ok(digest)));
            assert_eq!(digest.of_other(b"abc"), digest);
        }
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        for text in ["", "sha256:example", "md5:00", "blake3:", &"0".repeat(64), &format!("sha256:{}", "0".repeat(63))]
        {
            assert!(text.parse::<ContentDigest>().is_err(), "{text}");
        }
    }
}
