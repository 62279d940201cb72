//! What commits say, as programs read it.

use std::sync::Arc;

use contexture_core::{ArtifactId, CommitId, Entry, Format};
use contexture_formats::{DisplayItem, display_items};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CommitContent, ContentMeaning, WithheldContent};

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
    /// Nothing, because the content was purged or did not come along.
    Withheld {
        /// What is known of it.
        withheld: WithheldContent,
    },
}

impl EntryDocument {
    /// Tells what a commit says, entry by entry.
    pub fn all_of(content: CommitContent) -> Vec<Self> {
        let CommitContent { commit, size, said, withheld } = content;
        let (format, artifact) = (commit.commit.format, commit.commit.artifact);
        let bodies = match said {
            ContentMeaning::Steps { steps, .. } => {
                let entry = |item| match item {
                    DisplayItem::Entry(entry) => Some(EntryBody::Entry(entry)),
                    DisplayItem::Rewind(_) => None,
                };
                display_items(steps).into_iter().filter_map(entry).collect()
            }
            ContentMeaning::Text { text, left_out } => vec![EntryBody::Text { format, text, left_out }],
            ContentMeaning::Opaque { .. } => vec![EntryBody::Opaque { format, artifact, size }],
            ContentMeaning::Withheld => {
                let body = |content: Arc<WithheldContent>| EntryBody::Withheld { withheld: (*content).clone() };
                withheld.into_iter().map(body).collect()
            }
        };
        bodies.into_iter().map(|body| Self { commit: commit.id, body }).collect()
    }
}
