//! Sessions of runtimes, each bound to one agent, channel and place.

use contexture_core::{MessageRecord, MessageSequence, RuntimeSessionId, TurnPlace};

use super::{CHANNELS, ChannelError, NewTurn, StoredChannel, sequence};
use crate::{
    Error, Result,
    space::stored,
    sql::{RowReader, Tx},
    table::{Column, RowOwner, Table, TableRow},
};

/// The table of the sessions that agents go on with.
pub(crate) static SESSION_BINDINGS: Table = Table {
    name: "session_bindings",
    owner: RowOwner::Row { table: &CHANNELS, column: "channel" },
    key: &["channel", "agent", "runtime", "directory"],
    columns: &[
        Column::number("channel"),
        Column::text("agent"),
        Column::text("runtime"),
        Column::text("directory"),
        Column::text("session"),
        Column::number("named_by"),
    ],
};

/// A session that is bound.
pub(crate) struct BindingRow {
    session: RuntimeSessionId,
    named_by: MessageSequence,
}

/// Returns the session that a turn goes on with: the one that its trigger names, or that was bound to its place before.
///
/// A newer message replaces what an older one named. A session that is bound elsewhere is refused.
pub(super) async fn bound(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    new: &NewTurn,
    trigger: &MessageRecord,
) -> Result<Option<RuntimeSessionId>> {
    let mismatch = |session: &RuntimeSessionId| {
        let (session, agent, channel) = (session.clone(), new.agent.clone(), channel.record.name.clone());
        Error::Channel(ChannelError::SessionElsewhere { session, agent, channel })
    };
    let Some(place) = &new.place else {
        return match &new.session {
            Some(session) => Err(mismatch(session)),
            None => Ok(None),
        };
    };
    let known = find(tx, channel, new, place).await?;
    let named = trigger.header.session.as_ref().filter(|named| named.runtime == place.runtime);
    let is_newer = known.as_ref().is_none_or(|known| known.named_by < trigger.sequence);
    let named = named.filter(|_| is_newer);
    let session = named.map(|named| &named.id).or(known.as_ref().map(|known| &known.session)).cloned();
    if let Some(given) = new.session.as_ref().filter(|given| session.as_ref() != Some(given)) {
        return Err(mismatch(given));
    }
    if let Some(named) = named {
        let is_known = known.as_ref().is_some_and(|known| known.session == named.id);
        if !is_known && is_bound(tx, place, &named.id).await? {
            return Err(mismatch(&named.id));
        }
        bind(tx, channel, new, place, &named.id, trigger.sequence).await?;
    }
    Ok(session)
}

async fn find(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    new: &NewTurn,
    place: &TurnPlace,
) -> Result<Option<BindingRow>> {
    let sql = format!(
        "SELECT {} FROM session_bindings WHERE channel = ?1 AND agent = ?2 AND runtime = ?3 AND directory = ?4",
        BindingRow::columns()
    );
    let params =
        [channel.key.into(), new.agent.as_str().into(), place.runtime.as_str().into(), place.directory.as_str().into()];
    tx.row_of(&sql, &params).await
}

/// Tells whether a session is bound anywhere in the space.
async fn is_bound(tx: &mut Tx<'_>, place: &TurnPlace, session: &RuntimeSessionId) -> Result<bool> {
    let space = tx.space;
    let sql = "SELECT 1 FROM session_bindings b JOIN channels c ON c.key = b.channel \
               WHERE b.runtime = ?2 AND b.session = ?3 AND c.space = ?1 LIMIT 1";
    Ok(tx.row(sql, &[space.into(), place.runtime.as_str().into(), session.as_str().into()]).await?.is_some())
}

async fn bind(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    new: &NewTurn,
    place: &TurnPlace,
    session: &RuntimeSessionId,
    named_by: MessageSequence,
) -> Result<()> {
    let sql = "INSERT INTO session_bindings (channel, agent, runtime, directory, session, named_by) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (channel, agent, runtime, directory) \
               DO UPDATE SET session = excluded.session, named_by = excluded.named_by";
    let params = [
        channel.key.into(),
        new.agent.as_str().into(),
        place.runtime.as_str().into(),
        place.directory.as_str().into(),
        session.as_str().into(),
        named_by.get().cast_signed().into(),
    ];
    tx.post(sql, &params).await
}

impl TableRow for BindingRow {
    const TABLE: &'static Table = &SESSION_BINDINGS;
    const COLUMNS: &'static [&'static str] = &["session", "named_by"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { session: stored::<RuntimeSessionId>(row.text()?)?, named_by: sequence(row.integer()?)? })
    }
}
