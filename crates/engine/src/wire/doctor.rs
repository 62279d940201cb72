//! Whether all that agents said is in the store, as programs read it.

use std::{collections::BTreeMap, path::PathBuf};

use contexture_core::{GivenSessionId, Timestamp};
use contexture_store::inspect::StoreCondition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SkippedFile;

/// How everything is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// Whether nothing is wrong.
    pub healthy: bool,
    /// What is wrong, and what solves it.
    pub problems: Vec<HealthProblem>,
    /// Whether the store can be used.
    pub store: StoreHealth,
    /// Whether every session on disk is in the store.
    pub sessions: SessionsHealth,
    /// Whether agents tell of their work.
    pub hooks: Vec<HookHealth>,
    /// What waits for the store.
    pub spool: SpoolHealth,
    /// Sessions that were not ended.
    pub agents: AgentsHealth,
    /// What is about to be deleted.
    pub retention: RetentionHealth,
    /// What went wrong where nobody could be told.
    pub log: Vec<LoggedTrouble>,
    /// What was repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<RepairedCapture>,
}

/// Something that is not well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthProblem {
    /// What was looked at.
    pub check: HealthCheck,
    /// What is not well.
    pub what: String,
    /// The command that solves it, or says more.
    pub command: String,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthCheck {
    /// The store.
    Store,
    /// Sessions on disk.
    Sessions,
    /// Hooks of agents.
    Hooks,
    /// The spool.
    Spool,
    /// Agents at work.
    Agents,
    /// What agents delete.
    Retention,
    /// The log.
    Log,
}

/// How the store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreHealth {
    /// A directory, or a URL without its password.
    pub path: String,
    /// How it is.
    #[serde(flatten)]
    pub state: StoreState,
}

/// Whether a store can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StoreState {
    /// It can.
    Found {
        /// How it is.
        #[serde(flatten)]
        place: StoreCondition,
        /// What endangers what it has acknowledged.
        warnings: Vec<String>,
    },
    /// It cannot.
    Unusable {
        /// Why.
        problem: String,
    },
}

/// What sessions on disk hold that the store does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionsHealth {
    /// Whether sessions could be compared with the store.
    pub is_compared: bool,
    /// The sessions by runtime.
    pub runtimes: BTreeMap<String, SessionsTally>,
    /// The sessions that are not wholly in the store, by path.
    pub incomplete: Vec<IncompleteSession>,
    /// Files that are no sessions, or cannot be read.
    pub skipped: Vec<SkippedFile>,
}

/// The sessions of a runtime by how they are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionsTally {
    /// How many there are.
    pub sessions: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that are in the store.
    pub complete: u64,
    /// Those that are still being written, and not yet taken in to the end.
    pub live: u64,
    /// Those that hold more than the store.
    pub behind: u64,
    /// What those that are behind hold that was not taken in.
    pub unread: UnreadTail,
    /// Those of which nothing was taken in.
    pub never: u64,
    /// Those of which the store holds something else.
    pub different: u64,
    /// Those that cannot be read.
    pub unreadable: u64,
}

/// What a session holds that was not taken in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadTail {
    /// Bytes that an import would take in.
    pub bytes: u64,
    /// Lines in them.
    pub lines: u64,
}

/// A session that is not wholly in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IncompleteSession {
    /// How it is.
    #[serde(flatten)]
    pub state: SessionState,
    /// Its file.
    pub path: PathBuf,
    /// Whose it is.
    pub runtime: String,
    /// When it was last written.
    pub written: Option<Timestamp>,
}

/// How a session on disk is to the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SessionState {
    /// All of it is in the store.
    Complete,
    /// An agent is writing it: the rest comes with its next event.
    Live(UnreadTail),
    /// It has more than the store.
    Behind(UnreadTail),
    /// Nothing of it was taken in.
    Never,
    /// The store has something else.
    Different {
        /// The first byte that differs.
        at: u64,
    },
    /// It or what the store has of it cannot be read.
    Unreadable {
        /// Why.
        problem: String,
        /// Whether that is the store's fault.
        is_damage: bool,
    },
}

/// The hook of a runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookHealth {
    /// The runtime.
    pub runtime: String,
    /// The settings that ask for it.
    pub settings: Option<PathBuf>,
    /// Events that are not told.
    pub missing: Vec<String>,
    /// The program that is told of them, when it is not there.
    pub lost_program: Option<PathBuf>,
    /// When it was last called.
    pub fired: Option<HookCall>,
    /// Whether sessions went on without it.
    pub is_silent: bool,
}

/// A call of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCall {
    /// When.
    pub at: Timestamp,
    /// Because of what.
    pub event: String,
}

/// What waits for the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpoolHealth {
    /// Entries that wait.
    pub waiting: u64,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Entries that continue nothing that is known.
    pub kept: Vec<PathBuf>,
    /// Entries that wait for other stores.
    pub elsewhere: u64,
    /// Where they lie.
    pub directory: PathBuf,
}

/// The sessions of a store that were not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentsHealth {
    /// Sessions whose agents are there, or of which nobody knows.
    pub at_work: Vec<GivenSessionId>,
    /// Sessions whose agents are gone.
    pub gone: Vec<GivenSessionId>,
}

/// The sessions that are not wholly in the store and will be deleted, the first to go first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetentionHealth {
    /// Whether it is known what is in the store.
    pub is_known: bool,
    /// The sessions.
    pub expiring: Vec<ExpiringSession>,
}

/// A session that will be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpiringSession {
    /// Its file.
    pub path: PathBuf,
    /// Whose it is.
    pub runtime: String,
    /// When its runtime may delete it.
    pub at: Timestamp,
    /// Whether that is soon.
    pub is_soon: bool,
}

/// The same thing that went wrong so many times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedTrouble {
    /// What went wrong.
    pub problem: String,
    /// How many times.
    pub times: u64,
    /// When it did so last.
    pub last: Timestamp,
    /// During what.
    pub during: String,
    /// Whether all that was at stake went to the spool.
    pub is_spooled: bool,
    /// Whether all that was at stake is in the store.
    pub is_safe: bool,
}

/// What was repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairedCapture {
    /// What became of the entries of the spool.
    pub spool: Drained,
    /// Sessions whose agents were gone.
    pub closed: u64,
    /// Sessions that were taken in.
    pub sessions: u64,
    /// Commits that were made.
    pub new_commits: u64,
}

/// What became of the entries of a spool.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drained {
    /// Entries whose bytes the store holds now.
    pub taken: u64,
    /// Entries that continue nothing that is known: their session was rewritten. They are kept aside.
    pub kept: u64,
}

impl HealthCheck {
    /// Returns what people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Sessions => "sessions",
            Self::Hooks => "hooks",
            Self::Spool => "spool",
            Self::Agents => "agents",
            Self::Retention => "retention",
            Self::Log => "log",
        }
    }
}

impl HealthProblem {
    /// Says what is not well, and which command solves it.
    pub fn new(check: HealthCheck, what: impl Into<String>, command: impl Into<String>) -> Self {
        Self { check, what: what.into(), command: command.into() }
    }
}

impl SessionsTally {
    /// Counts one more session.
    pub fn add(&mut self, bytes: u64, state: &SessionState) {
        self.sessions += 1;
        self.bytes += bytes;
        match state {
            SessionState::Complete => self.complete += 1,
            SessionState::Live(_) => self.live += 1,
            SessionState::Behind(UnreadTail { bytes, lines }) => {
                self.behind += 1;
                self.unread.bytes += bytes;
                self.unread.lines += lines;
            }
            SessionState::Never => self.never += 1,
            SessionState::Different { .. } => self.different += 1,
            SessionState::Unreadable { .. } => self.unreadable += 1,
        }
    }

    /// Adds the sessions of another.
    pub fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.bytes += other.bytes;
        self.complete += other.complete;
        self.live += other.live;
        self.behind += other.behind;
        self.unread.bytes += other.unread.bytes;
        self.unread.lines += other.unread.lines;
        self.never += other.never;
        self.different += other.different;
        self.unreadable += other.unreadable;
    }
}
