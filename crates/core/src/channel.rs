//! Channels: what many agents and users say to each other, in one order, and how far each agent is.
//!
//! What a message is never changes once it has a place (`message`). How far an agent is changes by the few steps that a
//! [`AgentCursor`] knows, which are written here once and without a store, so that they can be reasoned about.

mod cursor;
mod message;
mod participant;
mod sequence;
mod turn;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Actor, ChannelId, ChannelName, Timestamp, canonical, vocabulary};

pub use cursor::{
    AgentCursor, BegunTurn, CursorRewind, InjectedTurn, TurnBeginning, TurnEnding, TurnMarks, TurnRefusal,
};
pub use message::{
    ChannelMessage, MAX_MESSAGE_BYTES, Mentions, MentionsError, MessageBody, MessageDraft, MessageHeader,
    MessageReceiver, MessageRecord, MessageSession, ReplayPolicy,
};
pub use participant::{Participant, ParticipantKind, ParticipantVisibility};
pub use sequence::{MessageSequence, SequenceError};
pub use turn::{AgentTurn, SessionBinding, TurnPlace, TurnState};

/// Version of the record that this program writes.
const RECORD_VERSION: u32 = 1;

/// How a channel came to be: every field that never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelRecord {
    /// What people call it.
    pub name: ChannelName,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: Actor,
    /// The channel whose past it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkPoint>,
}

/// Where a channel parts from another one, whose messages up to there are its own past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkPoint {
    /// The other channel.
    pub channel: ChannelId,
    /// The last message that both have.
    pub through: MessageSequence,
}

vocabulary! {
    /// What can be done with a channel.
    ChannelState {
        /// Messages can be appended.
        Open = "open",
        /// Nothing more can be said; turns can be finished and all can be read.
        Closed = "closed",
        /// It is closed, and lists leave it out unless they are asked for all.
        Archived = "archived",
    }
}

impl ChannelRecord {
    /// Returns the canonical encoding: RFC 8785 JSON of every field and the record version.
    pub fn encode(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Encoding<'r> {
            #[serde(flatten)]
            record: &'r ChannelRecord,
            version: u32,
        }
        let encoding = Encoding { record: self, version: RECORD_VERSION };
        canonical::to_vec(&encoding).expect("a record has text keys and exact numbers only")
    }

    /// Returns the id.
    pub fn id(&self) -> ChannelId {
        ChannelId::of(&self.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_channel_is_written_down() {
        let record = ChannelRecord {
            name: ChannelName::new("release").unwrap(),
            created_at: "2026-11-19T21:00:00Z".parse().unwrap(),
            created_by: Actor::new("ada").unwrap(),
            fork: None,
        };
        let encoded = String::from_utf8(record.encode()).unwrap();
        assert_eq!(
            encoded,
            r#"{"created_at":"2026-11-19T21:00:00.000000Z","created_by":"ada","name":"release","version":1}"#
        );
        let fork = ForkPoint { channel: record.id(), through: MessageSequence::FIRST };
        let forked = ChannelRecord { fork: Some(fork), ..record.clone() };
        assert_ne!(forked.id(), record.id());
        assert_eq!(serde_json::from_slice::<ChannelRecord>(&forked.encode()).unwrap(), forked);
    }
}
