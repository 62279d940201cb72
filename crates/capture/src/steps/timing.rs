//! Which record of a commit says when it was made.

use contexture_core::Timestamp;
use serde::{Deserialize, Serialize};

/// Which record of a commit says when it was made.
///
/// The id of a commit binds its time. So what was taken in by the first record goes on by it, and whoever takes it in
/// anew does too: the same file gives the same commits, whichever version of this program took it in first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepTiming {
    /// The first, as versions did that said nothing of it.
    #[default]
    First,
    /// The last: nothing that the commit holds is from later.
    Last,
}

/// The times of the records of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepTimes {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl StepTimes {
    /// Takes the time of the next record.
    pub(super) fn add(&mut self, at: Option<Timestamp>) {
        self.first = self.first.or(at);
        // Records of several writers need not be in order.
        self.last = self.last.max(at);
    }

    /// Returns when the commit was made; nothing when no record says.
    pub(super) fn by(self, timing: StepTiming) -> Option<Timestamp> {
        match timing {
            StepTiming::First => self.first,
            StepTiming::Last => self.last,
        }
    }
}
