//! How the secrets of a space are treated.

use contexture_store::{Error as StoreError, JsonText, JsonTextError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Entropy,
    seal::{SealKey, SealRecipient},
};
use crate::Result;

/// What a space says of the secrets in its content. It is kept in the store, so all who write there keep to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretPolicy {
    /// What becomes of secrets.
    pub treatment: SecretTreatment,
    /// Rules and exceptions of the space's own, in TOML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// The key of the fingerprints of a space that marks; one that seals has it in its sealing key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fingerprint_key: Option<FingerprintKeyText>,
}

/// What becomes of secrets that are found in content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SecretTreatment {
    /// Bytes stay exact; what is shown has placeholders.
    Mark,
    /// What is stored has placeholders; the originals are encrypted beside it.
    Seal {
        /// To whom they are encrypted.
        recipient: SealRecipient,
    },
}

/// The key of fingerprints, as hex.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(super) struct FingerprintKeyText(pub(super) [u8; 32]);

impl std::fmt::Debug for FingerprintKeyText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl TryFrom<String> for FingerprintKeyText {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Self, hex::FromHexError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl From<FingerprintKeyText> for String {
    fn from(key: FingerprintKeyText) -> Self {
        hex::encode(key.0)
    }
}

impl SecretTreatment {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Seal { .. } => "seal",
        }
    }
}

impl SecretPolicy {
    /// Makes the policy of a space that nobody has decided about.
    pub(super) fn marking(entropy: &Entropy) -> Self {
        let mut key = [0; 32];
        entropy(&mut key);
        Self { treatment: SecretTreatment::Mark, rules: None, fingerprint_key: Some(FingerprintKeyText(key)) }
    }

    /// Reads what the store keeps.
    pub(super) fn from_json(document: &JsonText) -> Result<Self> {
        let damaged =
            |error: serde_json::Error| StoreError::Damaged { what: format!("the policy for secrets: {error}") };
        Ok(serde_json::from_str(document.as_str()).map_err(damaged)?)
    }

    /// Returns the key of the space's fingerprints.
    pub(super) fn fingerprint_key(&self, seal: Option<&SealKey>) -> [u8; 32] {
        match (seal, &self.fingerprint_key) {
            (Some(seal), _) => seal.fingerprint_key(),
            (None, Some(key)) => key.0,
            // Only a policy that somebody has written by hand has no key.
            (None, None) => [0; 32],
        }
    }

    /// Returns what the store keeps.
    pub(super) fn to_json(&self) -> Result<JsonText, JsonTextError> {
        JsonText::new(serde_json::to_string(self)?)
    }
}
