//! A program that is run as it is, while what it says is captured beside it. Who runs it hands on what it prints.

mod directory;
mod recorder;
mod schedule;
mod socket;
mod tap;
mod task;

pub(crate) use self::socket::ask;
pub use self::{
    recorder::{
        MadeCheckpoint, NoCheckpoint, PrintedOutput, ResumedRun, RunCheckpoint, RunPlan, RunRecorder, RunStart,
    },
    schedule::CheckpointSchedule,
    socket::{CurrentAnswer, CurrentQuestioner, RunSocket},
    tap::Tap,
    task::{RunTask, RunTasks, TaskOutcome},
};
