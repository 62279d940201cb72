//! Failures as programs read them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureDocument {
    /// What failed and why.
    pub error: FailureBody,
}

/// What failed and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureBody {
    /// A word that programs may rely on.
    pub code: String,
    /// What failed.
    pub message: String,
    /// What led to it, nearest first.
    pub causes: Vec<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
