//! The commit that is somebody's understanding now, as programs read it.

use contexture_core::{CommitId, GivenSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The commit that is the caller's understanding now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CurrentCommit {
    /// Its id.
    pub commit: CommitId,
    /// The session of the agent that the caller works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<GivenSessionId>,
    /// How that was found out.
    pub by: FoundBy,
}

/// How the session was found that a program belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// It was named.
    Name,
    /// `CTX_SESSION` names it.
    Variable,
    /// The same, and the wrapper of its agent can be asked.
    Socket,
    /// Its agent says so itself, in a variable of its own.
    Runtime,
    /// Its agent has started this program.
    Process,
    /// Its agent works in this directory.
    Directory,
    /// There is none: it is the last that the principal did.
    Principal,
}
