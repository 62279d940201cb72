//! Whether an agent is in a session, as this machine knows it.

use std::collections::HashSet;

use contexture::{
    SessionMeasures,
    wire::{AgentsHealth, SessionActivity},
};
use contexture_core::{GivenSessionId, RuntimeSessionId};

use crate::{OpenSessions, Recorder};

/// What a session's last commit is labelled with when its agent went without a word.
const CRASH: &str = "crash";

/// The sessions of a store that were not ended on this machine.
#[derive(Debug, Clone, Default)]
pub struct SessionActivities {
    running: HashSet<GivenSessionId>,
    crashed: HashSet<GivenSessionId>,
}

impl SessionActivities {
    /// Looks at the sessions of the store that is recorded to.
    pub fn of(recorder: &Recorder) -> Self {
        let AgentsHealth { at_work, gone, .. } = OpenSessions::of(recorder).agents;
        Self { running: at_work.into_iter().collect(), crashed: gone.into_iter().collect() }
    }

    /// Tells whether an agent is in a session. One that nobody has heard of on this machine has ended.
    pub fn of_session(&self, session: &RuntimeSessionId, measures: &SessionMeasures) -> SessionActivity {
        let given = GivenSessionId::from(session.clone());
        let has_crashed = || measures.ending.as_ref().is_some_and(|ending| ending.as_str() == CRASH);
        if self.running.contains(&given) {
            SessionActivity::Running
        } else if self.crashed.contains(&given) || has_crashed() {
            SessionActivity::Crashed
        } else {
            SessionActivity::Ended
        }
    }
}
