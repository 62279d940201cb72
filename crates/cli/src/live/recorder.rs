//! The recorder: hands what a session has come to hold to the store, or to the spool when the store cannot take it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead as _, BufReader},
    panic::{self, AssertUnwindSafe},
    path::{self, Path, PathBuf},
    process,
    sync::mpsc,
    thread,
    time::{Duration, SystemTime},
};

use contexture::{
    Contexture, Location,
    core::{CommitId, Format, SpaceName, Timestamp, Trigger},
};
use contexture_capture::{
    self as capture, Capture, CaptureReason, Dialect, ImportSettings, LiveSession, Registry, Runtime, SessionFile,
    Spool,
};

use super::{Log, Trouble, flush, process::is_alive};
use crate::{
    error::{Error, Result},
    invocation::Invocation,
};

/// How long a store that did not answer in time is left alone.
const STALL: Duration = Duration::from_secs(20);

/// Nobody takes so long to list a session.
const DEBRIS_AGE: Duration = Duration::from_mins(10);

/// What became of what a session held.
#[derive(Debug)]
pub(crate) enum Recorded {
    /// It is in the store.
    Stored {
        /// The last commit of the conversation.
        tip: Option<CommitId>,
    },
    /// It is in the spool, because the store could not take it.
    Spooled {
        /// Why not.
        problem: String,
    },
}

/// Records sessions for one store and space.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    invocation: Invocation,
    /// Which sessions go on.
    pub(crate) registry: Registry,
    /// What waits for the store.
    pub(crate) spool: Spool,
    /// What went wrong.
    pub(crate) log: Log,
    /// Where it is kept what programs print.
    runs: PathBuf,
    /// When the store did not answer.
    stalled: PathBuf,
    store: String,
    space: SpaceName,
}

/// A session that was heard of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting<'s> {
    pub(crate) id: &'s str,
    pub(crate) file: &'s SessionFile,
    /// The directory that the agent works in.
    pub(crate) directory: &'s Path,
}

/// How far a session is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    tip: Option<CommitId>,
    captured: Option<u64>,
    agents: BTreeMap<PathBuf, u64>,
}

impl Kept {
    /// Writes it into what is known of the session.
    pub(crate) fn tell(self, session: &mut LiveSession) {
        session.captured = self.captured.unwrap_or(session.captured);
        session.agents.extend(self.agents);
    }
}

impl Recorder {
    pub(crate) fn new(invocation: &Invocation) -> Result<Self> {
        let state = invocation.environment.state_directory()?;
        let (store, space) = (named(&invocation.location()?), invocation.space()?);
        let digest = blake3::hash(format!("{store} {space}").as_bytes()).to_hex();
        let spool = state.join("spool").join(&digest.as_str()[..16]);
        Ok(Self {
            invocation: invocation.clone(),
            registry: Registry::at(state.join("sessions")),
            runs: state.join("runs"),
            stalled: spool.join("stalled"),
            spool: Spool::at(spool),
            log: Log::at(state.join("capture.log")),
            store,
            space,
        })
    }

    /// Describes a session's file.
    pub(crate) fn session_file(&self, runtime: &str, format: Format, path: &Path) -> Result<SessionFile> {
        let environment = &self.invocation.environment;
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let settings = ImportSettings {
            principal: Some(environment.principal()?),
            agent: capture::agent_of(&path),
            ticket: environment.ticket()?,
            thread: environment.thread()?,
            ..ImportSettings::new(environment.machine()?, runtime)
        };
        Ok(SessionFile { path, format, settings })
    }

    /// Describes the file that a runtime keeps of a session.
    pub(crate) fn transcript(&self, runtime: Runtime, path: &Path) -> Result<SessionFile> {
        self.session_file(runtime.as_str(), runtime.format(), path)
    }

    /// Notes that something was heard of a session, and returns what is known of it now.
    pub(crate) fn hear(&self, of: &Sighting<'_>, note: impl FnOnce(&mut LiveSession)) -> Result<LiveSession> {
        let now = self.now()?;
        self.registry.update(of.id, |known| self.heard(known, of, now, note)).map_err(Error::State)
    }

    /// Returns what would be known of a session, and notes nothing.
    pub(crate) fn peek(&self, of: &Sighting<'_>, note: impl FnOnce(&mut LiveSession)) -> Result<LiveSession> {
        Ok(self.heard(self.registry.find(of.id), of, self.now()?, note))
    }

    fn heard(
        &self,
        known: Option<LiveSession>,
        of: &Sighting<'_>,
        heard_at: Timestamp,
        note: impl FnOnce(&mut LiveSession),
    ) -> LiveSession {
        let Sighting { id, file, directory } = *of;
        let run = self.invocation.environment.session.as_ref().map(|run| run.to_string_lossy().into_owned());
        let same = |known: &LiveSession| self.is_own(known) && known.file.path == file.path;
        let mut session = known.filter(same).unwrap_or_else(|| LiveSession {
            session: id.to_owned(),
            file: file.clone(),
            directory: directory.to_owned(),
            agent: None,
            run: None,
            store: self.store.clone(),
            space: self.space.clone(),
            captured: 0,
            agents: BTreeMap::new(),
            calls: Vec::new(),
            event: String::new(),
            heard_at,
        });
        (session.file, session.directory, session.heard_at) = (file.clone(), directory.to_owned(), heard_at);
        session.run = run.or(session.run);
        note(&mut session);
        session
    }

    /// Waits a moment for a file of a session to hold a text. Tells whether it does.
    pub(crate) fn wait_for(session: &LiveSession, file: Option<&Path>, text: &str, limit: Duration) -> bool {
        let (path, captured) = match file {
            None => (&*session.file.path, session.captured),
            Some(file) => (file, session.agents.get(file).copied().unwrap_or(0)),
        };
        flush::wait_for(path, text, captured, limit)
    }

    /// Keeps what a session has come to hold, in the store or in the spool. Who waited in the spool goes first.
    pub(crate) async fn record(&self, session: &LiveSession, reason: &CaptureReason) -> Result<Recorded> {
        match self.store_session(session, reason).await {
            Ok(kept) => self.stored(session, kept),
            Err(error) => self.spool_session(session, reason, error.told()),
        }
    }

    /// Does the same within about a time, whatever the store does.
    pub(crate) fn record_within(
        &self,
        session: &LiveSession,
        reason: &CaptureReason,
        limit: Duration,
    ) -> Result<Recorded> {
        if self.is_stalled() {
            return self.spool_session(session, reason, "the store did not answer a moment ago".to_owned());
        }
        let (done, waiting) = mpsc::channel();
        let (recorder, theirs, cause) = (self.clone(), session.clone(), reason.clone());
        // A store that hangs does not give the thread back; it ends with the program.
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime);
            let stored = runtime.as_ref().map_err(Error::told).and_then(|runtime| {
                runtime.block_on(recorder.store_session(&theirs, &cause)).map_err(|error| error.told())
            });
            // Who waited may have given up.
            _ = done.send(stored);
        });
        let problem = match waiting.recv_timeout(limit) {
            Ok(Ok(kept)) => return self.stored(session, kept),
            Ok(Err(problem)) => problem,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.stall();
                format!("the store did not answer within {limit:?}")
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => "the program failed while it stored the session".to_owned(),
        };
        self.spool_session(session, reason, problem)
    }

    /// Does the same where the program has nothing else to do and ends with it: here, and another thread spools and ends the
    /// program if it takes too long. What it keeps is not listed yet.
    pub(crate) fn record_last(
        &self,
        session: &LiveSession,
        reason: &CaptureReason,
        limit: Duration,
    ) -> Result<(Recorded, Kept)> {
        let spooled = |problem: String| Ok((self.spool_session(session, reason, problem)?, Kept::default()));
        if self.is_stalled() {
            return spooled("the store did not answer a moment ago".to_owned());
        }
        let (guard, theirs, cause) = (self.clone(), session.clone(), reason.clone());
        thread::spawn(move || {
            thread::sleep(limit);
            guard.stall();
            let problem = format!("the store did not answer within {limit:?}");
            let is_spooled = guard.spool_session(&theirs, &cause, problem.clone()).is_ok();
            guard.write_down("hook", Some(&theirs.session), &problem, is_spooled);
            process::exit(0);
        });
        let stored = panic::catch_unwind(AssertUnwindSafe(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
            let stored: Result<Kept> = runtime.block_on(async {
                let engine = self.invocation.open_alone().await?;
                let kept = self.store_in(&engine, session, reason).await?;
                engine.leave();
                Ok(kept)
            });
            // Its threads end with the program.
            runtime.shutdown_background();
            stored
        }));
        match stored {
            Ok(Ok(kept)) => Ok((Recorded::Stored { tip: kept.tip }, kept)),
            Ok(Err(error)) => spooled(error.told()),
            Err(_) => spooled("the program failed while it stored the session".to_owned()),
        }
    }

    /// Records the rest of the sessions whose agents are gone without a word. Returns how many there were.
    pub(crate) fn close_crashed(&self, limit: Duration) -> Result<u64> {
        let mut closed = 0;
        for mut session in self.crashed() {
            if self.is_of_run(&session) {
                tell_dialect(&mut session.file);
            }
            let recorded = self.record_within(&session, &CaptureReason::ended("crash"), limit)?;
            // Nobody else has what a program printed, so that stays listed until the store has it.
            if self.is_of_run(&session) && matches!(recorded, Recorded::Spooled { .. }) {
                continue;
            }
            self.forget(&session)?;
            closed += 1;
        }
        self.registry.tidy(SystemTime::now() - DEBRIS_AGE);
        Ok(closed)
    }

    /// Returns the sessions whose agents are gone without a word.
    pub(crate) fn crashed(&self) -> impl Iterator<Item = LiveSession> {
        let is_gone = |session: &LiveSession| session.agent.as_ref().is_some_and(|agent| !is_alive(agent));
        self.registry.all().into_iter().filter(move |session| is_gone(session) && self.is_own(session))
    }

    /// Tells whether a session goes to the store and space that are recorded to.
    pub(crate) fn is_own(&self, session: &LiveSession) -> bool {
        session.store == self.store && session.space == self.space
    }

    /// Returns where it is kept what a program prints that keeps no session itself.
    pub(crate) fn place_of_run(&self, run: &str) -> Result<PathBuf> {
        // The path is the session's name in the store, so it has no links in it from the start.
        let runs = fs::create_dir_all(&self.runs).and_then(|()| fs::canonicalize(&self.runs)).map_err(Error::State)?;
        Ok(runs.join(format!("{run}.jsonl")))
    }

    /// Takes a session that is over off the list. What a program has printed is removed with it: the store has it.
    pub(crate) fn forget(&self, session: &LiveSession) -> Result<()> {
        if self.is_of_run(session) {
            match fs::remove_file(&session.file.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::State(error)),
                _ => {}
            }
        }
        self.registry.strike(&session.session).map_err(Error::State)
    }

    /// Tells whether a session is what a program has printed.
    pub(crate) fn is_of_run(&self, session: &LiveSession) -> bool {
        let runs = fs::canonicalize(&self.runs);
        runs.is_ok_and(|runs| session.file.path.parent() == Some(&*runs))
    }

    /// Writes down what went wrong where nobody can be told.
    pub(crate) fn write_down(&self, during: &str, session: Option<&str>, problem: &str, is_spooled: bool) {
        let Ok(at) = self.now() else { return };
        let (during, session, problem) = (during.to_owned(), session.map(str::to_owned), problem.to_owned());
        self.log.write(&Trouble { at, during, session, problem, is_spooled });
    }

    fn stored(&self, session: &LiveSession, kept: Kept) -> Result<Recorded> {
        let tip = kept.tip;
        self.note_kept(session, kept)?;
        Ok(Recorded::Stored { tip })
    }

    async fn store_session(&self, session: &LiveSession, reason: &CaptureReason) -> Result<Kept> {
        let engine = self.invocation.open_promptly().await?;
        self.store_in(&engine, session, reason).await
    }

    async fn store_in(&self, engine: &Contexture, session: &LiveSession, reason: &CaptureReason) -> Result<Kept> {
        if self.spool.waiting() > 0 {
            Capture::new(engine).drain(&self.spool).await?;
        }
        let mut kept = Kept::default();
        if let Some((tip, size)) = capture_file(engine, &session.file, reason).await? {
            (kept.tip, kept.captured) = (tip, Some(size));
        }
        for (file, _) in agent_files(session) {
            if let Some((_, size)) = capture_file(engine, &file, &of_agent(reason)).await? {
                kept.agents.insert(file.path, size);
            }
        }
        if reason.trigger == Trigger::SessionEnd {
            let agents = session.agents.keys().chain(kept.agents.keys()).map(PathBuf::as_path);
            Capture::new(engine).link_files(&session.file.settings.machine, agents).await?;
        }
        Ok(kept)
    }

    fn spool_session(&self, session: &LiveSession, reason: &CaptureReason, problem: String) -> Result<Recorded> {
        let now = self.now()?;
        let mut kept =
            Kept { captured: self.spool_file(&session.file, reason, session.captured, now)?, ..Kept::default() };
        for (file, captured) in agent_files(session) {
            if let Some(size) = self.spool_file(&file, &of_agent(reason), captured, now)? {
                kept.agents.insert(file.path, size);
            }
        }
        self.note_kept(session, kept)?;
        Ok(Recorded::Spooled { problem })
    }

    /// Keeps a file's new end in the spool. Returns how far it is kept; nothing when there is no file.
    fn spool_file(
        &self,
        file: &SessionFile,
        reason: &CaptureReason,
        captured: u64,
        now: Timestamp,
    ) -> Result<Option<u64>> {
        match self.spool.add(file, reason, captured, now) {
            Ok(kept) => Ok(Some(kept)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !file.path.exists() => Ok(None),
            Err(error) => Err(Error::State(error)),
        }
    }

    /// Lists how far a session is kept now, unless it has left the list.
    fn note_kept(&self, session: &LiveSession, kept: Kept) -> Result<()> {
        if self.registry.find(&session.session).is_none() {
            return Ok(());
        }
        let noted = self.registry.update(&session.session, |known| {
            let mut session = known.unwrap_or_else(|| session.clone());
            kept.tell(&mut session);
            session
        });
        noted.map(drop).map_err(Error::State)
    }

    fn is_stalled(&self) -> bool {
        let noted = fs::metadata(&self.stalled).and_then(|file| file.modified());
        noted.is_ok_and(|noted| SystemTime::now().duration_since(noted).is_ok_and(|since| since < STALL))
    }

    fn stall(&self) {
        let place = self.stalled.parent().map_or(Ok(()), fs::create_dir_all);
        // Without the mark the next one waits too, which is all that is lost.
        _ = place.and_then(|()| File::create(&self.stalled));
    }

    fn now(&self) -> Result<Timestamp> {
        self.invocation.now()
    }
}

/// Names a store so that it is found from any directory.
fn named(location: &Location) -> String {
    match location {
        Location::Directory(path) => path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
        Location::Postgres(_) => location.to_string(),
    }
}

/// Names the format of what a program has printed: whoever listed it may have been killed before the first line came.
fn tell_dialect(file: &mut SessionFile) {
    let mut line = Vec::new();
    let read = File::open(&file.path).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
    if let Some(dialect) = read.ok().and_then(|_| Dialect::of_first_line(&line)) {
        file.format = dialect.format();
        dialect.runtime().as_str().clone_into(&mut file.settings.runtime);
    }
}

/// Takes in a file. One that is not there holds nothing: runtimes begin it with the first answer.
async fn capture_file(
    engine: &Contexture,
    file: &SessionFile,
    reason: &CaptureReason,
) -> Result<Option<(Option<CommitId>, u64)>> {
    match Capture::new(engine).capture(file, reason).await {
        Ok(captured) => Ok(Some((captured.tip, captured.size))),
        Err(capture::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && !file.path.exists() => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Lists the files of agents that a session has started, as far as they have changed, with how much of them is kept.
fn agent_files(session: &LiveSession) -> Vec<(SessionFile, u64)> {
    let mut paths = capture::agent_transcripts(&session.file.path, &session.session);
    paths.extend(session.agents.keys().filter(|path| !paths.contains(path)).cloned().collect::<Vec<_>>());
    let mut files = Vec::new();
    for path in paths {
        let captured = session.agents.get(&path).copied().unwrap_or(0);
        if fs::metadata(&path).is_ok_and(|file| file.len() != captured) {
            let settings = ImportSettings { agent: capture::agent_of(&path), ..session.file.settings.clone() };
            files.push((SessionFile { path, format: session.file.format.clone(), settings }, captured));
        }
    }
    files
}

/// An agent's own turn is over when something happens to the one that waits for it.
fn of_agent(reason: &CaptureReason) -> CaptureReason {
    CaptureReason { trigger: Trigger::TurnBoundary, is_live: false, ending: None, ..reason.clone() }
}
