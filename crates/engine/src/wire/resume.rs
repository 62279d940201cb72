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
    /// The id of the session.
    pub session: RuntimeSessionId,
    /// The commit that it goes on from.
    pub commit: CommitId,
    /// Its file.
    pub path: PathBuf,
    /// The directory to work in.
    pub cwd: PathBuf,
    /// The command that goes on, word by word.
    pub command: Vec<String>,
    /// What came out and what was lost.
    pub report: Materialized,
}
