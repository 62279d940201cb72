//! What goes over a wire or to `--json`: defined once, with the version of its shape.

use contexture_core::{Annotations, ArtifactId, Commit, CommitId, Entry, Format, HeadName, Noted};
use contexture_store::commit::StoredCommit;
use serde::Serialize;

/// Version of every document's shape.
pub const SCHEMA: &str = "contexture/1";

/// A document: its body and the version of its shape.
#[derive(Debug, Clone, Serialize)]
pub struct Document<T> {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The fields.
    #[serde(flatten)]
    pub body: T,
}

/// A commit with everything that is known of it.
#[derive(Debug, Clone, Serialize)]
pub struct CommitDocument {
    /// Its id.
    pub id: CommitId,
    /// Its record.
    #[serde(flatten)]
    pub commit: Commit,
    /// Sequence number of its creation in the journal.
    pub seq: u64,
    /// How many commits come before it.
    pub depth: u64,
    /// What is said about it.
    #[serde(flatten)]
    pub annotations: Annotations,
    /// The heads that point to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<HeadName>,
    /// Everything that was ever said about it, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotation_history: Vec<Noted>,
}

/// Something that a commit says.
#[derive(Debug, Clone, Serialize)]
pub struct EntryDocument {
    /// The commit.
    pub commit: CommitId,
    /// What it says.
    #[serde(flatten)]
    pub body: EntryBody,
}

/// What a commit says, as far as it is understood.
#[derive(Debug, Clone, Serialize)]
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

impl<T> Document<T> {
    /// Puts the version on a body.
    pub fn new(body: T) -> Self {
        Self { schema: SCHEMA, body }
    }
}

impl From<StoredCommit> for CommitDocument {
    fn from(stored: StoredCommit) -> Self {
        let StoredCommit { id, commit, seq, depth, annotations, .. } = stored;
        Self { id, commit, seq, depth, annotations, heads: Vec::new(), annotation_history: Vec::new() }
    }
}
