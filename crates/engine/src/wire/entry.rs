//! What commits say, as programs read it.

use contexture_core::{ArtifactId, CommitId, Entry, Format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that a commit says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntryDocument {
    /// The commit.
    pub commit: CommitId,
    /// What it says.
    #[serde(flatten)]
    pub body: EntryBody,
}

/// What a commit says, as far as it is understood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EntryBody {
    /// A message.
    Entry(Box<Entry>),
    /// Text in a format that is not understood.
    Text {
        /// The format.
        format: Format,
        /// The text, without its middle when it is long.
        text: String,
        /// How many characters were left out.
        left_out: u64,
    },
    /// Content that is neither.
    Opaque {
        /// The format.
        format: Format,
        /// The content.
        artifact: ArtifactId,
        /// How many bytes it has.
        size: u64,
    },
}
