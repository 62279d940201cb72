//! The journal: one record per mutation, in the mutation's own transaction.

use contexture_core::{Actor, ChainDigest, JournalKind, JournalRecord, Mutation};

use crate::{
    Error, Result,
    space::{stored, time},
    sql::{Param, Row, RowReader, Tx},
    table::{Column, RowOwner, Table, TableRow},
};

/// The table of records.
pub(crate) static JOURNAL: Table = Table {
    name: "journal",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq"),
        Column::number("at"),
        Column::text("actor"),
        Column::text("kind"),
        Column::text("subject"),
        Column::bytes("digest"),
        Column::bytes("chain"),
    ],
};

/// Appends a mutation and returns its sequence number.
pub async fn append(tx: &mut Tx<'_>, mutation: Mutation) -> Result<u64> {
    let scope = tx.scope;
    let record = JournalRecord::append(&scope.space, tx.journal_tip, scope.now, scope.actor.clone(), mutation);
    let space = tx.space;
    let sql = "INSERT INTO journal (space, seq, at, actor, kind, subject, digest, chain) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let params: [Param<'_>; 8] = [
        space.into(),
        record.seq.cast_signed().into(),
        record.at.as_micros().into(),
        record.actor.as_str().into(),
        record.kind.as_str().into(),
        record.subject.as_str().into(),
        Param::Blob(&record.digest.0),
        Param::Blob(&record.chain.0),
    ];
    tx.post(sql, &params).await?;
    tx.journal_tip = Some((record.seq, record.chain));
    Ok(record.seq)
}

/// Returns the last sequence number and chain digest, nothing when nothing has happened.
pub async fn tip(tx: &mut Tx<'_>) -> Result<Option<(u64, ChainDigest)>> {
    let space = tx.space;
    let row =
        tx.row("SELECT seq, chain FROM journal WHERE space = ?1 ORDER BY seq DESC LIMIT 1", &[space.into()]).await?;
    row.map_or(Ok(None), |row| decode_tip(&row, 0))
}

/// Reads a sequence number and a chain digest from two columns that are both set or both not.
pub(crate) fn decode_tip(row: &Row, column: usize) -> Result<Option<(u64, ChainDigest)>> {
    let Some(seq) = row.optional_integer(column)? else {
        return Ok(None);
    };
    Ok(Some((seq.cast_unsigned(), digest(row.blob(column + 1)?)?)))
}

/// Returns up to `limit` records after a sequence number, oldest first.
pub async fn after(tx: &mut Tx<'_>, seq: u64, limit: u32) -> Result<Vec<JournalRecord>> {
    let sql = format!("{} AND seq > ?2 ORDER BY seq LIMIT ?3", JournalRecord::select());
    page(tx, &sql, seq, limit).await
}

/// Returns up to `limit` records before a sequence number, newest first.
pub async fn before(tx: &mut Tx<'_>, seq: u64, limit: u32) -> Result<Vec<JournalRecord>> {
    let sql = format!("{} AND seq < ?2 ORDER BY seq DESC LIMIT ?3", JournalRecord::select());
    page(tx, &sql, seq, limit).await
}

async fn page(tx: &mut Tx<'_>, sql: &str, seq: u64, limit: u32) -> Result<Vec<JournalRecord>> {
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    let space = tx.space;
    tx.rows_of(sql, &[space.into(), seq.into(), i64::from(limit).into()]).await
}

impl TableRow for JournalRecord {
    const TABLE: &'static Table = &JOURNAL;
    const COLUMNS: &'static [&'static str] = &["seq", "at", "actor", "kind", "subject", "digest", "chain"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.unsigned()?,
            at: time(row.integer()?)?,
            actor: stored::<Actor>(row.text()?)?,
            kind: stored::<JournalKind>(row.text()?)?,
            subject: row.text()?.to_owned(),
            digest: digest(row.blob()?)?,
            chain: digest(row.blob()?)?,
        })
    }
}

fn digest(bytes: &[u8]) -> Result<ChainDigest> {
    bytes.try_into().map(ChainDigest).map_err(|_| Error::damaged("a digest in the journal has the wrong length"))
}
