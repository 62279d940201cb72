//! Turns: what an agent was offered, under whose hands, and how it ended.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MessageSequence, TurnMarks};
use crate::{
    Actor, ChannelId, Count, EnvelopeId, ParticipantKey, RuntimeName, RuntimeSessionId, SummaryText, Timestamp, TurnId,
};

/// One turn of an agent in a channel.
///
/// What it was offered is frozen when it begins: the messages after `after` up to `through`, whatever comes meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentTurn {
    /// Its id.
    pub id: TurnId,
    /// The channel.
    pub channel: ChannelId,
    /// Whose turn it is.
    pub agent: ParticipantKey,
    /// Which of the agent's turns in the channel it is; the first is 1.
    pub number: Count,
    /// The message to answer.
    pub trigger: MessageSequence,
    /// What the agent had acknowledged before; nothing for somebody who is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageSequence>,
    /// The last message that it is offered.
    pub through: MessageSequence,
    /// How many turns, with this one, have offered what is not acknowledged. More than 1 says that earlier ones failed.
    pub delivery: Count,
    /// Where the agent's last turn had begun and ended before this one.
    pub marks: TurnMarks,
    /// When it began.
    pub begun_at: Timestamp,
    /// From when on another may begin in its place.
    pub expires_at: Timestamp,
    /// Who runs it.
    pub holder: Actor,
    /// Where it runs, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<TurnPlace>,
    /// The session of that runtime to go on with there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RuntimeSessionId>,
    /// What was really sent to the model, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<EnvelopeId>,
    /// How it is.
    pub state: TurnState,
}

/// Where an agent's turn runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnPlace {
    /// In which runtime.
    pub runtime: RuntimeName,
    /// In which directory.
    pub directory: SummaryText,
}

/// How a turn is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum TurnState {
    /// It goes on, until it is finished or another begins after it has expired.
    Open,
    /// What it was for is done, durably.
    Acknowledged {
        /// Through which message.
        through: MessageSequence,
        /// Since when.
        at: Timestamp,
    },
    /// It ended without a result: what it was offered will be offered again.
    Failed {
        /// Why.
        reason: SummaryText,
        /// Since when.
        at: Timestamp,
    },
    /// Nobody finished it in time, and another began: what it was offered was offered again.
    Expired {
        /// Since when.
        at: Timestamp,
    },
}

/// The session in which an agent goes on in a channel, in one runtime and directory and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionBinding {
    /// Whose session it is.
    pub agent: ParticipantKey,
    /// Where.
    pub place: TurnPlace,
    /// Which one.
    pub session: RuntimeSessionId,
    /// The message that named it.
    pub named_by: MessageSequence,
}

impl TurnState {
    /// Returns the word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Acknowledged { .. } => "acknowledged",
            Self::Failed { .. } => "failed",
            Self::Expired { .. } => "expired",
        }
    }
}

impl fmt::Display for TurnState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
