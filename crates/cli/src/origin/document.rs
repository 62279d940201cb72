//! Origins as `--json` tells them.

use contexture::{
    FoundEdit, Nearness, Reasoning, Request,
    core::{CommitId, Timestamp},
    formats::edit::Line,
    wire::CommitDocument,
};
use serde::Serialize;

use super::{Certainty, Record, Story};
use crate::git::GitCommit;

/// A git commit and what it records.
#[derive(Debug, Serialize)]
pub(crate) struct GitDocument<'g> {
    #[serde(flatten)]
    commit: &'g GitCommit,
    /// The contexts that it names and that are here.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    recorded: &'g [CommitId],
    /// What it names that is not here.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown: &'g [String],
}

/// A context and why it is the one.
#[derive(Debug, Serialize)]
pub(crate) struct StoryDocument {
    certainty: Certainty,
    context: CommitDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<EditDocument>,
    resume: String,
}

/// A call that changed a file.
#[derive(Debug, Serialize)]
struct EditDocument {
    call: String,
    tool: String,
    at: Timestamp,
    path: Option<String>,
    nearness: Nearness,
    /// The lines, each with `+`, `-` or a space before it, or as they tell the place.
    change: Vec<String>,
}

impl<'g> GitDocument<'g> {
    pub(crate) fn of((commit, record): &'g (GitCommit, Record)) -> Self {
        Self { commit, recorded: &record.known, unknown: &record.unknown }
    }
}

impl From<Story> for StoryDocument {
    fn from(story: Story) -> Self {
        let resume = story.resume_command();
        let Story { certainty, commit, edit, request, reasoning } = story;
        let edit = edit.map(|FoundEdit { call, tool, at, edit, nearness, .. }| EditDocument {
            call,
            tool,
            at,
            path: edit.path,
            nearness,
            change: edit.lines.into_iter().map(signed).collect(),
        });
        Self { certainty, context: commit.into(), request, reasoning, edit, resume }
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
