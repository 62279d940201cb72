//! Finding messages: by place, by who, about what, and when.

use std::{fmt, fmt::Write as _, str::FromStr};

use contexture_core::{
    ChannelId, ConversationPhase, MessageId, MessageRecord, MessageSequence, NameError, ParticipantKey, ReplayPolicy,
    Thread, Timestamp, Topic,
};

use super::{ChannelError, MessageRow, Stretch, require, stretches};
use crate::{
    Error, Result,
    artifact::{self, LocatedArtifact},
    sql::{Param, Row, Tx},
    table::TableRow as _,
};

/// Which messages to look for. An empty filter takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// Only those about this.
    pub topic: Option<Topic>,
    /// Only those of this sender.
    pub sender: Option<ParticipantKey>,
    /// Only those that are for this participant alone.
    pub receiver: Option<ParticipantKey>,
    /// Only those that name this participant.
    pub mention: Option<ParticipantKey>,
    /// Only those of this thread.
    pub thread: Option<Thread>,
    /// Only those of this phase.
    pub phase: Option<ConversationPhase>,
    /// Only those sent at or after this instant.
    pub since: Option<Timestamp>,
    /// Only those sent before this instant.
    pub until: Option<Timestamp>,
    /// Only those that prompts may hold, or only those that they may not.
    pub replay: Option<ReplayPolicy>,
}

/// In which order messages come, and so which of them when there are more than the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessageOrder {
    /// The first of them first.
    #[default]
    Oldest,
    /// The last of them first.
    Newest,
}

/// Which messages to return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageQuery {
    /// What they have in common.
    pub filter: MessageFilter,
    /// Only those after this one.
    pub after: Option<MessageSequence>,
    /// Only this one and those before.
    pub through: Option<MessageSequence>,
    /// In which order.
    pub order: MessageOrder,
}

/// A message as somebody names it: by its place or by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageReference {
    /// By its place, which is a plain number.
    Place(MessageSequence),
    /// By its id.
    Id(MessageId),
}

/// A message whose content can be read.
#[derive(Debug)]
pub struct LocatedMessage {
    /// Its record.
    pub record: MessageRecord,
    /// Where the bytes of its content are.
    pub located: LocatedArtifact,
}

/// Returns up to `limit` messages of a channel.
pub async fn messages(
    tx: &mut Tx<'_>,
    channel: &ChannelId,
    query: &MessageQuery,
    limit: u32,
) -> Result<Vec<LocatedMessage>> {
    let channel = require(tx, channel).await?;
    let mut log = stretches(tx, &channel).await?;
    if query.order == MessageOrder::Newest {
        log.reverse();
    }
    let mut found = Vec::new();
    for stretch in log {
        let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
        found.extend(of_stretch(tx, stretch, query, left).await?);
    }
    Ok(found)
}

/// Returns the records of up to `limit` messages of a channel.
pub async fn records(
    tx: &mut Tx<'_>,
    channel: &ChannelId,
    query: &MessageQuery,
    limit: u32,
) -> Result<Vec<MessageRecord>> {
    let channel = require(tx, channel).await?;
    let mut log = stretches(tx, &channel).await?;
    if query.order == MessageOrder::Newest {
        log.reverse();
    }
    let mut found = Vec::new();
    for stretch in log {
        let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        let Some(statement) = Statement::of(stretch, query) else { continue };
        let (sql, params) = statement.page(&MessageRow::columns_of("m"), query.order, left);
        let rows = tx.rows_of::<MessageRow>(&sql, &params).await?;
        found.extend(rows.into_iter().map(|row| row.record(stretch.channel)));
    }
    Ok(found)
}

/// Returns how many messages of a channel there are.
pub async fn count(tx: &mut Tx<'_>, channel: &ChannelId, query: &MessageQuery) -> Result<u64> {
    let channel = require(tx, channel).await?;
    let mut count = 0;
    for stretch in stretches(tx, &channel).await? {
        let Some(Statement { from, params, .. }) = Statement::of(stretch, query) else { continue };
        count += tx.one(&format!("SELECT count(*) {from}"), &params).await?.integer(0)?.cast_unsigned();
    }
    Ok(count)
}

/// Returns a message of a channel, or the error that says there is none.
pub async fn find(tx: &mut Tx<'_>, channel: &ChannelId, message: &MessageReference) -> Result<MessageRecord> {
    let channel = require(tx, channel).await?;
    let log = stretches(tx, &channel).await?;
    for stretch in &log {
        let select = format!("SELECT {} FROM messages WHERE channel = ?1", MessageRow::columns());
        let row: Option<MessageRow> = match message {
            MessageReference::Place(sequence) if !stretch.holds(*sequence) => None,
            MessageReference::Place(sequence) => {
                let params = [stretch.key.into(), sequence.get().cast_signed().into()];
                tx.row_of(&format!("{select} AND sequence = ?2"), &params).await?
            }
            MessageReference::Id(id) => {
                tx.row_of(&format!("{select} AND id = ?2"), &[stretch.key.into(), id.as_str().into()]).await?
            }
        };
        if let Some(record) = row.map(|row| row.record(stretch.channel)).filter(|row| stretch.holds(row.sequence)) {
            return Ok(record);
        }
    }
    Err(Error::Channel(ChannelError::NoMessage { channel: channel.record.name, message: message.to_string() }))
}

/// Returns a message of a channel and where its content is.
pub async fn find_located(tx: &mut Tx<'_>, channel: &ChannelId, message: &MessageReference) -> Result<LocatedMessage> {
    let record = find(tx, channel, message).await?;
    let located = artifact::locate(tx, &record.content).await?;
    Ok(LocatedMessage { record, located })
}

async fn of_stretch(
    tx: &mut Tx<'_>,
    stretch: Stretch,
    query: &MessageQuery,
    limit: u32,
) -> Result<Vec<LocatedMessage>> {
    let Some(mut statement) = Statement::of(stretch, query) else { return Ok(Vec::new()) };
    let joined = " LEFT JOIN artifacts a ON a.key = m.content_key WHERE ";
    statement.from = statement.from.replacen(" WHERE ", joined, 1);
    let columns = format!("{}, {}", MessageRow::columns_of("m"), LocatedArtifact::columns_of("a"));
    let (sql, params) = statement.page(&columns, query.order, limit);
    let rows = tx.rows(&sql, &params).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        found.push(located(tx, row, stretch.channel).await?);
    }
    Ok(found)
}

async fn located(tx: &mut Tx<'_>, mut row: Row, channel: ChannelId) -> Result<LocatedMessage> {
    let record = MessageRow::of(&mut row)?.record(channel);
    let first = MessageRow::COLUMNS.len();
    if row.optional_integer(first)?.is_none() {
        return Err(Error::NoArtifact(record.content));
    }
    let located = artifact::as_seen(tx, LocatedArtifact::decode(&mut row.reader(first))?).await?;
    Ok(LocatedMessage { record, located })
}

/// What a statement says about which messages of a stretch are meant.
struct Statement<'q> {
    from: String,
    /// The column that says in which order they are.
    by: &'static str,
    params: Vec<Param<'q>>,
}

impl<'q> Statement<'q> {
    /// Returns nothing when no message of the stretch can be meant.
    fn of(stretch: Stretch, query: &'q MessageQuery) -> Option<Self> {
        let MessageQuery { filter, after, through, .. } = query;
        let after = stretch.after.max(MessageSequence::number(*after));
        let through = [stretch.through, through.map(MessageSequence::get)].into_iter().flatten().min();
        if through.is_some_and(|through| through <= after) {
            return None;
        }
        let mut params: Vec<Param<'q>> = vec![stretch.key.into()];
        let (mut from, by) = match &filter.mention {
            None => ("FROM messages m WHERE m.channel = ?1".to_owned(), "m.sequence"),
            Some(key) => {
                params.push(key.as_str().into());
                let from = "FROM message_mentions x JOIN messages m ON m.channel = x.channel AND m.sequence = x.sequence \
                            WHERE x.channel = ?1 AND x.participant = ?2";
                (from.to_owned(), "x.sequence")
            }
        };
        let place = |number: u64| Param::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let conditions = [
            (" >", (after > 0).then(|| place(after)), by),
            (" <=", through.map(place), by),
            (" =", filter.topic.as_ref().map(|topic| topic.as_str().into()), "m.topic"),
            (" =", filter.sender.as_ref().map(|sender| sender.as_str().into()), "m.sender"),
            (" =", filter.receiver.as_ref().map(|receiver| receiver.as_str().into()), "m.receiver"),
            (" =", filter.thread.as_ref().map(|thread| thread.as_str().into()), "m.thread"),
            (" =", filter.phase.as_ref().map(|phase| phase.as_str().into()), "m.phase"),
            (" >=", filter.since.map(|since| since.as_micros().into()), "m.at"),
            (" <", filter.until.map(|until| until.as_micros().into()), "m.at"),
            (" =", filter.replay.map(|replay| replay.as_str().into()), "m.replay"),
        ];
        for (comparison, param, column) in conditions {
            if let Some(param) = param {
                params.push(param);
                // Writing to a String cannot fail.
                let _written = write!(from, " AND {column}{comparison} ?{}", params.len());
            }
        }
        Some(Self { from, by, params })
    }

    /// Writes the query for up to `limit` of the messages.
    fn page(self, columns: &str, order: MessageOrder, limit: u32) -> (String, Vec<Param<'q>>) {
        let Self { from, by, mut params } = self;
        params.push(i64::from(limit).into());
        let (number, order) = (params.len(), if order == MessageOrder::Oldest { "ASC" } else { "DESC" });
        (format!("SELECT {columns} {from} ORDER BY {by} {order} LIMIT ?{number}"), params)
    }
}

impl FromStr for MessageReference {
    type Err = NameError;

    /// A plain number is a place; anything else is an id.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self::Place).or_else(|_| MessageId::new(text).map(Self::Id))
    }
}

impl fmt::Display for MessageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(sequence) => sequence.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}
