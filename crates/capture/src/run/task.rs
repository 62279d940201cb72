//! What the recorder of a run does, one thing at a time and beside everything else.

use std::io;

use tokio::task::{self, JoinHandle};

use super::{MadeCheckpoint, PrintedOutput, RunCheckpoint, RunRecorder};
use crate::{Error, Result};

/// What the recorder of a run is to do.
pub enum RunTask {
    /// Take in what others have left open.
    CloseCrashed,
    /// Tell others about the run.
    List(PrintedOutput),
    /// See whether the program has written to its session.
    Look,
    /// Make a checkpoint.
    Checkpoint(RunCheckpoint),
    /// The last checkpoint.
    Finish(RunCheckpoint),
}

/// What came of it.
pub enum TaskOutcome {
    /// Nothing that anybody waits for.
    Nothing,
    /// The session was looked at.
    Looked {
        /// Turns that have ended in what the program has written to it since the last checkpoint; nothing, if it has not
        /// written.
        turns: Option<u32>,
    },
    /// A checkpoint was made.
    Made(Result<MadeCheckpoint>),
}

/// The tasks of a run's recorder.
pub struct RunTasks {
    recorder: Option<RunRecorder>,
    work: Option<JoinHandle<(RunRecorder, TaskOutcome)>>,
}

impl RunTasks {
    /// Has nothing under way.
    pub fn new(recorder: RunRecorder) -> Self {
        Self { recorder: Some(recorder), work: None }
    }

    /// Tells whether something else can be started.
    pub fn is_free(&self) -> bool {
        self.work.is_none()
    }

    /// Starts something. Nothing else may be under way.
    pub fn start(&mut self, task: RunTask) {
        // It is not there only if it has failed before, which was told then.
        let Some(mut recorder) = self.recorder.take() else { return };
        self.work = Some(task::spawn_blocking(move || {
            let done = perform(&mut recorder, &task);
            (recorder, done)
        }));
    }

    /// Waits until what was started is done. When nothing was, that is never.
    pub async fn done(&mut self) -> TaskOutcome {
        let Some(work) = &mut self.work else { return std::future::pending().await };
        let finished = work.await;
        self.work = None;
        match finished {
            Ok((recorder, done)) => {
                self.recorder = Some(recorder);
                done
            }
            Err(failed) => TaskOutcome::Made(Err(Error::State(io::Error::other(failed)))),
        }
    }

    /// Forgets the run: there is nothing to capture.
    pub fn abandon(&mut self) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.unlist();
        }
    }

    /// Makes the last checkpoint. Nothing else may be under way.
    pub async fn finish(&mut self, checkpoint: RunCheckpoint) -> Result<MadeCheckpoint> {
        self.start(RunTask::Finish(checkpoint));
        let lost = || Error::State(io::Error::other("an earlier checkpoint has failed"));
        if self.is_free() {
            return Err(lost());
        }
        match self.done().await {
            TaskOutcome::Made(made) => made,
            TaskOutcome::Nothing | TaskOutcome::Looked { .. } => Err(lost()),
        }
    }
}

fn perform(recorder: &mut RunRecorder, task: &RunTask) -> TaskOutcome {
    match task {
        RunTask::CloseCrashed => {
            recorder.close_crashed();
            TaskOutcome::Nothing
        }
        RunTask::List(printed) => {
            recorder.list_anew(printed);
            TaskOutcome::Nothing
        }
        RunTask::Look => TaskOutcome::Looked { turns: recorder.new_turns() },
        RunTask::Checkpoint(checkpoint) => TaskOutcome::Made(recorder.checkpoint(checkpoint)),
        RunTask::Finish(checkpoint) => TaskOutcome::Made(recorder.finish(checkpoint)),
    }
}
