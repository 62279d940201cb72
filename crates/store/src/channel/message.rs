//! Messages as they are appended and as their rows have them.

use std::collections::HashMap;

use contexture_core::{
    ArtifactId, ChainDigest, ChannelId, ChannelState, CommitId, ConversationPhase, JournalKind, Mentions,
    MessageHeader, MessageId, MessageReceiver, MessageRecord, MessageSequence, MessageSession, Mutation,
    ParticipantKey, ReplayPolicy, RuntimeName, RuntimeSessionId, Thread, Timestamp, Topic,
};

use super::{CHANNELS, ChannelError, StoredChannel, Stretch, last_of, require, sequence, stretches};
use crate::{
    Error, Result,
    artifact::artifact_id,
    commit::{Inserted, commit_id},
    journal,
    space::{stored, time},
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// The table of messages.
pub(crate) static MESSAGES: Table = Table {
    name: "messages",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::number("channel"),
        Column::number("sequence"),
        Column::text("id"),
        Column::number("at"),
        Column::text("topic"),
        Column::text("sender"),
        Column::text("receiver").optional(),
        Column::text("mentions"),
        Column::text("reply_to").optional(),
        Column::text("thread").optional(),
        Column::text("phase").optional(),
        Column::text("replay"),
        Column::text("runtime").optional(),
        Column::text("session").optional(),
        Column::bytes("context_id").optional(),
        Column::bytes("content").to(RowReference::SameArtifact),
        Column::number("content_key").to(RowReference::ArtifactKey),
    ],
};

/// The table of who is named in which message.
pub(crate) static MENTIONS: Table = Table {
    name: "message_mentions",
    owner: RowOwner::Row { table: &CHANNELS, column: "channel" },
    key: &["channel", "participant", "sequence"],
    columns: &[Column::number("channel"), Column::text("participant"), Column::number("sequence")],
};

/// A message that is to be appended, whose content is stored.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// What the sender calls it; one is made when nothing is said.
    pub id: Option<MessageId>,
    /// When it was sent; the time of the transaction when nothing is said.
    pub at: Option<Timestamp>,
    /// Who says it to whom, about what.
    pub header: MessageHeader,
    /// What is said.
    pub content: ArtifactId,
}

/// With which message a channel must end for something to be appended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExpectLast {
    /// With any.
    #[default]
    Anything,
    /// With none: nothing was said yet.
    Nothing,
    /// With this one.
    At(MessageSequence),
}

/// A message that is in the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendedMessage {
    /// Its record.
    pub record: MessageRecord,
    /// Whether it was there before.
    pub inserted: Inserted,
}

/// Appends messages in their order, all or none. One whose id is known is not appended again; it must say the same.
///
/// Where the channel must end is asked only when something is appended, so that a retry is safe.
pub async fn append(
    tx: &mut Tx<'_>,
    channel: &ChannelId,
    messages: &[NewMessage],
    expect: ExpectLast,
) -> Result<Vec<AppendedMessage>> {
    let channel = require(tx, channel).await?;
    let log = stretches(tx, &channel).await?;
    let mut known = known(tx, &log, messages).await?;
    let last = last_of(tx, &log).await?;
    let (mut next, mut appended) = (last, Vec::with_capacity(messages.len()));
    for message in messages {
        if let Some(record) = message.id.as_ref().and_then(|id| known.get(id)) {
            if !record.is_given_again(message.at, &message.header, &message.content) {
                let (id, sequence) = (record.id.clone(), record.sequence);
                return Err(Error::Channel(ChannelError::MessageConflict {
                    channel: channel.record.name,
                    id,
                    sequence,
                }));
            }
            appended.push(AppendedMessage { record: record.clone(), inserted: Inserted::AlreadyThere });
            continue;
        }
        let Some(place) = MessageSequence::after(next) else {
            return Err(Error::Channel(ChannelError::Full(channel.record.name)));
        };
        next = Some(place);
        let NewMessage { id, at, header, content } = message.clone();
        let record = MessageRecord {
            channel: channel.id,
            sequence: place,
            id: id.unwrap_or_else(|| MessageId::made(&channel.id, place, &content)),
            at: at.unwrap_or(tx.now()),
            header,
            content,
        };
        known.insert(record.id.clone(), record.clone());
        appended.push(AppendedMessage { record, inserted: Inserted::New });
    }
    if next != last {
        may_append(&channel, expect, last)?;
    }
    for message in appended.iter().filter(|message| message.inserted == Inserted::New) {
        insert(tx, channel.key, &message.record).await?;
    }
    Ok(appended)
}

fn may_append(channel: &StoredChannel, expect: ExpectLast, last: Option<MessageSequence>) -> Result<()> {
    let name = || channel.record.name.clone();
    if channel.state != ChannelState::Open {
        return Err(Error::Channel(ChannelError::Closed { channel: name(), state: channel.state }));
    }
    let expected = match expect {
        ExpectLast::Anything => return Ok(()),
        ExpectLast::Nothing => None,
        ExpectLast::At(sequence) => Some(sequence),
    };
    if expected == last {
        return Ok(());
    }
    let (expected, last) = (MessageSequence::number(expected), MessageSequence::number(last));
    Err(Error::Channel(ChannelError::Moved { channel: name(), expected, last }))
}

/// Returns those messages of a log that have the ids of new ones.
async fn known(tx: &mut Tx<'_>, log: &[Stretch], messages: &[NewMessage]) -> Result<HashMap<MessageId, MessageRecord>> {
    let ids: Vec<&str> = messages.iter().filter_map(|message| message.id.as_ref()).map(MessageId::as_str).collect();
    let mut known = HashMap::new();
    for stretch in log {
        let one = format!("SELECT {} FROM messages WHERE channel = ?1 AND id =", MessageRow::columns());
        for row in &mut tx.look_up(&one, stretch.key.into(), &ids).await? {
            let record = MessageRow::of(row)?.record(stretch.channel);
            if stretch.holds(record.sequence) {
                known.insert(record.id.clone(), record);
            }
        }
    }
    Ok(known)
}

async fn insert(tx: &mut Tx<'_>, channel: i64, record: &MessageRecord) -> Result<()> {
    let MessageRecord { sequence, header, .. } = record;
    let seq = journal::append(tx, mutation(record)).await?;
    let space = tx.space;
    let mentions = serde_json::to_string(&header.mentions).expect("keys have a JSON form");
    let sql = "INSERT INTO messages (space, seq, channel, sequence, id, at, topic, sender, receiver, mentions, reply_to, \
               thread, phase, replay, runtime, session, context_id, content, content_key) VALUES (?1, ?2, ?3, ?4, ?5, \
               ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
               (SELECT a.key FROM artifacts a WHERE a.space = ?1 AND a.digest = ?18))";
    let params = [
        space.into(),
        seq.cast_signed().into(),
        channel.into(),
        sequence.get().cast_signed().into(),
        record.id.as_str().into(),
        record.at.as_micros().into(),
        header.topic.as_str().into(),
        header.sender.as_str().into(),
        header.receiver.key().map(ParticipantKey::as_str).into(),
        mentions.as_str().into(),
        header.reply_to.as_ref().map(MessageId::as_str).into(),
        header.thread.as_ref().map(Thread::as_str).into(),
        header.phase.as_ref().map(ConversationPhase::as_str).into(),
        header.replay.as_str().into(),
        header.session.as_ref().map(|session| session.runtime.as_str()).into(),
        header.session.as_ref().map(|session| session.id.as_str()).into(),
        header.context_id.as_ref().map(|commit| commit.as_bytes().as_slice()).into(),
        Param::Blob(record.content.as_bytes()),
    ];
    tx.post(sql, &params).await?;
    for key in header.mentions.as_slice() {
        let sql = "INSERT INTO message_mentions (channel, participant, sequence) VALUES (?1, ?2, ?3)";
        tx.post(sql, &[channel.into(), key.as_str().into(), sequence.get().cast_signed().into()]).await?;
    }
    Ok(())
}

/// Returns what the journal says of a message.
pub(crate) fn mutation(record: &MessageRecord) -> Mutation {
    let MessageRecord { channel, sequence, .. } = record;
    let digest = ChainDigest(record.digest());
    Mutation { kind: JournalKind::MessageAppended, subject: format!("{channel}/{sequence}"), digest }
}

/// A message as its row has it, which does not say what its channel is called.
pub(crate) struct MessageRow {
    pub(crate) channel: i64,
    sequence: MessageSequence,
    id: MessageId,
    at: Timestamp,
    header: MessageHeader,
    pub(crate) content: ArtifactId,
}

impl MessageRow {
    pub(crate) fn record(self, channel: ChannelId) -> MessageRecord {
        let Self { sequence, id, at, header, content, .. } = self;
        MessageRecord { channel, sequence, id, at, header, content }
    }
}

impl Stretch {
    /// Tells whether a place is in it.
    pub(crate) fn holds(&self, sequence: MessageSequence) -> bool {
        sequence.get() > self.after && self.through.is_none_or(|through| sequence.get() <= through)
    }
}

impl TableRow for MessageRow {
    const TABLE: &'static Table = &MESSAGES;
    const COLUMNS: &'static [&'static str] = &[
        "channel",
        "sequence",
        "id",
        "at",
        "topic",
        "sender",
        "receiver",
        "mentions",
        "reply_to",
        "thread",
        "phase",
        "replay",
        "runtime",
        "session",
        "context_id",
        "content",
    ];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let (channel, sequence) = (row.integer()?, sequence(row.integer()?)?);
        let (id, at) = (stored::<MessageId>(row.text()?)?, time(row.integer()?)?);
        let (topic, sender) = (stored::<Topic>(row.text()?)?, stored::<ParticipantKey>(row.text()?)?);
        let receiver: MessageReceiver = row.optional_text()?.map(stored::<ParticipantKey>).transpose()?.into();
        let mentions: Mentions = serde_json::from_str(row.text()?)
            .map_err(|error| Error::damaged(format!("who is named in message {id} cannot be read: {error}")))?;
        let reply_to = row.optional_text()?.map(stored::<MessageId>).transpose()?;
        let thread = row.optional_text()?.map(stored::<Thread>).transpose()?;
        let phase = row.optional_text()?.map(stored::<ConversationPhase>).transpose()?;
        let replay = stored::<ReplayPolicy>(row.text()?)?;
        let runtime = row.optional_text()?.map(stored::<RuntimeName>).transpose()?;
        let session = row.optional_text()?.map(stored::<RuntimeSessionId>).transpose()?;
        let session = match (runtime, session) {
            (Some(runtime), Some(id)) => Some(MessageSession { runtime, id }),
            (None, None) => None,
            _ => return Err(Error::damaged(format!("message {id} names half a session"))),
        };
        let context_id: Option<CommitId> = row.optional_blob()?.map(commit_id).transpose()?;
        let header =
            MessageHeader { topic, sender, receiver, mentions, reply_to, thread, phase, replay, session, context_id };
        Ok(Self { channel, sequence, id, at, header, content: artifact_id(row.blob()?)? })
    }
}

/// A message that names somebody.
pub(crate) struct MentionRow {
    pub(crate) sequence: i64,
}

impl TableRow for MentionRow {
    const TABLE: &'static Table = &MENTIONS;
    const COLUMNS: &'static [&'static str] = &["sequence"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { sequence: row.integer()? })
    }
}
