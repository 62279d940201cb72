//! Which sessions a program may belong to.
//!
//! What an agent says itself goes before what processes suggest: one process may be the agent of many sessions, and one
//! session may have several agents at work. Nothing is chosen by time, so where several remain possible all of them are
//! returned.

use std::path::Path;

use contexture::wire::FoundBy;

use super::{BoundSession, DeclaredSession, Recorder, bound_session::AGENT, process};
use crate::{CaptureConfig, LiveSession, Result, Runtime};

/// Fewest letters that are taken for the beginning of a session's id.
const MIN_PREFIX: usize = 4;
/// Programs that run agents without being called like them.
const INTERPRETERS: &[&str] = &["node", "bun", "deno", "MainThread"];

/// What is known of the session that a program belongs to.
#[derive(Debug, Clone, Default)]
pub struct SessionLookup {
    /// The sessions that it may be: none, the one, or all that remain possible, the one that was heard of last first.
    pub bound: Vec<BoundSession>,
    /// What agents say of themselves that is not among those that go on, and may be what is asked for.
    pub unlisted: Vec<DeclaredSession>,
}

impl SessionLookup {
    /// Finds the session that was named, or the one of the agent that this program works for.
    pub fn find(config: &CaptureConfig, named: Option<&str>) -> Result<Self> {
        let recorder = Recorder::new(config);
        let mut sessions = recorder.registry.all();
        if config.is_store_chosen {
            sessions.retain(|session| recorder.is_own(session));
        }
        if let Some(name) = named {
            return Ok(Self::named(config, &sessions, name));
        }
        // What no hook has told of is found where its agent keeps it.
        let unheard = config.declared.iter().filter(|declared| declared.listed(&sessions).is_none());
        let kept: Vec<LiveSession> = unheard.filter_map(|declared| declared.kept(&recorder, config)).collect();
        sessions.extend(kept);
        let said = Self::said(config, &sessions);
        if !said.bound.is_empty() || !said.unlisted.is_empty() {
            return Ok(said);
        }
        if let Some((_, started)) = nearest(&sessions.iter().collect::<Vec<_>>()) {
            return Ok(Self::by(config, FoundBy::Process, started));
        }
        let here = config.directory.as_deref();
        Ok(Self::by(config, FoundBy::Directory, here.map(|here| at_work_in(&sessions, here)).unwrap_or_default()))
    }

    /// Returns the session, if no other is possible.
    pub fn only(self) -> Option<BoundSession> {
        let Self { mut bound, unlisted } = self;
        bound.pop().filter(|_| bound.is_empty() && unlisted.is_empty())
    }

    fn by(config: &CaptureConfig, by: FoundBy, sessions: Vec<&LiveSession>) -> Self {
        let bound = sessions.into_iter().flat_map(|session| BoundSession::of(session, by, &config.declared));
        Self { bound: bound.collect(), unlisted: Vec::new() }
    }

    /// Finds the session that is called so, or an agent of it that is at work. The session is the agent that people talk
    /// to, if that is at work.
    fn named(config: &CaptureConfig, sessions: &[LiveSession], name: &str) -> Self {
        let (session, agent) = name.split_once(AGENT).map_or((name, None), |(session, agent)| (session, Some(agent)));
        let mut found = Self::by(config, FoundBy::Name, by_name(sessions, session));
        let is_meant = |bound: &BoundSession| bound.agent().as_deref() == agent;
        if agent.is_some() || found.bound.iter().any(is_meant) {
            found.bound.retain(is_meant);
        }
        found
    }

    /// Finds the sessions that variables name: what agents say, and the run that `ctx run` has begun.
    ///
    /// Where there are several, because one agent has started another, it is that of the nearest agent.
    fn said(config: &CaptureConfig, sessions: &[LiveSession]) -> Self {
        let listed = |declared: &DeclaredSession| declared.listed(sessions);
        let mut unlisted: Vec<DeclaredSession> =
            config.declared.iter().filter(|declared| listed(declared).is_none()).cloned().collect();
        let declared: Vec<&LiveSession> = config.declared.iter().filter_map(listed).collect();
        let is_declared = |session: &LiveSession| declared.iter().any(|known| known.session == session.session);
        let of_run = |session: &LiveSession| config.run.is_some() && is_of_run(session, config);
        let mut candidates: Vec<&LiveSession> =
            sessions.iter().filter(|session| is_declared(session) || of_run(session)).collect();
        if candidates.len() + unlisted.len() > 1
            && let Some((is_certain, nearest)) = nearest(&candidates)
        {
            // An agent of which nothing is known may stand in between only where a program looks like one.
            if is_certain {
                unlisted.clear();
            }
            candidates = nearest;
        }
        // What the agent says of itself is nearer than what its wrapper said to all that it would start.
        if candidates.iter().any(|session| is_declared(session)) {
            candidates.retain(|session| is_declared(session));
        }
        let by = |session: &LiveSession| match (of_run(session), &config.socket) {
            (true, Some(_)) => FoundBy::Socket,
            (true, None) => FoundBy::Variable,
            (false, _) => FoundBy::Runtime,
        };
        let bound = candidates.into_iter().flat_map(|session| BoundSession::of(session, by(session), &config.declared));
        Self { bound: bound.collect(), unlisted }
    }
}

/// Returns the sessions of the nearest process above this one that is the agent of some, and whether no other agent can
/// stand in between.
fn nearest<'s>(sessions: &[&'s LiveSession]) -> Option<(bool, Vec<&'s LiveSession>)> {
    let mut is_certain = true;
    for (ancestor, name) in process::named_ancestors() {
        let is_own = |session: &&LiveSession| session.agent.as_ref() == Some(&ancestor);
        let own: Vec<&LiveSession> = sessions.iter().copied().filter(is_own).collect();
        if !own.is_empty() {
            return Some((is_certain, own));
        }
        is_certain = is_certain && !may_be_agent(&name);
    }
    None
}

fn may_be_agent(name: &str) -> bool {
    INTERPRETERS.contains(&name) || Runtime::of_program(name).is_some()
}

/// Returns the sessions of agents that work in a directory or around it, in the nearest directory only.
fn at_work_in<'s>(sessions: &'s [LiveSession], here: &Path) -> Vec<&'s LiveSession> {
    let is_here = |session: &&LiveSession| {
        here.starts_with(&session.directory) && session.agent.as_ref().is_some_and(process::is_alive)
    };
    let mut found: Vec<&LiveSession> = sessions.iter().filter(is_here).collect();
    let depth = |session: &LiveSession| session.directory.components().count();
    let deepest = found.iter().map(|session| depth(session)).max();
    found.retain(|session| Some(depth(session)) == deepest);
    found
}

fn is_of_run(session: &LiveSession, config: &CaptureConfig) -> bool {
    let is_run = |id: Option<&_>| id.is_some() && id == config.run.as_ref();
    is_run(Some(&session.session)) || is_run(session.run.as_ref())
}

/// Returns the session that is called so, else those of the run that is, else those whose ids begin so.
fn by_name<'s>(sessions: &'s [LiveSession], name: &str) -> Vec<&'s LiveSession> {
    let matching = |is_meant: &dyn Fn(&LiveSession) -> bool| -> Vec<&'s LiveSession> {
        sessions.iter().filter(|session| is_meant(session)).collect()
    };
    let called = matching(&|session| session.session.as_str() == name);
    if !called.is_empty() {
        return called;
    }
    let of_run = matching(&|session| session.run.as_ref().is_some_and(|run| run.as_str() == name));
    if !of_run.is_empty() {
        return of_run;
    }
    matching(&|session| name.len() >= MIN_PREFIX && session.session.as_str().starts_with(name))
}
