//! Heads as programs read them.

use contexture_core::{CommitId, HeadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A head that was moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedHead {
    /// The head.
    pub name: HeadName,
    /// Where it was; nothing when it was made.
    pub from: Option<CommitId>,
    /// Where it is; nothing when it was deleted.
    pub to: Option<CommitId>,
}
