//! Who takes part in a channel.

use contexture_core::{ChannelId, JournalKind, Mutation, Participant, ParticipantKey};

use super::{CHANNELS, ChannelError, StoredChannel, require};
use crate::{
    Error, Result, journal,
    sql::{RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// Most participants that a channel can have.
pub const MAX_PARTICIPANTS: usize = 1000;

/// The table of participants.
pub(crate) static PARTICIPANTS: Table = Table {
    name: "participants",
    owner: RowOwner::Row { table: &CHANNELS, column: "channel" },
    key: &["channel", "participant"],
    columns: &[
        Column::number("channel"),
        Column::text("participant"),
        Column::text("slug"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::text("document"),
    ],
};

/// A participant as its row has it.
pub(crate) struct ParticipantRow(pub(crate) Participant);

/// Registers somebody in a channel, or changes what is known of who has the key. Returns whether anything changed.
///
/// Of two participants none has the slug or key of the other, so that a person who types one means one.
pub async fn register(tx: &mut Tx<'_>, channel: &ChannelId, participant: &Participant) -> Result<bool> {
    let channel = require(tx, channel).await?;
    let all = of_channel(tx, &channel).await?;
    let name = || channel.record.name.clone();
    if all.contains(participant) {
        return Ok(false);
    }
    let (key, slug) = (participant.key.as_str(), participant.slug.as_str());
    let others = || all.iter().filter(|other| other.key != participant.key);
    let is_taken =
        |other: &&Participant| [other.key.as_str(), other.slug.as_str()].iter().any(|it| [key, slug].contains(it));
    if let Some(other) = others().find(is_taken) {
        let (slug, by) = (participant.slug.clone(), other.key.clone());
        return Err(Error::Channel(ChannelError::SlugTaken { channel: name(), slug, by }));
    }
    if others().count() >= MAX_PARTICIPANTS {
        return Err(Error::Channel(ChannelError::Full(name())));
    }
    let mutation =
        Mutation::new(JournalKind::ParticipantRegistered, format!("{}/{}", channel.id, participant.key), participant);
    let seq = journal::append(tx, mutation).await?;
    let document = serde_json::to_string(participant).expect("a participant has text keys");
    let sql = "INSERT INTO participants (channel, participant, slug, seq, document) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (channel, participant) DO UPDATE SET slug = excluded.slug, seq = excluded.seq, \
               document = excluded.document";
    let params = [channel.key.into(), key.into(), slug.into(), seq.cast_signed().into(), document.as_str().into()];
    tx.post(sql, &params).await?;
    Ok(true)
}

/// Returns all participants of a channel, by key.
pub async fn participants(tx: &mut Tx<'_>, channel: &ChannelId) -> Result<Vec<Participant>> {
    let channel = require(tx, channel).await?;
    of_channel(tx, &channel).await
}

async fn of_channel(tx: &mut Tx<'_>, channel: &StoredChannel) -> Result<Vec<Participant>> {
    let columns = ParticipantRow::columns();
    let sql = format!("SELECT {columns} FROM participants WHERE channel = ?1 ORDER BY participant LIMIT ?2");
    let limit = i64::try_from(MAX_PARTICIPANTS).unwrap_or(i64::MAX);
    let rows = tx.rows_of::<ParticipantRow>(&sql, &[channel.key.into(), limit.into()]).await?;
    Ok(rows.into_iter().map(|row| row.0).collect())
}

/// Returns the participant of a key, if it is registered.
pub(super) async fn find_participant(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    key: &ParticipantKey,
) -> Result<Option<Participant>> {
    let sql = format!("SELECT {} FROM participants WHERE channel = ?1 AND participant = ?2", ParticipantRow::columns());
    let row = tx.row_of::<ParticipantRow>(&sql, &[channel.key.into(), key.as_str().into()]).await?;
    Ok(row.map(|row| row.0))
}

impl TableRow for ParticipantRow {
    const TABLE: &'static Table = &PARTICIPANTS;
    const COLUMNS: &'static [&'static str] = &["document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        super::document(row.text()?).map(Self)
    }
}
