//! The commit that is the caller's understanding now.

use std::time::Duration;

use contexture::{
    Contexture, Moment, Reference,
    core::{GivenSessionId, Principal},
    wire::{CurrentCommit, FoundBy},
};

use super::{BoundSession, DeclaredSession, SessionLookup};
use crate::{CaptureConfig, Error, PossibleSession, PossibleSessions, Result};

/// Whose understanding is asked for.
#[derive(Debug, Clone)]
pub struct CurrentRequest {
    /// A session that is named: its id or the beginning of it, or the id of its run.
    pub session: Option<String>,
    /// Who asks. Where there is no session, it is the last commit of theirs.
    pub principal: Principal,
    /// How long the agent may take to write down the call that asks.
    pub patience: Duration,
}

/// Finds the commit that is the caller's understanding now, at this very call.
///
/// What the agent's session has come to hold is taken in first. The session is the one that is named, else the one that
/// the agent says itself, else that of the run that the caller was started in, else that of the agent that has started
/// this program, else that of an agent that works in this directory. Where several remain possible the error names all of
/// them, each with the commit that it is at.
pub async fn current(config: &CaptureConfig, request: &CurrentRequest) -> Result<CurrentCommit> {
    let SessionLookup { bound, unlisted } = SessionLookup::find(config, request.session.as_deref())?;
    match (&bound[..], &unlisted[..]) {
        ([], []) => {}
        ([bound], []) => {
            let session = bound.session.session.clone();
            let commit = bound.flush(config, request.patience).await?;
            let commit = commit.ok_or(Error::NothingCaptured { session: session.clone() })?;
            return Ok(CurrentCommit { commit, session: Some(session), by: bound.by });
        }
        ([], [declared]) => return of_declared(config, declared).await,
        (several, unlisted) => return Err(ambiguous(config, several, unlisted, request.patience).await),
    }
    let engine = Contexture::open(config.store.clone()).await?;
    if let Some(name) = &request.session {
        // One that is over is known by its head.
        let unknown = || Error::NoSession { name: name.clone() };
        let head: Reference = format!("session/{name}").parse().map_err(|_| unknown())?;
        let commit = engine.find(&head).await.map_err(|_| unknown())?;
        return Ok(CurrentCommit { commit, session: Some(GivenSessionId::new(name.as_str())), by: FoundBy::Name });
    }
    let moment = Moment { principal: request.principal.clone(), at: engine.now() };
    let known = engine.resolve(&moment).await?;
    let commit = known.ok_or(Error::NothingKnown { principal: moment.principal, at: moment.at })?;
    Ok(CurrentCommit { commit, session: None, by: FoundBy::Principal })
}

/// Finds a session of which only its agent says that it is this one: the store may hold it all the same.
async fn of_declared(config: &CaptureConfig, declared: &DeclaredSession) -> Result<CurrentCommit> {
    let engine = Contexture::open(config.store.clone()).await?;
    for session in &declared.sessions {
        let Ok(head) = format!("session/{session}").parse::<Reference>() else { continue };
        if let Ok(commit) = engine.find(&head).await {
            return Ok(CurrentCommit { commit, session: Some(session.clone()), by: FoundBy::Runtime });
        }
    }
    let session = declared.sessions.first().cloned().unwrap_or_default();
    Err(Error::NothingCaptured { session })
}

/// Names all sessions that remain possible.
async fn ambiguous(
    config: &CaptureConfig,
    several: &[BoundSession],
    unlisted: &[DeclaredSession],
    patience: Duration,
) -> Error {
    let mut candidates = Vec::new();
    for bound in several {
        // One that cannot be stored now is possible all the same.
        let commit = bound.flush(config, patience).await.ok().flatten();
        candidates.push(PossibleSession { session: bound.name(), commit });
    }
    let unknown = unlisted.iter().filter_map(|it| it.sessions.first());
    candidates.extend(unknown.map(|session| PossibleSession { session: session.clone(), commit: None }));
    Error::SeveralSessions { candidates: PossibleSessions(candidates) }
}
