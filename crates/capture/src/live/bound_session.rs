//! A session that a program belongs to, and the commit that it is at.

use std::{io, path::PathBuf, thread, time::Duration};

use contexture::{
    Contexture,
    core::{CommitId, Trigger},
    wire::FoundBy,
};
use tokio::sync::oneshot;

use super::{Deadline, Recorded, Recorder};
use crate::{
    Capture, CaptureConfig, CaptureReason, CurrentAnswer, Error, ImportSettings, LiveSession, Result, SessionFile,
    discover, run,
};

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
        let call = config.declared.iter().find_map(|it| it.open_call(&session)).or(session.calls.last()).cloned();
        let agent_file = call.as_ref().and_then(|call| call.file.clone());
        let awaited_in = agent_file.clone();
        let (done, recorded) = oneshot::channel();
        // A store that hangs does not give the thread back; who gives up waiting goes on without it.
        thread::spawn(move || {
            if let Some(call) = &call {
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
