//! What steps come to: commits to be stored, and what is said of commits and moved beside them.

use contexture::{Result, ScreenedContent, SecretGuard, SecretRecord};
use contexture_core::{Annotation, ArtifactId, Commit, CommitId, HeadName};
use contexture_store::{
    Tx,
    artifact::{self, PreparedContent},
};

use super::{
    heads::HeadClaim,
    labels::{SESSION_END, label},
};
use crate::import::CaptureReason;

/// Content to be stored, with what was found in it.
#[derive(Clone)]
pub(crate) struct CapturedContent {
    content: PreparedContent,
    record: SecretRecord,
}

/// Whether content repeats what is stored already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// It seldom does, but for long strings.
    Rare,
    /// Much of it usually does.
    Likely,
}

impl CapturedContent {
    /// Cuts and compresses content that was looked through.
    pub(crate) fn of(screened: ScreenedContent, repetition: Repetition) -> Self {
        let ScreenedContent { bytes, record } = screened;
        let content = match repetition {
            Repetition::Rare => PreparedContent::of(bytes),
            Repetition::Likely => PreparedContent::fine(bytes),
        };
        Self { content, record }
    }

    /// Names content that was looked through and stored before.
    pub(crate) fn stored(artifact: ArtifactId) -> Self {
        Self { content: PreparedContent::Stored(artifact), record: SecretRecord::default() }
    }

    pub(crate) fn id(&self) -> &ArtifactId {
        self.content.id()
    }

    /// Returns what is stored.
    pub(crate) fn prepared(&self) -> &PreparedContent {
        &self.content
    }

    /// Stores it with what was found in it.
    pub(crate) async fn put(&self, tx: &mut Tx<'_>, guard: &SecretGuard) -> Result<()> {
        artifact::put_content(tx, &self.content).await?;
        guard.keep(tx, self.id(), &self.record).await
    }
}

/// A commit to be stored.
pub(crate) struct NewCommit {
    pub(crate) id: CommitId,
    pub(crate) commit: Commit,
    pub(crate) content: CapturedContent,
    pub(crate) annotations: Vec<Annotation>,
    /// A head that moves here too if it is at the parent.
    pub(crate) follow: Option<HeadName>,
}

/// What was made of some lines.
#[derive(Default)]
pub(crate) struct StepBatch {
    pub(crate) commits: Vec<NewCommit>,
    /// Bytes that belong to no commit.
    pub(crate) asides: Vec<CapturedContent>,
    /// Where the heads of the session belong.
    pub(crate) heads: Vec<HeadClaim>,
    /// The heads that tell what the principal does now and where the thread is, and where they move to.
    pub(crate) moved_heads: Vec<(HeadName, CommitId)>,
    /// What is said of commits once it is known, the label's name first.
    pub(crate) notes: Vec<(CommitId, Annotation)>,
    /// What the first commit would be called that an older version would have given another time.
    pub(crate) by_first_record: Option<CommitId>,
    /// Whether nobody has spoken in the session until here, so that it is not what its principal does.
    pub(crate) is_silent: bool,
}

impl StepBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.commits.is_empty()
            && self.asides.is_empty()
            && self.heads.is_empty()
            && self.moved_heads.is_empty()
            && self.notes.is_empty()
    }

    /// Adds what the reason for a capture says of the last commit of a session.
    pub(crate) fn tell_reason(&mut self, reason: &CaptureReason, tip: Option<CommitId>) {
        let Some(tip) = tip else { return };
        let ending = reason.ending.as_deref().and_then(|ending| label(SESSION_END, ending));
        self.notes.extend(ending.map(|said| (tip, said)));
    }

    /// Moves the heads of whoever works in the session to its last commit, if somebody has spoken in it.
    pub(crate) fn move_heads(&mut self, heads: impl IntoIterator<Item = HeadName>, tip: Option<CommitId>) {
        let Some(tip) = tip.filter(|_| !self.is_silent) else { return };
        self.moved_heads.extend(heads.into_iter().map(|head| (head, tip)));
    }
}
