//! Whether every turn of every session on disk is in the store.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use contexture::{
    Contexture, Error as EngineError, StoreError,
    core::{Machine, Timestamp},
    wire::{IncompleteSession, SessionState, SessionsHealth, SessionsTally, SkippedFile},
};
use contexture_capture::{Capture, Depth, Error as CaptureError, UnreadTail, Verified, unread_after};

use super::{
    agents::Agents,
    problem::{Check, FIX, Problem},
};
use crate::{
    error::Error,
    output::{self, Output},
    sessions::{Candidate, Findings, Skipped},
};

/// What was compared.
#[derive(Debug)]
pub(super) struct Completeness {
    /// Whether sessions could be compared with the store.
    is_compared: bool,
    runtimes: BTreeMap<String, SessionsTally>,
    /// The sessions that are not wholly in the store, by path.
    incomplete: Vec<Incomplete>,
    /// Files that are no sessions, or cannot be read.
    skipped: Vec<Skipped>,
}

/// A session that is not wholly in the store.
#[derive(Debug, Clone)]
pub(super) struct Incomplete {
    state: SessionState,
    pub(super) path: PathBuf,
    pub(super) runtime: String,
    pub(super) written: Option<Timestamp>,
    candidate: Candidate,
}

/// How to compare.
#[derive(Debug, Clone, Copy)]
pub(super) struct How<'h> {
    pub(super) depth: Depth,
    pub(super) agents: &'h Agents,
}

/// Compares sessions with the store.
pub(super) async fn compare(
    engine: &Contexture,
    machine: &Machine,
    found: Findings,
    how: How<'_>,
    output: &Output,
) -> Completeness {
    let Findings { candidates, skipped } = found;
    let total = candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Comparing", Some(total)).counter();
    let paths: Vec<PathBuf> = candidates.iter().map(|candidate| candidate.path.clone()).collect();
    let done = AtomicU64::new(0);
    let advance = |at: usize| bar.set(done.fetch_add(candidates[at].bytes, Ordering::Relaxed) + candidates[at].bytes);
    let verified = Capture::new(engine).verify_sources(machine, &paths, how.depth, &advance).await;
    drop(bar);
    let judged = candidates.into_iter().zip(verified).map(|(candidate, verified)| {
        let state = judge(&candidate, verified, how.agents);
        (candidate, state)
    });
    Completeness::tally(judged, skipped)
}

impl Completeness {
    /// Compares with a store that nothing was stored in.
    pub(super) fn of_nothing(found: Findings, agents: &Agents) -> Self {
        let judged = found.candidates.into_iter().map(|candidate| {
            let state = judge(&candidate, Ok(Verified::Unknown), agents);
            (candidate, state)
        });
        Self::tally(judged, found.skipped)
    }

    /// Compares with nothing, because there is no store to compare with.
    pub(super) fn unknown(found: Findings) -> Self {
        let judged = found.candidates.into_iter().map(|candidate| (candidate, SessionState::Complete));
        Self { is_compared: false, ..Self::tally(judged, found.skipped) }
    }

    fn tally(judged: impl Iterator<Item = (Candidate, SessionState)>, skipped: Vec<Skipped>) -> Self {
        let mut runtimes: BTreeMap<String, SessionsTally> = BTreeMap::new();
        let mut incomplete = Vec::new();
        for (candidate, state) in judged {
            runtimes.entry(candidate.runtime.clone()).or_default().add(candidate.bytes, &state);
            if state != SessionState::Complete {
                let (path, runtime) = (candidate.path.clone(), candidate.runtime.clone());
                incomplete.push(Incomplete { state, path, runtime, written: candidate.written, candidate });
            }
        }
        Self { is_compared: true, runtimes, incomplete, skipped }
    }

    /// Tells programs of it.
    pub(super) fn document(&self) -> SessionsHealth {
        SessionsHealth {
            is_compared: self.is_compared,
            runtimes: self.runtimes.iter().map(|(runtime, tally)| (runtime.clone(), *tally)).collect(),
            incomplete: self.incomplete.iter().map(IncompleteSession::from).collect(),
            skipped: self.skipped.iter().map(SkippedFile::from).collect(),
        }
    }

    /// Tells whether sessions could be compared with the store.
    pub(super) fn is_compared(&self) -> bool {
        self.is_compared
    }

    /// Tells whether all that can be in the store is there.
    pub(super) fn is_complete(&self) -> bool {
        self.is_compared && self.missing().next().is_none()
    }

    /// Returns the sessions of which something is missing that no agent is about to tell.
    pub(super) fn missing(&self) -> impl Iterator<Item = &Incomplete> {
        self.incomplete.iter().filter(|session| !matches!(session.state, SessionState::Live(_)))
    }

    /// Returns the sessions that an import may complete, and which of them it must read from the beginning.
    pub(super) fn to_import(&self) -> impl Iterator<Item = (&Candidate, bool)> {
        self.incomplete.iter().filter_map(|session| match session.state {
            SessionState::Behind(_) | SessionState::Never | SessionState::Live(_) => Some((&session.candidate, false)),
            SessionState::Different { .. } => Some((&session.candidate, true)),
            SessionState::Complete | SessionState::Unreadable { .. } => None,
        })
    }

    pub(super) fn line(&self) -> String {
        let mut all = SessionsTally::default();
        for tally in self.runtimes.values() {
            all.merge(tally);
        }
        if all.sessions == 0 {
            return "none on disk".to_owned();
        }
        let on_disk = format!("{} on disk ({})", output::count(all.sessions), output::size(all.bytes));
        let is_alone = self.runtimes.len() == 1;
        match self.is_compared {
            false => format!("{on_disk}, not compared"),
            true if is_alone || all.complete == all.sessions => format!("{on_disk}: {}", told(&all)),
            true => format!("{on_disk}: {} complete", output::count(all.complete)),
        }
    }

    /// Returns a line for each runtime, when there are several, and one for the files that are no sessions.
    pub(super) fn details(&self) -> Vec<String> {
        let width = self.runtimes.keys().map(String::len).max().unwrap_or_default();
        let line = |(runtime, tally): (&String, &SessionsTally)| {
            let fate = if self.is_compared { format!(": {}", told(tally)) } else { String::new() };
            let (sessions, size) = (output::count(tally.sessions), output::size(tally.bytes));
            format!("{runtime:<width$} {sessions:>5} {size:>10}{fate}")
        };
        let mut lines: Vec<String> = Vec::new();
        if self.runtimes.len() > 1 {
            lines.extend(self.runtimes.iter().map(line));
        }
        let others = self.skipped.iter().filter(|file| !file.is_unreadable).count() as u64;
        if others > 0 {
            let verb = if others == 1 { "is" } else { "are" };
            lines.push(format!("{} beside them {verb} no session", output::counted(others, "file")));
        }
        lines
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut all = SessionsTally::default();
        for tally in self.runtimes.values() {
            all.merge(tally);
        }
        let mut problems = Vec::new();
        let mut tell = |number: u64, (one, many): (&str, &str), command: String| {
            if number > 0 {
                let (sessions, rest) = (output::counted(number, "session"), if number == 1 { one } else { many });
                problems.push(Problem::new(Check::Sessions, format!("{sessions} {rest}"), command));
            }
        };
        tell(all.never, ("was never taken in", "were never taken in"), FIX.to_owned());
        tell(all.behind, ("has more than the store", "have more than the store"), FIX.to_owned());
        let changed = ("was changed since it was taken in", "were changed since they were taken in");
        tell(all.different, changed, FIX.to_owned());
        for session in &self.incomplete {
            if let SessionState::Unreadable { problem, is_damage } = &session.state {
                let what = format!("{}: {}", session.path.display(), output::first_line(problem));
                let command = if *is_damage { "ctx fsck".to_owned() } else { look_at(&session.path) };
                problems.push(Problem::new(Check::Sessions, what, command));
            }
        }
        for Skipped { path, reason, .. } in self.skipped.iter().filter(|file| file.is_unreadable) {
            let what = format!("{}: {}", path.display(), output::first_line(reason));
            problems.push(Problem::new(Check::Sessions, what, look_at(path)));
        }
        problems
    }
}

impl From<&Incomplete> for IncompleteSession {
    fn from(session: &Incomplete) -> Self {
        let Incomplete { state, path, runtime, written, .. } = session;
        Self { state: state.clone(), path: path.clone(), runtime: runtime.clone(), written: *written }
    }
}

/// Tells a person how the sessions of a runtime are.
fn told(tally: &SessionsTally) -> String {
    if tally.complete == tally.sessions {
        return "all complete".to_owned();
    }
    let unread = match tally.unread.lines {
        0 => String::new(),
        lines => format!(" by {}", output::counted(lines, "line")),
    };
    let parts = [
        (tally.complete, "complete".to_owned()),
        (tally.live, "being written".to_owned()),
        (tally.behind, format!("behind{unread}")),
        (tally.never, "never taken in".to_owned()),
        (tally.different, "changed since".to_owned()),
        (tally.unreadable, "unreadable".to_owned()),
    ];
    let told = parts.into_iter().filter(|(number, _)| *number > 0);
    told.map(|(number, what)| format!("{} {what}", output::count(number))).collect::<Vec<_>>().join(", ")
}

/// Decides how a session is.
fn judge(candidate: &Candidate, verified: contexture_capture::Result<Verified>, agents: &Agents) -> SessionState {
    let is_live = agents.write(&candidate.path);
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
            let is_damage = matches!(
                error,
                CaptureError::Engine(EngineError::Store(Damaged { .. } | DamagedArtifact(_) | NoArtifact(_)))
            );
            SessionState::Unreadable { problem: Error::from(error).told(), is_damage }
        }
    }
}

fn look_at(path: &std::path::Path) -> String {
    format!("ls -l {}", path.display())
}
