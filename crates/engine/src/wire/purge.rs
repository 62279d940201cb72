//! What a purge took, as programs read it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Erasure, PurgePlan};

/// What a purge took, or would take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PurgeReport {
    /// What, and whom it concerns.
    #[serde(flatten)]
    pub plan: PurgePlan,
    /// The entries of this machine's spool that hold it, and go too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spooled: Vec<String>,
    /// Whether it is gone; false when it was only looked at.
    pub done: bool,
    /// Whether it is out of the files of the store too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<Erasure>,
}
