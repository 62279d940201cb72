//! What a translation loses, counted by kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a translation left out or changed, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Losses(Vec<LossCount>);

/// How often something was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LossCount {
    /// What.
    pub loss: LossKind,
    /// How often.
    pub count: u64,
}

/// What a translation can lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Reasoning that only its provider can read was left out.
    SealedThinking,
    /// Reasoning became plain text, because the target cannot verify where it comes from.
    ThinkingAsText,
    /// A call had no result and was given one that says so.
    ResultInvented,
    /// A result had no call and became text.
    ResultAsText,
    /// An image or document became a note.
    BlobAsNote,
    /// Something that only the source's runtime understands was left out.
    NativePart,
    /// A message of the runtime that no model ever saw was left out.
    SyntheticMessage,
    /// Instructions in the middle of the conversation became a user's text.
    SystemAsUser,
    /// The name of a tool was changed to one that the target accepts.
    ToolRenamed,
    /// The id of a call was changed to one that the target accepts.
    IdChanged,
    /// What a tool was given was put into an object, because the target takes named values only.
    InputWrapped,
    /// What a tool was given or answered, or what the model thought, was cut to a bound.
    Clipped,
    /// An opening was put before a conversation that starts with an answer.
    OpeningInvented,
    /// A record that is broken was left out.
    RecordUnreadable,
    /// Content that is neither understood nor text became a note that says where it is.
    ContentAsNote,
    /// Content that was purged, or did not come along, was left out, or a note says so.
    ContentWithheld,
    /// Content is shown without a part that was purged or did not come along.
    PartWithheld,
}

impl LossKind {
    /// Returns the word that reports use for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SealedThinking => "sealed_thinking",
            Self::ThinkingAsText => "thinking_as_text",
            Self::ResultInvented => "result_invented",
            Self::ResultAsText => "result_as_text",
            Self::BlobAsNote => "blob_as_note",
            Self::NativePart => "native_part",
            Self::SyntheticMessage => "synthetic_message",
            Self::SystemAsUser => "system_as_user",
            Self::ToolRenamed => "tool_renamed",
            Self::IdChanged => "id_changed",
            Self::InputWrapped => "input_wrapped",
            Self::Clipped => "clipped",
            Self::OpeningInvented => "opening_invented",
            Self::RecordUnreadable => "record_unreadable",
            Self::ContentAsNote => "content_as_note",
            Self::ContentWithheld => "content_withheld",
            Self::PartWithheld => "part_withheld",
        }
    }
}

impl Losses {
    /// Notes one more.
    pub fn add(&mut self, loss: LossKind) {
        self.add_many(loss, 1);
    }

    /// Notes several more.
    pub fn add_many(&mut self, loss: LossKind, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|known| known.loss == loss) {
            Some(known) => known.count += count,
            None => self.0.push(LossCount { loss, count }),
        }
    }

    /// Adds those of another.
    pub fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|LossCount { loss, count }| self.add_many(*loss, *count));
    }

    /// Returns all kinds with their counts.
    pub fn counts(&self) -> &[LossCount] {
        &self.0
    }
}
