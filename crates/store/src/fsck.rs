//! The checker: reads everything that a space holds and says what contradicts what.
//!
//! It reads page by page, each page on its own moment of the store, so it may run beside writers and its memory does not
//! grow with the store. A row that is broken is a [`FsckProblem`]; the check goes on behind it.

mod annotations;
mod artifacts;
mod channels;
mod checker;
mod commits;
mod envelopes;
mod heads;
mod journal;
mod large;
mod lines;
mod passages;
mod problem;
mod record;
mod renderings;
mod requests;
mod unreferenced;
mod withheld;

use std::{fmt, ops::AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use annotations::AnnotationFault;
pub use artifacts::ArtifactFault;
pub use channels::{ChannelFault, MessageFault};
pub use commits::CommitFault;
pub use envelopes::EnvelopeFault;
pub use heads::HeadFault;
pub use journal::JournalFault;
pub use lines::LineFault;
pub use passages::PassageFault;
pub use problem::FsckProblem;
pub use record::RecordFault;
pub use renderings::RenderingFault;
pub use requests::RequestFault;
pub use unreferenced::Unreferenced;

use crate::{Result, Scope, Store, event::EventRow, injection::StoredInjection, missing::StoredMissing};
use checker::StoreChecker;
use record::RecordScan;

/// Checks a space completely, and with it the database that holds all spaces.
///
/// Fails only when the store cannot be read at all. Takes time in proportion to what is stored and, for artifacts in
/// parts, to their whole size, because only the whole bytes can show that they have the whole digest.
pub async fn check(store: &Store, scope: &Scope, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<FsckReport> {
    let mut checker = StoreChecker::new(store, scope, progress);
    checker.engine().await?;
    checker.run(journal::Scan::default()).await?;
    checker.artifacts().await?;
    checker.run(lines::Scan::default()).await?;
    checker.run(commits::Scan::default()).await?;
    checker.run(heads::Scan::default()).await?;
    checker.run(heads::MoveScan::default()).await?;
    checker.run(annotations::Scan::default()).await?;
    checker.run(requests::Scan::default()).await?;
    checker.run(envelopes::Scan::default()).await?;
    checker.run(envelopes::ArtifactScan::default()).await?;
    checker.run(RecordScan::<StoredInjection>::default()).await?;
    checker.run(RecordScan::<StoredMissing>::default()).await?;
    checker.run(RecordScan::<EventRow>::default()).await?;
    checker.run(channels::Scan::default()).await?;
    checker.run(channels::MessageScan::default()).await?;
    checker.index().await?;
    checker.run(passages::Scan::default()).await?;
    checker.run(renderings::Scan::default()).await?;
    checker.unreferenced().await?;
    Ok(checker.into_report())
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FsckReport {
    /// How much was checked.
    pub checked: CheckedCounts,
    /// What is wrong, in the order it was found, at most [`FsckReport::MAX_PROBLEMS`].
    pub problems: Vec<FsckProblem>,
    /// How many further problems there are.
    pub problems_left_out: u64,
    /// Artifacts that nothing refers to, which is no problem; absent when damage kept them from being counted.
    pub unreferenced: Option<Unreferenced>,
}

/// How much a check looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedCounts {
    /// Artifacts.
    pub artifacts: u64,
    /// Bytes of content with the right digest; those of an artifact in parts count once, with its parts.
    pub bytes: u64,
    /// Those of the artifacts whose content was purged or did not come along, which is no problem.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u64,
    /// Commits.
    pub commits: u64,
    /// Lines.
    pub lines: u64,
    /// Heads.
    pub heads: u64,
    /// Moves of heads.
    pub head_moves: u64,
    /// Annotations.
    pub annotations: u64,
    /// Idempotency keys.
    pub requests: u64,
    /// Envelopes.
    pub envelopes: u64,
    /// Artifacts of envelopes, as often as envelopes refer to them.
    pub envelope_artifacts: u64,
    /// Injections.
    pub injections: u64,
    /// Missing context.
    pub missing: u64,
    /// Events.
    pub events: u64,
    /// Channels.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub channels: u64,
    /// Messages of channels.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages: u64,
    /// Journal records.
    pub journal_records: u64,
    /// Passages of the index that searches ask.
    pub passages: u64,
    /// Translations that are kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub renderings: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being checked.
    pub phase: Phase,
    /// Rows done in this phase.
    pub done: u64,
    /// Rows there are in this phase; at least `done`.
    pub total: u64,
}

/// What a check is at, in the order of the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The database engine's own check of its file.
    Engine,
    /// The journal.
    Journal,
    /// Artifacts.
    Artifacts,
    /// Lines.
    Lines,
    /// Commits.
    Commits,
    /// Heads.
    Heads,
    /// Moves of heads.
    HeadMoves,
    /// Annotations.
    Annotations,
    /// Idempotency keys.
    Requests,
    /// Envelopes.
    Envelopes,
    /// Artifacts of envelopes.
    EnvelopeArtifacts,
    /// Injections.
    Injections,
    /// Missing context.
    Missing,
    /// Events.
    Events,
    /// Channels.
    Channels,
    /// Messages of channels.
    Messages,
    /// Passages of the index that searches ask.
    Passages,
    /// Translations that are kept.
    Renderings,
    /// The search for artifacts that nothing refers to.
    Unreferenced,
}

impl FsckReport {
    /// Most problems that a report lists; the others are only counted.
    pub const MAX_PROBLEMS: usize = 1000;

    /// Tells whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    fn add(&mut self, problem: FsckProblem) {
        if self.problems.len() < Self::MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.problems_left_out += 1;
        }
    }
}

impl AddAssign for CheckedCounts {
    fn add_assign(&mut self, more: Self) {
        self.artifacts += more.artifacts;
        self.bytes += more.bytes;
        self.withheld += more.withheld;
        self.commits += more.commits;
        self.lines += more.lines;
        self.heads += more.heads;
        self.head_moves += more.head_moves;
        self.annotations += more.annotations;
        self.requests += more.requests;
        self.envelopes += more.envelopes;
        self.envelope_artifacts += more.envelope_artifacts;
        self.injections += more.injections;
        self.missing += more.missing;
        self.events += more.events;
        self.channels += more.channels;
        self.messages += more.messages;
        self.journal_records += more.journal_records;
        self.passages += more.passages;
        self.renderings += more.renderings;
    }
}

impl Phase {
    /// Returns the word or words for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "database",
            Self::Journal => "journal",
            Self::Artifacts => "artifacts",
            Self::Lines => "lines",
            Self::Commits => "commits",
            Self::Heads => "heads",
            Self::HeadMoves => "moves of heads",
            Self::Annotations => "annotations",
            Self::Requests => "idempotency keys",
            Self::Envelopes => "envelopes",
            Self::EnvelopeArtifacts => "artifacts of envelopes",
            Self::Injections => "injections",
            Self::Missing => "missing context",
            Self::Events => "events",
            Self::Channels => "channels",
            Self::Messages => "messages",
            Self::Passages => "passages",
            Self::Renderings => "renderings",
            Self::Unreferenced => "unreferenced artifacts",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
