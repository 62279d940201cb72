//! Differences between chains as programs read them.

use std::collections::BTreeMap;

use contexture_core::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HeadsByCommit, TurnDocument};
use crate::{ChainDifference, ChainSide};

/// What two chains have that the other has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedChains {
    /// The last commit that they share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What only the first has.
    pub before: ComparedChain,
    /// What only the second has.
    pub after: ComparedChain,
}

/// What one of two chains has that the other has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedChain {
    /// Where it ends.
    pub tip: CommitId,
    /// How many commits only it has.
    pub commits: u64,
    /// Its own turns, newest first, 1,000 at most.
    pub turns: Vec<TurnDocument>,
    /// Whether there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// The files that calls in those turns were to change, and in how many turns.
    pub files: BTreeMap<String, u64>,
}

impl ComparedChains {
    /// Tells a difference with the heads that point to its turns.
    pub fn new(difference: ChainDifference, heads: &HeadsByCommit) -> Self {
        let side = |side: ChainSide| ComparedChain {
            tip: side.tip,
            commits: side.commits,
            turns: side.turns.into_iter().map(|turn| TurnDocument::new(turn, heads)).collect(),
            is_cut: side.is_cut,
            files: side.files,
        };
        let ChainDifference { base, before, after } = difference;
        Self { base, before: side(before), after: side(after) }
    }
}
