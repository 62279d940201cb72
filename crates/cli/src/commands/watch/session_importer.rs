//! Taking in what has changed, whether the store is there or not.

use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
};

use contexture::{core::Timestamp, wire::GrownSession};
use contexture_capture::{
    Capture, DatabaseEntry, ImportedFile, RescuedSessions, SessionCandidate, SessionSearch, WantedSessions,
};
use uuid::Uuid;

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
    sessions,
};

/// Takes in sessions, each time it has changed.
pub(super) struct SessionImporter<'t> {
    invocation: &'t Invocation,
    search: SessionSearch,
    /// How each session was when it was taken in.
    known: HashMap<PathBuf, Mark>,
    /// Whether commits came in whose links to others were not looked for.
    is_unlinked: bool,
    is_store_away: bool,
}

/// What tells whether a session has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    bytes: u64,
    written: Option<Timestamp>,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Everything, and what others left behind.
    All,
    /// Some files.
    Some,
}

/// What became of a round.
struct Round {
    rescued: RescuedSessions,
    files: Vec<io::Result<ImportedFile>>,
    is_unlinked: bool,
}

impl<'t> SessionImporter<'t> {
    pub(super) fn new(invocation: &'t Invocation, wanted: Option<WantedSessions>) -> Self {
        let search = SessionSearch { wanted, ..SessionSearch::default() };
        Self { invocation, search, known: HashMap::new(), is_unlinked: false, is_store_away: false }
    }

    /// Tells whether the store could not be used the last time.
    pub(super) fn is_store_away(&self) -> bool {
        self.is_store_away
    }

    /// Takes in everything there is, once.
    pub(super) async fn take_all(mut self, output: &mut Output) -> Result<()> {
        let candidates = self.search.everywhere(&self.invocation.environment.homes).candidates;
        let round = self.store(&candidates, Extent::All).await?;
        self.remember_round(&candidates, round, output)
    }

    /// Takes in what has changed anywhere, and what others left behind.
    pub(super) async fn take_everywhere(&mut self, output: &mut Output) -> Result<()> {
        let candidates = self.search.everywhere(&self.invocation.environment.homes).candidates;
        // What is gone from the disk need not be remembered.
        let there: HashSet<&PathBuf> = candidates.iter().map(|candidate| &candidate.path).collect();
        self.known.retain(|path, _| there.contains(path));
        self.take(candidates, Extent::All, output).await
    }

    /// Takes in what has changed in some files.
    pub(super) async fn take_files(&mut self, files: HashSet<PathBuf>, output: &mut Output) -> Result<()> {
        let candidates = self.search.among(files.into_iter()).candidates;
        self.take(candidates, Extent::Some, output).await
    }

    async fn take(&mut self, mut candidates: Vec<SessionCandidate>, extent: Extent, output: &mut Output) -> Result<()> {
        candidates.retain(|candidate| self.known.get(&candidate.path) != Some(&Mark::of(candidate)));
        let has_work = match extent {
            Extent::All => self.is_unlinked || self.is_store_away || sessions::is_rescue_needed(self.invocation)?,
            Extent::Some => false,
        };
        if candidates.is_empty() && !has_work {
            return Ok(());
        }
        match self.store(&candidates, extent).await {
            Ok(round) => {
                if self.is_store_away {
                    self.is_store_away = false;
                    output.status("The store can be used again.");
                }
                self.remember_round(&candidates, round, output)
            }
            Err(error @ Error::Stdout(_)) => Err(error),
            Err(error) => {
                if !self.is_store_away {
                    self.is_store_away = true;
                    let problem = output::printable(&error.in_one_line()).into_owned();
                    output.status(format_args!("The store cannot be used now, which is tried again: {problem}."));
                }
                Ok(())
            }
        }
    }

    /// Opens the store for one round, so that nothing is held while nothing happens.
    async fn store(&self, candidates: &[SessionCandidate], extent: Extent) -> Result<Round> {
        let engine = self.invocation.open().await?;
        let mut rescued = RescuedSessions::default();
        if extent == Extent::All {
            rescued = sessions::rescue(&engine, self.invocation).await?;
        }
        let files = sessions::take_in(&engine, &self.invocation.environment, candidates, &|_| {}).await?;
        let has_grown =
            files.iter().flatten().any(|file| file.new_commits > 0) || rescued != RescuedSessions::default();
        let mut is_unlinked = self.is_unlinked || has_grown;
        if is_unlinked && extent == Extent::All {
            Capture::new(&engine).link_sessions().await?;
            is_unlinked = false;
        }
        Ok(Round { rescued, files, is_unlinked })
    }

    /// Remembers what was taken in and tells of it.
    fn remember_round(&mut self, candidates: &[SessionCandidate], round: Round, output: &mut Output) -> Result<()> {
        self.is_unlinked = round.is_unlinked;
        sessions::tell_rescued(round.rescued, output);
        for (candidate, file) in candidates.iter().zip(round.files) {
            self.known.insert(candidate.path.clone(), Mark::of(candidate));
            match file {
                Ok(file) if file.new_commits > 0 => tell(candidate, &file, output)?,
                Ok(_) => {}
                Err(source) => {
                    output.status(format_args!("{}: it cannot be read: {source}", candidate.path.display()));
                }
            }
        }
        output.flush()
    }
}

impl Mark {
    fn of(candidate: &SessionCandidate) -> Self {
        Self { bytes: candidate.bytes, written: candidate.written }
    }
}

fn tell(candidate: &SessionCandidate, file: &ImportedFile, output: &mut Output) -> Result<()> {
    let name = session_name(&file.path);
    let (runtime, session) = (candidate.runtime.as_str(), name.as_str());
    if output.shape() == Shape::Json {
        let (runtime, session) = (runtime.to_owned(), session.to_owned());
        return output.document(GrownSession { runtime, session, file: file.clone() });
    }
    let turns = output::counted(file.new_commits, "turn");
    let id = output.palette.id;
    let tip = file.tip.map(|tip| format!(" {id}{}{id:#}", tip.short())).unwrap_or_default();
    output.line(format_args!("{runtime:<11} {} +{turns}{tip}", output::printable(session)))
}

/// Returns the id of a session that the name of its file ends with, or that name.
fn session_name(path: &Path) -> String {
    if let Some(entry) = DatabaseEntry::at(path) {
        return entry.session.as_str().to_owned();
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or(&name);
    let id = stem.len().checked_sub(36).and_then(|start| stem.get(start..)).filter(|id| Uuid::try_parse(id).is_ok());
    id.unwrap_or(stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_called_by_the_id_in_the_name_of_their_file() {
        let id = "01a1e1c0-06ae-7033-a295-3c22b597a95f";
        let names = [format!("{id}.jsonl"), format!("rollout-2026-11-16T00-27-00-{id}.jsonl.zst")];
        assert!(names.iter().all(|name| session_name(Path::new(name)) == id));
        assert_eq!(session_name(Path::new("subagents/agent-ad926c9d.jsonl")), "agent-ad926c9d");
        assert_eq!(
            session_name(Path::new("session-2026-11-16T00-27-1f195568.jsonl")),
            "session-2026-11-16T00-27-1f195568"
        );
    }
}
