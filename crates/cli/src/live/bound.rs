//! Which session a program belongs to: the one of the agent that started it.

use std::{env, path::PathBuf, time::Duration};

use contexture::{
    Contexture,
    core::{CommitId, Trigger},
    wire::FoundBy,
};
use contexture_capture::{self as capture, Capture, CaptureReason, ImportSettings, LiveSession, SessionFile};

use super::{
    Recorded, Recorder, process,
    run::{self, Answer},
};
use crate::{
    environment::Environment,
    error::{Error, Result},
    invocation::Invocation,
};

/// Fewest letters that are taken for the beginning of a session's id.
const MIN_PREFIX: usize = 4;
/// How long the wrapper of an agent may take to answer.
const WRAPPER_LIMIT: Duration = Duration::from_secs(2);

/// A session that a program belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) session: LiveSession,
    pub(crate) by: FoundBy,
}

impl Bound {
    /// Finds the session that was named, or the one of the agent that this program works for.
    pub(crate) fn find(invocation: &Invocation, named: Option<&str>) -> Result<Option<Self>> {
        let recorder = Recorder::new(invocation)?;
        let mut sessions = recorder.registry.all();
        if invocation.names_store() {
            sessions.retain(|session| recorder.is_own(session));
        }
        if let Some(name) = named {
            return Ok(by_name(&sessions, name).map(|session| Self { session, by: FoundBy::Name }));
        }
        if let Some(run) = &invocation.environment.session
            && let Some(session) = by_name(&sessions, &run.to_string_lossy())
        {
            let by = if invocation.environment.socket.is_some() { FoundBy::Socket } else { FoundBy::Variable };
            return Ok(Some(Self { session, by }));
        }
        for ancestor in process::ancestors() {
            let is_own = |session: &&LiveSession| session.agent.as_ref() == Some(&ancestor);
            if let Some(session) = sessions.iter().find(is_own) {
                return Ok(Some(Self { session: session.clone(), by: FoundBy::Process }));
            }
        }
        let Ok(here) = env::current_dir() else { return Ok(None) };
        let is_here = |session: &&LiveSession| {
            here.starts_with(&session.directory) && session.agent.as_ref().is_some_and(process::is_alive)
        };
        Ok(sessions.iter().find(is_here).map(|session| Self { session: session.clone(), by: FoundBy::Directory }))
    }

    /// Takes in what the session holds now, up to the call that is under way, and returns the commit that this is.
    ///
    /// The file of the session may lag behind the call; it is waited for as long as allowed.
    pub(crate) async fn flush(&self, invocation: &Invocation, wait: Duration) -> Result<Option<CommitId>> {
        if let Some(commit) = self.ask_wrapper(invocation) {
            return Ok(Some(commit));
        }
        let invocation = invocation.for_session(&self.session);
        let recorder = Recorder::new(&invocation)?;
        let call = self.session.calls.last();
        let agent_file = call.and_then(|call| call.file.clone());
        if let Some(call) = call {
            Recorder::wait_for(&self.session, agent_file.as_deref(), &call.id, wait);
        }
        let trigger = if call.is_some() { Trigger::ToolCall } else { Trigger::Explicit };
        let tip = match recorder.record(&self.session, &CaptureReason::live(trigger)).await? {
            Recorded::Stored { tip } => tip,
            Recorded::Spooled { problem } => return Err(Error::NotStored { problem }),
        };
        match agent_file {
            Some(path) => agent_tip(&invocation.open_promptly().await?, &self.session, path).await,
            None => Ok(tip),
        }
    }

    /// Asks the wrapper of the agent, which knows what it has printed. One that does not answer is done without.
    fn ask_wrapper(&self, invocation: &Invocation) -> Option<CommitId> {
        let Environment { session: run, socket, .. } = &invocation.environment;
        let socket = socket.as_ref().filter(|_| self.by == FoundBy::Socket)?;
        let answer = run::ask(socket, WRAPPER_LIMIT).ok()?;
        // Agents that the wrapped one has started are listed for the same run, and the wrapper does not know them.
        let is_of_run = run.as_ref().is_some_and(|run| run == self.session.session.as_str());
        match answer {
            Answer::Known { commit, session } if session == self.session.session || is_of_run => Some(commit),
            Answer::Known { .. } | Answer::Unknown { .. } => None,
        }
    }
}

/// Returns the last commit of an agent that a session has started.
async fn agent_tip(engine: &Contexture, session: &LiveSession, path: PathBuf) -> Result<Option<CommitId>> {
    let settings = ImportSettings { agent: capture::agent_of(&path), ..session.file.settings.clone() };
    let file = SessionFile { path, format: session.file.format.clone(), settings };
    Ok(Capture::new(engine)
        .capture(&file, &CaptureReason { is_live: false, ..CaptureReason::live(Trigger::ToolCall) })
        .await?
        .tip)
}

fn by_name(sessions: &[LiveSession], name: &str) -> Option<LiveSession> {
    let is_named = |session: &&LiveSession| session.session == name || session.run.as_deref() == Some(name);
    let begins = |session: &&LiveSession| name.len() >= MIN_PREFIX && session.session.starts_with(name);
    sessions.iter().find(is_named).or_else(|| sessions.iter().find(begins)).cloned()
}
