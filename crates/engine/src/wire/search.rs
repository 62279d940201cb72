//! What a search finds, as programs read it.

use contexture_core::{CommitId, RuntimeSessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FoundCommit, FoundPassage, Indexed};

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// The commit that it is in.
    pub commit: CommitId,
    /// When that was made.
    pub created_at: Timestamp,
    /// The session that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RuntimeSessionId>,
    /// How many passages of the commit match.
    pub matching_passages: u64,
    /// The passage.
    #[serde(flatten)]
    pub passage: FoundPassage,
}

/// What became of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchIndex {
    /// What it holds.
    pub index: Indexed,
}

impl SearchHit {
    /// Tells the passages of a commit one by one.
    pub fn all_of(found: FoundCommit) -> impl Iterator<Item = Self> {
        let FoundCommit { commit: stored, passages, matching_passages } = found;
        passages.into_iter().map(move |passage| Self {
            commit: stored.id,
            created_at: stored.commit.created_at,
            session: stored.commit.provenance.session.clone(),
            matching_passages,
            passage,
        })
    }
}
