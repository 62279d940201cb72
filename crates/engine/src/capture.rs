//! Capture: from the files that runtimes write to chains of commits.

mod detect;
mod discover;
mod import;
mod input;
mod lines;
mod steps;
mod verify;

pub use detect::{NotASession, detect};
pub use discover::{Found, Homes, discover, session_files};
pub use import::{BadLine, FileOutcome, ImportSettings, ImportedFile};
pub use verify::Verified;
