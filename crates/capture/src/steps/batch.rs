//! What steps come to: commits to be stored, and what is said of commits and moved beside them.

use contexture_core::{Annotation, Commit, CommitId, HeadName};
use contexture_store::artifact::PreparedContent;

use super::labels::{SESSION_END, label};
use crate::import::CaptureReason;

/// A commit to be stored.
pub(crate) struct NewCommit {
    pub(crate) id: CommitId,
    pub(crate) commit: Commit,
    pub(crate) content: PreparedContent,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) head: Option<HeadName>,
    /// A head that moves here too if it is at the parent.
    pub(crate) follow: Option<HeadName>,
}

/// What was made of some lines.
#[derive(Default)]
pub(crate) struct StepBatch {
    pub(crate) commits: Vec<NewCommit>,
    /// Bytes that belong to no commit.
    pub(crate) asides: Vec<PreparedContent>,
    /// Heads that move although nothing was added there.
    pub(crate) moved: Vec<(HeadName, CommitId)>,
    /// What is said of commits once it is known, the label's name first.
    pub(crate) notes: Vec<(CommitId, Annotation)>,
}

impl StepBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.asides.is_empty() && self.moved.is_empty() && self.notes.is_empty()
    }

    /// Adds what the reason for a capture says of the last commit of a session, and the head that moves there with it.
    pub(crate) fn tell_reason(&mut self, reason: &CaptureReason, tip: Option<CommitId>, live_head: Option<HeadName>) {
        let Some(tip) = tip else { return };
        self.moved.extend(live_head.filter(|_| reason.is_live).map(|head| (head, tip)));
        let ending = reason.ending.as_deref().and_then(|ending| label(SESSION_END, ending));
        self.notes.extend(ending.map(|said| (tip, said)));
    }
}
