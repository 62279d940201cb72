//! A git commit and the contexts that made it.

use std::path::Path;

use contexture::wire::{AmbiguousContribution, ChangedFile, CommitContribution, CommitOrigin};

use super::{ContextOrigin, IndexProgress, LineOrigin, OriginFinder, RecordingCommit, Untraced, finder::WantedLine};
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
    /// Lines that several contexts may have made, those of most lines first.
    pub unclear: Vec<UnclearContribution>,
}

/// Lines of a git commit that several contexts may have made.
#[derive(Debug, Clone)]
pub struct UnclearContribution {
    /// The contexts.
    pub origins: Vec<ContextOrigin>,
    /// How many lines it is about.
    pub lines: u64,
    /// The files, by their places among the changes.
    pub files: Vec<usize>,
}

/// What was found of the lines of a git commit.
#[derive(Default)]
struct Contributions {
    clear: Vec<ContextContribution>,
    unclear: Vec<UnclearContribution>,
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
        let Contributions { clear: contributions, unclear } = self.contributions(&id, &changes, progress).await?;
        let git = self.known(&id).cloned().ok_or(Untraced::NoRevision { revision })?;
        Ok(CommitContexts { git, changes, contributions, unclear })
    }

    /// Tells a git commit as programs read it.
    pub async fn commit_document(&self, found: &CommitContexts) -> Result<CommitOrigin> {
        let CommitContexts { git, changes, contributions, unclear } = found;
        let mut contexts = Vec::new();
        for ContextContribution { origin, lines, files, .. } in contributions {
            let files = files.iter().map(|number| changes[*number].path.clone()).collect();
            contexts.push(CommitContribution { files, lines: *lines, story: self.story(origin).await?.into() });
        }
        let mut ambiguous = Vec::new();
        for UnclearContribution { origins, lines, files } in unclear {
            let files = files.iter().map(|number| changes[*number].path.clone()).collect();
            let mut candidates = Vec::new();
            for origin in origins {
                candidates.push(self.story(origin).await?.into());
            }
            ambiguous.push(AmbiguousContribution { files, lines: *lines, candidates });
        }
        let changed = |FileChange { path, added, removed, .. }: &FileChange| ChangedFile {
            path: path.clone(),
            added: *added,
            removed: *removed,
        };
        Ok(CommitOrigin { git: git.clone().into(), files: changes.iter().map(changed).collect(), contexts, ambiguous })
    }

    async fn contributions(
        &mut self,
        id: &GitId,
        changes: &[FileChange],
        progress: IndexProgress<'_>,
    ) -> Result<Contributions> {
        let mut found = Contributions::default();
        for (number, change) in changes.iter().enumerate().take(MAX_FILES_TRACED) {
            if change.lines.is_empty() {
                continue;
            }
            let around = self.lines_at(id, &change.path)?;
            let place = |line: usize| {
                let number = usize::try_from(*change.numbers.get(line)?).ok()?.checked_sub(1)?;
                (number < around.len()).then_some(number)
            };
            let wanted = |(line, text)| WantedLine { text, commit: Some(id), place: place(line) };
            let wanted: Vec<_> = change.lines.iter().map(String::as_str).enumerate().map(wanted).collect();
            let around = if wanted.iter().all(|line| line.place.is_some()) { &around[..] } else { &[] };
            let file = self.file(Path::new(&change.path));
            let origins = self.find(&file, (around, &wanted), progress).await?;
            for (line, origin) in origins.lines.iter().enumerate() {
                match origin {
                    LineOrigin::Unknown => {}
                    LineOrigin::Known(origin) => {
                        found.add(&origins.contexts[*origin], (number, change.lines[line].clone()));
                    }
                    LineOrigin::Ambiguous(several) => {
                        let several = several.iter().map(|origin| origins.contexts[*origin].clone()).collect();
                        found.add_unclear(several, number);
                    }
                }
            }
        }
        if found.clear.is_empty() && found.unclear.is_empty() {
            let origins = self.without_edit(id).await?;
            match &origins[..] {
                [] => {}
                [origin] => found.clear.push(ContextContribution {
                    origin: origin.clone(),
                    lines: 0,
                    texts: Vec::new(),
                    files: Vec::new(),
                }),
                _ => found.unclear.push(UnclearContribution { origins, lines: 0, files: Vec::new() }),
            }
        }
        // A stable order: those of equally many lines stay as the files are.
        found.clear.sort_by_key(|contribution| std::cmp::Reverse(contribution.lines));
        found.unclear.sort_by_key(|contribution| std::cmp::Reverse(contribution.lines));
        Ok(found)
    }
}

impl Contributions {
    fn add(&mut self, origin: &ContextOrigin, (file, text): (usize, String)) {
        let same = |known: &&mut ContextContribution| {
            known.origin.commit == origin.commit && known.origin.certainty == origin.certainty
        };
        let Some(known) = self.clear.iter_mut().find(same) else {
            let (origin, texts, files) = (origin.clone(), vec![text], vec![file]);
            return self.clear.push(ContextContribution { origin, lines: 1, texts, files });
        };
        known.lines += 1;
        if known.origin.is_like(origin) {
            known.texts.push(text);
        }
        if known.files.last() != Some(&file) {
            known.files.push(file);
        }
    }

    fn add_unclear(&mut self, origins: Vec<ContextOrigin>, file: usize) {
        let commits = |origins: &[ContextOrigin]| origins.iter().map(|origin| origin.commit).collect::<Vec<_>>();
        let Some(known) = self.unclear.iter_mut().find(|known| commits(&known.origins) == commits(&origins)) else {
            return self.unclear.push(UnclearContribution { origins, lines: 1, files: vec![file] });
        };
        known.lines += 1;
        if known.files.last() != Some(&file) {
            known.files.push(file);
        }
    }
}
