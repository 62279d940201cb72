//! Digests of content.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

const PREFIX: &str = "blake3:";
/// Bytes of a digest in text.
const TEXT_BYTES: usize = PREFIX.len() + 64;

/// A BLAKE3 digest, written as `blake3:` and hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(into = "String", extend("pattern" = "^blake3:[0-9a-f]{64}$"))]
pub struct Digest([u8; 32]);

/// Says that a text is no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is `blake3:` and 64 hexadecimal digits")]
pub struct NoDigest;

impl Digest {
    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Borrows its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Writes it into a buffer: envelopes hold thousands of digests.
    fn write_to<'b>(&self, text: &'b mut [u8; TEXT_BYTES]) -> &'b str {
        let (prefix, digits) = text.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        hex::encode_to_slice(self.0, digits).expect("the buffer is as long as the digits");
        std::str::from_utf8(text).expect("digits are text")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.write_to(&mut [0; TEXT_BYTES]))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.write_to(&mut [0; TEXT_BYTES]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<Self, NoDigest> {
        let digits = text.strip_prefix(PREFIX).ok_or(NoDigest)?;
        let mut bytes = [0; 32];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| NoDigest)?;
        Ok(Self(bytes))
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = NoDigest;

    fn try_from(text: String) -> Result<Self, NoDigest> {
        text.parse()
    }
}
