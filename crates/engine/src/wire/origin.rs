//! From lines and git commits to the contexts that made them, as programs read it.

use contexture_core::{CommitId, Timestamp};
use contexture_formats::edit::Line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CommitDocument;
use crate::{FoundEdit, MatchGrade, Nearness, Reasoning, Request};

/// Lines of a file that follow each other and have one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlamedLines {
    /// The file, as it was named.
    pub file: String,
    /// The number of the first line.
    pub first_line: u64,
    /// The number of the last line.
    pub last_line: u64,
    /// The lines.
    pub lines: Vec<String>,
    /// The git commit that they came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommitDocument>,
    /// All contexts that may have made them, when it cannot be told which did; then no context is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<StoryDocument>,
    /// The context that made them, if one is found.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub story: Option<StoryDocument>,
}

/// The contexts that made a git commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitOrigin {
    /// The git commit.
    pub git: GitCommitDocument,
    /// What it changes.
    pub files: Vec<ChangedFile>,
    /// The contexts, those of most lines first.
    pub contexts: Vec<CommitContribution>,
    /// Lines of which it cannot be told which context made them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous: Vec<AmbiguousContribution>,
}

/// Lines of a git commit that several contexts may have made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AmbiguousContribution {
    /// The files that the lines are in.
    pub files: Vec<String>,
    /// How many lines it is about; none when no edit is known and only the commit names the contexts.
    pub lines: u64,
    /// The contexts.
    pub candidates: Vec<StoryDocument>,
}

/// What a context did for a git commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitContribution {
    /// The files that it made lines of.
    pub files: Vec<String>,
    /// How many lines of the commit it made, as far as its edits are known.
    pub lines: u64,
    /// The context and why it is the one.
    #[serde(flatten)]
    pub story: StoryDocument,
}

/// A git commit and what it records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GitCommitDocument {
    /// Its id, as git writes it.
    pub id: String,
    /// The name of its author.
    pub author: String,
    /// The address of its author.
    pub email: String,
    /// When it was written.
    pub authored_at: Timestamp,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// How many commits it follows; a merge follows several.
    pub parents: usize,
    /// The contexts that it names and that are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<CommitId>,
    /// The contexts that it says it may come from and that are here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<CommitId>,
    /// What it names that is not here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A file that a git commit changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// From the top of the working tree.
    pub path: String,
    /// How many lines come in; nothing for a file without lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// How many lines go; nothing for a file without lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

/// A context and why it is the one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoryDocument {
    /// How sure that is.
    pub certainty: Certainty,
    /// How the text agrees with what the call wrote, where an edit is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<MatchGrade>,
    /// The context.
    pub context: CommitDocument,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// What the model said or thought before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// The call that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<EditDocument>,
    /// The command that goes on from there.
    pub resume: String,
}

/// How sure it is that a context made something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The git commit names it.
    Recorded,
    /// A tool call in it wrote the text; the grade says how the text agrees with that.
    EditFound,
    /// It is one of several that may have made it, and nothing says which did.
    Ambiguous,
}

/// A call that changed a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditDocument {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// When it was called.
    pub at: Timestamp,
    /// The file, as the call names it.
    pub path: Option<String>,
    /// Whether that is the file.
    pub nearness: Nearness,
    /// The lines, each with `+`, `-` or a space before it, or as they tell the place.
    pub change: Vec<String>,
}

impl Certainty {
    /// Returns what people call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::EditFound => "edit found",
            Self::Ambiguous => "ambiguous",
        }
    }
}

impl From<FoundEdit> for EditDocument {
    fn from(found: FoundEdit) -> Self {
        let FoundEdit { call, tool, at, edit, nearness, .. } = found;
        Self { call, tool, at, path: edit.path, nearness, change: edit.lines.into_iter().map(signed).collect() }
    }
}

fn signed(line: Line) -> String {
    match line {
        Line::Added(text) => format!("+{text}"),
        Line::Removed(text) => format!("-{text}"),
        Line::Same(text) => format!(" {text}"),
        Line::Place(text) => text,
    }
}
