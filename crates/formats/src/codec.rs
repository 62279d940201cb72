//! Codecs: what the records of a format mean, and how a conversation is written in it.
//!
//! A session is a sequence of records: the lines of a file, the elements of an array, or one document. A codec looks at
//! one record at a time and keeps nothing, so sessions of any length are read in bounded memory, and what it does not
//! understand it hands on as it is.

mod bounded;
mod content_blocks;
mod line_codec;
mod loose_blocks;
mod spoken_text;
mod tolerant_json;

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod codex_exec;
pub(crate) mod copilot;
pub(crate) mod crush;
pub(crate) mod cursor;
pub(crate) mod cursor_chat;
pub(crate) mod droid;
pub(crate) mod dsh;
pub(crate) mod entire;
pub(crate) mod events;
pub(crate) mod gemini;
pub(crate) mod gemini_stream;
pub(crate) mod kiro;
pub(crate) mod kiro_chat;
pub(crate) mod pi;
pub(crate) mod pi_stream;

mod anthropic_content;
pub(crate) mod openai_calls;
pub(crate) mod response_item;

pub(crate) mod aider;
pub(crate) mod anthropic;
pub(crate) mod atif;
pub(crate) mod bureau;
pub(crate) mod claude_stream;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
pub(crate) mod opencode;
pub(crate) mod specstory;
pub(crate) mod swe_agent;

use contexture_core::{Entry, Format, Timestamp};

pub use bounded::{
    MAX_DOCUMENT_BYTES, MAX_RECORD_BYTES, MAX_VALUES, count_values, holds_too_much, without_byte_order_mark,
};

pub(crate) use bounded::BoundedCodec;

use crate::{
    KnownFormat, RecordProblem,
    cbor::{self, Major},
    glue::Glue,
    sections::SectionRule,
};

/// How the records of a format are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Each line is one.
    Lines,
    /// Each element of a JSON array is one.
    JsonArray,
    /// Each element of a CBOR array is one.
    CborArray,
    /// The whole content is one.
    Document,
    /// Each section of a text is one.
    Sections(SectionRule),
}

impl Framing {
    /// Returns what comes before so many records that are a session by themselves.
    pub fn opening(self, records: u64) -> Glue {
        match self {
            Self::JsonArray => Glue::new(b"["),
            Self::CborArray => cbor::head(Major::Array, records),
            Self::Lines | Self::Document | Self::Sections(_) => Glue::NONE,
        }
    }

    /// Returns what comes between two records. Lines have their own ends.
    pub fn separator(self) -> Glue {
        match self {
            Self::JsonArray => Glue::new(b","),
            Self::CborArray | Self::Lines | Self::Document | Self::Sections(_) => Glue::NONE,
        }
    }

    /// Returns what comes after the last record.
    pub fn closing(self) -> Glue {
        match self {
            Self::JsonArray => Glue::new(b"]"),
            Self::CborArray | Self::Lines | Self::Document | Self::Sections(_) => Glue::NONE,
        }
    }
}

/// Reads the records of one format.
///
/// Implemented once per format; replay and import call it. An implementation must never panic, whatever the bytes, and
/// must give an unknown record an outline and a step that say so instead of an error: an error is for bytes that are no
/// record at all.
pub trait Codec: Send + Sync {
    /// How its records are told apart.
    fn framing(&self) -> Framing;

    /// Tells what a record is to its session, without building its entries: import does this for every line.
    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem>;

    /// Tells what a record says and what that does to the conversation so far.
    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem>;
}

/// What a record is to its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Its id, unique in the session and in every copy of it.
    pub id: Option<String>,
    /// What it follows.
    pub link: Link,
    /// The conversation beside the main one that it belongs to.
    pub lane: Option<String>,
    /// When it was written.
    pub at: Option<Timestamp>,
    /// What it marks in the course of the conversation.
    pub mark: RecordMark,
    /// Whether it carries the summary that a compaction puts in the place of the conversation.
    pub has_summary: bool,
    /// Whether a model speaks here, where a compaction may be announced and its summary not come.
    pub is_answer: bool,
    /// The record that its runtime says the session is at, when it says so.
    pub leaf: Option<String>,
    /// What it tells about its session.
    pub facts: Facts,
}

/// What a record follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Link {
    /// The record before it, because the format has no other order.
    #[default]
    Previous,
    /// Nothing: a conversation begins, or begins anew.
    Root,
    /// The record with this id.
    To(String),
}

/// What a record marks in the course of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RecordMark {
    /// Nothing.
    #[default]
    None,
    /// Somebody asks: a turn begins. With the words, as far as they are at hand, for a title.
    Turn(Option<String>),
    /// All before it is replaced by a summary; the id of the last record before, where the runtime says so.
    Compaction {
        /// The last record that was summed up.
        after: Option<String>,
    },
    /// What came after a point is taken back.
    Rewind(Rewind),
}

/// How far back a conversation goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewind {
    /// To before the record with this id; to the beginning when there is none.
    Before(String),
    /// To before the last so many turns.
    Turns(u64),
}

/// What a record tells about its session. Later records add to earlier ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The session's id.
    pub session: Option<String>,
    /// The session that this one goes on from or was started by.
    pub origin: Option<SessionOrigin>,
    /// Version of the runtime.
    pub version: Option<String>,
    /// Directory that the agent works in.
    pub directory: Option<String>,
    /// Branch of the repository there.
    pub branch: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What the session is called.
    pub title: Option<String>,
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOrigin {
    /// The other session.
    pub session: String,
    /// What it is to this one.
    pub kind: OriginKind,
    /// The record or tool call there after which this one starts.
    pub at: Option<String>,
}

/// What another session is to the one that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginKind {
    /// This one continues a copy of it.
    Fork,
    /// It started this one to do part of its work.
    Parent,
}

/// What a record does to the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordStep {
    /// How its entries change what a model sees.
    pub effect: Effect,
    /// Its entries.
    pub entries: Vec<Entry>,
}

/// How entries change what a model sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Not at all: the record is about the session, or for its screen.
    Nothing,
    /// They come after everything else.
    Append,
    /// They go on where the last entry stopped, in the middle of a text, if the same side speaks; otherwise they come after
    /// everything else.
    Continue,
    /// Each takes the place of the entry with its id, or comes after everything else when there is none.
    Upsert,
    /// What follows takes the place of everything before. What is kept comes after the first entry that follows.
    Boundary(Keep),
    /// They take the place of everything before, except what is kept, which follows them.
    Replace(Keep),
    /// They come after what is left once the conversation has gone back.
    Rewind(Rewind),
}

/// What a compaction keeps of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// Everything from the entry with this id on.
    From(String),
    /// The entries with these ids.
    Ids(Vec<String>),
    /// The entries whose ids are not numbers from the one to the other.
    Outside {
        /// The first number that goes.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// What the user said.
    Users,
}

impl RecordStep {
    /// A step that does nothing to the conversation.
    pub fn nothing() -> Self {
        Self { effect: Effect::Nothing, entries: Vec::new() }
    }

    /// A step of a document that holds all of its conversation: what earlier versions of it said is said again.
    pub(crate) fn whole(entries: Vec<Entry>) -> Self {
        if entries.is_empty() { Self::nothing() } else { Self { effect: Effect::Replace(Keep::Nothing), entries } }
    }

    /// A step that adds one entry.
    pub fn append(entry: Entry) -> Self {
        Self { effect: Effect::Append, entries: vec![entry] }
    }
}

/// Returns the codec of a format, if it is understood. It reads no record that would take much more room than usual.
pub fn codec(format: &Format) -> Option<&'static dyn Codec> {
    KnownFormat::named(format)?.codec
}
