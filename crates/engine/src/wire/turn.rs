//! Turns of a log as programs read them.

use contexture_core::{CommitId, CommitKind, Format, HeadName, Principal, RuntimeSessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HeadsByCommit;
use crate::{LoggedTurn, TurnOutcome};

/// A turn: a request, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnDocument {
    /// Its newest commit.
    pub id: CommitId,
    /// Its commits, the newest first.
    pub commits: Vec<CommitId>,
    /// What its newest commit is to the one before.
    #[serde(rename = "type")]
    pub kind: CommitKind,
    /// How that is written.
    pub format: Format,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RuntimeSessionId>,
    /// Who ran the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    /// When its oldest commit was made.
    pub began_at: Timestamp,
    /// When its newest commit was made.
    pub ended_at: Timestamp,
    /// What was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: TurnOutcome,
    /// The heads that point to its newest commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<HeadName>,
}

impl TurnDocument {
    /// Tells a turn with the heads that point to it.
    pub fn new(turn: LoggedTurn, heads: &HeadsByCommit) -> Self {
        let (first, last) = (turn.first(), turn.last());
        Self {
            id: last.id,
            kind: last.commit.kind,
            format: last.commit.format.clone(),
            session: last.commit.provenance.session.clone(),
            principal: last.commit.provenance.principal.clone(),
            began_at: first.commit.created_at,
            ended_at: last.commit.created_at,
            heads: heads.of(&last.id).to_vec(),
            commits: turn.commits.iter().map(|stored| stored.id).collect(),
            request: turn.request,
            outcome: turn.outcome,
        }
    }
}
