//! The desk: where the scribe works, on one thing at a time and beside everything else.

use std::io;

use tokio::task::{self, JoinHandle};

use super::scribe::{Checkpoint, Made, Printed, Scribe};
use crate::error::{Error, Result};

/// What the scribe is to do.
pub(super) enum Task {
    /// Take in what others have left open.
    CloseCrashed,
    /// Tell others about the run.
    List(Printed),
    /// See whether the program has written to its session.
    Look,
    Checkpoint(Checkpoint),
    /// The last checkpoint.
    Finish(Checkpoint),
}

/// What came of it.
pub(super) enum Done {
    Nothing,
    Looked { has_grown: bool },
    Made(Result<Made>),
}

/// Where the scribe works.
pub(super) struct Desk {
    scribe: Option<Scribe>,
    work: Option<JoinHandle<(Scribe, Done)>>,
}

impl Desk {
    pub(super) fn new(scribe: Scribe) -> Self {
        Self { scribe: Some(scribe), work: None }
    }

    /// Tells whether something else can be started.
    pub(super) fn is_free(&self) -> bool {
        self.work.is_none()
    }

    /// Starts something. The desk must be free.
    pub(super) fn start(&mut self, task: Task) {
        // It is not there only if it has failed before, which was told then.
        let Some(mut scribe) = self.scribe.take() else { return };
        self.work = Some(task::spawn_blocking(move || {
            let done = perform(&mut scribe, &task);
            (scribe, done)
        }));
    }

    /// Waits until what was started is done. When nothing was, that is never.
    pub(super) async fn done(&mut self) -> Done {
        let Some(work) = &mut self.work else { return std::future::pending().await };
        let finished = work.await;
        self.work = None;
        match finished {
            Ok((scribe, done)) => {
                self.scribe = Some(scribe);
                done
            }
            Err(failed) => Done::Made(Err(Error::State(io::Error::other(failed)))),
        }
    }

    /// Forgets the run: there is nothing to capture.
    pub(super) fn abandon(&mut self) {
        if let Some(mut scribe) = self.scribe.take() {
            scribe.unlist();
        }
    }

    /// Makes the last checkpoint. The desk must be free.
    pub(super) async fn finish(&mut self, checkpoint: Checkpoint) -> Result<Made> {
        self.start(Task::Finish(checkpoint));
        let lost = || Error::State(io::Error::other("an earlier checkpoint has failed"));
        if self.is_free() {
            return Err(lost());
        }
        match self.done().await {
            Done::Made(made) => made,
            Done::Nothing | Done::Looked { .. } => Err(lost()),
        }
    }
}

fn perform(scribe: &mut Scribe, task: &Task) -> Done {
    match task {
        Task::CloseCrashed => {
            scribe.close_crashed();
            Done::Nothing
        }
        Task::List(printed) => {
            scribe.list_anew(printed);
            Done::Nothing
        }
        Task::Look => Done::Looked { has_grown: scribe.has_grown() },
        Task::Checkpoint(checkpoint) => Done::Made(scribe.checkpoint(checkpoint)),
        Task::Finish(checkpoint) => Done::Made(scribe.finish(checkpoint)),
    }
}
