//! A session that a program belongs to, and the commit that it is at.

use std::{io, path::PathBuf, thread, time::Duration};

use contexture::{
    Contexture,
    core::{CommitId, GivenSessionId, Trigger},
    wire::FoundBy,
};
use tokio::sync::oneshot;

use super::{Deadline, DeclaredSession, Recorded, Recorder};
use crate::{
    Capture, CaptureConfig, CaptureReason, CurrentAnswer, Error, ImportSettings, LiveSession, OpenCall, Result,
    SessionFile, discover, run,
};

/// How long the wrapper of an agent may take to answer.
const WRAPPER_LIMIT: Duration = Duration::from_secs(2);

/// What stands between a session and an agent of it, as in the names of heads.
pub(super) const AGENT: &str = "/agent-";

/// A session that a program belongs to.
#[derive(Debug, Clone)]
pub struct BoundSession {
    /// The session.
    pub session: LiveSession,
    /// How it was found.
    pub by: FoundBy,
    /// The call of a tool that may have started the program.
    pub call: Option<OpenCall>,
}

impl BoundSession {
    /// Returns a session once for each agent of it that may have started a program: while several are at work, each in a
    /// call of its own, nothing but the call tells which it was.
    pub(super) fn of(session: &LiveSession, by: FoundBy, declared: &[DeclaredSession]) -> Vec<Self> {
        let bound = |call: Option<&OpenCall>| Self { session: session.clone(), by, call: call.cloned() };
        if let Some(named) = declared.iter().find_map(|it| it.open_call(session)) {
            return vec![bound(Some(named))];
        }
        // Who waits for an agent that it has called starts nothing meanwhile.
        let mut working: Vec<&OpenCall> = Vec::new();
        for call in session.calls.iter().rev().filter(|call| !call.starts_agent) {
            if working.iter().all(|other| other.file != call.file) {
                working.push(call);
            }
        }
        match &working[..] {
            [] => vec![bound(session.calls.last())],
            working => working.iter().map(|call| bound(Some(call))).collect(),
        }
    }

    /// Returns the agent that it is about, when the session has started one.
    pub(super) fn agent(&self) -> Option<String> {
        self.call.as_ref().and_then(|call| call.file.as_deref()).and_then(discover::agent_of)
    }

    /// Returns what tells it from others: the session, and which agent of it.
    pub(super) fn name(&self) -> GivenSessionId {
        let session = &self.session.session;
        self.agent().map_or_else(|| session.clone(), |agent| GivenSessionId::new(format!("{session}{AGENT}{agent}")))
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
        let call = self.call.clone();
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
        let socket = socket.as_ref().filter(|_| self.by == FoundBy::Socket && self.agent().is_none())?;
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
