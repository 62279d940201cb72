//! Handing one session over: to the store within the time there is, else to the spool.

use std::{
    collections::BTreeMap,
    fs, io,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::mpsc,
    thread,
    time::Duration,
};

use contexture::{
    Contexture,
    core::{CommitId, Timestamp, Trigger},
    private,
};

use super::{super::Watchdog, Recorder};
use crate::{
    Capture, CaptureReason, Error, ImportSettings, LiveSession, Result, SessionFile,
    detect::{Recognition, recognise},
    discover,
};

/// How long a store that did not answer in time is left alone.
const STALL: Duration = Duration::from_secs(20);
const STALLED: &str = "the store did not answer a moment ago";
const FAILED: &str = "the program failed while it stored the session";

/// How long the store may take, and what happens then.
#[derive(Clone)]
pub enum Deadline {
    /// As long as it takes.
    Unlimited,
    /// Another thread asks the store. After this time the session is spooled, and who waits goes on.
    Within(Duration),
    /// For a program that has nothing else to do and is watched: the store is asked here, and when there is no more time
    /// the watchdog spools the session and ends the program. What was stored is not listed; the caller does that.
    OrEnd(Watchdog),
}

/// What became of what a session held.
#[derive(Debug)]
pub enum Recorded {
    /// It is in the store.
    Stored {
        /// The last commit of the conversation.
        tip: Option<CommitId>,
        /// How far the session is kept.
        kept: KeptSession,
    },
    /// It is in the spool, because the store could not take it.
    Spooled {
        /// Why not.
        problem: String,
    },
}

/// How far a session is kept.
#[derive(Debug, Clone, Default)]
pub struct KeptSession {
    captured: Option<u64>,
    agents: BTreeMap<PathBuf, u64>,
}

/// What the store has taken.
struct StoredSession {
    tip: Option<CommitId>,
    kept: KeptSession,
}

impl KeptSession {
    /// Writes it into what is known of the session.
    pub fn tell(self, session: &mut LiveSession) {
        session.captured = self.captured.unwrap_or(session.captured);
        session.agents.extend(self.agents);
    }
}

impl Recorder {
    /// Keeps what a session has come to hold, in the store or in the spool, and lists how far that is. Who waited in the
    /// spool goes first.
    ///
    /// This waits on the thread that calls, which must not be one of an async runtime.
    pub fn record(&self, session: &LiveSession, reason: &CaptureReason, deadline: Deadline) -> Result<Recorded> {
        let stored = match &deadline {
            Deadline::Unlimited => self.store_session(session, reason).map_err(|error| error.in_one_line()),
            Deadline::Within(_) | Deadline::OrEnd(_) if self.is_stalled() => Err(STALLED.to_owned()),
            Deadline::Within(limit) => self.store_within(session, reason, *limit),
            Deadline::OrEnd(watchdog) => self.store_or_end(session, reason, watchdog),
        };
        match (stored, deadline) {
            (Err(problem), _) => {
                self.spool_session(session, reason)?;
                Ok(Recorded::Spooled { problem })
            }
            (Ok(StoredSession { tip, kept }), Deadline::OrEnd(_)) => Ok(Recorded::Stored { tip, kept }),
            (Ok(StoredSession { tip, kept }), Deadline::Unlimited | Deadline::Within(_)) => {
                self.note_kept(session, kept.clone())?;
                Ok(Recorded::Stored { tip, kept })
            }
        }
    }

    /// Stores a session on another thread. Returns why it is not stored in time.
    fn store_within(
        &self,
        session: &LiveSession,
        reason: &CaptureReason,
        limit: Duration,
    ) -> Result<StoredSession, String> {
        let (done, waiting) = mpsc::channel();
        let (recorder, theirs, cause) = (self.clone(), session.clone(), reason.clone());
        // A store that hangs does not give the thread back; it ends with the program.
        thread::spawn(move || {
            let stored = recorder.store_session(&theirs, &cause).map_err(|error| error.in_one_line());
            // Who waited may have given up.
            _ = done.send(stored);
        });
        match waiting.recv_timeout(limit) {
            Ok(stored) => stored,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.stall();
                Err(unanswered(limit))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(FAILED.to_owned()),
        }
    }

    /// Stores a session here, while the watchdog waits to spool it.
    fn store_or_end(
        &self,
        session: &LiveSession,
        reason: &CaptureReason,
        watchdog: &Watchdog,
    ) -> Result<StoredSession, String> {
        let (guard, theirs, cause, limit) = (self.clone(), session.clone(), reason.clone(), watchdog.limit());
        watchdog.in_case(move || {
            guard.stall();
            let kept = guard.spool_files(&theirs, &cause);
            guard.write_down("hook", Some(&theirs.session), &unanswered(limit), kept.is_ok());
            // Whoever comes next keeps it once more when this is not noted, and the store takes it in once.
            _ = kept.and_then(|kept| guard.note_kept(&theirs, kept));
        });
        let stored = panic::catch_unwind(AssertUnwindSafe(|| {
            let runtime = executor()?;
            let stored: Result<StoredSession> = runtime.block_on(async {
                let engine = self.config.open_alone().await?;
                let stored = self.store_in(&engine, session, reason).await?;
                engine.leave();
                Ok(stored)
            });
            // Its threads end with the program.
            runtime.shutdown_background();
            stored
        }));
        if matches!(stored, Ok(Ok(_))) {
            let (guard, of) = (self.clone(), session.session.clone());
            watchdog.in_case(move || {
                guard.write_down(
                    "hook",
                    Some(&of),
                    "it is stored; noting that in the list of sessions took too long",
                    false,
                );
            });
        }
        match stored {
            Ok(stored) => stored.map_err(|error| error.in_one_line()),
            Err(_) => Err(FAILED.to_owned()),
        }
    }

    fn store_session(&self, session: &LiveSession, reason: &CaptureReason) -> Result<StoredSession> {
        executor()?.block_on(async {
            let engine = self.config.open_promptly().await?;
            self.store_in(&engine, session, reason).await
        })
    }

    async fn store_in(
        &self,
        engine: &Contexture,
        session: &LiveSession,
        reason: &CaptureReason,
    ) -> Result<StoredSession> {
        if self.spool.waiting() > 0 {
            Capture::new(engine).drain(&self.spool).await?;
        }
        let (mut tip, mut kept) = (None, KeptSession::default());
        if let Some((last, size)) = capture_file(engine, &session.file, reason).await? {
            (tip, kept.captured) = (last, Some(size));
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
        Ok(StoredSession { tip, kept })
    }

    fn spool_session(&self, session: &LiveSession, reason: &CaptureReason) -> Result<()> {
        let kept = self.spool_files(session, reason)?;
        self.note_kept(session, kept)
    }

    fn spool_files(&self, session: &LiveSession, reason: &CaptureReason) -> Result<KeptSession> {
        let now = self.now();
        let captured = self.spool_file(&session.file, reason, session.captured, now)?;
        let mut kept = KeptSession { captured, ..KeptSession::default() };
        for (file, captured) in agent_files(session) {
            if let Some(size) = self.spool_file(&file, &of_agent(reason), captured, now)? {
                kept.agents.insert(file.path, size);
            }
        }
        Ok(kept)
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
            Err(source) => Err(Error::Io { attempt: "write down what the store did not take", source }),
        }
    }

    /// Lists how far a session is kept now, unless it has left the list.
    fn note_kept(&self, session: &LiveSession, kept: KeptSession) -> Result<()> {
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
        let now = (self.config.file_clock)();
        noted.is_ok_and(|noted| now.duration_since(noted).is_ok_and(|since| since < STALL))
    }

    fn stall(&self) {
        let place = self.stalled.parent().map_or(Ok(()), private::create_directory);
        // Without the mark the next one waits too, which is all that is lost.
        _ = place.and_then(|()| private::file().write(true).create(true).truncate(true).open(&self.stalled));
    }
}

fn unanswered(limit: Duration) -> String {
    format!("the store did not answer within {limit:?}")
}

/// Makes what a thread outside of any async runtime waits with.
fn executor() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Executor)
}

/// Takes in a file. One that is not there holds nothing: runtimes begin it with the first answer.
async fn capture_file(
    engine: &Contexture,
    file: &SessionFile,
    reason: &CaptureReason,
) -> Result<Option<(Option<CommitId>, u64)>> {
    match Capture::new(engine).capture(file, reason).await {
        Ok(captured) => Ok(Some((captured.tip, captured.size))),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && !file.path.exists() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Lists the files of agents that a session has started, as far as they have changed, with how much of them is kept.
fn agent_files(session: &LiveSession) -> Vec<(SessionFile, u64)> {
    let mut paths = discover::agent_transcripts(&session.file.path, &session.session);
    paths.extend(session.agents.keys().filter(|path| !paths.contains(path)).cloned().collect::<Vec<_>>());
    let mut files = Vec::new();
    for path in paths {
        let captured = session.agents.get(&path).copied().unwrap_or(0);
        let has_changed = fs::metadata(&path).is_ok_and(|file| file.len() != captured);
        if has_changed && recognise(&path, &session.file.format).is_ok_and(Recognition::is_session) {
            let settings = ImportSettings { agent: discover::agent_of(&path), ..session.file.settings.clone() };
            files.push((SessionFile { path, format: session.file.format.clone(), settings }, captured));
        }
    }
    files
}

/// An agent's own turn is over when something happens to the one that waits for it.
fn of_agent(reason: &CaptureReason) -> CaptureReason {
    CaptureReason { trigger: Trigger::TurnBoundary, is_live: false, ending: None, ..reason.clone() }
}
