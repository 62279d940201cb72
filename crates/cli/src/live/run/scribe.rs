//! The scribe: hands a run to the recorder, beside the pass-through and one checkpoint at a time.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use contexture::core::{CommitId, Format, Timestamp};
use contexture_capture::{self as capture, CaptureReason, Homes, LiveSession, Process, Runtime, SessionFile};

use super::super::{Recorded, Recorder, Sighting};
use crate::error::{Error, Result};

/// How long a runtime may take to begin the file of a session that it has told of.
const FILE_LIMIT: Duration = Duration::from_secs(1);
/// How long the store may take.
const STORE_LIMIT: Duration = Duration::from_secs(10);
/// How long the store may take for a session of somebody who is gone.
const CRASHED_LIMIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// What is known of a run when it starts.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The id of the run.
    pub(crate) run: String,
    /// The agent, if it is one that is known.
    pub(crate) runtime: Option<Runtime>,
    /// What the program is called.
    pub(crate) program: String,
    /// Where it works.
    pub(crate) directory: PathBuf,
    /// The session that was written for it to go on with.
    pub(crate) resumed: Option<Resumed>,
    /// Whether the agent was told to keep no session.
    pub(crate) is_ephemeral: bool,
    /// The process that lists the run.
    pub(crate) wrapper: Option<Process>,
    pub(crate) started: Started,
}

/// A session that was written.
#[derive(Debug, Clone)]
pub(crate) struct Resumed {
    pub(crate) session: String,
    pub(crate) path: PathBuf,
    /// The commit that it goes on from.
    pub(crate) from: CommitId,
}

/// When a run began, by the clock that commits are dated by and by the one that files are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    pub(crate) at: Timestamp,
    pub(crate) on_disk: SystemTime,
}

/// What a program has printed, as a session.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    /// The agent that speaks like this.
    pub(crate) runtime: Option<Runtime>,
    /// The session that it says it is in.
    pub(crate) session: Option<String>,
    /// The file, where there is one.
    pub(crate) kept: Option<File>,
}

/// A checkpoint to be made.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) printed: Printed,
    /// A text that the runtime's own file holds once it is up to date.
    pub(crate) awaited: Option<String>,
    /// How long to wait for that.
    pub(crate) patience: Duration,
    pub(crate) reason: CaptureReason,
    /// Whether what was printed counts where the runtime's own session may still appear.
    pub(crate) settles: bool,
}

/// What came of a checkpoint.
#[derive(Debug)]
pub(crate) struct Made {
    /// The id under which the session is listed.
    pub(crate) session: String,
    /// Whether the runtime's own file is what is captured.
    pub(crate) is_own_file: bool,
    /// The commit, or why there is none.
    pub(crate) commit: Result<CommitId, Missing>,
}

/// Why there is no commit.
#[derive(Debug)]
pub(crate) enum Missing {
    /// Nothing was said yet.
    Nothing,
    /// The store could not take it; it is in the spool.
    Spooled { problem: String },
}

/// Records one run.
#[derive(Debug)]
pub(crate) struct Scribe {
    recorder: Recorder,
    homes: Homes,
    plan: Plan,
    /// What is captured, once that is decided, and whether it is the runtime's own file.
    target: Option<(LiveSession, bool)>,
    /// How long the captured file was when it was looked at last.
    seen: u64,
    /// The problem that was written down last.
    written_down: Option<String>,
}

impl Scribe {
    pub(crate) fn new(recorder: Recorder, homes: Homes, plan: Plan) -> Self {
        Self { recorder, homes, plan, target: None, seen: 0, written_down: None }
    }

    /// Lists the run, so that what it starts finds it, and so that another one can finish it.
    pub(crate) fn list(&mut self, printed: &Printed) -> Result<()> {
        if self.target.is_none() {
            self.hear(&self.plan.run, &self.file_of(printed)?)?;
        }
        Ok(())
    }

    /// Takes it off the list.
    pub(super) fn unlist(&mut self) {
        let struck = self.recorder.registry.strike(&self.plan.run);
        self.write_down(struck.err().map(|error| error.to_string()), false);
    }

    /// Does the same for what is known better by now.
    pub(super) fn list_anew(&mut self, printed: &Printed) {
        let listed = self.list(printed);
        self.write_down(listed.err().map(|error| error.told()), false);
    }

    /// Takes in what others have left open.
    pub(super) fn close_crashed(&mut self) {
        let closed = self.recorder.close_crashed(CRASHED_LIMIT);
        self.write_down(closed.err().map(|error| error.told()), false);
    }

    /// Makes a checkpoint.
    pub(super) fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<Made> {
        let made = self.make(checkpoint);
        match &made {
            Ok(Made { commit: Err(Missing::Spooled { problem }), .. }) => self.write_down(Some(problem.clone()), true),
            Ok(_) => self.written_down = None,
            Err(error) => self.write_down(Some(error.told()), false),
        }
        made
    }

    fn make(&mut self, checkpoint: &Checkpoint) -> Result<Made> {
        self.decide(checkpoint)?;
        let from = self.plan.resumed.as_ref().map(|resumed| resumed.from);
        let Some((session, is_own_file)) = &self.target else {
            let commit = from.ok_or(Missing::Nothing);
            return Ok(Made { session: self.plan.run.clone(), is_own_file: false, commit });
        };
        // Hooks may have told more of it meanwhile.
        let session = self.recorder.registry.find(&session.session).unwrap_or_else(|| session.clone());
        if *is_own_file {
            wait(&session, checkpoint);
        } else {
            sync(&checkpoint.printed)?;
        }
        self.seen = length(&session.file.path);
        let commit = match self.recorder.record_within(&session, &checkpoint.reason, STORE_LIMIT)? {
            Recorded::Stored { tip } => tip.or(from).ok_or(Missing::Nothing),
            Recorded::Spooled { problem } => Err(Missing::Spooled { problem }),
        };
        Ok(Made { session: session.session, is_own_file: *is_own_file, commit })
    }

    /// Makes the last checkpoint. What was printed is thrown away once the store holds it with its end.
    pub(super) fn finish(&mut self, checkpoint: &Checkpoint) -> Result<Made> {
        let made = self.checkpoint(checkpoint)?;
        let is_spooled = matches!(made.commit, Err(Missing::Spooled { .. }));
        let told = checkpoint.printed.session.as_ref();
        if let (Some(runtime), Some((session, true)), None) = (self.plan.runtime, &self.target, told) {
            self.capture_others(runtime, session)?;
        }
        match &self.target {
            // It stays listed, so that the next one to start tries again.
            Some((_, false)) if is_spooled => {}
            Some((session, _)) => self.recorder.forget(session)?,
            None => self.recorder.registry.strike(&self.plan.run).map_err(Error::State)?,
        }
        Ok(made)
    }

    /// Tells whether there is more to capture than there was at the last checkpoint, in a file that the program writes.
    pub(super) fn has_grown(&self) -> bool {
        match &self.target {
            Some((session, true)) => length(&session.file.path) != self.seen,
            Some((_, false)) => false,
            None => self.plan.runtime.is_some_and(|runtime| self.own_file(runtime, None).is_some()),
        }
    }

    /// Decides what is captured: the file that the runtime keeps of the session, else what was printed. It stays so.
    fn decide(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        if self.target.is_some() {
            return Ok(());
        }
        let printed = &checkpoint.printed;
        let told = printed.session.as_deref();
        let runtime = printed.runtime.or(self.plan.runtime);
        if let Some(runtime) = runtime.filter(|_| !self.plan.is_ephemeral)
            && let Some((session, path)) = self.await_file(runtime, told)
        {
            let file = self.recorder.transcript(runtime, &path)?;
            let session = self.hear(&session, &file)?;
            self.target = Some((session, true));
            return self.recorder.registry.strike(&self.plan.run).map_err(Error::State);
        }
        // A program that tells nothing of its session may begin its file late.
        let is_settled = told.is_some() || self.plan.runtime.is_none() || checkpoint.settles;
        if printed.kept.is_some() && is_settled {
            let session = self.hear(&self.plan.run, &self.file_of(printed)?)?;
            self.target = Some((session, false));
        }
        Ok(())
    }

    /// Finds the runtime's own file, which may appear a moment after the session was told of.
    fn await_file(&self, runtime: Runtime, told: Option<&str>) -> Option<(String, PathBuf)> {
        let start = Instant::now();
        loop {
            if let Some(found) = self.own_file(runtime, told) {
                return Some(found);
            }
            if told.is_none() || start.elapsed() >= FILE_LIMIT {
                return None;
            }
            thread::sleep(PAUSE);
        }
    }

    fn own_file(&self, runtime: Runtime, told: Option<&str>) -> Option<(String, PathBuf)> {
        // Gemini CLI begins a second file of a session that it goes on with, and leaves it empty.
        let resumed = self.plan.resumed.as_ref().filter(|resumed| told.is_none_or(|told| told == resumed.session));
        if let Some(Resumed { session, path, .. }) = resumed {
            return Some((session.clone(), path.clone()));
        }
        if let Some(session) = told {
            let path = capture::find_session(runtime, &self.homes, session)?;
            return Some((session.to_owned(), path));
        }
        // Hooks of the agent have told of it.
        let is_own = |session: &LiveSession| {
            let is_of_run = session.run.as_ref() == Some(&self.plan.run) && session.session != self.plan.run;
            is_of_run && session.file.settings.runtime == runtime.as_str() && session.file.path.exists()
        };
        let listed = self.recorder.registry.all().into_iter().find(is_own);
        listed.map(|session| (session.session, session.file.path)).or_else(|| self.newest_file(runtime))
    }

    /// Finds the session that was begun last in the directory of the run, or went on there, since the run started.
    fn newest_file(&self, runtime: Runtime) -> Option<(String, PathBuf)> {
        let age = |file: &Metadata| (self.is_since(file.created()), file.modified().ok());
        let (_, path) = self.files_here(runtime).into_iter().max_by_key(|(file, _)| age(file))?;
        Some((runtime.session_of(&path)?, path))
    }

    /// Takes in further sessions that were begun in the directory of the run: some agents can leave one for another.
    fn capture_others(&self, runtime: Runtime, captured: &LiveSession) -> Result<()> {
        for (file, path) in self.files_here(runtime) {
            let Some(id) = runtime.session_of(&path).filter(|id| *id != captured.session) else { continue };
            if self.is_since(file.created()) && self.recorder.registry.find(&id).is_none() {
                let file = self.recorder.transcript(runtime, &path)?;
                let session = LiveSession { session: id, file, captured: 0, ..captured.clone() };
                self.recorder.record_within(&session, &CaptureReason::default(), STORE_LIMIT)?;
            }
        }
        Ok(())
    }

    /// Lists the sessions in the directory of the run that were written to since it started.
    fn files_here(&self, runtime: Runtime) -> Vec<(Metadata, PathBuf)> {
        let Plan { directory, started, .. } = &self.plan;
        let place = runtime.search_folder(&self.homes, directory, started.at);
        let files = place.map(|place| capture::session_files(&place)).unwrap_or_default().into_iter();
        let files = files.filter(|path| capture::agent_of(path).is_none());
        let files = files.filter_map(|path| Some((fs::metadata(&path).ok()?, path)));
        let is_here = |path: &Path| runtime.is_of_directory(path, directory);
        files.filter(|(file, path)| self.is_since(file.modified()) && is_here(path)).collect()
    }

    fn is_since(&self, time: io::Result<SystemTime>) -> bool {
        time.is_ok_and(|time| time >= self.plan.started.on_disk)
    }

    /// Describes what was printed as a session.
    fn file_of(&self, printed: &Printed) -> Result<SessionFile> {
        let runtime = match printed.runtime.or(self.plan.runtime) {
            Some(runtime) => runtime.as_str(),
            None => &self.plan.program,
        };
        self.recorder.session_file(runtime, printed.format.clone(), &printed.path)
    }

    /// Writes a problem down for `ctx doctor`, once.
    fn write_down(&mut self, problem: Option<String>, is_spooled: bool) {
        let Some(problem) = problem.filter(|problem| self.written_down.as_ref() != Some(problem)) else { return };
        self.recorder.write_down(&format!("run {}", self.plan.program), Some(&self.plan.run), &problem, is_spooled);
        self.written_down = Some(problem);
    }

    fn hear(&self, session: &str, file: &SessionFile) -> Result<LiveSession> {
        let wrapper = &self.plan.wrapper;
        let of = Sighting { id: session, file, directory: &self.plan.directory };
        self.recorder.hear(&of, |session| {
            // Hooks know the agent itself.
            session.agent = session.agent.take().or_else(|| wrapper.clone());
            "run".clone_into(&mut session.event);
        })
    }
}

/// Waits for a session's file to hold the call that is under way, or what was told last.
fn wait(session: &LiveSession, checkpoint: &Checkpoint) {
    if let Some(call) = session.calls.last() {
        Recorder::wait_for(session, call.file.as_deref(), &call.id, checkpoint.patience);
    }
    if let Some(text) = &checkpoint.awaited {
        Recorder::wait_for(session, None, text, checkpoint.patience);
    }
}

/// Makes what was printed durable.
fn sync(printed: &Printed) -> Result<()> {
    let Some(file) = &printed.kept else { return Ok(()) };
    file.sync_all().map_err(Error::State)
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}
