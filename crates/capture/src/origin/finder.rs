//! Finding origins: what a git commit records, and which call wrote a text.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use contexture::{
    CallContext, Contexture, Error as EngineError, LineFinding, Reference, StoreError, StoredCommit, Trace, TracedFile,
    TracedLine, Within,
    core::{CommitId, Timestamp},
    wire::Certainty,
};

use super::{ContextOrigin, IndexProgress, OriginStory, RecordingCommit};
use crate::{GitId, GitRepository, Result};

/// Commits of a chain that are looked at, back from the one that a git commit records.
const MAX_CHAIN_COMMITS: u64 = 256;
/// Commits of the space that are looked at, of those that name the file.
const MAX_NAMING_COMMITS: u64 = 1024;
/// Lines that are looked for by what they say, of one file.
const MAX_PROBES: usize = 48;
/// The same, of all files that are asked for at once.
const MAX_ALL_PROBES: usize = 256;
/// Git counts in seconds, and cuts off what is less.
const GIT_SECOND_MICROS: i64 = 1_000_000;

/// A line whose origin is wanted, and the git commit that it came with.
pub(super) struct WantedLine<'l> {
    pub(super) text: &'l str,
    pub(super) commit: Option<&'l GitId>,
    /// Its place in the file, from 0.
    pub(super) place: Option<usize>,
}

/// The origin of a line, by its place among the contexts that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineOrigin {
    /// None is known.
    Unknown,
    /// It is this one.
    Known(usize),
    /// It is one of these, and nothing says which.
    Ambiguous(Vec<usize>),
}

/// What was found, line by line.
pub(super) struct LineOrigins {
    pub(super) lines: Vec<LineOrigin>,
    pub(super) contexts: Vec<ContextOrigin>,
    /// Whether there was more to look at than was looked at.
    pub(super) is_cut: bool,
}

/// Finds origins in one repository, or outside of any.
pub struct OriginFinder<'f> {
    engine: &'f Contexture,
    repository: Option<GitRepository>,
    /// The tops of the working trees.
    trees: Vec<PathBuf>,
    commits: HashMap<GitId, RecordingCommit>,
    /// Lines that may still be looked for by what they say.
    probes_left: usize,
    is_indexed: bool,
}

impl<'f> OriginFinder<'f> {
    /// Looks for contexts in a space, and for commits in a repository.
    pub fn new(engine: &'f Contexture, repository: Option<GitRepository>) -> Result<Self> {
        let trees = repository.as_ref().map(GitRepository::working_trees).transpose()?.unwrap_or_default();
        Ok(Self { engine, repository, trees, commits: HashMap::new(), probes_left: MAX_ALL_PROBES, is_indexed: false })
    }

    /// Returns the commit that is checked out.
    pub(super) fn revision(&self) -> Result<Option<GitId>> {
        self.repository.as_ref().map_or(Ok(None), |repository| repository.find("HEAD"))
    }

    /// Returns where contexts are.
    pub(super) const fn engine(&self) -> &'f Contexture {
        self.engine
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
            let mut possible = Vec::new();
            for text in &commit.possible {
                match self.recorded(text).await? {
                    Some(id) => possible.push(id),
                    None => unknown.push(text.clone()),
                }
            }
            self.commits.insert(commit.id.clone(), RecordingCommit { commit, recorded, possible, unknown });
        }
        Ok(())
    }

    /// Returns a git commit that was learnt, and what it records.
    pub fn known(&self, id: &GitId) -> Option<&RecordingCommit> {
        self.commits.get(id)
    }

    /// Returns the lines of a file of a git commit; none when they are not there or too many.
    pub(super) fn lines_at(&self, id: &GitId, path: &str) -> Result<Vec<String>> {
        self.repository.as_ref().map_or(Ok(Vec::new()), |repository| repository.lines_at(id, path))
    }

    /// Returns a file of the repository as calls may name it.
    pub(super) fn file(&self, inside: &Path) -> TracedFile {
        let place = |tree: &PathBuf| tree.join(inside).to_string_lossy().into_owned();
        TracedFile { places: self.trees.iter().map(place).collect(), inside: inside.to_string_lossy().into_owned() }
    }

    /// Finds the origins of lines of a file. The commits of the lines must have been learnt.
    ///
    /// What a git commit records goes first; then a call that wrote this text, because that is evidence. Who the author is
    /// and when it was committed is none.
    pub(super) async fn find(
        &mut self,
        file: &TracedFile,
        (around, lines): (&[String], &[WantedLine<'_>]),
        progress: IndexProgress<'_>,
    ) -> Result<LineOrigins> {
        let lines_found = vec![LineOrigin::Unknown; lines.len()];
        let mut found = LineOrigins { lines: lines_found, contexts: Vec::new(), is_cut: false };
        self.find_recorded(file, (around, lines), &mut found).await?;
        self.find_edits(file, (around, lines), &mut found, progress).await?;
        for (number, line) in lines.iter().enumerate() {
            let (LineOrigin::Unknown, Some(id)) = (&found.lines[number], line.commit) else { continue };
            let origins = self.without_edit(id).await?;
            found.give(number, origins);
        }
        Ok(found)
    }

    /// Finds the context of a git commit when no edit leads there: the one that it names, or all when it names several.
    pub(super) async fn without_edit(&self, id: &GitId) -> Result<Vec<ContextOrigin>> {
        let Some(RecordingCommit { recorded, possible, unknown, .. }) = self.commits.get(id) else {
            return Ok(Vec::new());
        };
        // A commit that was squashed names each of its contexts once; a session's last one knows what the others knew.
        let mut contexts: Vec<StoredCommit> = Vec::new();
        for context in recorded.iter().chain(possible) {
            let stored = self.engine.show(*context).await?;
            let session = &stored.commit.provenance.session;
            let is_same = |known: &StoredCommit| session.is_some() && known.commit.provenance.session == *session;
            match contexts.iter_mut().find(|known| is_same(known)) {
                Some(known) if known.seq < stored.seq => *known = stored,
                Some(_) => {}
                None => contexts.push(stored),
            }
        }
        let is_clear = contexts.len() == 1 && possible.is_empty() && unknown.is_empty();
        let certainty = if is_clear { Certainty::Recorded } else { Certainty::Ambiguous };
        // What is not here may have made it too, so one that is known is not the answer.
        if contexts.len() == 1 && !is_clear && !recorded.is_empty() {
            return Ok(Vec::new());
        }
        let origin = |stored: StoredCommit| ContextOrigin { certainty, commit: stored.id, edit: None, grade: None };
        Ok(contexts.into_iter().map(origin).collect())
    }

    /// Finds what an origin is told with.
    pub async fn story(&self, origin: &ContextOrigin) -> Result<OriginStory> {
        let call = origin.edit.as_ref().map(|edit| edit.call.as_str());
        let CallContext { commit, request, reasoning } = self.engine.call_context(origin.commit, call).await?;
        let (certainty, edit, grade) = (origin.certainty, origin.edit.clone(), origin.grade);
        Ok(OriginStory { certainty, commit, edit, grade, request, reasoning })
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

    /// Looks for edits in the chains that git commits name.
    async fn find_recorded(
        &self,
        file: &TracedFile,
        (around, lines): (&[String], &[WantedLine<'_>]),
        found: &mut LineOrigins,
    ) -> Result<()> {
        let mut by_commit: HashMap<&GitId, Vec<usize>> = HashMap::new();
        for (number, line) in lines.iter().enumerate() {
            if let Some(id) = line.commit {
                by_commit.entry(id).or_default().push(number);
            }
        }
        for (id, numbers) in by_commit {
            let Some(RecordingCommit { recorded, possible, .. }) = self.commits.get(id) else { continue };
            let mut by_line: HashMap<usize, Vec<ContextOrigin>> = HashMap::new();
            for (commit, certainty) in recorded
                .iter()
                .map(|commit| (commit, Certainty::Recorded))
                .chain(possible.iter().map(|commit| (commit, Certainty::EditFound)))
            {
                let trace = Trace {
                    file: file.clone(),
                    lines: numbers.iter().map(|number| self.traced(&lines[*number])).collect(),
                    around: around.to_vec(),
                    within: Within::Chain(*commit),
                    max_commits: MAX_CHAIN_COMMITS,
                    max_probes: 0,
                };
                let (origins, _) = self.trace(&trace, certainty).await?;
                for (number, origins) in numbers.iter().zip(origins) {
                    by_line.entry(*number).or_default().extend(origins);
                }
            }
            for (number, origins) in by_line {
                found.give(number, distinct(origins));
            }
        }
        Ok(())
    }

    /// Looks for edits everywhere, for the lines that are left.
    async fn find_edits(
        &mut self,
        file: &TracedFile,
        (around, lines): (&[String], &[WantedLine<'_>]),
        found: &mut LineOrigins,
        progress: IndexProgress<'_>,
    ) -> Result<()> {
        let is_left = |number: &usize| found.lines[*number] == LineOrigin::Unknown;
        let numbers: Vec<usize> = (0..lines.len()).filter(is_left).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_indexed, true) {
            self.engine.update_index(progress).await?;
        }
        let probes = MAX_PROBES.min(self.probes_left);
        self.probes_left -= probes.min(numbers.len());
        let trace = Trace {
            file: file.clone(),
            lines: numbers.iter().map(|number| self.traced(&lines[*number])).collect(),
            around: around.to_vec(),
            within: Within::Space,
            max_commits: MAX_NAMING_COMMITS,
            max_probes: probes,
        };
        let (origins, is_cut) = self.trace(&trace, Certainty::EditFound).await?;
        for (number, origins) in numbers.into_iter().zip(origins) {
            found.give(number, origins);
        }
        found.is_cut = is_cut;
        Ok(())
    }

    /// Finds for each line the origins that its edits speak for, and whether there was more to look at.
    async fn trace(&self, trace: &Trace, certainty: Certainty) -> Result<(Vec<Vec<ContextOrigin>>, bool)> {
        let traced = self.engine.trace(trace).await?;
        let origin = |edit: usize, certainty, grade| {
            let edit = traced.edits[edit].clone();
            ContextOrigin { certainty, commit: edit.commit.id, edit: Some(edit), grade: Some(grade) }
        };
        let origins = |finding: &LineFinding| match finding {
            LineFinding::Nothing => Vec::new(),
            LineFinding::Written { edit, grade } => vec![origin(*edit, certainty, *grade)],
            LineFinding::Ambiguous { edits, grade } => {
                edits.iter().map(|edit| origin(*edit, Certainty::Ambiguous, *grade)).collect()
            }
        };
        Ok((traced.lines.iter().map(origins).collect(), traced.is_cut))
    }

    fn traced(&self, line: &WantedLine<'_>) -> TracedLine {
        let commit = line.commit.and_then(|id| self.commits.get(id));
        let until = commit.and_then(|known| later(known.commit.committed_at, GIT_SECOND_MICROS));
        TracedLine { text: line.text.to_owned(), until, place: line.place }
    }
}

impl LineOrigins {
    /// Gives a line its origins: the one, or all that are possible.
    fn give(&mut self, line: usize, origins: Vec<ContextOrigin>) {
        let mut places: Vec<usize> = Vec::new();
        for origin in origins {
            let same = self.contexts.iter().position(|known| known.is_like(&origin));
            places.push(same.unwrap_or_else(|| {
                self.contexts.push(origin);
                self.contexts.len() - 1
            }));
        }
        self.lines[line] = match places[..] {
            [] => return,
            [only] => LineOrigin::Known(only),
            _ => LineOrigin::Ambiguous(places),
        };
    }
}

/// Keeps of each session the newest edit, and of several sessions all: then it is not known which it was.
fn distinct(mut origins: Vec<ContextOrigin>) -> Vec<ContextOrigin> {
    let session =
        |origin: &ContextOrigin| origin.edit.as_ref().and_then(|edit| edit.commit.commit.provenance.session.clone());
    let best = origins.iter().filter_map(|origin| origin.grade).min();
    origins.retain(|origin| origin.grade == best);
    origins.sort_by_key(|origin| std::cmp::Reverse(origin.edit.as_ref().map(|edit| edit.at)));
    let mut kept: Vec<ContextOrigin> = Vec::new();
    for origin in origins {
        if !kept.iter().any(|known| session(known) == session(&origin)) {
            kept.push(origin);
        }
    }
    if kept.len() > 1 {
        for origin in &mut kept {
            origin.certainty = Certainty::Ambiguous;
        }
    }
    kept
}

fn later(at: Timestamp, micros: i64) -> Option<Timestamp> {
    Timestamp::from_micros(at.as_micros().saturating_add(micros))
}
