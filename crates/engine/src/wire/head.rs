//! Heads as programs read them.

use std::collections::HashMap;

use contexture_core::{CommitId, HeadName};
use contexture_store::{commit::StoredCommit, head::Head};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CommitDocument;
use crate::{Contexture, Result};

/// Heads that are read at once.
const HEADS_PER_PAGE: u32 = 1000;

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

/// The heads of a space by the commits they point to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadsByCommit {
    by_commit: HashMap<CommitId, Vec<HeadName>>,
}

impl HeadsByCommit {
    /// Reads every head of the space.
    pub async fn load(engine: &Contexture) -> Result<Self> {
        let mut heads = Self::default();
        let mut after: Option<HeadName> = None;
        loop {
            let page = engine.heads("", after.as_ref(), HEADS_PER_PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(heads);
            };
            after = Some(last.name.clone());
            for Head { name, commit, .. } in page {
                heads.by_commit.entry(commit).or_default().push(name);
            }
        }
    }

    /// Returns the heads that point to a commit, in name order.
    pub fn of(&self, commit: &CommitId) -> &[HeadName] {
        self.by_commit.get(commit).map_or(&[], Vec::as_slice)
    }

    /// Returns every commit that a head points to.
    pub fn commits(&self) -> Vec<CommitId> {
        self.by_commit.keys().copied().collect()
    }

    /// Returns the document of a commit with its heads.
    pub fn document(&self, stored: StoredCommit) -> CommitDocument {
        let heads = self.of(&stored.id).to_vec();
        CommitDocument { heads, ..stored.into() }
    }
}
