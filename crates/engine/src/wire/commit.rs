//! Commits as programs read them.

use contexture_core::{Annotations, Commit, CommitId, HeadName, Noted, Principal, Timestamp};
use contexture_store::commit::StoredCommit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Checkpointed, CreateOutcome};

/// A commit with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitDocument {
    /// Its id.
    pub id: CommitId,
    /// Its record.
    #[serde(flatten)]
    pub commit: Commit,
    /// Sequence number of its creation in the journal.
    pub seq: u64,
    /// How many commits come before it.
    pub depth: u64,
    /// What is said about it.
    #[serde(flatten)]
    pub annotations: Annotations,
    /// The heads that point to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<HeadName>,
    /// Everything that was ever said about it, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotation_history: Vec<Noted>,
}

/// A commit with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitDocument,
    /// Size of its content in bytes; nothing when the content is not in the store.
    pub size: Option<u64>,
    /// How many commits have it as their parent, up to 1000.
    pub children: usize,
}

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeCommit {
    /// Its id.
    pub id: CommitId,
    /// False when the commit was there before.
    pub created: bool,
}

/// The commit that somebody was at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedCommit {
    /// Its id.
    pub id: CommitId,
    /// Who.
    pub principal: Principal,
    /// When.
    pub at: Timestamp,
}

impl From<StoredCommit> for CommitDocument {
    fn from(stored: StoredCommit) -> Self {
        let StoredCommit { id, commit, seq, depth, annotations, .. } = stored;
        Self { id, commit, seq, depth, annotations, heads: Vec::new(), annotation_history: Vec::new() }
    }
}

impl From<&Checkpointed> for MadeCommit {
    fn from(made: &Checkpointed) -> Self {
        Self { id: made.id, created: made.outcome == CreateOutcome::Created }
    }
}
