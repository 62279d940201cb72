//! Events: what happened to context. The journal tells of each; its JSON is kept here.

use std::collections::HashSet;

use contexture_core::{Actor, ChainDigest, EnvelopeId, EventKind, JournalKind, Mutation, Subject, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    JsonText, Result, envelope, journal,
    space::{stored, time},
    sql::{Param, Row, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
    withheld_text,
};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// To what.
    pub subject: Subject,
    /// The envelope that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<EnvelopeId>,
    /// What is known of it.
    pub document: JsonText,
}

/// An event at its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredEvent {
    /// Its sequence number.
    pub seq: u64,
    /// When it was recorded.
    pub at: Timestamp,
    /// Who recorded it.
    pub actor: Actor,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Event {
    pub(crate) fn mutation(&self) -> Mutation {
        Mutation::of_bytes(JournalKind::Event(self.kind), self.subject.as_str(), self.document.as_str().as_bytes())
    }
}

/// The table of the JSON of events.
pub(crate) static EVENTS: Table = Table {
    name: "events",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::bytes("envelope").optional().to(RowReference::Envelope),
        Column::text("document"),
        Column::bytes("withheld").optional(),
    ],
};

/// Appends events to the journal and returns their sequence numbers. The envelopes they name must be here.
pub async fn append(tx: &mut Tx<'_>, events: &[Event]) -> Result<Vec<u64>> {
    let envelopes: HashSet<EnvelopeId> = events.iter().filter_map(|event| event.envelope).collect();
    for envelope in envelopes {
        envelope::show(tx, &envelope).await?;
    }
    let space = tx.space;
    let mut numbers = Vec::with_capacity(events.len());
    for event in events {
        let seq = journal::append(tx, event.mutation()).await?;
        let sql = "INSERT INTO events (space, seq, envelope, document) VALUES (?1, ?2, ?3, ?4)";
        let params = [
            space.into(),
            seq.cast_signed().into(),
            event.envelope.as_ref().map(|envelope| envelope.as_bytes().as_slice()).into(),
            event.document.as_str().into(),
        ];
        tx.post(sql, &params).await?;
        numbers.push(seq);
    }
    Ok(numbers)
}

/// Appends the events of an envelope that were recorded elsewhere, except those that are here already.
///
/// Returns how many were appended. What happened twice is here only if it is here twice.
pub async fn restore(tx: &mut Tx<'_>, envelope: &EnvelopeId, events: &[Event]) -> Result<u64> {
    // By their digests in the journal, which stay when something is removed from what they say.
    let mut here: Vec<(String, ChainDigest)> = Vec::new();
    let mut after = 0;
    loop {
        let page = of_envelope(tx, envelope, after, PAGE_ROWS).await?;
        let is_last = page.len() < PAGE_ROWS as usize;
        after = page.last().map_or(after, |event| event.seq);
        for stored in page {
            let sql = "SELECT subject, digest FROM journal WHERE space = ?1 AND seq = ?2";
            let space = tx.space;
            let row = tx.one(sql, &[space.into(), stored.seq.cast_signed().into()]).await?;
            here.push((row.text(0)?.to_owned(), withheld_text::digest(row.blob(1)?)?));
        }
        if is_last {
            break;
        }
    }
    let mut new = Vec::new();
    for event in events {
        let Mutation { subject, digest, .. } = event.mutation();
        match here.iter().position(|known| *known == (subject.clone(), digest)) {
            Some(known) => drop(here.swap_remove(known)),
            None => new.push(event.clone()),
        }
    }
    Ok(append(tx, &new).await?.len() as u64)
}

/// Events that are read in one query.
const PAGE_ROWS: u32 = 512;

/// What is kept of an event beside its journal record.
pub(crate) struct EventRow {
    pub(crate) seq: i64,
    pub(crate) envelope: Option<EnvelopeId>,
    pub(crate) document: JsonText,
}

impl TableRow for EventRow {
    const TABLE: &'static Table = &EVENTS;
    const COLUMNS: &'static [&'static str] = &["seq", "envelope", "document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.integer()?,
            envelope: row.optional_blob()?.map(envelope::envelope_id).transpose()?,
            document: stored::<JsonText>(row.text()?)?,
        })
    }
}

/// Returns the columns that [`decode`] reads, in its order, of the event `e`.
fn columns() -> String {
    // Not a join: PostgreSQL, which knows nothing of a young table, would compare each event with all of the journal.
    let journaled = ["at", "actor", "kind", "subject"]
        .map(|column| format!("(SELECT j.{column} FROM journal j WHERE j.space = e.space AND j.seq = e.seq)"));
    format!("{}, {}", EventRow::columns_of("e"), journaled.join(", "))
}

/// Returns up to `limit` events of an envelope after a sequence number, oldest first.
pub async fn of_envelope(tx: &mut Tx<'_>, envelope: &EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredEvent>> {
    let space = tx.space;
    let columns = columns();
    let sql = format!(
        "SELECT {columns} FROM events e WHERE e.space = ?1 AND e.envelope = ?2 AND e.seq > ?3 ORDER BY e.seq LIMIT ?4"
    );
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let params = [space.into(), Param::Blob(envelope.as_bytes()), after.into(), i64::from(limit).into()];
    tx.rows(&sql, &params).await?.iter_mut().map(decode).collect()
}

/// Returns up to `limit` events after a sequence number, oldest first.
pub async fn after(tx: &mut Tx<'_>, seq: u64, limit: u32) -> Result<Vec<StoredEvent>> {
    let space = tx.space;
    let columns = columns();
    let sql = format!("SELECT {columns} FROM events e WHERE e.space = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3");
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    tx.rows(&sql, &[space.into(), seq.into(), i64::from(limit).into()]).await?.iter_mut().map(decode).collect()
}

fn decode(row: &mut Row) -> Result<StoredEvent> {
    let row = &mut row.reader(0);
    let EventRow { seq, envelope, document } = EventRow::decode(row)?;
    let (at, actor) = (time(row.integer()?)?, stored::<Actor>(row.text()?)?);
    let (kind, subject) = (stored::<EventKind>(row.text()?)?, stored::<Subject>(row.text()?)?);
    Ok(StoredEvent { seq: seq.cast_unsigned(), at, actor, event: Event { kind, subject, envelope, document } })
}
