//! Sessions that agents go on with, as programs read of them.

use std::path::PathBuf;

use contexture_core::{CommitId, RuntimeSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Materialized;

/// A session that was written for an agent to go on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumableSession {
    /// The agent.
    pub runtime: String,
    /// The id of the session that was written; nothing, where the agent starts afresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RuntimeSessionId>,
    /// The commit that it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The directory to work in.
    pub cwd: PathBuf,
    /// The command that goes on, word by word.
    pub command: Vec<String>,
    /// What came out and what was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Materialized>,
}
