//! Channels as programs read them.

use contexture_core::{
    Actor, ChannelId, ChannelMessage, ChannelName, ChannelState, ForkPoint, MessageRecord, MessageSequence,
    ParticipantKey, Timestamp,
};
use contexture_store::{
    channel::{AppendedMessage, ChannelSummary, StoredChannel},
    commit::Inserted,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SeenBy;

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelDocument {
    /// Its id.
    pub id: ChannelId,
    /// What people call it.
    pub name: ChannelName,
    /// What can be done with it.
    pub state: ChannelState,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: Actor,
    /// The channel whose past it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkPoint>,
    /// Its last message.
    pub last: Option<MessageSequence>,
}

/// A message and who has to do with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageDocument {
    /// The message.
    #[serde(flatten)]
    pub message: ChannelMessage,
    /// The agents that were offered it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered_to: Vec<ParticipantKey>,
    /// Those of them that have acknowledged it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged_by: Vec<ParticipantKey>,
}

/// A message that is in its channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PostedMessage {
    /// Its record.
    #[serde(flatten)]
    pub record: MessageRecord,
    /// Whether this made it; otherwise the same was there before.
    pub created: bool,
}

impl ChannelDocument {
    /// Describes a channel with its last message.
    pub fn new(channel: StoredChannel, last: Option<MessageSequence>) -> Self {
        let record = channel.record;
        Self {
            id: channel.id,
            name: record.name,
            state: channel.state,
            created_at: record.created_at,
            created_by: record.created_by,
            fork: record.fork,
            last,
        }
    }
}

impl From<ChannelSummary> for ChannelDocument {
    fn from(summary: ChannelSummary) -> Self {
        Self::new(summary.channel, summary.last)
    }
}

impl MessageDocument {
    /// Describes a message with who has seen it.
    pub fn new(message: ChannelMessage, seen: SeenBy) -> Self {
        let SeenBy { offered_to, acknowledged_by } = seen;
        Self { message, offered_to, acknowledged_by }
    }
}

impl From<AppendedMessage> for PostedMessage {
    fn from(appended: AppendedMessage) -> Self {
        Self { record: appended.record, created: appended.inserted == Inserted::New }
    }
}
