//! Sessions that were not ended: agents at work, and agents that are gone without a word.

use std::{collections::HashSet, path::PathBuf};

use contexture::{core::GivenSessionId, wire::AgentsHealth};
use contexture_capture::{self as capture, LiveSession, Recorder};

use super::problem::{Check, FIX, Problem};
use crate::output;

/// The sessions of this store that were not ended.
#[derive(Debug)]
pub(super) struct Agents {
    /// Sessions whose agents are there, or of which nobody knows.
    at_work: Vec<GivenSessionId>,
    /// Sessions whose agents are gone.
    gone: Vec<GivenSessionId>,
    /// The files of the former.
    files: HashSet<PathBuf>,
}

impl Agents {
    pub(super) fn of(recorder: &Recorder) -> Self {
        let gone: Vec<LiveSession> = recorder.crashed().collect();
        let is_at_work = |session: &LiveSession| recorder.is_own(session) && !gone.contains(session);
        let at_work: Vec<LiveSession> = recorder.registry.all().into_iter().filter(is_at_work).collect();
        let files = at_work.iter().flat_map(|session| {
            let started = capture::agent_transcripts(&session.file.path, &session.session);
            started.into_iter().chain(session.agents.keys().cloned()).chain([session.file.path.clone()])
        });
        let files = files.collect();
        let names = |sessions: Vec<LiveSession>| sessions.into_iter().map(|session| session.session).collect();
        Self { at_work: names(at_work), gone: names(gone), files }
    }

    /// Tells programs of them.
    pub(super) fn document(&self) -> AgentsHealth {
        AgentsHealth { at_work: self.at_work.clone(), gone: self.gone.clone() }
    }

    /// Tells whether a file is written at this moment.
    pub(super) fn write(&self, file: &PathBuf) -> bool {
        self.files.contains(file)
    }

    pub(super) fn line(&self) -> String {
        let at_work = match self.at_work.len() as u64 {
            0 => "none at work".to_owned(),
            number => format!("{} at work", output::count(number)),
        };
        if self.gone.is_empty() { at_work } else { format!("{at_work}, {} gone without a word", self.gone.len()) }
    }

    pub(super) fn problems(&self) -> Option<Problem> {
        let gone = self.gone.len() as u64;
        let sessions = output::counted(gone, "session");
        let verb = if gone == 1 { "was" } else { "were" };
        (gone > 0).then(|| Problem::new(Check::Agents, format!("{sessions} {verb} left open by a crash"), FIX))
    }
}
