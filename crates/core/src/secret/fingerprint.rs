//! Names for secrets that tell nothing about them.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Separates fingerprints from every other use of a space's key.
const CONTEXT: &str = "contexture secret fingerprint v1";

/// What fingerprints are made with, so that nobody without it can try values against them.
#[derive(Clone)]
pub struct FingerprintKey([u8; 32]);

/// Names a secret by a keyed hash of its value: the same wherever and however often quoted it stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^[0-9a-f]{16}$"))]
pub struct Fingerprint(#[schemars(with = "String")] [u8; 8]);

/// Says that a text is no fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a fingerprint: expected sixteen hex digits")]
pub struct FingerprintError {
    /// The text.
    pub text: String,
}

impl FingerprintKey {
    /// Derives the key of fingerprints from a secret key of the space.
    pub fn derive(secret: &[u8; 32]) -> Self {
        Self(blake3::derive_key(CONTEXT, secret))
    }
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey")
    }
}

impl Fingerprint {
    /// Length in bytes.
    pub const LEN: usize = 8;

    /// Returns the fingerprint of a secret's value, which is what `Scanner::value` gives.
    pub fn of(key: &FingerprintKey, value: &[u8]) -> Self {
        let mut bytes = [0; Self::LEN];
        bytes.copy_from_slice(&blake3::keyed_hash(&key.0, value).as_bytes()[..Self::LEN]);
        Self(bytes)
    }

    /// Wraps bytes that are known to be a fingerprint.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Borrows the bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex::encode(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let mut bytes = [0; Self::LEN];
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(FingerprintError { text: text.to_owned() }),
        }
    }
}

impl TryFrom<&[u8]> for Fingerprint {
    type Error = std::array::TryFromSliceError;

    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        Ok(Self(bytes.try_into()?))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fingerprints_do_not_change() {
        let key = FingerprintKey::derive(&[7; 32]);
        let other = FingerprintKey::derive(&[8; 32]);
        assert_eq!(Fingerprint::of(&key, b"value").to_string(), "afe208138d5fd7fd");
        assert_ne!(Fingerprint::of(&key, b"value"), Fingerprint::of(&other, b"value"));
        assert_eq!(format!("{key:?}"), "FingerprintKey");
    }

    #[test]
    fn what_is_no_fingerprint_is_refused() {
        for text in ["", "0123", "0123456789abcdeg", "0123456789abcdef0"] {
            assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError { text: text.to_owned() }));
        }
    }

    proptest! {
        #[test]
        fn a_fingerprint_survives_its_text(bytes: [u8; 8]) {
            let fingerprint = Fingerprint::from_bytes(bytes);
            prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        }
    }
}
