//! Pure rules of transcript formats: what is well formed, how parts join, what records mean, how a conversation is
//! written.
//!
//! Nothing here does I/O or reads a clock. Content arrives in slices of any size. What checks and joins keeps nothing of
//! it, so its memory does not grow with an artifact, nor with its longest line or element; what reads records keeps one.

mod rule;

mod error;
mod measure;

mod lenient;
mod scan;
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
mod told;

mod lead;

pub use check::Checker;
pub use codec::{Codec, Framing, codec};
pub use dialogue::Dialogue;
pub use encode::{Appender, Encoded, Encoder, Target, appender, encoder};
pub use error::{FormatError, Place, RecordProblem};
pub use glue::Glue;
pub use join::{Ending, JoinError, JoinPlan, Joined, Joiner};
pub use lead::Lead;
pub use measure::Measure;
pub use read::{Reading, read};
pub use records::{Record, Splitter};
pub use replay::Replay;
pub use rule::{Concatenation, KnownFormat, known};
pub use session::Renamer;
pub use summary::summary_entry;
pub use told::{Told, told};

/// Deepest nesting of arrays, objects, maps and tags that is accepted, the outermost included.
///
/// Real transcripts stay below 20. The bound keeps memory fixed and protects readers that recurse.
pub const MAX_DEPTH: usize = 1024;
