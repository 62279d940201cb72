//! What agents tell the programs that they start: which session those work for, and which call started them.

use std::{ffi::OsString, path::Path};

use contexture_core::GivenSessionId;

use super::{Recorder, Sighting};
use crate::{
    CaptureConfig, ImportSettings, LiveSession, OpenCall, Runtime, SessionFile, SessionOwner,
    detect::{Recognition, recognise},
    find_session,
};

/// Longest id that is taken from a variable.
const MAX_ID: usize = 4096;

/// A session that the caller works for, as the agent says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredSession {
    /// The agent's runtime.
    pub runtime: Runtime,
    /// The session, by its own id first and then by that of the session it is a part of.
    pub sessions: Vec<GivenSessionId>,
    /// The call of a tool that the caller was started by.
    pub call: Option<String>,
}

impl DeclaredSession {
    /// Finds what agents say in variables. There are several when one agent has started another, or when a variable is
    /// left over from an agent that is no longer asked.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Self> {
        let id = |name: &str| {
            let value = variable(name)?.into_string().ok()?;
            (!value.is_empty() && value.len() <= MAX_ID).then_some(value)
        };
        let told = |runtime: &Runtime| {
            let mut sessions: Vec<GivenSessionId> =
                runtime.session_variables().iter().filter_map(|name| id(name)).map(GivenSessionId::new).collect();
            sessions.dedup();
            let call = runtime.call_variable().and_then(id);
            (!sessions.is_empty()).then_some(Self { runtime: *runtime, sessions, call })
        };
        Runtime::ALL.iter().filter_map(told).collect()
    }

    /// Returns the call that the caller was started by, of those that a session has under way.
    pub(super) fn open_call<'s>(&self, session: &'s LiveSession) -> Option<&'s OpenCall> {
        let call = self.call.as_ref().filter(|_| self.listed(std::slice::from_ref(session)).is_some())?;
        session.calls.iter().find(|open| open.id == *call)
    }

    /// Returns the session from where its agent keeps it, when no hook has told of it.
    pub(super) fn kept(&self, recorder: &Recorder, config: &CaptureConfig) -> Option<LiveSession> {
        let (homes, SessionOwner { principal, machine, role }) = config.kept_sessions.as_ref()?;
        let settings = ImportSettings {
            principal: Some(principal.clone()),
            role: role.clone(),
            ..ImportSettings::new(machine.clone(), self.runtime.as_str())
        };
        let id = self.sessions.first()?;
        let file = SessionFile::of_runtime(self.runtime, &find_session(self.runtime, homes, id)?, &settings);
        let is_session = recognise(&file.path, &file.format).is_ok_and(|found| matches!(found, Recognition::Session));
        let directory = config.directory.as_deref().unwrap_or(Path::new("/"));
        is_session.then(|| recorder.peek(&Sighting { id, file: &file, directory }, |_| {}))
    }

    /// Returns the session among those that go on.
    pub(super) fn listed<'l>(&self, sessions: &'l [LiveSession]) -> Option<&'l LiveSession> {
        let is_meant = |id: &GivenSessionId| {
            let is_it = |session: &&LiveSession| {
                session.session == *id && session.file.settings.runtime == self.runtime.as_str()
            };
            sessions.iter().find(is_it)
        };
        self.sessions.iter().find_map(is_meant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_says_which_session_and_which_call_it_is() {
        let variables = [
            ("CLAUDE_CODE_SESSION_ID", "outer"),
            ("CODEX_THREAD_ID", "inner"),
            ("CODEX_SESSION_ID", "root"),
            ("CODEX_TOOL_CALL_ID", "call-1"),
            ("PI_SESSION_ID", ""),
        ];
        let found = DeclaredSession::find(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        });
        let id = GivenSessionId::new;
        let told = |runtime, sessions, call: Option<&str>| DeclaredSession {
            runtime,
            sessions,
            call: call.map(str::to_owned),
        };
        let expected = [
            told(Runtime::CLAUDE_CODE, vec![id("outer")], None),
            told(Runtime::CODEX, vec![id("inner"), id("root")], Some("call-1")),
        ];
        assert_eq!(found, expected);
        assert_eq!(DeclaredSession::find(|_| Some("x".repeat(5000).into())), []);
    }
}
