//! Secrets as programs read of them: never their values.

use contexture_core::{Fingerprint, RuleId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FoundSecret, SecretPlaces, SecretTreatment};

/// A secret that occurs in a space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedSecret {
    /// Which one.
    pub fingerprint: Fingerprint,
    /// What recognised it.
    pub rule: RuleId,
    /// In how many artifacts it is.
    pub artifacts: u64,
    /// How often it occurs in them.
    pub places: u64,
}

/// All that held a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocatedSecret {
    /// Which one.
    pub fingerprint: Fingerprint,
    /// Where it was.
    #[serde(flatten)]
    pub places: SecretPlaces,
}

/// How the secrets of a space are treated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecretPolicyState {
    /// What becomes of them.
    pub treatment: SecretTreatment,
    /// Rules and exceptions of the space's own, in TOML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Whether this machine can see what was sealed; absent where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_open: Option<bool>,
}

impl From<FoundSecret> for ListedSecret {
    fn from(found: FoundSecret) -> Self {
        let FoundSecret { fingerprint, rule, artifacts, places } = found;
        Self { fingerprint, rule, artifacts, places }
    }
}
