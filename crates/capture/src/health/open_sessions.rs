//! Sessions that were not ended: agents at work, and agents that are gone without a word.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use contexture::wire::AgentsHealth;

use crate::{LiveSession, Recorder, agent_transcripts};

/// The sessions of a store that were not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSessions {
    /// Which they are.
    pub agents: AgentsHealth,
    /// The files of those whose agents are at work.
    files: HashSet<PathBuf>,
}

impl OpenSessions {
    /// Looks at the sessions of the store that is recorded to.
    pub fn of(recorder: &Recorder) -> Self {
        let gone: Vec<LiveSession> = recorder.crashed().collect();
        let is_at_work = |session: &LiveSession| recorder.is_own(session) && !gone.contains(session);
        let at_work: Vec<LiveSession> = recorder.registry.all().into_iter().filter(is_at_work).collect();
        let files = at_work.iter().flat_map(|session| {
            let started = agent_transcripts(&session.file.path, &session.session);
            started.into_iter().chain(session.agents.keys().cloned()).chain([session.file.path.clone()])
        });
        let files = files.collect();
        let names = |sessions: Vec<LiveSession>| sessions.into_iter().map(|session| session.session).collect();
        Self { agents: AgentsHealth { at_work: names(at_work), gone: names(gone) }, files }
    }

    /// Tells whether an agent at work writes a file.
    pub fn write(&self, file: &Path) -> bool {
        self.files.contains(file)
    }
}
