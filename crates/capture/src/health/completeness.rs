//! Whether every turn of every session on disk is in the store.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use contexture::{
    Error as EngineError, StoreError,
    wire::{IncompleteSession, SessionState, SessionsHealth, SessionsTally, SkippedFile, UnreadTail, Verified},
};
use contexture_core::Machine;

use super::OpenSessions;
use crate::{Capture, Depth, Error, Result, SessionCandidate, SessionFindings, SkippedSession, unread_after};

/// What was compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCompleteness {
    /// Whether sessions could be compared with the store.
    pub is_compared: bool,
    /// The sessions by runtime.
    pub runtimes: BTreeMap<String, SessionsTally>,
    /// The sessions that are not wholly in the store, by path.
    pub incomplete: Vec<ComparedSession>,
    /// Files that are no sessions, or cannot be read.
    pub skipped: Vec<SkippedSession>,
}

/// A session that was compared with the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedSession {
    /// How it is.
    pub state: SessionState,
    /// The session.
    pub candidate: SessionCandidate,
}

/// How sessions are compared with the store.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonTerms<'c> {
    /// Where the files lie.
    pub machine: &'c Machine,
    /// How much of each is compared.
    pub depth: Depth,
    /// The sessions that may still be written.
    pub open: &'c OpenSessions,
}

impl Capture<'_> {
    /// Compares sessions with the store. Progress is told in bytes of all of them.
    pub async fn completeness(
        self,
        found: SessionFindings,
        terms: ComparisonTerms<'_>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> SessionCompleteness {
        let SessionFindings { candidates, skipped } = found;
        let paths: Vec<PathBuf> = candidates.iter().map(|candidate| candidate.path.clone()).collect();
        let done = AtomicU64::new(0);
        let advance = |at: usize| {
            let bytes = candidates[at].bytes;
            progress(done.fetch_add(bytes, Ordering::Relaxed) + bytes);
        };
        let verified = self.verify_sources(terms.machine, &paths, terms.depth, &advance).await;
        let compared = candidates.into_iter().zip(verified);
        let compared = compared.map(|(candidate, verified)| ComparedSession::new(candidate, verified, terms.open));
        SessionCompleteness::tally(compared, skipped)
    }
}

impl SessionCompleteness {
    /// Compares with a store that nothing was stored in.
    pub fn of_empty_store(found: SessionFindings, open: &OpenSessions) -> Self {
        let candidates = found.candidates.into_iter();
        let compared = candidates.map(|candidate| ComparedSession::new(candidate, Ok(Verified::Unknown), open));
        Self::tally(compared, found.skipped)
    }

    /// Compares with nothing, because there is no store to compare with.
    pub fn unknown(found: SessionFindings) -> Self {
        let candidates = found.candidates.into_iter();
        let compared = candidates.map(|candidate| ComparedSession { state: SessionState::Complete, candidate });
        Self { is_compared: false, ..Self::tally(compared, found.skipped) }
    }

    fn tally(compared: impl Iterator<Item = ComparedSession>, skipped: Vec<SkippedSession>) -> Self {
        let mut runtimes: BTreeMap<String, SessionsTally> = BTreeMap::new();
        let mut incomplete = Vec::new();
        for session in compared {
            let ComparedSession { state, candidate } = &session;
            runtimes.entry(candidate.runtime.clone()).or_default().add(candidate.bytes, state);
            if *state != SessionState::Complete {
                incomplete.push(session);
            }
        }
        Self { is_compared: true, runtimes, incomplete, skipped }
    }

    /// Tells programs of it.
    pub fn document(&self) -> SessionsHealth {
        SessionsHealth {
            is_compared: self.is_compared,
            runtimes: self.runtimes.clone(),
            incomplete: self.incomplete.iter().map(IncompleteSession::from).collect(),
            skipped: self.skipped.iter().map(SkippedFile::from).collect(),
        }
    }

    /// Counts the sessions of all runtimes.
    pub fn total(&self) -> SessionsTally {
        let mut all = SessionsTally::default();
        for tally in self.runtimes.values() {
            all.merge(tally);
        }
        all
    }

    /// Tells whether all that can be in the store is there.
    pub fn is_complete(&self) -> bool {
        self.is_compared && self.missing().next().is_none()
    }

    /// Returns the sessions of which something is missing that no agent is about to tell.
    pub fn missing(&self) -> impl Iterator<Item = &ComparedSession> {
        self.incomplete.iter().filter(|session| !matches!(session.state, SessionState::Live(_)))
    }

    /// Returns the sessions that an import may complete, and which of them it must read from the beginning.
    pub fn to_import(&self) -> impl Iterator<Item = (&SessionCandidate, bool)> {
        self.incomplete.iter().filter_map(|session| match session.state {
            SessionState::Behind(_) | SessionState::Never | SessionState::Live(_) => Some((&session.candidate, false)),
            SessionState::Different { .. } => Some((&session.candidate, true)),
            SessionState::Complete | SessionState::Unreadable { .. } => None,
        })
    }
}

impl ComparedSession {
    fn new(candidate: SessionCandidate, verified: Result<Verified>, open: &OpenSessions) -> Self {
        Self { state: judge(&candidate, verified, open), candidate }
    }
}

impl From<&ComparedSession> for IncompleteSession {
    fn from(ComparedSession { state, candidate }: &ComparedSession) -> Self {
        let SessionCandidate { path, runtime, written, .. } = candidate;
        Self { state: state.clone(), path: path.clone(), runtime: runtime.clone(), written: *written }
    }
}

/// Decides how a session is.
fn judge(candidate: &SessionCandidate, verified: Result<Verified>, open: &OpenSessions) -> SessionState {
    let is_live = open.write(&candidate.path);
    match verified {
        Ok(Verified::Same { left: 0, .. }) => SessionState::Complete,
        Ok(Verified::Same { bytes, left }) => match unread_after(&candidate.path, &candidate.format, bytes) {
            // Somebody is in the middle of writing a line, or was when the machine stopped.
            Ok(UnreadTail { lines: 0, .. }) => SessionState::Complete,
            Ok(unread) if is_live => SessionState::Live(unread),
            Ok(unread) => SessionState::Behind(unread),
            Err(_) => SessionState::Behind(UnreadTail { bytes: left, lines: 0 }),
        },
        Ok(Verified::Unknown) if is_live => SessionState::Live(UnreadTail { bytes: candidate.bytes, lines: 0 }),
        Ok(Verified::Unknown) => SessionState::Never,
        // What is written anew each time differs when it has grown.
        Ok(Verified::Differs { .. }) if candidate.is_document() => SessionState::Behind(UnreadTail::default()),
        Ok(Verified::Differs { at }) => SessionState::Different { at },
        Err(error) => {
            use StoreError::{Damaged, DamagedArtifact, NoArtifact};
            let is_damage =
                matches!(error, Error::Engine(EngineError::Store(Damaged { .. } | DamagedArtifact(_) | NoArtifact(_))));
            SessionState::Unreadable { problem: error.in_one_line(), is_damage }
        }
    }
}
