//! A git commit and the contexts that made it.

use std::path::Path;

use contexture::wire::{ChangedFile, CommitContribution, CommitOrigin};

use super::{ContextOrigin, IndexProgress, OriginFinder, RecordingCommit, Untraced, finder::WantedLine};
use crate::{FileChange, Git, GitId, GitRepository, Result};

/// Files whose lines are led back.
const MAX_FILES_TRACED: usize = 100;

/// A git commit and what it changes.
#[derive(Debug, Clone)]
pub struct CommitSubject {
    repository: GitRepository,
    revision: String,
    id: GitId,
    changes: Vec<FileChange>,
}

/// What was found of a git commit.
#[derive(Debug, Clone)]
pub struct CommitContexts {
    /// The commit.
    pub git: RecordingCommit,
    /// What it changes.
    pub changes: Vec<FileChange>,
    /// The contexts that made it, those of most lines first.
    pub contributions: Vec<ContextContribution>,
}

/// A context and which lines of a git commit it made.
#[derive(Debug, Clone)]
pub struct ContextContribution {
    /// The context.
    pub origin: ContextOrigin,
    /// How many lines it made.
    pub lines: u64,
    /// Those of them that the same call made.
    pub texts: Vec<String>,
    /// The files, by their places among the changes.
    pub files: Vec<usize>,
}

impl CommitSubject {
    /// Reads the commit that a text names in the repository that a directory lies in.
    pub fn read(git: &Git, directory: &Path, revision: &str) -> Result<Self> {
        let repository = git.repository(directory)?.ok_or(Untraced::NoRepository)?;
        let unnamed = || Untraced::NoRevision { revision: revision.to_owned() };
        let id = repository.find(revision)?.ok_or_else(unnamed)?;
        let changes = repository.changes(&id)?;
        Ok(Self { repository, revision: revision.to_owned(), id, changes })
    }

    /// Returns the repository of the commit.
    pub fn repository(&self) -> &GitRepository {
        &self.repository
    }
}

impl OriginFinder<'_> {
    /// Finds the contexts of a git commit. The finder must be that of its repository.
    pub async fn contexts_of(&mut self, subject: CommitSubject, progress: IndexProgress<'_>) -> Result<CommitContexts> {
        let CommitSubject { revision, id, changes, .. } = subject;
        self.learn(std::slice::from_ref(&id)).await?;
        let contributions = self.contributions(&id, &changes, progress).await?;
        let git = self.known(&id).cloned().ok_or(Untraced::NoRevision { revision })?;
        Ok(CommitContexts { git, changes, contributions })
    }

    /// Tells a git commit as programs read it.
    pub async fn commit_document(&self, found: &CommitContexts) -> Result<CommitOrigin> {
        let CommitContexts { git, changes, contributions } = found;
        let mut contexts = Vec::new();
        for ContextContribution { origin, lines, files, .. } in contributions {
            let files = files.iter().map(|number| changes[*number].path.clone()).collect();
            contexts.push(CommitContribution { files, lines: *lines, story: self.story(origin).await?.into() });
        }
        let changed = |FileChange { path, added, removed, .. }: &FileChange| ChangedFile {
            path: path.clone(),
            added: *added,
            removed: *removed,
        };
        Ok(CommitOrigin { git: git.clone().into(), files: changes.iter().map(changed).collect(), contexts })
    }

    async fn contributions(
        &mut self,
        id: &GitId,
        changes: &[FileChange],
        progress: IndexProgress<'_>,
    ) -> Result<Vec<ContextContribution>> {
        let mut contributions: Vec<ContextContribution> = Vec::new();
        for (number, change) in changes.iter().enumerate().take(MAX_FILES_TRACED) {
            let wanted: Vec<_> = change.lines.iter().map(|text| WantedLine { text, commit: Some(id) }).collect();
            if wanted.is_empty() {
                continue;
            }
            let file = self.file(Path::new(&change.path));
            let found = self.find(&file, &wanted, progress).await?;
            for (line, origin) in found.lines.iter().enumerate().filter_map(|(line, origin)| Some((line, (*origin)?))) {
                let origin = &found.contexts[origin];
                let same = |known: &&mut ContextContribution| {
                    known.origin.commit == origin.commit && known.origin.certainty == origin.certainty
                };
                let text = change.lines[line].clone();
                if let Some(known) = contributions.iter_mut().find(same) {
                    known.lines += 1;
                    if known.origin.is_like(origin) {
                        known.texts.push(text);
                    }
                    if known.files.last() != Some(&number) {
                        known.files.push(number);
                    }
                } else {
                    let origin = origin.clone();
                    contributions.push(ContextContribution {
                        origin,
                        lines: 1,
                        texts: vec![text],
                        files: vec![number],
                    });
                }
            }
        }
        if contributions.is_empty()
            && let Some(origin) = self.without_edit(id).await?
        {
            contributions.push(ContextContribution { origin, lines: 0, texts: Vec::new(), files: Vec::new() });
        }
        // A stable order: those of equally many lines stay as the files are.
        contributions.sort_by_key(|contribution| std::cmp::Reverse(contribution.lines));
        Ok(contributions)
    }
}
