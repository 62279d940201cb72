//! Writing a conversation in a format, for a runtime that is to go on with it.

mod calls;
pub(crate) mod codex;
pub(crate) mod gemini;
mod ids;
mod lines;
pub(crate) mod pi;
mod plain_text;
mod provider;
mod times;

pub(crate) mod anthropic;
pub(crate) mod atif;
pub(crate) mod bureau;
pub(crate) mod claude;
pub(crate) mod events;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
pub(crate) mod opencode;
pub(crate) mod text;

#[cfg(test)]
mod samples;

use contexture_core::{Entry, Format, Timestamp};

use crate::{
    Framing, KnownFormat, NativePrefix,
    dialogue::{Dialogue, Losses},
};

/// The session that a conversation is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Id of the new session, a UUID.
    pub session: String,
    /// Directory that the agent will work in.
    pub directory: String,
    /// Branch of the repository there.
    pub branch: Option<String>,
    /// Version that the runtime is told it wrote the session with.
    pub version: Option<String>,
    /// The model to name where a format needs one and the conversation does not tell.
    pub model: Option<String>,
    /// Who serves the models that the session will go on with, where a format names that; Codex opens no session without.
    pub provider: Option<String>,
    /// What the session is called.
    pub title: Option<String>,
    /// When it is written. The last record carries this time.
    pub now: Timestamp,
}

/// The version of the rules by which conversations are read and written. What changes what a conversation becomes in some
/// format is a new one, so that nobody is given what older rules made.
pub const TRANSLATOR_VERSION: u32 = 1;

/// Who serves the models of Codex unless it is told otherwise.
pub const USUAL_PROVIDER: &str = "openai";

/// A conversation in a format.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedDialogue {
    /// The content: what a file of the runtime holds, or an array of messages.
    pub bytes: Vec<u8>,
    /// What it leaves out or changes of the dialogue; what the dialogue has lost itself comes on top.
    pub losses: Losses,
}

/// Writes one format.
///
/// Implemented once per format; translation calls it. An implementation must be deterministic: ids are derived from the
/// target's session and a counter, never drawn. What it writes must load in the runtime by the runtime's own rules.
pub trait Encoder: Send + Sync {
    /// How the records that it writes are told apart.
    fn framing(&self) -> Framing;

    /// Writes a whole session.
    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue;
}

/// Writes one format after records that are there.
///
/// Implemented for the formats of runtimes that append lines to a session; translation calls it. An implementation must
/// not write what a session begins with, nor an id that the records before have.
pub trait Appender: Send + Sync {
    /// Writes what follows the records of the prefix. The dialogue must be one that goes on.
    fn append(&self, dialogue: &Dialogue, target: &Target, prefix: &NativePrefix) -> EncodedDialogue;
}

/// Writes entries as they are, in a format that has a place for all that an entry can be.
pub type EntryWriter = fn(entries: &[Entry]) -> Vec<u8>;

/// Returns what writes a format, if anything does.
pub fn encoder(format: &Format) -> Option<&'static dyn Encoder> {
    KnownFormat::named(format)?.encoder
}

/// Returns what writes a format after records that are there, if anything does.
pub fn appender(format: &Format) -> Option<&'static dyn Appender> {
    KnownFormat::named(format)?.appender
}

/// Returns what writes entries in a format without changing them, if the format can hold them.
pub fn entry_writer(format: &Format) -> Option<EntryWriter> {
    KnownFormat::named(format)?.entry_writer
}

/// Tells whether what is written in a format is a session that its runtime goes on with, which tells its model of itself in
/// its own way.
pub fn is_session(format: &Format) -> bool {
    KnownFormat::named(format).is_some_and(|known| known.is_session)
}
