//! From lines and git commits to the contexts that made them, and how sure that is.

mod agent_trace;
mod commit;
mod finder;
mod lines;
mod untraced;

use std::path::Path;

use contexture::{
    Contexture, FoundEdit, Indexing, MatchGrade, Reasoning, Request, StoredCommit,
    core::CommitId,
    wire::{BlamedLines, Certainty, CommitOrigin, EditDocument, GitCommitDocument, StoryDocument},
};

pub use self::{
    agent_trace::{
        AgentTrace, AgentTraceContributor, AgentTraceConversation, AgentTraceFile, AgentTraceLink, AgentTraceMetadata,
        AgentTraceRange, AgentTraceRevision, AgentTraceTool, ContributorKind, RangeEvidence,
    },
    commit::{CommitContexts, CommitSubject, ContextContribution, UnclearContribution},
    finder::{LineOrigin, OriginFinder},
    lines::{BlamedFile, LineRun, LineSubject, LineTarget},
    untraced::Untraced,
};
use crate::{Git, GitCommit, Result, Runtime};

/// The context that made something.
#[derive(Debug, Clone)]
pub struct ContextOrigin {
    /// How sure that is.
    pub certainty: Certainty,
    /// The context.
    pub commit: CommitId,
    /// The call that did it, where it was found.
    pub edit: Option<FoundEdit>,
    /// How the text agrees with what that wrote.
    pub grade: Option<MatchGrade>,
}

/// What an origin is told with.
#[derive(Debug, Clone)]
pub struct OriginStory {
    /// How sure it is.
    pub certainty: Certainty,
    /// The context.
    pub commit: StoredCommit,
    /// The call that did it, where it was found.
    pub edit: Option<FoundEdit>,
    /// How the text agrees with what that wrote.
    pub grade: Option<MatchGrade>,
    /// What was asked for.
    pub request: Option<Request>,
    /// What the model said or thought before.
    pub reasoning: Option<Reasoning>,
}

/// A git commit and what it records of contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingCommit {
    /// The commit.
    pub commit: GitCommit,
    /// The contexts that it names and that are here.
    pub recorded: Vec<CommitId>,
    /// The contexts that it says it may come from and that are here.
    pub possible: Vec<CommitId>,
    /// What it names that is not here.
    pub unknown: Vec<String>,
}

/// What origins are looked for with.
#[derive(Clone, Copy)]
pub struct OriginSources<'s> {
    /// Where contexts are.
    pub engine: &'s Contexture,
    /// The git that is asked.
    pub git: &'s Git,
}

/// What is told while the index is brought up to date.
pub type IndexProgress<'p> = &'p mut (dyn FnMut(Indexing) + Send);

/// Finds which context made lines of a file: those that follow each other and have one origin together.
pub async fn why_lines(
    sources: OriginSources<'_>,
    target: &LineTarget,
    progress: IndexProgress<'_>,
) -> Result<Vec<BlamedLines>> {
    let OriginSources { engine, git } = sources;
    let subject = LineSubject::read(git, &target.path)?;
    let Some(asked) = subject.range(target.lines.clone())? else { return Ok(Vec::new()) };
    let mut finder = OriginFinder::new(engine, subject.repository().cloned())?;
    let blamed = finder.blame(&subject, &asked, progress).await?;
    let mut documents = Vec::new();
    for run in &blamed.runs {
        documents.push(finder.lines_document(&blamed, run).await?);
    }
    Ok(documents)
}

/// Finds which contexts made a git commit of the repository that a directory lies in.
pub async fn why_commit(
    sources: OriginSources<'_>,
    directory: &Path,
    revision: &str,
    progress: IndexProgress<'_>,
) -> Result<CommitOrigin> {
    let OriginSources { engine, git } = sources;
    let subject = CommitSubject::read(git, directory, revision)?;
    let mut finder = OriginFinder::new(engine, Some(subject.repository().clone()))?;
    let contexts = finder.contexts_of(subject, progress).await?;
    finder.commit_document(&contexts).await
}

impl ContextOrigin {
    /// Tells whether two lines have the same origin.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let call = |origin: &Self| origin.edit.as_ref().map(|edit| edit.call.clone());
        (self.certainty, self.commit, self.grade) == (other.certainty, other.commit, other.grade)
            && call(self) == call(other)
    }
}

impl OriginStory {
    /// Returns the command that goes on from there.
    pub fn resume_command(&self) -> String {
        let id = self.commit.id.short();
        let writer = Runtime::of(&self.commit.commit.format).filter(|runtime| runtime.can_resume());
        match (writer, Runtime::resumable().next()) {
            // No agent wrote it, so one has to be chosen.
            (None, Some(agent)) => format!("ctx resume {id} --in {agent}"),
            _ => format!("ctx resume {id}"),
        }
    }
}

impl From<OriginStory> for StoryDocument {
    fn from(story: OriginStory) -> Self {
        let resume = story.resume_command();
        let OriginStory { certainty, commit, edit, grade, request, reasoning } = story;
        let edit = edit.map(EditDocument::from);
        Self { certainty, grade, context: commit.into(), request, reasoning, edit, resume }
    }
}

impl From<RecordingCommit> for GitCommitDocument {
    fn from(recording: RecordingCommit) -> Self {
        let RecordingCommit { commit, recorded, possible, unknown } = recording;
        let GitCommit { id, author, email, authored_at, committed_at, subject, parents, context: _, possible: _ } =
            commit;
        let id = id.to_string();
        Self { id, author, email, authored_at, committed_at, subject, parents, recorded, possible, unknown }
    }
}
