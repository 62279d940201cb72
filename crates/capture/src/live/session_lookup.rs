//! Which session a program belongs to: the one of the agent that started it.

use std::{io, path::PathBuf, thread, time::Duration};

use contexture::{
    Contexture,
    core::{CommitId, Trigger},
    wire::FoundBy,
};
use tokio::sync::oneshot;

use super::{Deadline, Recorded, Recorder, process};
use crate::{
    Capture, CaptureConfig, CaptureReason, CurrentAnswer, Error, ImportSettings, LiveSession, Result, SessionFile,
    discover, run,
};

/// Fewest letters that are taken for the beginning of a session's id.
const MIN_PREFIX: usize = 4;
/// How long the wrapper of an agent may take to answer.
const WRAPPER_LIMIT: Duration = Duration::from_secs(2);

/// A session that a program belongs to.
#[derive(Debug, Clone)]
pub struct BoundSession {
    /// The session.
    pub session: LiveSession,
    /// How it was found.
    pub by: FoundBy,
}

impl BoundSession {
    /// Finds the session that was named, or the one of the agent that this program works for.
    pub fn find(config: &CaptureConfig, named: Option<&str>) -> Result<Option<Self>> {
        let recorder = Recorder::new(config);
        let mut sessions = recorder.registry.all();
        if config.is_store_chosen {
            sessions.retain(|session| recorder.is_own(session));
        }
        if let Some(name) = named {
            return Ok(by_name(&sessions, name).map(|session| Self { session, by: FoundBy::Name }));
        }
        if let Some(run) = &config.run
            && let Some(session) = by_name(&sessions, run.as_str())
        {
            let by = if config.socket.is_some() { FoundBy::Socket } else { FoundBy::Variable };
            return Ok(Some(Self { session, by }));
        }
        for ancestor in process::ancestors() {
            let is_own = |session: &&LiveSession| session.agent.as_ref() == Some(&ancestor);
            if let Some(session) = sessions.iter().find(is_own) {
                return Ok(Some(Self { session: session.clone(), by: FoundBy::Process }));
            }
        }
        let Some(here) = &config.directory else { return Ok(None) };
        let is_here = |session: &&LiveSession| {
            here.starts_with(&session.directory) && session.agent.as_ref().is_some_and(process::is_alive)
        };
        Ok(sessions.iter().find(is_here).map(|session| Self { session: session.clone(), by: FoundBy::Directory }))
    }

    /// Takes in what the session holds now, up to the call that is under way, and returns the commit that this is.
    ///
    /// The file of the session may lag behind the call; it is waited for as long as allowed.
    pub async fn flush(&self, config: &CaptureConfig, wait: Duration) -> Result<Option<CommitId>> {
        if let Some(commit) = self.ask_wrapper(config) {
            return Ok(Some(commit));
        }
        let config = config.for_session(&self.session)?;
        let recorder = Recorder::new(&config);
        let session = self.session.clone();
        let agent_file = session.calls.last().and_then(|call| call.file.clone());
        let awaited_in = agent_file.clone();
        let (done, recorded) = oneshot::channel();
        // A store that hangs does not give the thread back; who gives up waiting goes on without it.
        thread::spawn(move || {
            let call = session.calls.last();
            if let Some(call) = call {
                Recorder::wait_for(&session, awaited_in.as_deref(), &call.id, wait);
            }
            let trigger = if call.is_some() { Trigger::ToolCall } else { Trigger::Explicit };
            // Who waited may have given up.
            _ = done.send(recorder.record(&session, &CaptureReason::live(trigger), Deadline::Unlimited));
        });
        let failed = |_| Error::State(io::Error::other("the program failed while it stored the session"));
        let tip = match recorded.await.map_err(failed)?? {
            Recorded::Stored { tip, .. } => tip,
            Recorded::Spooled { problem } => return Err(Error::NotStored { problem }),
        };
        match agent_file {
            Some(path) => agent_tip(&config.open_promptly().await?, &self.session, path).await,
            None => Ok(tip),
        }
    }

    /// Asks the wrapper of the agent, which knows what it has printed. One that does not answer is done without.
    fn ask_wrapper(&self, config: &CaptureConfig) -> Option<CommitId> {
        let CaptureConfig { run, socket, .. } = config;
        let socket = socket.as_ref().filter(|_| self.by == FoundBy::Socket)?;
        let answer = run::ask(socket, WRAPPER_LIMIT).ok()?;
        // Agents that the wrapped one has started are listed for the same run, and the wrapper does not know them.
        let is_of_run = run.as_ref().is_some_and(|run| *run == self.session.session);
        match answer {
            CurrentAnswer::Known { commit, session } if session == self.session.session || is_of_run => Some(commit),
            CurrentAnswer::Known { .. } | CurrentAnswer::Unknown { .. } => None,
        }
    }
}

/// Returns the last commit of an agent that a session has started.
async fn agent_tip(engine: &Contexture, session: &LiveSession, path: PathBuf) -> Result<Option<CommitId>> {
    let settings = ImportSettings { agent: discover::agent_of(&path), ..session.file.settings.clone() };
    let file = SessionFile { path, format: session.file.format.clone(), settings };
    Ok(Capture::new(engine)
        .capture(&file, &CaptureReason { is_live: false, ..CaptureReason::live(Trigger::ToolCall) })
        .await?
        .tip)
}

fn by_name(sessions: &[LiveSession], name: &str) -> Option<LiveSession> {
    let is_named = |session: &&LiveSession| {
        session.session.as_str() == name || session.run.as_ref().is_some_and(|run| run.as_str() == name)
    };
    let begins = |session: &&LiveSession| name.len() >= MIN_PREFIX && session.session.as_str().starts_with(name);
    sessions.iter().find(is_named).or_else(|| sessions.iter().find(begins)).cloned()
}
