//! Repairing what can be repaired.

use contexture::{Contexture, wire::RepairedCapture};
use contexture_capture::{Capture, RescuedSessions, SessionCompleteness};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output},
    sessions,
};

/// Takes in what waits in the spool, what crashed agents left, and what sessions hold that the store does not.
pub(super) async fn fix(
    engine: &Contexture,
    invocation: &Invocation,
    sessions: &SessionCompleteness,
    output: &Output,
) -> Result<RepairedCapture> {
    let (recorder, owner) = (invocation.recorder()?, invocation.environment.session_owner()?);
    let total: u64 = sessions.to_import().map(|(candidate, _)| candidate.bytes).sum();
    let bar = output.progress("Importing", Some(total)).counter();
    let progress = |at: u64| bar.set(at.min(total));
    Ok(Capture::new(engine).repair(&recorder, &owner, sessions, &progress).await?)
}

/// Tells a person what was repaired.
pub(super) fn tell(repaired: &RepairedCapture, output: &mut Output) {
    let RepairedCapture { spool, closed, sessions, new_commits } = *repaired;
    sessions::tell_rescued(RescuedSessions { spool, closed }, output);
    if sessions > 0 {
        let sessions = output::counted(sessions, "session");
        output.status(format_args!("Took in {sessions}: {}.", output::counted(new_commits, "new commit")));
    }
}
