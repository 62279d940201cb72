//! What can go wrong in capture, by what the caller can do about it.

use std::{fmt, io, path::PathBuf};

use contexture::{
    Coded, ErrorCode, LocationError,
    core::{CommitId, Format, GivenSessionId, Principal, Timestamp},
    wire,
};

use crate::{Runtime, Untraced};

/// Result of a capture.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a session was not taken in, compared or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine refused or failed.
    #[error(transparent)]
    Engine(#[from] contexture::Error),
    /// Other programs took in the same session again and again.
    #[error("other programs are taking in {path} at the same time")]
    Overtaken {
        /// The session.
        path: PathBuf,
    },
    /// It is not known where a runtime looks for sessions.
    #[error("it is not known where {} keeps its sessions, because {}", runtime.title(), why_no_place(*runtime))]
    NoPlace {
        /// The runtime.
        runtime: Runtime,
    },
    /// What live capture remembers cannot be kept.
    #[error("cannot keep what is known of the sessions that go on")]
    State(#[source] io::Error),
    /// The list of sessions says of no store where it is.
    #[error("cannot use what the session says as a store")]
    Location(#[source] LocationError),
    /// No session has that name.
    #[error("there is no session {name:?}")]
    NoSession {
        /// The name.
        name: String,
    },
    /// Several sessions may be the caller's.
    #[error("several sessions may be meant: {candidates}")]
    SeveralSessions {
        /// All that remain possible.
        candidates: PossibleSessions,
    },
    /// Nothing of a session is in the store.
    #[error("nothing of the session {session} is written down yet")]
    NothingCaptured {
        /// The session.
        session: GivenSessionId,
    },
    /// A session could not be stored.
    #[error("the session cannot be stored now, so nothing names what it holds: {problem}")]
    NotStored {
        /// Why not.
        problem: String,
    },
    /// A principal had not made a commit by then.
    #[error("{principal} has no commit at or before {at}")]
    NothingKnown {
        /// The principal.
        principal: Principal,
        /// The time.
        at: Timestamp,
    },
    /// Nothing tells which agent is to go on.
    #[error("{commit} comes from no agent that can go on with it: its format is {format}")]
    NoRuntime {
        /// The commit.
        commit: CommitId,
        /// Its format.
        format: Format,
    },
    /// Nothing can be waited for.
    #[error("cannot start")]
    Executor(#[source] io::Error),
    /// Something cannot be led back to its context.
    #[error(transparent)]
    Untraced(#[from] Untraced),
    /// A piece of a session does not continue what is known of it.
    #[error("the piece of {} does not continue what is known", path.display())]
    Discontinuous {
        /// The session.
        path: PathBuf,
    },
    /// A file or directory that somebody named cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that is said to be the transcript of a session is something else.
    #[error("{} is no transcript of {}", path.display(), runtime.title())]
    NotATranscript {
        /// The file.
        path: PathBuf,
        /// Whose transcript it should be.
        runtime: Runtime,
    },
    /// Input or output failed.
    #[error("cannot {attempt}")]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// A session that may be the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleSession {
    /// The session.
    pub session: GivenSessionId,
    /// The commit that it is at, if anything of it is stored.
    pub commit: Option<CommitId>,
}

/// All sessions that may be the caller's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleSessions(pub Vec<PossibleSession>);

impl fmt::Display for PossibleSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, PossibleSession { session, commit }) in self.0.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            match commit {
                Some(commit) => write!(f, "{comma}{session} at {commit}")?,
                None => write!(f, "{comma}{session}, of which nothing is here")?,
            }
        }
        Ok(())
    }
}

impl From<contexture::StoreError> for Error {
    fn from(error: contexture::StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for Error {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Engine(error) => error.code(),
            Self::Overtaken { .. } => ErrorCode::Overtaken,
            Self::NoPlace { .. } => ErrorCode::NoPlace,
            Self::State(_) => ErrorCode::CannotKeepState,
            Self::Location(source) => source.code(),
            Self::NoSession { .. } => ErrorCode::NoSession,
            Self::SeveralSessions { .. } => ErrorCode::SeveralSessions,
            Self::NothingCaptured { .. } => ErrorCode::NothingCaptured,
            Self::NotStored { .. } => ErrorCode::NotStored,
            Self::NothingKnown { .. } => ErrorCode::NothingKnown,
            Self::NoRuntime { .. } => ErrorCode::NoRuntime,
            Self::Executor(_) => ErrorCode::CannotStart,
            Self::Untraced(untraced) => untraced.code(),
            Self::Unreadable { .. } | Self::NotATranscript { .. } => ErrorCode::CannotRead,
            Self::Discontinuous { .. } | Self::Io { .. } => ErrorCode::InputOutput,
        }
    }
}

fn why_no_place(runtime: Runtime) -> &'static str {
    if runtime.can_resume() { "there is no home directory" } else { "it goes on with none that others write" }
}

impl Error {
    /// Returns what failed and why, in one line, without what was said already.
    pub fn in_one_line(&self) -> String {
        let parts: Vec<String> = std::iter::once(self.to_string()).chain(wire::causes(self)).collect();
        parts.join(": ")
    }
}
