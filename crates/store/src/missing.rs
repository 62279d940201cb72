//! Missing context: what is known not to be there, in its newest state.

use contexture_core::{EnvelopeId, GapSeverity, GapStatus, JournalKind, MissingId, Mutation, Stream, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Error, JsonText, Result,
    commit::Inserted,
    envelope, journal,
    space::{stored, time},
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// Something that is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its id.
    pub id: MissingId,
    /// The envelope that misses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub envelope: Option<EnvelopeId>,
    /// When it was first recorded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub changed_at: Timestamp,
    /// What became of it.
    pub status: GapStatus,
    /// How much it matters.
    pub severity: GapSeverity,
    /// What is known of it.
    pub document: JsonText,
}

/// Missing context as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredMissing {
    /// Sequence number of its creation in the journal of its space, which is its place among others.
    pub seq: u64,
    /// Sequence number of its last change, or of its creation.
    pub changed_seq: u64,
    /// What it is.
    #[serde(flatten)]
    pub missing: Missing,
}

/// What replaces the state of missing context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingChange {
    /// What became of it.
    pub status: GapStatus,
    /// What is known of it.
    pub document: JsonText,
}

/// Which missing context to list. An empty filter lists all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only what has this status.
    pub status: Option<GapStatus>,
    /// Only what this envelope misses.
    pub envelope: Option<EnvelopeId>,
    /// Only what envelopes of this stream miss.
    pub stream: Option<Stream>,
}

/// What became of missing context that was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticed {
    /// It was not known.
    New,
    /// It had been settled, and is missing again.
    Again,
    /// It is known, and nobody found it since.
    Known,
}

impl Missing {
    pub(crate) fn mutation(&self, kind: JournalKind) -> Mutation {
        Mutation::new(kind, self.id.to_string(), self)
    }
}

/// The table of missing context.
pub(crate) static MISSING: Table = Table {
    name: "missing",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::bytes("id"),
        Column::bytes("envelope").optional().to(RowReference::Envelope),
        Column::number("created_at"),
        Column::number("changed_at"),
        Column::number("changed_seq").to(RowReference::JournalRecord),
        Column::text("status"),
        Column::text("severity"),
        Column::text("document"),
        Column::bytes("withheld").optional(),
    ],
};

/// Stores missing context. What has the same id stays as it is.
pub async fn put(tx: &mut Tx<'_>, missing: &Missing) -> Result<Inserted> {
    if find(tx, &missing.id).await?.is_some() {
        return Ok(Inserted::AlreadyThere);
    }
    insert(tx, missing).await?;
    Ok(Inserted::New)
}

/// Stores missing context, or opens again what has the same id and has one of these states by now.
pub async fn notice(tx: &mut Tx<'_>, missing: &Missing, settled: &[GapStatus]) -> Result<Noticed> {
    match find(tx, &missing.id).await? {
        None => {
            insert(tx, missing).await?;
            Ok(Noticed::New)
        }
        Some(known) if settled.contains(&known.missing.status) => {
            let Missing { status, severity, document, .. } = missing.clone();
            let again = Missing { status, severity, document, changed_at: tx.now(), ..known.missing };
            update(tx, known.seq, &again).await?;
            Ok(Noticed::Again)
        }
        Some(_) => Ok(Noticed::Known),
    }
}

/// Replaces the state of missing context, at the transaction's time.
pub async fn change(tx: &mut Tx<'_>, id: &MissingId, change: &MissingChange) -> Result<()> {
    let StoredMissing { seq, missing, .. } = show(tx, id).await?;
    let MissingChange { status, document } = change.clone();
    update(tx, seq, &Missing { status, document, changed_at: tx.now(), ..missing }).await
}

/// Takes in missing context from elsewhere. Of two states of the same, the one that was changed later counts.
pub async fn restore(tx: &mut Tx<'_>, missing: &Missing) -> Result<()> {
    match find(tx, &missing.id).await? {
        None => insert(tx, missing).await,
        Some(here) if here.missing.changed_at < missing.changed_at => update(tx, here.seq, missing).await,
        Some(_) => Ok(()),
    }
}

async fn insert(tx: &mut Tx<'_>, missing: &Missing) -> Result<()> {
    if let Some(envelope) = &missing.envelope {
        envelope::show(tx, envelope).await?;
    }
    let seq = journal::append(tx, missing.mutation(JournalKind::MissingCreated)).await?.cast_signed();
    let space = tx.space;
    let sql = "INSERT INTO missing (space, seq, changed_seq, id, envelope, created_at, changed_at, status, severity, \
               document) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let params = [
        space.into(),
        seq.into(),
        seq.into(),
        Param::Blob(missing.id.as_bytes()),
        missing.envelope.as_ref().map(|envelope| envelope.as_bytes().as_slice()).into(),
        missing.created_at.as_micros().into(),
        missing.changed_at.as_micros().into(),
        missing.status.as_str().into(),
        missing.severity.as_str().into(),
        missing.document.as_str().into(),
    ];
    tx.post(sql, &params).await
}

async fn update(tx: &mut Tx<'_>, seq: u64, missing: &Missing) -> Result<()> {
    let changed_seq = journal::append(tx, missing.mutation(JournalKind::MissingChanged)).await?;
    let space = tx.space;
    let sql = "UPDATE missing SET changed_seq = ?3, changed_at = ?4, status = ?5, severity = ?6, document = ?7, \
               envelope = ?8, created_at = ?9, withheld = NULL WHERE space = ?1 AND seq = ?2";
    let params = [
        space.into(),
        seq.cast_signed().into(),
        changed_seq.cast_signed().into(),
        missing.changed_at.as_micros().into(),
        missing.status.as_str().into(),
        missing.severity.as_str().into(),
        missing.document.as_str().into(),
        missing.envelope.as_ref().map(|envelope| envelope.as_bytes().as_slice()).into(),
        missing.created_at.as_micros().into(),
    ];
    tx.post(sql, &params).await
}

/// Returns missing context, if it is here.
pub async fn find(tx: &mut Tx<'_>, id: &MissingId) -> Result<Option<StoredMissing>> {
    let space = tx.space;
    let sql = format!("{} AND id = ?2", StoredMissing::select());
    tx.row_of(&sql, &[space.into(), Param::Blob(id.as_bytes())]).await
}

/// Returns missing context, or the error that says there is none.
pub async fn show(tx: &mut Tx<'_>, id: &MissingId) -> Result<StoredMissing> {
    find(tx, id).await?.ok_or(Error::NoMissing(*id))
}

/// Returns the gaps whose ids lie in a range, at most `limit`: how an abbreviated id is looked up.
pub async fn ids_between(tx: &mut Tx<'_>, first: &MissingId, last: &MissingId, limit: u32) -> Result<Vec<MissingId>> {
    let space = tx.space;
    let sql = format!("{} AND id BETWEEN ?2 AND ?3 ORDER BY id LIMIT ?4", StoredMissing::select());
    let params = [space.into(), Param::Blob(first.as_bytes()), Param::Blob(last.as_bytes()), i64::from(limit).into()];
    let found = tx.rows_of::<StoredMissing>(&sql, &params).await?;
    Ok(found.into_iter().map(|stored| stored.missing.id).collect())
}

/// Returns up to `limit` of what is missing and passes the filter, newest first, those before a sequence number.
pub async fn list(tx: &mut Tx<'_>, filter: &Filter, before: Option<u64>, limit: u32) -> Result<Vec<StoredMissing>> {
    let conditions = [
        ("status =", filter.status.as_ref().map(|status| status.as_str().into())),
        ("envelope =", filter.envelope.as_ref().map(|envelope| Param::Blob(envelope.as_bytes()))),
        (
            "(SELECT e.stream FROM envelopes e WHERE e.space = missing.space AND e.id = missing.envelope) =",
            filter.stream.as_ref().map(|stream| stream.as_str().into()),
        ),
        ("seq <", before.map(|seq| i64::try_from(seq).unwrap_or(i64::MAX).into())),
    ];
    tx.newest(conditions, limit).await
}

/// Returns up to `limit` of what an envelope misses, or of what is missing in none, after a sequence number, oldest first.
pub async fn after(tx: &mut Tx<'_>, envelope: Option<&EnvelopeId>, seq: u64, limit: u32) -> Result<Vec<StoredMissing>> {
    let (space, seq) = (tx.space, i64::try_from(seq).unwrap_or(i64::MAX));
    let mut params = vec![space.into(), seq.into(), i64::from(limit).into()];
    let condition = match envelope {
        Some(envelope) => {
            params.push(Param::Blob(envelope.as_bytes()));
            "envelope = ?4"
        }
        None => "envelope IS NULL",
    };
    let sql = format!("{} AND seq > ?2 AND {condition} ORDER BY seq LIMIT ?3", StoredMissing::select());
    tx.rows_of(&sql, &params).await
}

impl TableRow for StoredMissing {
    const TABLE: &'static Table = &MISSING;
    const COLUMNS: &'static [&'static str] =
        &["seq", "changed_seq", "id", "envelope", "created_at", "changed_at", "status", "severity", "document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.unsigned()?,
            changed_seq: row.unsigned()?,
            missing: Missing {
                id: missing_id(row.blob()?)?,
                envelope: row.optional_blob()?.map(envelope::envelope_id).transpose()?,
                created_at: time(row.integer()?)?,
                changed_at: time(row.integer()?)?,
                status: stored::<GapStatus>(row.text()?)?,
                severity: stored::<GapSeverity>(row.text()?)?,
                document: stored::<JsonText>(row.text()?)?,
            },
        })
    }
}

pub(crate) fn missing_id(bytes: &[u8]) -> Result<MissingId> {
    bytes.try_into().map_err(|_| Error::damaged("an id of missing context has the wrong length"))
}
