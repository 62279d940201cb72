//! Names of rules.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names what kind of secret something is, such as `github-token`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength" = RuleId::MOST_BYTES))]
pub struct RuleId(#[schemars(with = "String")] Cow<'static, str>);

/// Says that a text cannot name a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} cannot name a rule: small letters and digits, joined by single hyphens, at most {} bytes",
    RuleId::MOST_BYTES
)]
pub struct RuleIdError {
    /// The text.
    pub text: String,
}

impl RuleId {
    /// Longest name in bytes.
    pub const MOST_BYTES: usize = 64;

    /// Checks a text and takes it as a name.
    pub fn new(text: impl Into<String>) -> Result<Self, RuleIdError> {
        let text = text.into();
        if is_name(text.as_bytes()) { Ok(Self(Cow::Owned(text))) } else { Err(RuleIdError { text }) }
    }

    /// Takes a name that is known to be one, of a rule that the program has itself.
    pub const fn built_in(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Borrows the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) fn is_name(text: &[u8]) -> bool {
    text.len() <= RuleId::MOST_BYTES
        && text
            .split(|&byte| byte == b'-')
            .all(|word| !word.is_empty() && word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for RuleId {
    type Err = RuleIdError;

    fn from_str(text: &str) -> Result<Self, RuleIdError> {
        Self::new(text)
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
