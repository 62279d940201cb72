//! From lines and git commits to the contexts that made them, and how sure that is.

mod document;
mod tell;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use contexture::{
    Contexture, Error as EngineError, Filter, FoundEdit, Occasion, PageAfter, Reasoning, Reference, Request,
    StoreError, StoredCommit, Trace, TracedFile, TracedLine, Within,
    core::{CommitId, Principal, Timestamp},
    wire::Certainty,
};

pub(crate) use self::{
    document::git_document,
    tell::{Teller, told_range},
};
use crate::{
    commands::search,
    error::Result,
    git::{GitCommit, GitId, Repository},
    invocation::Invocation,
    output::Output,
};

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

/// The context that made something.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) certainty: Certainty,
    pub(crate) commit: CommitId,
    /// The call that did it, where it was found.
    pub(crate) edit: Option<FoundEdit>,
}

/// What an origin is told with.
pub(crate) struct Story {
    pub(crate) certainty: Certainty,
    pub(crate) commit: StoredCommit,
    pub(crate) edit: Option<FoundEdit>,
    pub(crate) request: Option<Request>,
    pub(crate) reasoning: Option<Reasoning>,
}

/// What a git commit records of contexts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Those that are here.
    pub(crate) known: Vec<CommitId>,
    /// What was written and names nothing that is here.
    pub(crate) unknown: Vec<String>,
}

/// A line whose origin is wanted, and the git commit that it came with.
pub(crate) struct WantedLine<'l> {
    pub(crate) text: &'l str,
    pub(crate) commit: Option<&'l GitId>,
}

/// What was found, line by line.
pub(crate) struct Origins {
    /// For each line its origin, by its place among the contexts.
    pub(crate) lines: Vec<Option<usize>>,
    pub(crate) contexts: Vec<Origin>,
    /// Whether there was more to look at than was looked at.
    pub(crate) is_cut: bool,
}

/// Finds origins.
pub(crate) struct Finder<'f> {
    pub(crate) engine: &'f Contexture,
    pub(crate) invocation: &'f Invocation,
    pub(crate) repository: Option<&'f Repository>,
    /// The tops of the working trees.
    trees: Vec<PathBuf>,
    commits: HashMap<GitId, (GitCommit, Record)>,
    guesses: HashMap<GitId, Option<CommitId>>,
    is_indexed: bool,
}

impl Origin {
    /// Tells whether two lines have the same origin.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let call = |origin: &Self| origin.edit.as_ref().map(|edit| edit.call.clone());
        self.certainty == other.certainty && self.commit == other.commit && call(self) == call(other)
    }
}

impl<'f> Finder<'f> {
    pub(crate) fn new(
        engine: &'f Contexture,
        invocation: &'f Invocation,
        repository: Option<&'f Repository>,
    ) -> Result<Self> {
        let trees = repository.map(Repository::working_trees).transpose()?.unwrap_or_default();
        Ok(Self {
            engine,
            invocation,
            repository,
            trees,
            commits: HashMap::new(),
            guesses: HashMap::new(),
            is_indexed: false,
        })
    }

    /// Reads git commits and what they record, so that they are known here.
    pub(crate) async fn learn(&mut self, ids: &[GitId]) -> Result<()> {
        let Some(repository) = self.repository else { return Ok(()) };
        let mut new: Vec<GitId> = ids.iter().filter(|id| !self.commits.contains_key(*id)).cloned().collect();
        new.sort_by_key(ToString::to_string);
        new.dedup();
        for commit in repository.commits(&new)? {
            let mut record = Record::default();
            for text in &commit.context {
                match self.recorded(text).await? {
                    Some(id) => record.known.push(id),
                    None => record.unknown.push(text.clone()),
                }
            }
            self.commits.insert(commit.id.clone(), (commit, record));
        }
        Ok(())
    }

    /// Returns a git commit that was learnt, and what it records.
    pub(crate) fn known(&self, id: &GitId) -> Option<&(GitCommit, Record)> {
        self.commits.get(id)
    }

    /// Returns a file of the repository as calls may name it.
    pub(crate) fn file(&self, inside: &Path) -> TracedFile {
        let place = |tree: &PathBuf| tree.join(inside).to_string_lossy().into_owned();
        TracedFile { places: self.trees.iter().map(place).collect(), inside: inside.to_string_lossy().into_owned() }
    }

    /// Finds the origins of lines of a file. The commits of the lines must have been learnt.
    ///
    /// What a git commit records goes first; then a call that wrote this very text, because that is evidence; who the
    /// author is and when it was committed is none, so it comes last and is called a guess.
    pub(crate) async fn find(
        &mut self,
        file: &TracedFile,
        lines: &[WantedLine<'_>],
        output: &Output,
    ) -> Result<Origins> {
        let mut found = Origins { lines: vec![None; lines.len()], contexts: Vec::new(), is_cut: false };
        self.find_recorded(file, lines, &mut found).await?;
        self.find_edits(file, lines, &mut found, output).await?;
        for (number, line) in lines.iter().enumerate() {
            let (None, Some(id)) = (found.lines[number], line.commit) else { continue };
            if let Some(origin) = self.without_edit(id).await? {
                found.give(number, origin);
            }
        }
        Ok(found)
    }

    /// Finds the context of a git commit when no edit leads there.
    pub(crate) async fn without_edit(&mut self, id: &GitId) -> Result<Option<Origin>> {
        let Some((_, record)) = self.commits.get(id) else { return Ok(None) };
        if let Some(commit) = record.known.last() {
            return Ok(Some(Origin { certainty: Certainty::Recorded, commit: *commit, edit: None }));
        }
        // It says what made it, so a guess would contradict it.
        if !record.unknown.is_empty() {
            return Ok(None);
        }
        let guess = self.guess(id).await?;
        Ok(guess.map(|commit| Origin { certainty: Certainty::Guess, commit, edit: None }))
    }

    /// Finds what an origin is told with.
    pub(crate) async fn story(&self, origin: &Origin) -> Result<Story> {
        let call = origin.edit.as_ref().map(|edit| edit.call.as_str());
        let Occasion { commit, request, reasoning } = self.engine.occasion(origin.commit, call).await?;
        Ok(Story { certainty: origin.certainty, commit, edit: origin.edit.clone(), request, reasoning })
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
    async fn find_recorded(&self, file: &TracedFile, lines: &[WantedLine<'_>], found: &mut Origins) -> Result<()> {
        let mut by_commit: HashMap<&GitId, Vec<usize>> = HashMap::new();
        for (number, line) in lines.iter().enumerate() {
            if let Some(id) = line.commit {
                by_commit.entry(id).or_default().push(number);
            }
        }
        for (id, numbers) in by_commit {
            let Some((_, record)) = self.commits.get(id) else { continue };
            for commit in record.known.iter().rev() {
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
        found: &mut Origins,
        output: &Output,
    ) -> Result<()> {
        let numbers: Vec<usize> = (0..lines.len()).filter(|number| found.lines[*number].is_none()).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_indexed, true) {
            search::update(self.engine, output).await?;
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

    async fn trace(&self, trace: &Trace, certainty: Certainty, numbers: &[usize], found: &mut Origins) -> Result<bool> {
        let traced = self.engine.trace(trace).await?;
        for (number, edit) in numbers.iter().zip(&traced.lines) {
            if let Some(edit) = edit.map(|edit| traced.edits[edit].clone()) {
                found.give(*number, Origin { certainty, commit: edit.commit.id, edit: Some(edit) });
            }
        }
        Ok(traced.is_cut)
    }

    fn traced(&self, line: &WantedLine<'_>) -> TracedLine {
        let commit = line.commit.and_then(|id| self.commits.get(id));
        let until = commit.and_then(|(commit, _)| later(commit.committed_at, GIT_SECOND_MICROS));
        TracedLine { text: line.text.to_owned(), until }
    }

    /// Guesses the context of a git commit: what its author's agent last knew, in this repository, within an hour.
    async fn guess(&mut self, id: &GitId) -> Result<Option<CommitId>> {
        if let Some(guess) = self.guesses.get(id) {
            return Ok(*guess);
        }
        let (Some((commit, _)), Some(repository)) = (self.commits.get(id), self.repository) else { return Ok(None) };
        let is_user = repository.user_email()?.is_some_and(|email| email == commit.email);
        let user = if is_user { Some(self.invocation.environment.principal()?) } else { None };
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
                let is_author =
                    principal.is_some_and(|principal| user.as_ref() == Some(principal) || is_of(principal, commit));
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

impl Origins {
    fn give(&mut self, line: usize, origin: Origin) {
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
