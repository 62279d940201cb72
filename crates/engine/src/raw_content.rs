//! What could not be read, handed out as it is with a description.

use contexture_core::{ArtifactId, CommitId};
use contexture_formats::{self as formats, ContentDescription};
use contexture_store::commit::StoredCommit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Content that could not be read: what it is, and where its bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawContent {
    /// What it is and how to read it.
    #[serde(flatten)]
    pub description: ContentDescription,
    /// Where it is, in the order of the chain.
    pub artifacts: Vec<RawArtifact>,
}

/// Where content is that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawArtifact {
    /// The commit whose content it is.
    pub commit: CommitId,
    /// The artifact that holds it.
    pub artifact: ArtifactId,
    /// How many bytes it has.
    pub bytes: u64,
}

/// Takes in content that could not be read and returns what a model is told of it. What it is, is told once of all that are
/// the same.
pub(crate) fn hand_out(handed_out: &mut Vec<RawContent>, commit: &StoredCommit, bytes: u64, first: &[u8]) -> String {
    let (id, artifact, format) = (commit.id, commit.commit.artifact, &commit.commit.format);
    let place =
        format!("{bytes} bytes in the format {format}, checked in as {id}; `ctx artifact get {artifact}` gives them");
    let description = formats::describe(format, first);
    let raw = RawArtifact { commit: id, artifact, bytes };
    if let Some(known) = handed_out.iter_mut().find(|known| known.description == description) {
        known.artifacts.push(raw);
        return format!("[{place}]");
    }
    let ContentDescription { what, framing, reading, .. } = &description;
    let note = format!("[{place}]\n[what it is: {what}; its records: {framing}; how to read it: {reading}]");
    handed_out.push(RawContent { description, artifacts: vec![raw] });
    note
}
