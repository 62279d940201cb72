//! Sessions as programs read them.

use std::{fmt, str::FromStr};

use contexture_core::{
    CommitId, Format, GivenSessionId, HeadName, Machine, Principal, RuntimeSessionId, SummaryText, Template, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{ListedSession, SessionMeasures, StoredSession};

/// A session: a run of an agent, from its first request to where it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDocument {
    /// Its id.
    pub session: RuntimeSessionId,
    /// The beginning of it that no other session's id has.
    pub short_id: String,
    /// Its place among the sessions of this project, the newest of which is 1; nothing for those of other projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The head that stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadName>,
    /// Its first commit.
    pub first: CommitId,
    /// Its newest commit.
    pub tip: CommitId,
    /// When the first was made.
    pub began_at: Timestamp,
    /// When the newest was made.
    pub moved_at: Timestamp,
    /// The agent, or else the format of the newest commit.
    pub agent: String,
    /// The role of the agent, or the agent with its version, as the newest commit names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// How the newest commit is written.
    pub format: Format,
    /// Who ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    /// Where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The directory that it was begun in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The branch that it worked on last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was asked first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Requests.
    pub turns: u64,
    /// Commits.
    pub commits: u64,
    /// Messages, as far as they were counted.
    pub messages: u64,
    /// Tokens, as far as they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Bytes of content.
    pub bytes: u64,
    /// Whether it has more commits than were counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Whether an agent is in it.
    pub state: SessionActivity,
    /// What it went on from, where another session had begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<SessionBase>,
    /// The session that started it, when it is that of a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<GivenSessionId>,
    /// Where the list goes on after it.
    pub cursor: SessionCursor,
}

/// Where a list of sessions goes on, as a text that programs hand back.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"^-?[0-9]+\..+$"))]
pub struct SessionCursor {
    moved_at: Timestamp,
    /// The beginning of the session's id.
    session: RuntimeSessionId,
}

/// Says that a text is no cursor of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what an earlier list of sessions ended with")]
pub struct SessionCursorError;

/// What a session went on from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionBase {
    /// The commit, if it is in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The session, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<GivenSessionId>,
}

/// Whether an agent is in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionActivity {
    /// One is at work on this machine.
    Running,
    /// None is.
    Ended,
    /// Its agent went without a word.
    Crashed,
}

impl SessionActivity {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Crashed => "crashed",
        }
    }
}

impl SessionCursor {
    /// Returns how many sessions of a list, the newest of which is first, come before those that go on behind this one.
    ///
    /// Where the session has gone on since and is another place now, none is left out that was not listed before.
    pub fn place_in(&self, sessions: &[ListedSession]) -> usize {
        let is_it = |listed: &ListedSession| {
            let StoredSession { id, tip, .. } = &listed.session;
            tip.at == self.moved_at && id.as_str().starts_with(self.session.as_str())
        };
        let behind = sessions.iter().position(is_it).map(|place| place + 1);
        behind.unwrap_or_else(|| sessions.partition_point(|listed| listed.session.tip.at > self.moved_at))
    }
}

impl From<&ListedSession> for SessionCursor {
    fn from(listed: &ListedSession) -> Self {
        let session = RuntimeSessionId::new(listed.short_id.as_str());
        Self { moved_at: listed.session.tip.at, session: session.unwrap_or_else(|_| listed.session.id.clone()) }
    }
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.moved_at.as_micros(), self.session)
    }
}

impl FromStr for SessionCursor {
    type Err = SessionCursorError;

    fn from_str(text: &str) -> Result<Self, SessionCursorError> {
        let (micros, session) = text.split_once('.').ok_or(SessionCursorError)?;
        let moved_at = micros.parse().ok().and_then(Timestamp::from_micros).ok_or(SessionCursorError)?;
        Ok(Self { moved_at, session: session.parse().map_err(|_| SessionCursorError)? })
    }
}

impl Serialize for SessionCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SessionCursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl SessionDocument {
    /// Puts together what is known of a session.
    pub fn new(listed: ListedSession, measures: SessionMeasures, agent: String, state: SessionActivity) -> Self {
        let cursor = SessionCursor::from(&listed);
        let ListedSession { session, is_here: _, number, short_id } = listed;
        let origin = measures
            .origin
            .map(|(commit, session)| SessionBase { commit: Some(commit), session: session.map(GivenSessionId::from) })
            .or(measures.absent_origin.map(|session| SessionBase { commit: None, session: Some(session) }));
        let text = |text: SummaryText| text.as_str().to_owned();
        Self {
            session: session.id,
            short_id,
            number,
            head: session.head,
            first: session.first.id,
            tip: session.tip.id,
            began_at: session.first.at,
            moved_at: session.tip.at,
            agent,
            template: session.template,
            format: session.format,
            principal: session.principal,
            machine: session.machine,
            directory: session.directory,
            branch: measures.branch.map(text),
            model: measures.model.map(text),
            request: measures.request.map(text),
            turns: measures.turns,
            commits: measures.commits,
            messages: measures.messages,
            tokens: measures.tokens,
            bytes: measures.bytes,
            is_cut: measures.is_cut,
            state,
            origin,
            parent: session.parent,
            cursor,
        }
    }
}
