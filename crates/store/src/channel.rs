//! Channels: one ordered log each, and what each participant has to do with it.
//!
//! A fork has the messages of another channel up to a place as its own past. Nothing is copied: its log is a list of
//! [`Stretch`]es, each of one channel's own messages.

mod error;
mod list;
mod message;
mod participant;
mod query;
mod session;
mod turn;

use contexture_core::{
    Actor, ChannelId, ChannelName, ChannelRecord, ChannelState, ForkPoint, JournalKind, MessageSequence, Mutation,
};
use serde::de::DeserializeOwned;

pub use error::ChannelError;
pub use list::{ChannelFilter, ChannelSummary, list};
pub use message::{AppendedMessage, ExpectLast, NewMessage, append};
pub use participant::{MAX_PARTICIPANTS, participants, register};
pub use query::{
    LocatedMessage, MessageFilter, MessageOrder, MessageQuery, MessageReference, count, find, find_located, messages,
    records,
};
pub use turn::{NewTurn, begin, cursor_of, cursors, finish, inject, rewind, show_turn, turn_ids_between};

use crate::{
    Error, Result, journal,
    space::{stored, time},
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};
pub(crate) use message::{MENTIONS, MESSAGES, MentionRow, MessageRow, mutation as appended};
pub(crate) use participant::PARTICIPANTS;
pub(crate) use session::SESSION_BINDINGS;
pub(crate) use turn::{CURSORS, TURNS};
#[cfg(test)]
pub(crate) use {
    participant::ParticipantRow,
    session::BindingRow,
    turn::{CursorRow, TurnRow},
};

/// The table of channels.
pub(crate) static CHANNELS: Table = Table {
    name: "channels",
    owner: RowOwner::Space,
    key: &["key"],
    columns: &[
        Column::number("key"),
        Column::number("space"),
        Column::bytes("id"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::text("name"),
        Column::number("created_at"),
        Column::text("created_by"),
        Column::bytes("fork_channel").optional(),
        Column::number("fork_through").optional(),
        Column::text("state"),
        Column::number("changed_seq").to(RowReference::JournalRecord),
    ],
};

/// A channel as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChannel {
    /// Its id.
    pub id: ChannelId,
    /// How it came to be.
    pub record: ChannelRecord,
    /// What can be done with it.
    pub state: ChannelState,
    /// Sequence number of its creation in the journal of its space.
    pub seq: u64,
    pub(crate) key: i64,
}

/// Messages of one channel's own that belong to the log of it or of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The key of the channel in which they were said.
    pub(crate) key: i64,
    /// Its id.
    pub(crate) channel: ChannelId,
    /// The place after which they begin.
    pub(crate) after: u64,
    /// The last of them; nothing where the log goes on.
    pub(crate) through: Option<u64>,
}

/// Makes a channel, whose name must not be taken.
pub async fn create(tx: &mut Tx<'_>, record: &ChannelRecord) -> Result<StoredChannel> {
    if let Some(taken) = find_named(tx, &record.name).await? {
        return Err(Error::Channel(ChannelError::NameTaken { name: record.name.clone(), channel: taken.id }));
    }
    if let Some(ForkPoint { channel, through }) = &record.fork {
        let parent = require(tx, channel).await?;
        let stretches = stretches(tx, &parent).await?;
        let last = last_of(tx, &stretches).await?;
        if Some(*through) > last {
            return Err(Error::Channel(ChannelError::NoMessage {
                channel: parent.record.name,
                message: through.to_string(),
            }));
        }
    }
    let id = record.id();
    let seq = journal::append(tx, creation(record)).await?;
    let space = tx.space;
    let sql = "INSERT INTO channels (space, id, seq, name, created_at, created_by, fork_channel, fork_through, state, \
               changed_seq) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?3) RETURNING key";
    let state = ChannelState::Open;
    let params = [
        space.into(),
        Param::Blob(id.as_bytes()),
        seq.cast_signed().into(),
        record.name.as_str().into(),
        record.created_at.as_micros().into(),
        record.created_by.as_str().into(),
        record.fork.as_ref().map(|fork| fork.channel.as_bytes().as_slice()).into(),
        record.fork.map(|fork| fork.through.get().cast_signed()).into(),
        state.as_str().into(),
    ];
    let key = tx.one(sql, &params).await?.integer(0)?;
    Ok(StoredChannel { id, record: record.clone(), state, seq, key })
}

/// Changes what can be done with a channel. Returns whether it was something else before.
pub async fn set_state(tx: &mut Tx<'_>, id: &ChannelId, state: ChannelState) -> Result<bool> {
    let channel = require(tx, id).await?;
    if channel.state == state {
        return Ok(false);
    }
    let seq = journal::append(tx, StoredChannel { state, ..channel.clone() }.change()).await?;
    let sql = "UPDATE channels SET state = ?2, changed_seq = ?3 WHERE key = ?1";
    tx.post(sql, &[channel.key.into(), state.as_str().into(), seq.cast_signed().into()]).await?;
    Ok(true)
}

/// Returns a channel, if it is here.
pub async fn find_channel(tx: &mut Tx<'_>, id: &ChannelId) -> Result<Option<StoredChannel>> {
    let space = tx.space;
    let sql = format!("{} AND id = ?2", StoredChannel::select());
    tx.row_of(&sql, &[space.into(), Param::Blob(id.as_bytes())]).await
}

/// Returns a channel, or the error that says there is none.
pub async fn require(tx: &mut Tx<'_>, id: &ChannelId) -> Result<StoredChannel> {
    find_channel(tx, id).await?.ok_or_else(|| Error::Channel(ChannelError::NoChannel(*id)))
}

/// Returns the channel of a name, if there is one.
pub async fn find_named(tx: &mut Tx<'_>, name: &ChannelName) -> Result<Option<StoredChannel>> {
    let space = tx.space;
    let sql = format!("{} AND name = ?2", StoredChannel::select());
    tx.row_of(&sql, &[space.into(), name.as_str().into()]).await
}

/// Returns the channels whose ids lie in a range, at most `limit`: how an abbreviated id is looked up.
pub async fn ids_between(tx: &mut Tx<'_>, first: &ChannelId, last: &ChannelId, limit: u32) -> Result<Vec<ChannelId>> {
    let space = tx.space;
    let sql = "SELECT id FROM channels WHERE space = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id LIMIT ?4";
    let params = [space.into(), Param::Blob(first.as_bytes()), Param::Blob(last.as_bytes()), i64::from(limit).into()];
    tx.rows(sql, &params).await?.iter().map(|row| channel_id(row.blob(0)?)).collect()
}

/// Returns the last message of a channel, nothing when it has none.
pub async fn last_sequence(tx: &mut Tx<'_>, id: &ChannelId) -> Result<Option<MessageSequence>> {
    let channel = require(tx, id).await?;
    let stretches = stretches(tx, &channel).await?;
    last_of(tx, &stretches).await
}

/// Returns the log of a channel, the oldest stretch first.
pub(crate) async fn stretches(tx: &mut Tx<'_>, channel: &StoredChannel) -> Result<Vec<Stretch>> {
    let mut stretches = Vec::new();
    let (mut through, mut at) = (None, channel.clone());
    loop {
        let fork = at.record.fork;
        let after = fork.map_or(0, |fork| fork.through.get());
        // Of a fork from before a fork's own messages, these are no part.
        if through.is_none_or(|through| through > after) {
            stretches.push(Stretch { key: at.key, channel: at.id, after, through });
        }
        let Some(fork) = fork else { break };
        through = Some(through.map_or(fork.through.get(), |through: u64| through.min(fork.through.get())));
        let parent = find_channel(tx, &fork.channel).await?;
        at = parent.filter(|parent| parent.seq < at.seq).ok_or_else(|| {
            Error::damaged(format!("channel {} forks off {}, which does not come before it", at.id, fork.channel))
        })?;
    }
    stretches.reverse();
    Ok(stretches)
}

/// Returns the last message of a log.
pub(crate) async fn last_of(tx: &mut Tx<'_>, stretches: &[Stretch]) -> Result<Option<MessageSequence>> {
    let Some(own) = stretches.last() else { return Ok(None) };
    let sql = "SELECT sequence FROM messages WHERE channel = ?1 ORDER BY sequence DESC LIMIT 1";
    match tx.row(sql, &[own.key.into()]).await? {
        Some(row) => sequence(row.integer(0)?).map(Some),
        None => Ok(MessageSequence::new(own.after)),
    }
}

/// Returns what the journal says of a channel that is made.
pub(crate) fn creation(record: &ChannelRecord) -> Mutation {
    Mutation::new(JournalKind::ChannelCreated, record.id().to_string(), record)
}

impl StoredChannel {
    /// Returns what the journal says when its state has changed.
    pub(crate) fn change(&self) -> Mutation {
        Mutation::new(JournalKind::ChannelChanged, self.id.to_string(), &(self.id, self.state))
    }
}

impl TableRow for StoredChannel {
    const TABLE: &'static Table = &CHANNELS;
    const COLUMNS: &'static [&'static str] =
        &["key", "id", "seq", "name", "created_at", "created_by", "fork_channel", "fork_through", "state"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let (key, id, seq) = (row.integer()?, channel_id(row.blob()?)?, row.unsigned()?);
        let (name, created_at) = (stored::<ChannelName>(row.text()?)?, time(row.integer()?)?);
        let created_by = stored::<Actor>(row.text()?)?;
        let (channel, through) = (row.optional_blob()?.map(channel_id).transpose()?, row.optional_integer()?);
        let fork = match (channel, through) {
            (Some(channel), Some(through)) => Some(ForkPoint { channel, through: sequence(through)? }),
            (None, None) => None,
            _ => return Err(Error::damaged(format!("channel {id} has half a fork point"))),
        };
        let record = ChannelRecord { name, created_at, created_by, fork };
        Ok(Self { id, record, state: stored::<ChannelState>(row.text()?)?, seq, key })
    }
}

pub(crate) fn channel_id(bytes: &[u8]) -> Result<ChannelId> {
    bytes.try_into().map_err(|_| Error::damaged("the id of a channel has the wrong length"))
}

/// Reads JSON that was stored of a participant, a turn or a cursor.
fn document<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::damaged(format!("what is kept of a channel cannot be read: {error}")))
}

/// Reads a stored place.
pub(crate) fn sequence(number: i64) -> Result<MessageSequence> {
    u64::try_from(number)
        .ok()
        .and_then(MessageSequence::new)
        .ok_or_else(|| Error::damaged(format!("{number} is no place in a channel")))
}
