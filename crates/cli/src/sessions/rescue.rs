//! What hooks and wrappers left behind: entries of the spool, and sessions whose agents are gone.

use std::time::Duration;

use contexture::Contexture;
use contexture_capture::{Capture, Drained};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output},
};

/// How long the store may take for the rest of one session. Nobody waits for it in a turn.
const LIMIT: Duration = Duration::from_mins(1);

/// What was left behind and is in order now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rescued {
    /// What became of the entries of the spool.
    pub(crate) spool: Drained,
    /// Sessions whose agents were gone.
    pub(crate) closed: u64,
}

/// Tells whether something was left behind.
pub(crate) fn is_rescue_needed(invocation: &Invocation) -> Result<bool> {
    let recorder = match invocation.recorder() {
        Ok(recorder) => recorder,
        Err(Error::NoHome) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(recorder.spool.waiting() > 0 || recorder.crashed().next().is_some())
}

/// Takes in what waits in the spool and the rest of the sessions whose agents are gone.
pub(crate) async fn rescue(engine: &Contexture, invocation: &Invocation) -> Result<Rescued> {
    let recorder = match invocation.recorder() {
        Ok(recorder) => recorder,
        // Nobody without a home leaves anything behind.
        Err(Error::NoHome) => return Ok(Rescued::default()),
        Err(error) => return Err(error),
    };
    let spool = if recorder.spool.waiting() > 0 {
        Capture::new(engine).drain(&recorder.spool).await?
    } else {
        Drained::default()
    };
    Ok(Rescued { spool, closed: recorder.close_crashed(LIMIT)? })
}

impl Rescued {
    /// Tells a person of it, if there was anything.
    pub(crate) fn tell(self, output: &mut Output) {
        let Self { spool: Drained { taken, kept }, closed } = self;
        if taken > 0 {
            output.status(format_args!("Took in {} from the spool.", entries(taken)));
        }
        if kept > 0 {
            output.status(format_args!(
                "Kept {} of the spool aside, because their sessions were rewritten; `ctx doctor` says where.",
                entries(kept)
            ));
        }
        if closed > 0 {
            let sessions = output::counted(closed, "session");
            output.status(format_args!("Closed {sessions} whose agent had gone without a word."));
        }
    }
}

fn entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{} entries", output::count(number)) }
}
