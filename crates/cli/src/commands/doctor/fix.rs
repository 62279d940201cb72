//! Repairing what can be repaired.

use contexture::{Contexture, wire::RepairedCapture};
use contexture_capture::{Capture, FileOutcome};

use super::completeness::Completeness;
use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output},
    sessions::{self, Candidate, Rescued},
};

/// What was repaired.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fixed {
    rescued: Rescued,
    /// Sessions that were taken in.
    sessions: u64,
    new_commits: u64,
}

/// Takes in what waits in the spool, what crashed agents left, and what sessions hold that the store does not.
pub(super) async fn fix(
    engine: &Contexture,
    invocation: &Invocation,
    sessions: &Completeness,
    output: &Output,
) -> Result<Fixed> {
    let rescued = sessions::rescue(engine, invocation).await?;
    let mut candidates: Vec<Candidate> = Vec::new();
    for (candidate, is_different) in sessions.to_import() {
        if is_different {
            Capture::new(engine).doubt_source(&invocation.environment.machine()?, &candidate.path).await?;
        }
        candidates.push(candidate.clone());
    }
    let total: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Importing", Some(total)).counter();
    let progress = |at: u64| bar.set(at.min(total));
    let files = sessions::take_in(engine, &invocation.environment, &candidates, &progress).await?;
    drop(bar);
    let mut fixed = Fixed { rescued, ..Fixed::default() };
    // What cannot be read is told by the comparison that follows.
    for file in files.into_iter().flatten() {
        fixed.sessions += u64::from(file.outcome != FileOutcome::Unchanged);
        fixed.new_commits += file.new_commits;
    }
    if fixed.new_commits > 0 || rescued != Rescued::default() {
        Capture::new(engine).link_sessions().await?;
    }
    Ok(fixed)
}

impl Fixed {
    /// Tells programs of it.
    pub(super) fn document(self) -> RepairedCapture {
        let Self { rescued: Rescued { spool, closed }, sessions, new_commits } = self;
        RepairedCapture { spool, closed, sessions, new_commits }
    }

    pub(super) fn tell(self, output: &mut Output) {
        self.rescued.tell(output);
        if self.sessions > 0 {
            let sessions = output::counted(self.sessions, "session");
            output.status(format_args!("Took in {sessions}: {}.", output::counted(self.new_commits, "new commit")));
        }
    }
}
