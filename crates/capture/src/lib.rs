//! Capture: from the files that runtimes write to chains of commits, and from chains to sessions that a runtime goes on with.
//!
//! [`Capture`] is to session files what [`contexture::Contexture`] is to a store; every operation is one of its methods.

mod error;
mod file_stamp;
mod handle;

mod activities;
mod adopt;
mod config;
mod database;
mod detect;
mod discover;
mod fork;
mod git;
mod health;
mod held_document;
mod import;
mod import_files;
mod input;
mod interval;
mod lines;
mod links;
mod live;
mod origin;
mod reading;
mod reading_budget;
mod registry;
mod rescue;
mod resume;
mod role;
mod run;
mod runtime;
mod search;
mod spool;
mod steps;
mod storing_record;
mod verify;

pub use activities::SessionActivities;
pub use config::{CaptureConfig, PostgresLogin};
pub use database::{DatabaseEntry, DatabaseError, DatabaseSession, sessions_in as database_sessions};
pub use detect::{NotASession, by_start as detect_start, detect};
pub use discover::{
    DiscoveredFile, SessionPlace, agent_of, agent_transcripts, discover, find_session, is_document, places,
    session_files, touched,
};
pub use error::{Error, PossibleSession, PossibleSessions, Result};
pub use file_stamp::{KnownFile, KnownFiles};
pub use git::{
    AMBIGUOUS_TRAILER, ASSISTED_TRAILER, BlamedLine, CONTEXT_TRAILER, ContextualCommit, FileChange, Git, GitCommit,
    GitId, GitRefusal, GitRepository, MessageTrailers, add_context_trailer,
};
pub use handle::Capture;
pub use health::{ComparedSession, ComparisonTerms, OpenSessions, SessionCompleteness};
pub use held_document::MAX_DOCUMENT_BYTES;
pub use import::{BadLine, CaptureReason, FileOutcome, ImportSettings, ImportedFile};
pub use import_files::SessionFile;
pub use interval::{CheckpointInterval, CheckpointIntervalError};
pub use links::Linked;
pub use live::{
    BoundSession, CurrentRequest, Deadline, DeclaredSession, HookCaller, HookInput, HookSeen, KeptSession, Recorded,
    Recorder, SessionLookup, Sighting, Trouble, TroubleLog, Watchdog, current, nearest_agent, own_process,
};
pub use origin::{
    AgentTrace, AgentTraceContributor, AgentTraceConversation, AgentTraceFile, AgentTraceLink, AgentTraceMetadata,
    AgentTraceRange, AgentTraceRevision, AgentTraceTool, BlamedFile, CommitContexts, CommitSubject,
    ContextContribution, ContextOrigin, ContributorKind, IndexProgress, LineOrigin, LineRun, LineSubject, LineTarget,
    OriginFinder, OriginSources, OriginStory, RangeEvidence, RecordingCommit, UnclearContribution, Untraced,
    why_commit, why_lines,
};
pub use registry::{LiveSession, OpenCall, Process, Registry};
pub use rescue::RescuedSessions;
pub use resume::{ResumePoint, ResumeRequest, ResumedSession};
pub use role::role_of;
pub use run::{
    CheckpointSchedule, CurrentAnswer, CurrentQuestioner, MadeCheckpoint, NoCheckpoint, PrintedOutput, ResumedRun,
    RunCheckpoint, RunPlan, RunRecorder, RunSocket, RunStart, RunTask, RunTasks, Tap, TaskOutcome,
};
pub use runtime::{
    CheckpointMoment, Dialect, Homes, HookEvent, HookExtension, HookMoment, HookRegistration, ResumeCommand, Runtime,
    RuntimeHooks, SessionName, StreamEvent,
};
pub use search::{
    FoundImport, SessionCandidate, SessionFindings, SessionOwner, SessionSearch, SkipReason, SkippedSession,
    WantedSessions,
};
pub use spool::{Drained, Spool, SpooledPiece};
pub use verify::{Depth, UnreadTail, Verified, unread_after};
