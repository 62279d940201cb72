//! What was set up for agents, as programs read of it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was done to the settings of an agent, or to git's hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetUpPlace {
    /// The agent, or `git`.
    pub target: String,
    /// The file.
    pub path: PathBuf,
    /// What was done to it.
    pub effect: SetupEffect,
    /// Whether it was done; otherwise it would be.
    pub done: bool,
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SetupEffect {
    /// It is made.
    Created,
    /// It is changed.
    Changed,
    /// It is deleted.
    Removed,
    /// It stays as it is.
    Unchanged,
}
