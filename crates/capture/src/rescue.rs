//! What hooks and wrappers left behind: entries of the spool, and sessions whose agents are gone.

use std::time::Duration;

use contexture::{Contexture, wire::Drained};

use crate::{Capture, Recorder, Result};

/// How long the store may take for the rest of one session. Nobody waits for it in a turn.
const LIMIT: Duration = Duration::from_mins(1);

/// What was left behind and is in order now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RescuedSessions {
    /// What became of the entries of the spool.
    pub spool: Drained,
    /// Sessions whose agents were gone.
    pub closed: u64,
}

impl Recorder {
    /// Tells whether something was left behind.
    pub fn is_rescue_needed(&self) -> bool {
        self.spool.waiting() > 0 || self.crashed().next().is_some()
    }

    /// Takes in what waits in the spool and the rest of the sessions whose agents are gone.
    pub async fn rescue(&self, engine: &Contexture) -> Result<RescuedSessions> {
        let spool =
            if self.spool.waiting() > 0 { Capture::new(engine).drain(&self.spool).await? } else { Drained::default() };
        Ok(RescuedSessions { spool, closed: self.close_crashed(LIMIT)? })
    }
}
