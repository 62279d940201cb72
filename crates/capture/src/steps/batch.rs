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
    /// The head that tells what the principal does now, and where.
    pub(crate) live_head: Option<(HeadName, CommitId)>,
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
            && self.live_head.is_none()
            && self.notes.is_empty()
    }

    /// Adds what the reason for a capture says of the last commit of a session, and the head that moves there with it.
    pub(crate) fn tell_reason(&mut self, reason: &CaptureReason, tip: Option<CommitId>, live_head: Option<HeadName>) {
        let Some(tip) = tip else { return };
        self.live_head = live_head.filter(|_| reason.is_live && !self.is_silent).map(|head| (head, tip));
        let ending = reason.ending.as_deref().and_then(|ending| label(SESSION_END, ending));
        self.notes.extend(ending.map(|said| (tip, said)));
    }
}
