//! Capture: from the files that runtimes write to chains of commits.

pub(crate) mod adopt;
mod detect;
mod discover;
mod document;
mod fork;
mod import;
mod input;
mod lines;
mod links;
mod many;
pub mod opencode;
mod runtime;
mod steps;
mod verify;

pub use detect::{NotASession, by_start as detect_start, detect};
pub use discover::{Found, Homes, discover, is_document, session_files};
pub use document::MAX_DOCUMENT_BYTES;
pub use import::{BadLine, FileOutcome, ImportSettings, ImportedFile};
pub use links::Linked;
pub use many::SessionFile;
pub use runtime::{Runtime, SessionName};
pub use verify::Verified;
