//! Finding origins: what a git commit records, which call wrote a text, and who worked at that time.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use contexture::{
    CallContext, Contexture, Error as EngineError, Filter, PageAfter, Reference, StoreError, StoredCommit, Trace,
    TracedFile, TracedLine, Within,
    core::{CommitId, Principal, Timestamp},
    wire::Certainty,
};

use super::{ContextOrigin, IndexProgress, OriginStory, RecordingCommit};
use crate::{GitCommit, GitId, GitRepository, Result};

/// Commits of a chain that are looked at, back from the one that a git commit records.
const MAX_CHAIN_COMMITS: u64 = 256;
/// Commits of the space that are looked at, of those that name the file.
const MAX_NAMING_COMMITS: u64 = 1024;
/// A commit that is older than this before a git commit is no guess.
const MAX_GUESS_AGE_MICROS: i64 = 60 * 60 * 1_000_000;
/// Git counts in seconds, and cuts off what is less.
const GIT_SECOND_MICROS: i64 = 1_000_000;
/// Commits that are considered for a guess.
const MAX_GUESSES: u32 = 256;

/// A line whose origin is wanted, and the git commit that it came with.
pub(super) struct WantedLine<'l> {
    pub(super) text: &'l str,
    pub(super) commit: Option<&'l GitId>,
}

/// What was found, line by line.
pub(super) struct LineOrigins {
    /// For each line its origin, by its place among the contexts.
    pub(super) lines: Vec<Option<usize>>,
    pub(super) contexts: Vec<ContextOrigin>,
    /// Whether there was more to look at than was looked at.
    pub(super) is_cut: bool,
}

/// Finds origins in one repository, or outside of any.
pub struct OriginFinder<'f> {
    engine: &'f Contexture,
    /// Who commits here.
    user: &'f Principal,
    repository: Option<GitRepository>,
    /// The tops of the working trees.
    trees: Vec<PathBuf>,
    commits: HashMap<GitId, RecordingCommit>,
    guesses: HashMap<GitId, Option<CommitId>>,
    is_indexed: bool,
}

impl<'f> OriginFinder<'f> {
    /// Looks for contexts in a space, and for commits in a repository.
    pub fn new(engine: &'f Contexture, user: &'f Principal, repository: Option<GitRepository>) -> Result<Self> {
        let trees = repository.as_ref().map(GitRepository::working_trees).transpose()?.unwrap_or_default();
        let (commits, guesses) = (HashMap::new(), HashMap::new());
        Ok(Self { engine, user, repository, trees, commits, guesses, is_indexed: false })
    }

    /// Tells whether there is a repository.
    pub fn has_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// Reads git commits and what they record, so that they are known here.
    pub(super) async fn learn(&mut self, ids: &[GitId]) -> Result<()> {
        let Some(repository) = &self.repository else { return Ok(()) };
        let mut new: Vec<GitId> = ids.iter().filter(|id| !self.commits.contains_key(*id)).cloned().collect();
        new.sort_by_key(ToString::to_string);
        new.dedup();
        for commit in repository.commits(&new)? {
            let (mut recorded, mut unknown) = (Vec::new(), Vec::new());
            for text in &commit.context {
                match self.recorded(text).await? {
                    Some(id) => recorded.push(id),
                    None => unknown.push(text.clone()),
                }
            }
            self.commits.insert(commit.id.clone(), RecordingCommit { commit, recorded, unknown });
        }
        Ok(())
    }

    /// Returns a git commit that was learnt, and what it records.
    pub fn known(&self, id: &GitId) -> Option<&RecordingCommit> {
        self.commits.get(id)
    }

    /// Returns a file of the repository as calls may name it.
    pub(super) fn file(&self, inside: &Path) -> TracedFile {
        let place = |tree: &PathBuf| tree.join(inside).to_string_lossy().into_owned();
        TracedFile { places: self.trees.iter().map(place).collect(), inside: inside.to_string_lossy().into_owned() }
    }

    /// Finds the origins of lines of a file. The commits of the lines must have been learnt.
    ///
    /// What a git commit records goes first; then a call that wrote this very text, because that is evidence; who the
    /// author is and when it was committed is none, so it comes last and is called a guess.
    pub(super) async fn find(
        &mut self,
        file: &TracedFile,
        lines: &[WantedLine<'_>],
        progress: IndexProgress<'_>,
    ) -> Result<LineOrigins> {
        let mut found = LineOrigins { lines: vec![None; lines.len()], contexts: Vec::new(), is_cut: false };
        self.find_recorded(file, lines, &mut found).await?;
        self.find_edits(file, lines, &mut found, progress).await?;
        for (number, line) in lines.iter().enumerate() {
            let (None, Some(id)) = (found.lines[number], line.commit) else { continue };
            if let Some(origin) = self.without_edit(id).await? {
                found.give(number, origin);
            }
        }
        Ok(found)
    }

    /// Finds the context of a git commit when no edit leads there.
    pub(super) async fn without_edit(&mut self, id: &GitId) -> Result<Option<ContextOrigin>> {
        let Some(RecordingCommit { recorded, unknown, .. }) = self.commits.get(id) else { return Ok(None) };
        if let Some(commit) = recorded.last() {
            return Ok(Some(ContextOrigin { certainty: Certainty::Recorded, commit: *commit, edit: None }));
        }
        // It says what made it, so a guess would contradict it.
        if !unknown.is_empty() {
            return Ok(None);
        }
        let guess = self.guess(id).await?;
        Ok(guess.map(|commit| ContextOrigin { certainty: Certainty::Guess, commit, edit: None }))
    }

    /// Finds what an origin is told with.
    pub async fn story(&self, origin: &ContextOrigin) -> Result<OriginStory> {
        let call = origin.edit.as_ref().map(|edit| edit.call.as_str());
        let CallContext { commit, request, reasoning } = self.engine.call_context(origin.commit, call).await?;
        Ok(OriginStory { certainty: origin.certainty, commit, edit: origin.edit.clone(), request, reasoning })
    }

    /// Returns the commit that a trailer names, if it is here.
    async fn recorded(&self, text: &str) -> Result<Option<CommitId>> {
        let Some(reference) = text.starts_with("ctx-").then(|| text.parse::<Reference>().ok()).flatten() else {
            return Ok(None);
        };
        match self.engine.find(&reference).await {
            Ok(id) => Ok(Some(id)),
            Err(EngineError::Store(StoreError::NoMatch { .. } | StoreError::Ambiguous { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks for edits in the chains that git commits record.
    async fn find_recorded(&self, file: &TracedFile, lines: &[WantedLine<'_>], found: &mut LineOrigins) -> Result<()> {
        let mut by_commit: HashMap<&GitId, Vec<usize>> = HashMap::new();
        for (number, line) in lines.iter().enumerate() {
            if let Some(id) = line.commit {
                by_commit.entry(id).or_default().push(number);
            }
        }
        for (id, numbers) in by_commit {
            let Some(RecordingCommit { recorded, .. }) = self.commits.get(id) else { continue };
            for commit in recorded.iter().rev() {
                let numbers: Vec<usize> =
                    numbers.iter().copied().filter(|number| found.lines[*number].is_none()).collect();
                let trace = Trace {
                    file: file.clone(),
                    lines: numbers.iter().map(|number| self.traced(&lines[*number])).collect(),
                    within: Within::Chain(*commit),
                    max_commits: MAX_CHAIN_COMMITS,
                };
                self.trace(&trace, Certainty::Recorded, &numbers, found).await?;
            }
        }
        Ok(())
    }

    /// Looks for edits everywhere, for the lines that are left.
    async fn find_edits(
        &mut self,
        file: &TracedFile,
        lines: &[WantedLine<'_>],
        found: &mut LineOrigins,
        progress: IndexProgress<'_>,
    ) -> Result<()> {
        let numbers: Vec<usize> = (0..lines.len()).filter(|number| found.lines[*number].is_none()).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_indexed, true) {
            self.engine.update_index(progress).await?;
        }
        let trace = Trace {
            file: file.clone(),
            lines: numbers.iter().map(|number| self.traced(&lines[*number])).collect(),
            within: Within::Space,
            max_commits: MAX_NAMING_COMMITS,
        };
        found.is_cut = self.trace(&trace, Certainty::EditFound, &numbers, found).await?;
        Ok(())
    }

    async fn trace(
        &self,
        trace: &Trace,
        certainty: Certainty,
        numbers: &[usize],
        found: &mut LineOrigins,
    ) -> Result<bool> {
        let traced = self.engine.trace(trace).await?;
        for (number, edit) in numbers.iter().zip(&traced.lines) {
            if let Some(edit) = edit.map(|edit| traced.edits[edit].clone()) {
                found.give(*number, ContextOrigin { certainty, commit: edit.commit.id, edit: Some(edit) });
            }
        }
        Ok(traced.is_cut)
    }

    fn traced(&self, line: &WantedLine<'_>) -> TracedLine {
        let commit = line.commit.and_then(|id| self.commits.get(id));
        let until = commit.and_then(|known| later(known.commit.committed_at, GIT_SECOND_MICROS));
        TracedLine { text: line.text.to_owned(), until }
    }

    /// Guesses the context of a git commit: what its author's agent last knew, in this repository, within an hour.
    async fn guess(&mut self, id: &GitId) -> Result<Option<CommitId>> {
        if let Some(guess) = self.guesses.get(id) {
            return Ok(*guess);
        }
        let (Some(known), Some(repository)) = (self.commits.get(id), &self.repository) else { return Ok(None) };
        let commit = &known.commit;
        let is_user = repository.user_email()?.is_some_and(|email| email == commit.email);
        let user = is_user.then_some(self.user);
        let filter = Filter {
            since: later(commit.authored_at, -MAX_GUESS_AGE_MICROS),
            until: later(commit.authored_at, GIT_SECOND_MICROS),
            ..Filter::default()
        };
        let mut guess = None;
        let (mut after, mut left) = (None, MAX_GUESSES);
        'pages: while left > 0 {
            let page = self.engine.list(&filter, after, left.min(64)).await?;
            let Some(last) = page.last() else { break };
            after = Some(PageAfter { created_at: last.commit.created_at, seq: last.seq });
            left = left.saturating_sub(64);
            for stored in page {
                let principal = stored.commit.provenance.principal.as_ref();
                let is_author = principal.is_some_and(|principal| user == Some(principal) || is_of(principal, commit));
                if is_author && self.worked_here(&stored).await? {
                    guess = Some(stored.id);
                    break 'pages;
                }
            }
        }
        self.guesses.insert(id.clone(), guess);
        Ok(guess)
    }

    /// Tells whether an agent worked in this repository, or nobody knows where.
    async fn worked_here(&self, stored: &StoredCommit) -> Result<bool> {
        let directory = PathBuf::from(self.engine.target_of(Some(stored.id)).await?.directory);
        Ok(directory == Path::new("/") || self.trees.iter().any(|tree| directory.starts_with(tree)))
    }
}

impl LineOrigins {
    fn give(&mut self, line: usize, origin: ContextOrigin) {
        let same = self.contexts.iter().position(|known| known.is_like(&origin));
        self.lines[line] = Some(same.unwrap_or_else(|| {
            self.contexts.push(origin);
            self.contexts.len() - 1
        }));
    }
}

/// Tells whether a principal is called like the author of a git commit.
fn is_of(principal: &Principal, commit: &GitCommit) -> bool {
    let name = principal.as_str();
    let user = name.split('@').next().unwrap_or(name);
    let local = commit.email.split('@').next().unwrap_or_default();
    let is_called = |name: &str| !name.is_empty() && name.eq_ignore_ascii_case(user);
    name.eq_ignore_ascii_case(&commit.email) || is_called(local) || is_called(&commit.author)
}

fn later(at: Timestamp, micros: i64) -> Option<Timestamp> {
    Timestamp::from_micros(at.as_micros().saturating_add(micros))
}
