//! Messages: what senders give, and what stays of it once it has a place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MessageSequence, Participant, ParticipantVisibility};
use crate::{
    ArtifactId, ChannelId, CommitId, ConversationPhase, MessageId, ParticipantKey, RuntimeName, RuntimeSessionId,
    Thread, Timestamp, Topic, canonical, vocabulary,
};

/// Separates the digests of messages from every other use of BLAKE3.
const DIGEST_CONTEXT: &str = "contexture message v1";
/// Version of the record that this program writes.
const RECORD_VERSION: u32 = 1;

/// Most bytes that the body of a message may have.
pub const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// A message that has no place yet.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageDraft {
    /// What the sender calls it. Giving the same again is how a retry is safe; without one, one is made.
    pub id: Option<MessageId>,
    /// When it was sent; when it is appended, if nothing else is said. Times order nothing.
    pub at: Option<Timestamp>,
    /// Who says it to whom, about what.
    pub header: MessageHeader,
    /// What is said.
    pub body: MessageBody,
}

/// Who says something to whom, about what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageHeader {
    /// What it is about.
    pub topic: Topic,
    /// Who says it.
    pub sender: ParticipantKey,
    /// To whom; to everybody when left out.
    #[serde(default, skip_serializing_if = "MessageReceiver::is_broadcast")]
    pub receiver: MessageReceiver,
    /// Who is named in it.
    #[serde(default, skip_serializing_if = "Mentions::is_empty")]
    pub mentions: Mentions,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The thread that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    /// The phase in which it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<ConversationPhase>,
    /// Whether prompts may hold it.
    #[serde(default, skip_serializing_if = "ReplayPolicy::is_replayable")]
    pub replay: ReplayPolicy,
    /// The session that whoever is triggered by it goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<MessageSession>,
    /// What the sender knew: the commit that it was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<CommitId>,
}

/// What is said. The JSON of users goes through as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageBody {
    /// For programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Beside it all, such as the tags that a message came with.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// For readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// To whom a message is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Option<ParticipantKey>", into = "Option<ParticipantKey>")]
pub enum MessageReceiver {
    /// To everybody.
    #[default]
    Broadcast,
    /// To one participant.
    Participant(#[schemars(with = "String")] ParticipantKey),
}

/// Who is named in a message: each once, in the order of the text, and at most [`Mentions::MAX`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<ParticipantKey>", into = "Vec<ParticipantKey>")]
#[schemars(extend("maxItems" = Mentions::MAX))]
pub struct Mentions(Vec<ParticipantKey>);

/// Says that too many are named in a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{count} participants are mentioned; at most {} can be", Mentions::MAX)]
pub struct MentionsError {
    count: usize,
}

vocabulary! {
    /// Whether prompts may hold a message.
    #[derive(Default)]
    ReplayPolicy {
        /// They may.
        #[default]
        Replayable = "replayable",
        /// It is raw output: kept to be looked at, never told to a model, and never in the place of what can be.
        Raw = "raw",
    }
}

/// A session of a runtime that a message names for whoever it triggers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageSession {
    /// Whose session it is.
    pub runtime: RuntimeName,
    /// Which one.
    pub id: RuntimeSessionId,
}

/// A message at its place: every field that never changes, with the digest of what is said in place of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageRecord {
    /// The channel in which it was said. A channel that was forked later shares it.
    pub channel: ChannelId,
    /// Its place there.
    pub sequence: MessageSequence,
    /// What it is called.
    pub id: MessageId,
    /// When it was sent.
    pub at: Timestamp,
    /// Who says it to whom, about what.
    #[serde(flatten)]
    pub header: MessageHeader,
    /// The artifact that holds the body.
    pub content: ArtifactId,
}

/// A message as it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelMessage {
    /// What never changes.
    #[serde(flatten)]
    pub record: MessageRecord,
    /// What is said, with placeholders for secrets; nothing when the content was purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<MessageBody>,
}

impl MessageDraft {
    /// Describes a message to everybody with a text.
    pub fn text(sender: ParticipantKey, topic: Topic, text: impl Into<String>) -> Self {
        let body = MessageBody { text: Some(text.into()), ..MessageBody::default() };
        Self { id: None, at: None, header: MessageHeader::new(sender, topic), body }
    }
}

impl MessageHeader {
    /// Says who speaks about what, to everybody.
    pub fn new(sender: ParticipantKey, topic: Topic) -> Self {
        Self {
            topic,
            sender,
            receiver: MessageReceiver::Broadcast,
            mentions: Mentions::default(),
            reply_to: None,
            thread: None,
            phase: None,
            replay: ReplayPolicy::Replayable,
            session: None,
            context_id: None,
        }
    }

    /// Tells whether it is said to somebody in particular: as the receiver or by name.
    pub fn addresses(&self, key: &ParticipantKey) -> bool {
        self.receiver.is(key) || self.mentions.as_slice().contains(key)
    }

    /// Tells whether a participant is shown the message.
    pub fn is_visible_to(&self, viewer: &Participant) -> bool {
        if self.sender == viewer.key || self.receiver.is(&viewer.key) {
            return true;
        }
        match (&self.receiver, &viewer.sees) {
            (MessageReceiver::Participant(_), _) => false,
            (MessageReceiver::Broadcast, ParticipantVisibility::All) => true,
            (MessageReceiver::Broadcast, ParticipantVisibility::Thread(thread)) => self.thread.as_ref() == Some(thread),
        }
    }
}

impl MessageBody {
    /// Returns the JSON that is stored: the fields in the order of their names, without white space.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a body has text keys")
    }

    /// Reads what was stored.
    pub fn decode(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
}

impl MessageReceiver {
    /// Tells whether it is everybody.
    pub fn is_broadcast(&self) -> bool {
        *self == Self::Broadcast
    }

    /// Tells whether it is this participant.
    pub fn is(&self, key: &ParticipantKey) -> bool {
        self.key() == Some(key)
    }

    /// Returns the participant, if it is one.
    pub fn key(&self) -> Option<&ParticipantKey> {
        match self {
            Self::Broadcast => None,
            Self::Participant(key) => Some(key),
        }
    }
}

impl From<Option<ParticipantKey>> for MessageReceiver {
    fn from(key: Option<ParticipantKey>) -> Self {
        key.map_or(Self::Broadcast, Self::Participant)
    }
}

impl From<MessageReceiver> for Option<ParticipantKey> {
    fn from(receiver: MessageReceiver) -> Self {
        match receiver {
            MessageReceiver::Broadcast => None,
            MessageReceiver::Participant(key) => Some(key),
        }
    }
}

impl Mentions {
    /// Most that a message can name.
    pub const MAX: usize = 256;

    /// Takes who is named; who is named again counts once.
    pub fn new(keys: Vec<ParticipantKey>) -> Result<Self, MentionsError> {
        let count = keys.len();
        if count > Self::MAX {
            return Err(MentionsError { count });
        }
        let mut once = Vec::with_capacity(count);
        for key in keys {
            if !once.contains(&key) {
                once.push(key);
            }
        }
        Ok(Self(once))
    }

    /// Borrows who is named.
    pub fn as_slice(&self) -> &[ParticipantKey] {
        &self.0
    }

    /// Tells whether nobody is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<Vec<ParticipantKey>> for Mentions {
    type Error = MentionsError;

    fn try_from(keys: Vec<ParticipantKey>) -> Result<Self, MentionsError> {
        Self::new(keys)
    }
}

impl From<Mentions> for Vec<ParticipantKey> {
    fn from(mentions: Mentions) -> Self {
        mentions.0
    }
}

impl ReplayPolicy {
    /// Tells whether prompts may hold it.
    pub fn is_replayable(&self) -> bool {
        *self == Self::Replayable
    }
}

impl MessageRecord {
    /// Tells whether somebody who says this gives the message once more: whether all is the same that was said of it. A
    /// time that is only implied is left out, because a retry happens later.
    pub fn is_given_again(&self, at: Option<Timestamp>, header: &MessageHeader, content: &ArtifactId) -> bool {
        at.is_none_or(|at| at == self.at) && *header == self.header && *content == self.content
    }

    /// Returns the canonical encoding: RFC 8785 JSON of every field and the record version.
    pub fn encode(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Encoding<'r> {
            #[serde(flatten)]
            record: &'r MessageRecord,
            version: u32,
        }
        let encoding = Encoding { record: self, version: RECORD_VERSION };
        canonical::to_vec(&encoding).expect("a record has text keys and exact numbers only")
    }

    /// Returns the digest of the canonical encoding, which binds the content.
    pub fn digest(&self) -> [u8; 32] {
        blake3::derive_key(DIGEST_CONTEXT, &self.encode())
    }
}

impl ChannelMessage {
    /// Returns the text, if there is one to read.
    pub fn text(&self) -> Option<&str> {
        self.body.as_ref()?.text.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(text: &str) -> ParticipantKey {
        ParticipantKey::new(text).unwrap()
    }

    fn record() -> MessageRecord {
        let body = MessageBody { text: Some("Go.".to_owned()), ..MessageBody::default() };
        MessageRecord {
            channel: ChannelId::of(b"{}"),
            sequence: MessageSequence::FIRST,
            id: MessageId::new("m1").unwrap(),
            at: "2026-11-19T21:00:00Z".parse().unwrap(),
            header: MessageHeader::new(key("ada"), Topic::new("PLAN_READY").unwrap()),
            content: ArtifactId::of(&body.encode()),
        }
    }

    #[test]
    fn the_encoding_is_written_down() {
        let encoded = String::from_utf8(record().encode()).unwrap();
        assert_eq!(
            encoded,
            concat!(
                r#"{"at":"2026-11-19T21:00:00.000000Z","channel":"chn-12f114da4d69894f280ace57c588c29b","#,
                r#""content":"art-de561cbe7e13ba8458e9229206584dc13f652f50214b83e7cafd9fb3fc433705","id":"m1","#,
                r#""sender":"ada","sequence":1,"topic":"PLAN_READY","version":1}"#
            )
        );
        assert_eq!(hex::encode(record().digest()), "368014da5999e70b093bda6e31816b3c0e0badfdf356f09404eb25c9fef2045a");
        assert_eq!(serde_json::from_str::<MessageRecord>(&encoded).unwrap(), record());
    }

    #[test]
    fn what_is_false_or_empty_is_kept_and_null_says_nothing() {
        for data in [json!(0), json!(false), json!(""), json!([]), json!({}), json!(18_446_744_073_709_551_615_u64)] {
            let body = MessageBody { data: Some(data), text: Some(String::new()), ..MessageBody::default() };
            assert_eq!(MessageBody::decode(&body.encode()).unwrap(), body);
        }
        assert_eq!(MessageBody::decode(br#"{"data":null}"#).unwrap(), MessageBody::default());
    }

    #[test]
    fn a_retry_is_known_by_all_that_was_said() {
        let stored = record();
        assert!(stored.is_given_again(None, &stored.header, &stored.content));
        assert!(!stored.is_given_again(None, &stored.header, &ArtifactId::of(b"other")));
        assert!(!stored.is_given_again(Timestamp::from_micros(1), &stored.header, &stored.content));
        let other = MessageHeader { receiver: MessageReceiver::Participant(key("bob")), ..stored.header.clone() };
        assert!(!stored.is_given_again(None, &other, &stored.content));
    }

    #[test]
    fn who_is_named_is_named_once_and_not_without_end() {
        let named = Mentions::new(vec![key("b"), key("a"), key("b")]).unwrap();
        assert_eq!(named.as_slice(), [key("b"), key("a")]);
        assert!(Mentions::new((0..=Mentions::MAX).map(|number| key(&number.to_string())).collect()).is_err());
    }

    #[test]
    fn whispers_and_other_threads_are_not_shown() {
        let viewer = |sees| Participant {
            key: key("dev"),
            slug: crate::ParticipantSlug::new("dev").unwrap(),
            name: None,
            kind: super::super::ParticipantKind::Agent,
            role: None,
            sees,
        };
        let thread = Thread::new("delegation-1").unwrap();
        let all = viewer(ParticipantVisibility::All);
        let delegate = viewer(ParticipantVisibility::Thread(thread.clone()));
        let said = |sender: &str, receiver: Option<&str>, thread: Option<&Thread>| MessageHeader {
            receiver: receiver.map(key).into(),
            thread: thread.cloned(),
            ..MessageHeader::new(key(sender), Topic::new("chat").unwrap())
        };
        let shown = |header: &MessageHeader| (header.is_visible_to(&all), header.is_visible_to(&delegate));
        assert_eq!(shown(&said("ada", None, None)), (true, false));
        assert_eq!(shown(&said("ada", None, Some(&thread))), (true, true));
        assert_eq!(shown(&said("ada", Some("dev"), None)), (true, true));
        assert_eq!(shown(&said("ada", Some("bob"), Some(&thread))), (false, false));
        assert_eq!(shown(&said("dev", Some("bob"), None)), (true, true));
    }
}
