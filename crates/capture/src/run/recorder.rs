//! The recorder of a run: hands it to the store, beside the pass-through and one checkpoint at a time.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use contexture::open_found;
use contexture_core::{CommitId, Format, GivenSessionId, Timestamp};
use contexture_formats::{Framing, codec, codec::RecordMark};

use crate::{
    CaptureReason, Deadline, Error, Homes, ImportSettings, LiveSession, Process, Recorded, Recorder, Result, Runtime,
    SessionFile, Sighting, discover,
};

/// How long a runtime may take to begin the file of a session that it has told of.
const FILE_LIMIT: Duration = Duration::from_secs(1);
/// How long the store may take.
const STORE_LIMIT: Duration = Duration::from_secs(10);
/// How long the store may take for a session of somebody who is gone.
const CRASHED_LIMIT: Duration = Duration::from_secs(2);
/// Most of a session that is looked at for turns.
const MAX_COUNTED: u64 = 8 * 1024 * 1024;
const PAUSE: Duration = Duration::from_millis(10);

/// What is known of a run when it starts.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The id of the run.
    pub run: GivenSessionId,
    /// The agent, if it is one that is known.
    pub runtime: Option<Runtime>,
    /// What the program is called.
    pub program: String,
    /// Where it works.
    pub directory: PathBuf,
    /// The session that was written for it to go on with.
    pub resumed: Option<ResumedRun>,
    /// Whether the agent was told to keep no session.
    pub is_ephemeral: bool,
    /// Whose its sessions are.
    pub settings: ImportSettings,
    /// The process that lists the run.
    pub wrapper: Option<Process>,
    /// When it began.
    pub started: RunStart,
}

/// A session that was written.
#[derive(Debug, Clone)]
pub struct ResumedRun {
    /// Its id.
    pub session: GivenSessionId,
    /// Its file.
    pub path: PathBuf,
    /// The commit that it goes on from.
    pub from: CommitId,
}

/// When a run began, by the clock that commits are dated by and by the one that files are.
#[derive(Debug, Clone, Copy)]
pub struct RunStart {
    /// By the former.
    pub at: Timestamp,
    /// By the latter.
    pub on_disk: SystemTime,
}

/// What a program has printed, as a session.
#[derive(Debug)]
pub struct PrintedOutput {
    /// Where it is kept.
    pub path: PathBuf,
    /// How it is written.
    pub format: Format,
    /// The agent that speaks like this.
    pub runtime: Option<Runtime>,
    /// The session that it says it is in.
    pub session: Option<GivenSessionId>,
    /// The file, where there is one.
    pub kept: Option<File>,
}

/// A checkpoint to be made.
#[derive(Debug)]
pub struct RunCheckpoint {
    /// What was printed until now.
    pub printed: PrintedOutput,
    /// A text that the runtime's own file holds once it is up to date.
    pub awaited: Option<String>,
    /// How long to wait for that.
    pub patience: Duration,
    /// Why.
    pub reason: CaptureReason,
    /// Whether what was printed counts where the runtime's own session may still appear.
    pub settles: bool,
}

/// What came of a checkpoint.
#[derive(Debug)]
pub struct MadeCheckpoint {
    /// The id under which the session is listed.
    pub session: GivenSessionId,
    /// Whether the runtime's own file is what is captured.
    pub is_own_file: bool,
    /// The commit, or why there is none.
    pub commit: Result<CommitId, NoCheckpoint>,
}

/// Why there is no commit.
#[derive(Debug)]
pub enum NoCheckpoint {
    /// Nothing was said yet.
    Nothing,
    /// The store could not take it; it is in the spool.
    Spooled {
        /// Why not.
        problem: String,
    },
}

/// Records one run.
pub struct RunRecorder {
    recorder: Recorder,
    homes: Homes,
    plan: RunPlan,
    /// What is captured, once that is decided, and whether it is the runtime's own file.
    target: Option<(LiveSession, bool)>,
    /// How long the captured file was when it was looked at last.
    seen: u64,
    /// The problem that was written down last.
    written_down: Option<String>,
}

impl RunRecorder {
    /// Records a run that is about to start.
    pub fn new(recorder: Recorder, homes: Homes, plan: RunPlan) -> Self {
        Self { recorder, homes, plan, target: None, seen: 0, written_down: None }
    }

    /// Lists the run, so that what it starts finds it, and so that another one can finish it.
    pub fn list(&mut self, printed: &PrintedOutput) -> Result<()> {
        if self.target.is_none() {
            self.hear(&self.plan.run, &self.file_of(printed))?;
        }
        Ok(())
    }

    /// Takes it off the list.
    pub(crate) fn unlist(&mut self) {
        let struck = self.recorder.registry.strike(&self.plan.run);
        self.write_down(struck.err().map(|error| error.to_string()), false);
    }

    /// Does the same for what is known better by now.
    pub(crate) fn list_anew(&mut self, printed: &PrintedOutput) {
        let listed = self.list(printed);
        self.write_down(listed.err().map(|error| error.in_one_line()), false);
    }

    /// Takes in what others have left open.
    pub(crate) fn close_crashed(&mut self) {
        let closed = self.recorder.close_crashed(CRASHED_LIMIT);
        self.write_down(closed.err().map(|error| error.in_one_line()), false);
    }

    /// Makes a checkpoint.
    pub(crate) fn checkpoint(&mut self, checkpoint: &RunCheckpoint) -> Result<MadeCheckpoint> {
        let made = self.make(checkpoint);
        match &made {
            Ok(MadeCheckpoint { commit: Err(NoCheckpoint::Spooled { problem }), .. }) => {
                self.write_down(Some(problem.clone()), true);
            }
            Ok(_) => self.written_down = None,
            Err(error) => self.write_down(Some(error.in_one_line()), false),
        }
        made
    }

    fn make(&mut self, checkpoint: &RunCheckpoint) -> Result<MadeCheckpoint> {
        self.decide(checkpoint)?;
        let from = self.plan.resumed.as_ref().map(|resumed| resumed.from);
        let Some((session, is_own_file)) = &self.target else {
            let commit = from.ok_or(NoCheckpoint::Nothing);
            return Ok(MadeCheckpoint { session: self.plan.run.clone(), is_own_file: false, commit });
        };
        // Hooks may have told more of it meanwhile.
        let session = self.recorder.registry.find(&session.session).unwrap_or_else(|| session.clone());
        if *is_own_file {
            wait(&session, checkpoint);
        } else {
            sync(&checkpoint.printed)?;
        }
        self.seen = length(&session.file.path);
        let commit = match self.recorder.record(&session, &checkpoint.reason, Deadline::Within(STORE_LIMIT))? {
            Recorded::Stored { tip, .. } => tip.or(from).ok_or(NoCheckpoint::Nothing),
            Recorded::Spooled { problem } => Err(NoCheckpoint::Spooled { problem }),
        };
        Ok(MadeCheckpoint { session: session.session, is_own_file: *is_own_file, commit })
    }

    /// Makes the last checkpoint. What was printed is thrown away once the store holds it with its end.
    pub(crate) fn finish(&mut self, checkpoint: &RunCheckpoint) -> Result<MadeCheckpoint> {
        let made = self.checkpoint(checkpoint)?;
        let is_spooled = matches!(made.commit, Err(NoCheckpoint::Spooled { .. }));
        let named = checkpoint.printed.session.as_ref();
        if let (Some(runtime), Some((session, true)), None) = (self.plan.runtime, &self.target, named) {
            self.capture_others(runtime, session)?;
        }
        match &self.target {
            // It stays listed, so that the next one to start tries again.
            Some((_, false)) if is_spooled => {}
            Some((session, _)) => self.recorder.forget(session)?,
            None => self.recorder.strike(&self.plan.run)?,
        }
        Ok(made)
    }

    /// Returns how many turns have ended in what the program has written to its session since the last checkpoint; nothing,
    /// if there is nothing new in it.
    pub(crate) fn new_turns(&self) -> Option<u32> {
        match &self.target {
            Some((session, true)) if length(&session.file.path) != self.seen => {
                Some(ended_turns(&session.file.path, &session.file.format, self.seen))
            }
            Some(_) => None,
            None => {
                let runtime = self.plan.runtime?;
                let (_, path) = self.own_file(runtime, None)?;
                Some(ended_turns(&path, &runtime.format(), 0))
            }
        }
    }

    /// Decides what is captured: the file that the runtime keeps of the session, else what was printed. It stays so.
    fn decide(&mut self, checkpoint: &RunCheckpoint) -> Result<()> {
        if self.target.is_some() {
            return Ok(());
        }
        let printed = &checkpoint.printed;
        let named = printed.session.as_ref();
        let runtime = printed.runtime.or(self.plan.runtime);
        if let Some(runtime) = runtime.filter(|_| !self.plan.is_ephemeral)
            && let Some((session, path)) = self.await_file(runtime, named)
        {
            let file = SessionFile::of_runtime(runtime, &path, &self.plan.settings);
            let session = self.hear(&session, &file)?;
            self.target = Some((session, true));
            return self.recorder.strike(&self.plan.run);
        }
        // A program that tells nothing of its session may begin its file late.
        let is_settled = named.is_some() || self.plan.runtime.is_none() || checkpoint.settles;
        if printed.kept.is_some() && is_settled {
            let session = self.hear(&self.plan.run, &self.file_of(printed))?;
            self.target = Some((session, false));
        }
        Ok(())
    }

    /// Finds the runtime's own file, which may appear a moment after the session was told of.
    fn await_file(&self, runtime: Runtime, named: Option<&GivenSessionId>) -> Option<(GivenSessionId, PathBuf)> {
        let start = Instant::now();
        loop {
            if let Some(found) = self.own_file(runtime, named) {
                return Some(found);
            }
            if named.is_none() || start.elapsed() >= FILE_LIMIT {
                return None;
            }
            thread::sleep(PAUSE);
        }
    }

    fn own_file(&self, runtime: Runtime, named: Option<&GivenSessionId>) -> Option<(GivenSessionId, PathBuf)> {
        // Gemini CLI begins a second file of a session that it goes on with, and leaves it empty.
        let resumed = self.plan.resumed.as_ref().filter(|resumed| named.is_none_or(|named| *named == resumed.session));
        if let Some(ResumedRun { session, path, .. }) = resumed {
            return Some((session.clone(), path.clone()));
        }
        if let Some(session) = named {
            let path = discover::find_session(runtime, &self.homes, session)?;
            return Some((session.clone(), path));
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
    fn newest_file(&self, runtime: Runtime) -> Option<(GivenSessionId, PathBuf)> {
        let age = |file: &Metadata| (self.is_since(file.created()), file.modified().ok());
        let (_, path) = self.files_here(runtime).into_iter().max_by_key(|(file, _)| age(file))?;
        Some((runtime.session_of(&path)?, path))
    }

    /// Takes in further sessions that were begun in the directory of the run: some agents can leave one for another.
    fn capture_others(&self, runtime: Runtime, captured: &LiveSession) -> Result<()> {
        for (file, path) in self.files_here(runtime) {
            let Some(id) = runtime.session_of(&path).filter(|id| *id != captured.session) else { continue };
            if self.is_since(file.created()) && self.recorder.registry.find(&id).is_none() {
                let file = SessionFile::of_runtime(runtime, &path, &self.plan.settings);
                let session = LiveSession { session: id, file, captured: 0, ..captured.clone() };
                self.recorder.record(&session, &CaptureReason::default(), Deadline::Within(STORE_LIMIT))?;
            }
        }
        Ok(())
    }

    /// Lists the sessions in the directory of the run that were written to since it started.
    fn files_here(&self, runtime: Runtime) -> Vec<(Metadata, PathBuf)> {
        let RunPlan { directory, started, .. } = &self.plan;
        let place = runtime.search_folder(&self.homes, directory, started.at);
        let files = place.map(|place| discover::session_files(&place)).unwrap_or_default().into_iter();
        let files = files.filter(|path| discover::agent_of(path).is_none());
        let files = files.filter_map(|path| Some((fs::metadata(&path).ok()?, path)));
        let is_here = |path: &Path| runtime.is_of_directory(path, directory);
        files.filter(|(file, path)| self.is_since(file.modified()) && is_here(path)).collect()
    }

    fn is_since(&self, time: io::Result<SystemTime>) -> bool {
        time.is_ok_and(|time| time >= self.plan.started.on_disk)
    }

    /// Describes what was printed as a session.
    fn file_of(&self, printed: &PrintedOutput) -> SessionFile {
        let runtime = match printed.runtime.or(self.plan.runtime) {
            Some(runtime) => runtime.as_str(),
            None => &self.plan.program,
        };
        let settings = ImportSettings { runtime: runtime.to_owned(), ..self.plan.settings.clone() };
        SessionFile::new(&printed.path, printed.format.clone(), settings)
    }

    /// Writes a problem down for `ctx doctor`, once.
    fn write_down(&mut self, problem: Option<String>, is_spooled: bool) {
        let Some(problem) = problem.filter(|problem| self.written_down.as_ref() != Some(problem)) else { return };
        self.recorder.write_down(&format!("run {}", self.plan.program), Some(&self.plan.run), &problem, is_spooled);
        self.written_down = Some(problem);
    }

    fn hear(&self, session: &GivenSessionId, file: &SessionFile) -> Result<LiveSession> {
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
fn wait(session: &LiveSession, checkpoint: &RunCheckpoint) {
    if let Some(call) = session.calls.last() {
        Recorder::wait_for(session, call.file.as_deref(), &call.id, checkpoint.patience);
    }
    if let Some(text) = &checkpoint.awaited {
        Recorder::wait_for(session, None, text, checkpoint.patience);
    }
}

/// Makes what was printed durable.
fn sync(printed: &PrintedOutput) -> Result<()> {
    let Some(file) = &printed.kept else { return Ok(()) };
    file.sync_all().map_err(Error::State)
}

/// Counts the turns that have ended in a session behind a place: each ends where the next begins. More than is looked at at
/// once is worth a checkpoint whatever it holds.
fn ended_turns(path: &Path, format: &Format, from: u64) -> u32 {
    let Some(codec) = codec(format).filter(|codec| codec.framing() == Framing::Lines) else { return u32::MAX };
    if length(path).saturating_sub(from) > MAX_COUNTED {
        return u32::MAX;
    }
    let read = open_found(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(from))?;
        let mut text = Vec::new();
        file.take(MAX_COUNTED).read_to_end(&mut text)?;
        Ok(text)
    });
    let Ok(text) = read else { return 0 };
    let begins = |line: &&[u8]| codec.outline(line).is_ok_and(|it| matches!(it.mark, RecordMark::Turn(_)));
    let begun =
        text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()).filter(begins);
    let begun = u32::try_from(begun.count()).unwrap_or(u32::MAX);
    // Before the first turn, there was none that could end.
    if from == 0 { begun.saturating_sub(1) } else { begun }
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_ended_where_the_next_begins() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.jsonl");
        let line = |kind: &str, uuid: &str| {
            format!(
                r#"{{"type":"{kind}","uuid":"{uuid}","sessionId":"s","message":{{"role":"{kind}","content":"x"}}}}"#
            ) + "\n"
        };
        let first = line("user", "u1") + &line("assistant", "a1");
        fs::write(&path, &first).unwrap();
        let ended = |from: u64| ended_turns(&path, &Format::new("claude-code-v1").unwrap(), from);
        assert_eq!(ended(0), 0);
        fs::write(&path, format!("{first}{}{}{}", line("user", "u2"), line("assistant", "a2"), line("user", "u3")))
            .unwrap();
        assert_eq!((ended(0), ended(first.len() as u64)), (2, 2));
        assert_eq!(ended_turns(&path, &Format::new("opencode-v1").unwrap(), 0), u32::MAX);
    }
}
