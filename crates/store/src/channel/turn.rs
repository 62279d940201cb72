//! Turns and cursors: what agents are offered, and what becomes of it.
//!
//! Which steps there are is written in [`AgentCursor`]; here they meet the rows.

use std::time::Duration;

use contexture_core::{
    AgentCursor, AgentTurn, BegunTurn, ChannelId, CursorRewind, EnvelopeId, JournalKind, MessageRecord,
    MessageSequence, Mutation, Participant, ParticipantKey, ParticipantKind, ParticipantVisibility, ReplayPolicy,
    RuntimeSessionId, SummaryText, Timestamp, TurnBeginning, TurnEnding, TurnId, TurnPlace, TurnRefusal,
};

use super::{
    CHANNELS, ChannelError, MessageFilter, MessageOrder, MessageQuery, MessageReference, StoredChannel, find, last_of,
    participant, query::records, require, session, stretches,
};
use crate::{
    Error, Result, envelope, journal,
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// Messages that are looked at in one query for one to answer.
const LOOK: u32 = 64;

/// The table of cursors.
pub(crate) static CURSORS: Table = Table {
    name: "cursors",
    owner: RowOwner::Row { table: &CHANNELS, column: "channel" },
    key: &["channel", "agent"],
    columns: &[
        Column::number("channel"),
        Column::text("agent"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::text("document"),
    ],
};

/// The table of turns.
pub(crate) static TURNS: Table = Table {
    name: "turns",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::bytes("id"),
        Column::number("channel"),
        Column::text("agent"),
        Column::number("number"),
        Column::number("changed_seq").to(RowReference::JournalRecord),
        Column::text("document"),
    ],
};

/// What a turn is to begin with.
#[derive(Debug, Clone)]
pub struct NewTurn {
    /// In which channel.
    pub channel: ChannelId,
    /// Whose turn.
    pub agent: ParticipantKey,
    /// The message to answer; the last one that is new to the agent and for it when nothing is said.
    pub trigger: Option<MessageReference>,
    /// Where it runs.
    pub place: Option<TurnPlace>,
    /// The session that whoever runs it means to go on with. It must be the one that is bound there.
    pub session: Option<RuntimeSessionId>,
    /// After how long it counts as given up.
    pub lifetime: Duration,
}

/// A cursor as its row has it.
pub(crate) struct CursorRow(pub(crate) AgentCursor);

/// A turn as its row has it.
pub(crate) struct TurnRow(pub(crate) AgentTurn);

/// Begins a turn: freezes what the agent is offered, and notes that it was.
pub async fn begin(tx: &mut Tx<'_>, new: &NewTurn) -> Result<BegunTurn> {
    let channel = require(tx, &new.channel).await?;
    let agent = agent(tx, &channel, &new.agent).await?;
    let log = stretches(tx, &channel).await?;
    let mut cursor = cursor(tx, &channel, &new.agent).await?;
    let open = open_turn(tx, &cursor).await?;
    let nothing = || {
        let (agent, channel) = (agent.slug.clone(), channel.record.name.clone());
        Error::Channel(ChannelError::NothingToAnswer { agent, channel })
    };
    let through = last_of(tx, &log).await?.ok_or_else(nothing)?;
    let trigger = match &new.trigger {
        Some(reference) => find(tx, &channel.id, reference).await?,
        None => newest_for(tx, &channel, &agent, cursor.acknowledged).await?.ok_or_else(nothing)?,
    };
    if !trigger.header.is_visible_to(&agent) {
        let (message, channel) = (trigger.sequence, channel.record.name);
        return Err(Error::Channel(ChannelError::NotForAgent { channel, message, agent: agent.slug }));
    }
    // First what is refused: a session is bound only to a turn that begins.
    let lifetime = i64::try_from(new.lifetime.as_micros()).unwrap_or(i64::MAX);
    let expires_at = Timestamp::from_micros(tx.now().as_micros().saturating_add(lifetime)).unwrap_or(tx.now());
    let beginning = TurnBeginning {
        trigger: trigger.sequence,
        through,
        holder: tx.scope.actor.clone(),
        place: new.place.clone(),
        session: None,
        now: tx.now(),
        expires_at,
    };
    let BegunTurn { mut turn, expired } = cursor.begin(open.as_ref(), beginning).map_err(refused)?;
    turn.session = session::bound(tx, &channel, new, &trigger).await?;
    if let Some(expired) = &expired {
        change(tx, expired).await?;
    }
    insert(tx, &channel, &turn).await?;
    keep(tx, &channel, &cursor).await?;
    Ok(BegunTurn { turn, expired })
}

/// Notes which envelope was really sent to a model in a turn. The envelope must be here.
pub async fn inject(tx: &mut Tx<'_>, id: &TurnId, envelope: &EnvelopeId) -> Result<AgentTurn> {
    envelope::show(tx, envelope).await?;
    let Found { channel, mut cursor, turn } = found(tx, id).await?;
    let injected = cursor.inject(&turn, *envelope).map_err(refused)?;
    settle(tx, &channel, &cursor, &turn, injected).await
}

/// Ends a turn. To end it once more in the same way changes nothing.
pub async fn finish(tx: &mut Tx<'_>, id: &TurnId, ending: TurnEnding) -> Result<AgentTurn> {
    let Found { channel, mut cursor, turn } = found(tx, id).await?;
    let log = stretches(tx, &channel).await?;
    let last = last_of(tx, &log).await?.unwrap_or(turn.through);
    let ended = cursor.finish(&turn, ending, last, tx.now()).map_err(refused)?;
    settle(tx, &channel, &cursor, &turn, ended).await
}

/// Sets the cursor of an agent back to a message, or to before the first.
pub async fn rewind(
    tx: &mut Tx<'_>,
    channel: &ChannelId,
    key: &ParticipantKey,
    to: Option<MessageSequence>,
    reason: SummaryText,
) -> Result<AgentCursor> {
    let channel = require(tx, channel).await?;
    agent(tx, &channel, key).await?;
    let mut cursor = cursor(tx, &channel, key).await?;
    let open = open_turn(tx, &cursor).await?;
    let rewind = CursorRewind { to, reason, by: tx.scope.actor.clone(), at: tx.now() };
    if let Some(expired) = cursor.rewind(open.as_ref(), rewind).map_err(refused)? {
        change(tx, &expired).await?;
    }
    keep(tx, &channel, &cursor).await?;
    Ok(cursor)
}

/// Returns a turn, or the error that says there is none.
pub async fn show_turn(tx: &mut Tx<'_>, id: &TurnId) -> Result<AgentTurn> {
    let space = tx.space;
    let sql = format!("{} AND id = ?2", TurnRow::select());
    let row = tx.row_of::<TurnRow>(&sql, &[space.into(), Param::Blob(id.as_bytes())]).await?;
    row.map(|row| row.0).ok_or(Error::Channel(ChannelError::NoTurn(*id)))
}

/// Returns the turns whose ids lie in a range, at most `limit`: how an abbreviated id is looked up.
pub async fn turn_ids_between(tx: &mut Tx<'_>, first: &TurnId, last: &TurnId, limit: u32) -> Result<Vec<TurnId>> {
    let space = tx.space;
    let sql = "SELECT id FROM turns WHERE space = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id LIMIT ?4";
    let params = [space.into(), Param::Blob(first.as_bytes()), Param::Blob(last.as_bytes()), i64::from(limit).into()];
    let id = |bytes: &[u8]| bytes.try_into().map_err(|_| Error::damaged("the id of a turn has the wrong length"));
    tx.rows(sql, &params).await?.iter().map(|row| id(row.blob(0)?)).collect()
}

/// Returns how far an agent is; that of somebody who is new when it has had no turn.
pub async fn cursor_of(tx: &mut Tx<'_>, channel: &ChannelId, key: &ParticipantKey) -> Result<AgentCursor> {
    let channel = require(tx, channel).await?;
    agent(tx, &channel, key).await?;
    cursor(tx, &channel, key).await
}

/// Returns how far each agent of a channel is that has had a turn.
pub async fn cursors(tx: &mut Tx<'_>, channel: &ChannelId) -> Result<Vec<AgentCursor>> {
    let channel = require(tx, channel).await?;
    let sql = format!("SELECT {} FROM cursors WHERE channel = ?1 ORDER BY agent LIMIT ?2", CursorRow::columns());
    let limit = i64::try_from(participant::MAX_PARTICIPANTS).unwrap_or(i64::MAX);
    let rows = tx.rows_of::<CursorRow>(&sql, &[channel.key.into(), limit.into()]).await?;
    Ok(rows.into_iter().map(|row| row.0).collect())
}

struct Found {
    channel: StoredChannel,
    cursor: AgentCursor,
    turn: AgentTurn,
}

async fn found(tx: &mut Tx<'_>, id: &TurnId) -> Result<Found> {
    let turn = show_turn(tx, id).await?;
    let channel = require(tx, &turn.channel).await?;
    let cursor = cursor(tx, &channel, &turn.agent).await?;
    Ok(Found { channel, cursor, turn })
}

async fn settle(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    cursor: &AgentCursor,
    before: &AgentTurn,
    after: AgentTurn,
) -> Result<AgentTurn> {
    if after != *before {
        change(tx, &after).await?;
        keep(tx, channel, cursor).await?;
    }
    Ok(after)
}

/// Returns the agent of a key, or the error that says why it has no turns.
async fn agent(tx: &mut Tx<'_>, channel: &StoredChannel, key: &ParticipantKey) -> Result<Participant> {
    let name = || channel.record.name.clone();
    match participant::find_participant(tx, channel, key).await? {
        Some(found) if found.kind == ParticipantKind::Agent => Ok(found),
        Some(_) => Err(Error::Channel(ChannelError::NotAnAgent { channel: name(), key: key.clone() })),
        None => Err(Error::Channel(ChannelError::NotParticipant { channel: name(), key: key.clone() })),
    }
}

async fn cursor(tx: &mut Tx<'_>, channel: &StoredChannel, agent: &ParticipantKey) -> Result<AgentCursor> {
    let sql = format!("SELECT {} FROM cursors WHERE channel = ?1 AND agent = ?2", CursorRow::columns());
    let row = tx.row_of::<CursorRow>(&sql, &[channel.key.into(), agent.as_str().into()]).await?;
    Ok(row.map_or_else(|| AgentCursor::new(channel.id, agent.clone()), |row| row.0))
}

async fn open_turn(tx: &mut Tx<'_>, cursor: &AgentCursor) -> Result<Option<AgentTurn>> {
    match &cursor.open {
        Some(id) => show_turn(tx, id).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the last message that an agent has not acknowledged and that is for it: sent to it or naming it, and otherwise
/// the last that somebody else said to everybody.
async fn newest_for(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    agent: &Participant,
    after: Option<MessageSequence>,
) -> Result<Option<MessageRecord>> {
    let key = || Some(agent.key.clone());
    let filter = || MessageFilter { replay: Some(ReplayPolicy::Replayable), ..MessageFilter::default() };
    let to_it = MessageFilter { receiver: key(), ..filter() };
    let naming_it = MessageFilter { mention: key(), ..filter() };
    let mut best: Option<MessageRecord> = None;
    for filter in [to_it, naming_it] {
        let found = newest(tx, channel, agent, filter, after).await?;
        best = best.into_iter().chain(found).max_by_key(|record| record.sequence);
    }
    if best.is_some() {
        return Ok(best);
    }
    let thread = match &agent.sees {
        ParticipantVisibility::All => None,
        ParticipantVisibility::Thread(thread) => Some(thread.clone()),
    };
    newest(tx, channel, agent, MessageFilter { thread, ..filter() }, after).await
}

/// Returns the last message that passes the filter, of somebody else, and visible to the agent.
async fn newest(
    tx: &mut Tx<'_>,
    channel: &StoredChannel,
    agent: &Participant,
    filter: MessageFilter,
    after: Option<MessageSequence>,
) -> Result<Option<MessageRecord>> {
    let mut query = MessageQuery { filter, after, through: None, order: MessageOrder::Newest };
    loop {
        let page = records(tx, &channel.id, &query, LOOK).await?;
        let is_last = page.len() < LOOK as usize;
        query.through = page.last().and_then(|last| MessageSequence::new(last.sequence.get() - 1));
        let is_for_it = |record: &MessageRecord| {
            (record.header.sender != agent.key || record.header.receiver.is(&agent.key))
                && record.header.is_visible_to(agent)
        };
        if let Some(found) = page.into_iter().find(is_for_it) {
            return Ok(Some(found));
        }
        if is_last || query.through.is_none() {
            return Ok(None);
        }
    }
}

async fn insert(tx: &mut Tx<'_>, channel: &StoredChannel, turn: &AgentTurn) -> Result<()> {
    let mutation = Mutation::new(JournalKind::TurnBegun, turn.id.to_string(), turn);
    let seq = journal::append(tx, mutation).await?.cast_signed();
    let document = serde_json::to_string(turn).expect("a turn has text keys");
    let space = tx.space;
    let sql = "INSERT INTO turns (space, seq, id, channel, agent, number, changed_seq, document) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?2, ?7)";
    let params = [
        space.into(),
        seq.into(),
        Param::Blob(turn.id.as_bytes()),
        channel.key.into(),
        turn.agent.as_str().into(),
        turn.number.get().cast_signed().into(),
        document.as_str().into(),
    ];
    tx.post(sql, &params).await
}

async fn change(tx: &mut Tx<'_>, turn: &AgentTurn) -> Result<()> {
    let mutation = Mutation::new(JournalKind::TurnChanged, turn.id.to_string(), turn);
    let seq = journal::append(tx, mutation).await?;
    let document = serde_json::to_string(turn).expect("a turn has text keys");
    let space = tx.space;
    let sql = "UPDATE turns SET changed_seq = ?3, document = ?4 WHERE space = ?1 AND id = ?2";
    let params = [space.into(), Param::Blob(turn.id.as_bytes()), seq.cast_signed().into(), document.as_str().into()];
    tx.post(sql, &params).await
}

async fn keep(tx: &mut Tx<'_>, channel: &StoredChannel, cursor: &AgentCursor) -> Result<()> {
    let subject = format!("{}/{}", cursor.channel, cursor.agent);
    let seq = journal::append(tx, Mutation::new(JournalKind::CursorMoved, subject, cursor)).await?;
    let document = serde_json::to_string(cursor).expect("a cursor has text keys");
    let sql = "INSERT INTO cursors (channel, agent, seq, document) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (channel, agent) DO UPDATE SET seq = excluded.seq, document = excluded.document";
    let params = [channel.key.into(), cursor.agent.as_str().into(), seq.cast_signed().into(), document.as_str().into()];
    tx.post(sql, &params).await
}

fn refused(refusal: TurnRefusal) -> Error {
    Error::Channel(ChannelError::Refused(Box::new(refusal)))
}

impl TableRow for CursorRow {
    const TABLE: &'static Table = &CURSORS;
    const COLUMNS: &'static [&'static str] = &["document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        super::document(row.text()?).map(Self)
    }
}

impl TableRow for TurnRow {
    const TABLE: &'static Table = &TURNS;
    const COLUMNS: &'static [&'static str] = &["document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        super::document(row.text()?).map(Self)
    }
}
