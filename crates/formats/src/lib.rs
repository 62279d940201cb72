//! Pure rules of transcript formats: what is well formed, how parts join, what records mean, how a conversation is
//! written.
//!
//! Nothing here does I/O or reads a clock. Content arrives in slices of any size. What checks and joins keeps nothing of
//! it, so its memory does not grow with an artifact, nor with its longest line or element; what reads records keeps one.

mod known_format;
mod rule;
mod runtime_note;

mod error;
mod measure;

mod scan;
mod sections;
mod utf8;

mod cbor;
mod json;
mod json_array;
mod lines;

mod check;
mod glue;
mod join;
mod summary;

pub mod codec;
pub mod dialogue;
pub mod edit;
pub mod encode;
mod media;
mod read;
mod records;
mod replay;
mod session;
pub mod thread;

mod description;
mod display;
mod native_prefix;

pub use check::Checker;
pub use codec::{Codec, Framing, codec};
pub use description::{ContentDescription, DESCRIBED_BYTES, describe};
pub use dialogue::Dialogue;
pub use display::{DisplayItem, display_items};
pub use encode::{
    Appender, EncodedDialogue, Encoder, EntryWriter, TRANSLATOR_VERSION, Target, USUAL_PROVIDER, appender, encoder,
    entry_writer, is_session,
};
pub use error::{ContentPosition, FormatError, RecordProblem};
pub use glue::Glue;
pub use join::{Ending, JoinError, JoinPlan, Joined, Joiner};
pub use known_format::{KnownFormat, known};
pub use measure::Measure;
pub use native_prefix::NativePrefix;
pub use read::{Reading, read};
pub use records::{RawRecord, Splitter};
pub use replay::Replay;
pub use rule::Concatenation;
pub use sections::SectionRule;
pub use session::Renamer;
pub use summary::summary_entry;

/// Deepest nesting of arrays, objects, maps and tags that is accepted, the outermost included.
///
/// Real transcripts stay below 20. The bound keeps memory fixed and protects readers that recurse.
pub const MAX_DEPTH: usize = 1024;
