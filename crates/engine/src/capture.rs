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
mod reading;
mod registry;
mod runtime;
mod spool;
mod steps;
mod verify;

pub use detect::{NotASession, by_start as detect_start, detect};
pub use discover::{
    Found, Homes, Place, agent_of, agent_transcripts, discover, find_session, is_document, places, session_files,
    touched,
};
pub use document::MAX_DOCUMENT_BYTES;
pub use import::{BadLine, FileOutcome, ImportSettings, ImportedFile, Occasion};
pub use links::Linked;
pub use many::SessionFile;
pub use registry::{LiveSession, OpenCall, Process, Registry};
pub use runtime::{Runtime, SessionName};
pub use spool::{Drained, Spool};
pub use verify::{Depth, Unread, Verified};
