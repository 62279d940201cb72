//! Whether every turn of every session on disk is in the store.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use contexture::{
    Contexture, Error as EngineError, StoreError,
    core::{Machine, Timestamp},
};
use contexture_capture::{Capture, Depth, Error as CaptureError, UnreadTail, Verified};
use serde::Serialize;

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
#[derive(Debug, Serialize)]
pub(super) struct Completeness {
    /// Whether sessions could be compared with the store.
    is_compared: bool,
    runtimes: BTreeMap<String, Tally>,
    /// The sessions that are not wholly in the store, by path.
    incomplete: Vec<Incomplete>,
    /// Files that are no sessions, or cannot be read.
    skipped: Vec<Skipped>,
}

/// The sessions of a runtime by how they are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Tally {
    sessions: u64,
    bytes: u64,
    complete: u64,
    /// Still being written, and not yet taken in to the end.
    live: u64,
    behind: u64,
    /// What those that are behind hold that was not taken in.
    unread: UnreadTail,
    never: u64,
    different: u64,
    unreadable: u64,
}

/// A session that is not wholly in the store.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Incomplete {
    #[serde(flatten)]
    state: State,
    pub(super) path: PathBuf,
    pub(super) runtime: String,
    pub(super) written: Option<Timestamp>,
    #[serde(skip)]
    candidate: Candidate,
}

/// How a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum State {
    /// All of it is in the store.
    Complete,
    /// An agent is writing it: the rest comes with its next event.
    Live(UnreadTail),
    /// It has more than the store.
    Behind(UnreadTail),
    /// Nothing of it was taken in.
    Never,
    /// The store has something else.
    Different { at: u64 },
    /// It or what the store has of it cannot be read.
    Unreadable { problem: String, is_damage: bool },
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
        let judged = found.candidates.into_iter().map(|candidate| (candidate, State::Complete));
        Self { is_compared: false, ..Self::tally(judged, found.skipped) }
    }

    fn tally(judged: impl Iterator<Item = (Candidate, State)>, skipped: Vec<Skipped>) -> Self {
        let mut runtimes: BTreeMap<String, Tally> = BTreeMap::new();
        let mut incomplete = Vec::new();
        for (candidate, state) in judged {
            runtimes.entry(candidate.runtime.clone()).or_default().add(&candidate, &state);
            if state != State::Complete {
                let (path, runtime) = (candidate.path.clone(), candidate.runtime.clone());
                incomplete.push(Incomplete { state, path, runtime, written: candidate.written, candidate });
            }
        }
        Self { is_compared: true, runtimes, incomplete, skipped }
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
        self.incomplete.iter().filter(|session| !matches!(session.state, State::Live(_)))
    }

    /// Returns the sessions that an import may complete, and which of them it must read from the beginning.
    pub(super) fn to_import(&self) -> impl Iterator<Item = (&Candidate, bool)> {
        self.incomplete.iter().filter_map(|session| match session.state {
            State::Behind(_) | State::Never | State::Live(_) => Some((&session.candidate, false)),
            State::Different { .. } => Some((&session.candidate, true)),
            State::Complete | State::Unreadable { .. } => None,
        })
    }

    pub(super) fn line(&self) -> String {
        let mut all = Tally::default();
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
            true if is_alone || all.complete == all.sessions => format!("{on_disk}: {}", all.told()),
            true => format!("{on_disk}: {} complete", output::count(all.complete)),
        }
    }

    /// Returns a line for each runtime, when there are several, and one for the files that are no sessions.
    pub(super) fn details(&self) -> Vec<String> {
        let width = self.runtimes.keys().map(String::len).max().unwrap_or_default();
        let told = |(runtime, tally): (&String, &Tally)| {
            let fate = if self.is_compared { format!(": {}", tally.told()) } else { String::new() };
            let (sessions, size) = (output::count(tally.sessions), output::size(tally.bytes));
            format!("{runtime:<width$} {sessions:>5} {size:>10}{fate}")
        };
        let mut lines: Vec<String> = Vec::new();
        if self.runtimes.len() > 1 {
            lines.extend(self.runtimes.iter().map(told));
        }
        let others = self.skipped.iter().filter(|file| !file.is_unreadable).count() as u64;
        if others > 0 {
            let verb = if others == 1 { "is" } else { "are" };
            lines.push(format!("{} beside them {verb} no session", output::counted(others, "file")));
        }
        lines
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut all = Tally::default();
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
            if let State::Unreadable { problem, is_damage } = &session.state {
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

impl Tally {
    fn add(&mut self, candidate: &Candidate, state: &State) {
        self.sessions += 1;
        self.bytes += candidate.bytes;
        match state {
            State::Complete => self.complete += 1,
            State::Live(_) => self.live += 1,
            State::Behind(UnreadTail { bytes, lines }) => {
                self.behind += 1;
                self.unread.bytes += bytes;
                self.unread.lines += lines;
            }
            State::Never => self.never += 1,
            State::Different { .. } => self.different += 1,
            State::Unreadable { .. } => self.unreadable += 1,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.bytes += other.bytes;
        self.complete += other.complete;
        self.live += other.live;
        self.behind += other.behind;
        self.unread.bytes += other.unread.bytes;
        self.unread.lines += other.unread.lines;
        self.never += other.never;
        self.different += other.different;
        self.unreadable += other.unreadable;
    }

    fn told(&self) -> String {
        if self.complete == self.sessions {
            return "all complete".to_owned();
        }
        let unread = match self.unread.lines {
            0 => String::new(),
            lines => format!(" by {}", output::counted(lines, "line")),
        };
        let parts = [
            (self.complete, "complete".to_owned()),
            (self.live, "being written".to_owned()),
            (self.behind, format!("behind{unread}")),
            (self.never, "never taken in".to_owned()),
            (self.different, "changed since".to_owned()),
            (self.unreadable, "unreadable".to_owned()),
        ];
        let told = parts.into_iter().filter(|(number, _)| *number > 0);
        told.map(|(number, what)| format!("{} {what}", output::count(number))).collect::<Vec<_>>().join(", ")
    }
}

/// Decides how a session is.
fn judge(candidate: &Candidate, verified: contexture_capture::Result<Verified>, agents: &Agents) -> State {
    let is_live = agents.write(&candidate.path);
    match verified {
        Ok(Verified::Same { left: 0, .. }) => State::Complete,
        Ok(Verified::Same { bytes, left }) => match UnreadTail::after(&candidate.path, &candidate.format, bytes) {
            // Somebody is in the middle of writing a line, or was when the machine stopped.
            Ok(UnreadTail { lines: 0, .. }) => State::Complete,
            Ok(unread) if is_live => State::Live(unread),
            Ok(unread) => State::Behind(unread),
            Err(_) => State::Behind(UnreadTail { bytes: left, lines: 0 }),
        },
        Ok(Verified::Unknown) if is_live => State::Live(UnreadTail { bytes: candidate.bytes, lines: 0 }),
        Ok(Verified::Unknown) => State::Never,
        // What is written anew each time differs when it has grown.
        Ok(Verified::Differs { .. }) if candidate.is_document() => State::Behind(UnreadTail::default()),
        Ok(Verified::Differs { at }) => State::Different { at },
        Err(error) => {
            use StoreError::{Damaged, DamagedArtifact, NoArtifact};
            let is_damage = matches!(
                error,
                CaptureError::Engine(EngineError::Store(Damaged { .. } | DamagedArtifact(_) | NoArtifact(_)))
            );
            State::Unreadable { problem: Error::from(error).told(), is_damage }
        }
    }
}

fn look_at(path: &std::path::Path) -> String {
    format!("ls -l {}", path.display())
}
