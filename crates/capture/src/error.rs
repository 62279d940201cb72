//! What can go wrong in capture, by what the caller can do about it.

use std::{io, path::PathBuf};

use contexture::{Coded, ErrorCode};

use crate::Runtime;

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
    /// Input or output failed.
    #[error("cannot {attempt}")]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// What the system said.
        source: io::Error,
    },
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
            Self::Io { .. } => ErrorCode::InputOutput,
        }
    }
}

fn why_no_place(runtime: Runtime) -> &'static str {
    if runtime.can_resume() { "there is no home directory" } else { "it goes on with none that others write" }
}
