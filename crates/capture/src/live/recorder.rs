//! The recorder: hands what a session has come to hold to the store, or to the spool when the store cannot take it.

mod record;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use contexture::{
    core::{GivenSessionId, Timestamp},
    open_found, private,
};

pub use self::record::{Deadline, KeptSession, Recorded};
use super::{Trouble, TroubleLog, flush, process::is_alive};
use crate::{CaptureConfig, CaptureReason, Dialect, Error, LiveSession, Registry, Result, Runtime, SessionFile, Spool};

/// Longest first line that is looked at.
const MAX_FIRST_LINE: u64 = 4 * 1024 * 1024;
/// Nobody takes so long to list a session.
const DEBRIS_AGE: Duration = Duration::from_mins(10);

/// Records sessions for one store and space.
#[derive(Clone)]
pub struct Recorder {
    config: CaptureConfig,
    /// Which sessions go on.
    pub registry: Registry,
    /// What waits for the store.
    pub spool: Spool,
    /// What went wrong.
    pub log: TroubleLog,
    /// Where it is kept what programs print.
    runs: PathBuf,
    /// When the store did not answer.
    stalled: PathBuf,
    store: String,
}

/// A session that was heard of.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'s> {
    /// Its id.
    pub id: &'s GivenSessionId,
    /// Its file.
    pub file: &'s SessionFile,
    /// The directory that the agent works in.
    pub directory: &'s Path,
}

impl Recorder {
    /// Records to the store of a configuration.
    pub fn new(config: &CaptureConfig) -> Self {
        let (state, store) = (&config.state_directory, config.store_name());
        let digest = blake3::hash(format!("{store} {}", config.store.space).as_bytes()).to_hex();
        let spool = state.join("spool").join(&digest.as_str()[..16]);
        Self {
            registry: Registry::at(state.join("sessions")),
            runs: state.join("runs"),
            stalled: spool.join("stalled"),
            spool: Spool::at(spool),
            log: TroubleLog::in_state(state),
            store,
            config: config.clone(),
        }
    }

    /// Notes that something was heard of a session, and returns what is known of it now.
    pub fn hear(&self, of: &Sighting<'_>, note: impl FnOnce(&mut LiveSession)) -> Result<LiveSession> {
        let now = self.now();
        self.registry.update(of.id, |known| self.heard(known, of, now, note)).map_err(Error::State)
    }

    /// Returns what would be known of a session, and notes nothing.
    pub fn peek(&self, of: &Sighting<'_>, note: impl FnOnce(&mut LiveSession)) -> LiveSession {
        self.heard(self.registry.find(of.id), of, self.now(), note)
    }

    fn heard(
        &self,
        known: Option<LiveSession>,
        of: &Sighting<'_>,
        heard_at: Timestamp,
        note: impl FnOnce(&mut LiveSession),
    ) -> LiveSession {
        let Sighting { id, file, directory } = *of;
        let same = |known: &LiveSession| self.is_own(known) && known.file.path == file.path;
        let mut session = known.filter(same).unwrap_or_else(|| LiveSession {
            session: id.clone(),
            file: file.clone(),
            directory: directory.to_owned(),
            agent: None,
            run: None,
            store: self.store.clone(),
            space: self.config.store.space.clone(),
            captured: 0,
            agents: BTreeMap::new(),
            calls: Vec::new(),
            turns: 0,
            captured_at: None,
            event: String::new(),
            heard_at,
        });
        (session.file, session.directory, session.heard_at) = (file.clone(), directory.to_owned(), heard_at);
        session.run = self.config.run.clone().or(session.run);
        note(&mut session);
        session
    }

    /// Waits a moment for a file of a session to hold a text. Tells whether it does.
    pub fn wait_for(session: &LiveSession, file: Option<&Path>, text: &str, limit: Duration) -> bool {
        let (path, captured) = match file {
            None => (&*session.file.path, session.captured),
            Some(file) => (file, session.agents.get(file).copied().unwrap_or(0)),
        };
        flush::wait_for(path, text, captured, limit)
    }

    /// Records the rest of the sessions whose agents are gone without a word. Returns how many there were.
    pub fn close_crashed(&self, limit: Duration) -> Result<u64> {
        let mut closed = 0;
        for mut session in self.crashed() {
            if self.is_of_run(&session) {
                tell_dialect(&mut session.file);
            }
            let reason = CaptureReason::ended(if is_at_rest(&session) { "exit" } else { "crash" });
            let recorded = self.record(&session, &reason, Deadline::Within(limit))?;
            // Nobody else has what a program printed, so that stays listed until the store has it.
            if self.is_of_run(&session) && matches!(recorded, Recorded::Spooled { .. }) {
                continue;
            }
            self.forget(&session)?;
            closed += 1;
        }
        self.registry.tidy((self.config.file_clock)() - DEBRIS_AGE);
        Ok(closed)
    }

    /// Returns the sessions whose agents are gone without a word.
    pub fn crashed(&self) -> impl Iterator<Item = LiveSession> {
        let is_gone = |session: &LiveSession| session.agent.as_ref().is_some_and(|agent| !is_alive(agent));
        self.registry.all().into_iter().filter(move |session| is_gone(session) && self.is_own(session))
    }

    /// Tells whether a session goes to the store and space that are recorded to.
    pub fn is_own(&self, session: &LiveSession) -> bool {
        session.store == self.store && session.space == self.config.store.space
    }

    /// Returns where it is kept what a program prints that keeps no session itself.
    pub fn place_of_run(&self, run: &str) -> Result<PathBuf> {
        // The path is the session's name in the store, so it has no links in it from the start.
        let runs =
            private::create_directory(&self.runs).and_then(|()| fs::canonicalize(&self.runs)).map_err(Error::State)?;
        Ok(runs.join(format!("{run}.jsonl")))
    }

    /// Takes a session off the list.
    pub fn strike(&self, session: &GivenSessionId) -> Result<()> {
        self.registry.strike(session).map_err(Error::State)
    }

    /// Takes a session that is over off the list. What a program has printed is removed with it: the store has it.
    pub fn forget(&self, session: &LiveSession) -> Result<()> {
        if self.is_of_run(session) {
            match fs::remove_file(&session.file.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::State(error)),
                _ => {}
            }
        }
        self.strike(&session.session)
    }

    /// Tells whether a session is what a program has printed.
    pub fn is_of_run(&self, session: &LiveSession) -> bool {
        let runs = fs::canonicalize(&self.runs);
        runs.is_ok_and(|runs| session.file.path.parent() == Some(&*runs))
    }

    /// Writes down what went wrong where nobody can be told.
    pub fn write_down(&self, during: &str, session: Option<&GivenSessionId>, problem: &str, is_spooled: bool) {
        let (during, session, problem) = (during.to_owned(), session.cloned(), problem.to_owned());
        self.log.write(&Trouble { at: self.now(), during, session, problem, is_spooled });
    }

    fn now(&self) -> Timestamp {
        (self.config.store.clock)()
    }
}

/// Tells whether an agent had done all that it was asked when it was heard of last. One that is gone then was not torn from
/// its work: not all say good-bye.
fn is_at_rest(session: &LiveSession) -> bool {
    let hooks = Runtime::named(&session.file.settings.runtime).and_then(Runtime::hooks);
    session.calls.is_empty() && hooks.is_some_and(|hooks| hooks.rests_after == session.event)
}

/// Names the format of what a program has printed: whoever listed it may have been killed before the first line came.
fn tell_dialect(file: &mut SessionFile) {
    let mut line = Vec::new();
    let read =
        open_found(&file.path).and_then(|file| BufReader::new(file.take(MAX_FIRST_LINE)).read_until(b'\n', &mut line));
    if let Some(dialect) = read.ok().and_then(|_| Dialect::of_first_line(&line)) {
        file.format = dialect.format();
        dialect.runtime().as_str().clone_into(&mut file.settings.runtime);
    }
}
