//! What can go wrong with channels, by what the caller can do about it.

use contexture_core::{
    ChannelId, ChannelName, ChannelState, MessageId, MessageSequence, ParticipantKey, ParticipantSlug,
    RuntimeSessionId, TurnId, TurnRefusal,
};

/// Why something cannot be done with a channel. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// There is no such channel here.
    #[error("there is no channel {0}")]
    NoChannel(ChannelId),
    /// There is no channel of this name, and no id starts so.
    #[error("there is no channel {0:?}")]
    NoSuchName(String),
    /// Another channel has the name.
    #[error("there is a channel {name} already: {channel}")]
    NameTaken {
        /// The name.
        name: ChannelName,
        /// Whose it is.
        channel: ChannelId,
    },
    /// Nothing more can be said in the channel.
    #[error("channel {channel} is {state}")]
    Closed {
        /// The channel.
        channel: ChannelName,
        /// What it is.
        state: ChannelState,
    },
    /// The channel does not end where the caller thought.
    #[error("channel {channel} ends with message {last}, not with {expected}")]
    Moved {
        /// The channel.
        channel: ChannelName,
        /// The number of the message that the caller took for the last, 0 for none.
        expected: u64,
        /// The number of the last message.
        last: u64,
    },
    /// Another message has the id.
    #[error("message {sequence} of channel {channel} has the id {id} already, and says something else")]
    MessageConflict {
        /// The channel.
        channel: ChannelName,
        /// The id.
        id: MessageId,
        /// The message that has it.
        sequence: MessageSequence,
    },
    /// The channel has no such message.
    #[error("channel {channel} has no message {message}")]
    NoMessage {
        /// The channel.
        channel: ChannelName,
        /// What was asked for.
        message: String,
    },
    /// A message is too large.
    #[error("a message of {bytes} bytes is too large: {} fit", contexture_core::MAX_MESSAGE_BYTES)]
    LargeMessage {
        /// How large it is.
        bytes: usize,
    },
    /// Too much is to be appended at once.
    #[error(
        "{messages} messages of {bytes} bytes are too much at once: {most_messages} of {most_bytes} are appended together"
    )]
    LargeBatch {
        /// How many they are.
        messages: usize,
        /// How large they are together.
        bytes: usize,
        /// How many there may be.
        most_messages: usize,
        /// How large they may be.
        most_bytes: usize,
    },
    /// Another participant has the slug or the key.
    #[error("{by} is called {slug} in channel {channel} already")]
    SlugTaken {
        /// The channel.
        channel: ChannelName,
        /// The slug.
        slug: ParticipantSlug,
        /// Whose it is.
        by: ParticipantKey,
    },
    /// Nobody of this name takes part.
    #[error("{key} is no participant of channel {channel}")]
    NotParticipant {
        /// The channel.
        channel: ChannelName,
        /// Who was named.
        key: ParticipantKey,
    },
    /// Only agents have turns.
    #[error("{key} is a user in channel {channel}, and only agents have turns")]
    NotAnAgent {
        /// The channel.
        channel: ChannelName,
        /// Who was named.
        key: ParticipantKey,
    },
    /// Nothing is new to the agent.
    #[error("nothing in channel {channel} is new to {agent}")]
    NothingToAnswer {
        /// The channel.
        channel: ChannelName,
        /// Whose turn it was to be.
        agent: ParticipantSlug,
    },
    /// The message to answer is kept from the agent.
    #[error("message {message} of channel {channel} is not for {agent}")]
    NotForAgent {
        /// The channel.
        channel: ChannelName,
        /// The message.
        message: MessageSequence,
        /// Whose turn it was to be.
        agent: ParticipantSlug,
    },
    /// A session belongs to another agent, channel or directory.
    #[error("session {session} is not the one of {agent} in channel {channel} there")]
    SessionElsewhere {
        /// The session.
        session: RuntimeSessionId,
        /// Whose turn it was to be.
        agent: ParticipantKey,
        /// Where.
        channel: ChannelName,
    },
    /// There is no such turn here.
    #[error("there is no turn {0}")]
    NoTurn(TurnId),
    /// A turn or cursor is elsewhere than the caller thought.
    #[error(transparent)]
    Refused(Box<TurnRefusal>),
    /// There are as many messages as there can be.
    #[error("channel {0} is full")]
    Full(ChannelName),
}
