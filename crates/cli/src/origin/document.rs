//! Origins as the documents that programs read.

use contexture::wire::{ChangedFile, EditDocument, GitCommitDocument, StoryDocument};

use super::{Record, Story};
use crate::git::{FileChange, GitCommit};

/// Tells a git commit and what it records.
pub(crate) fn git_document((commit, record): &(GitCommit, Record)) -> GitCommitDocument {
    GitCommitDocument {
        id: commit.id.to_string(),
        author: commit.author.clone(),
        email: commit.email.clone(),
        authored_at: commit.authored_at,
        committed_at: commit.committed_at,
        subject: commit.subject.clone(),
        parents: commit.parents,
        recorded: record.known.clone(),
        unknown: record.unknown.clone(),
    }
}

impl From<Story> for StoryDocument {
    fn from(story: Story) -> Self {
        let resume = story.resume_command();
        let Story { certainty, commit, edit, request, reasoning } = story;
        Self { certainty, context: commit.into(), request, reasoning, edit: edit.map(EditDocument::from), resume }
    }
}

impl From<&FileChange> for ChangedFile {
    fn from(change: &FileChange) -> Self {
        Self { path: change.path.clone(), added: change.added, removed: change.removed }
    }
}
