//! What a write transaction knows without asking.
//!
//! Nobody else may write to a space while a transaction does, so what was read in it holds until it writes itself.

use std::collections::HashMap;

use contexture_core::{ArtifactId, CommitId, HeadName};

use crate::commit::Tip;

/// What a job is going to look for, so that an engine which answers slowly can ask for a whole group at once.
#[derive(Debug, Clone, Default)]
pub struct Foresight {
    /// The head it reads and moves.
    pub head: Option<HeadName>,
    /// The commit that it goes on from; where the head is, when there is none.
    pub parent: Option<CommitId>,
}

/// Heads and commits as they are in the transaction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    heads: HashMap<HeadName, Option<CommitId>>,
    tips: HashMap<CommitId, Tip>,
    /// The commit that was stored last.
    last: Option<(CommitId, Tip)>,
    /// The artifact that was last made sure of.
    artifact: Option<ArtifactId>,
}

impl Known {
    /// Takes in where a head is.
    pub(crate) fn learn_head(&mut self, name: HeadName, target: Option<CommitId>) {
        self.heads.insert(name, target);
    }

    /// Takes in where a commit lies and whether it is continued.
    pub(crate) fn learn_tip(&mut self, commit: CommitId, tip: Tip) {
        self.tips.insert(commit, tip);
    }

    /// Returns where a head is, if that is known.
    pub(crate) fn head(&self, name: &HeadName) -> Option<&Option<CommitId>> {
        self.heads.get(name)
    }

    /// Returns where a commit lies, if that is known.
    pub(crate) fn tip(&self, commit: &CommitId) -> Option<Tip> {
        match &self.last {
            Some((last, tip)) if last == commit => Some(*tip),
            _ => self.tips.get(commit).copied(),
        }
    }

    /// Tells whether an artifact was made sure of.
    pub(crate) fn has_artifact(&self, id: &ArtifactId) -> bool {
        self.artifact.as_ref() == Some(id)
    }

    /// Keeps up with an artifact that was made sure of.
    pub(crate) fn ensured(&mut self, id: ArtifactId) {
        self.artifact = Some(id);
    }

    /// Keeps up with a head that was moved.
    pub(crate) fn moved(&mut self, name: &HeadName, target: Option<CommitId>) {
        if let Some(known) = self.heads.get_mut(name) {
            *known = target;
        }
    }

    /// Keeps up with a commit that was stored.
    pub(crate) fn stored(&mut self, commit: CommitId, parent: Option<&CommitId>, tip: Tip) {
        if let Some(parent) = parent.and_then(|parent| self.tips.get_mut(parent)) {
            parent.is_continued = true;
            self.tips.insert(commit, tip);
        }
        self.last = Some((commit, tip));
    }
}
