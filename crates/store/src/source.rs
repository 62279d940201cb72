//! Sources: the files that sessions came from, how far each was taken in, and which stored bytes they are.

use contexture_core::{ArtifactId, Format, GivenSessionId, Machine, Timestamp};
use serde::Serialize;

use crate::{
    Error, Result,
    artifact::artifact_id,
    space::{stored, time},
    sql::{Param, Row, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// A file that was taken in, as far as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TranscriptSource {
    /// The machine it lies on.
    pub machine: Machine,
    /// Where it lies there.
    pub path: String,
    /// How it is written.
    pub format: Format,
    /// The id by which other files refer to it: the one in its name, else that of its session.
    pub session: Option<GivenSessionId>,
    /// Bytes taken in, from the beginning.
    pub size: u64,
    /// Digest of the last of them, by which a file that was rewritten is told from one that has grown.
    #[serde(skip)]
    pub tail: [u8; 32],
    /// What is needed to go on with the rest.
    #[serde(skip)]
    pub state: String,
    /// When it was last taken in.
    pub taken_at: Timestamp,
}

/// A stretch of a source and the stored bytes that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceSegment {
    /// Where it starts in the source.
    pub start: u64,
    /// Its length.
    pub length: u64,
    /// The artifact that holds its bytes.
    pub artifact: ArtifactId,
    /// Where they start in the artifact.
    pub part_start: u64,
}

/// How far a file was taken in, and what its last bytes were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceMark {
    /// Bytes taken in.
    pub size: u64,
    /// Digest of the last of them.
    pub tail: [u8; 32],
}

impl TranscriptSource {
    /// Returns how far the file was taken in.
    pub fn mark(&self) -> SourceMark {
        SourceMark { size: self.size, tail: self.tail }
    }
}

/// The table of sources.
pub(crate) static SOURCES: Table = Table {
    name: "sources",
    owner: RowOwner::Space,
    key: &["key"],
    columns: &[
        Column::number("key"),
        Column::number("space"),
        Column::text("machine"),
        Column::text("path"),
        Column::text("format"),
        Column::number("size"),
        Column::bytes("tail"),
        Column::text("state"),
        Column::number("taken_at"),
        Column::text("session").optional(),
    ],
};

/// The table of the stretches of sources.
pub(crate) static SEGMENTS: Table = Table {
    name: "segments",
    owner: RowOwner::Row { table: &SOURCES, column: "source" },
    key: &["source", "start"],
    columns: &[
        Column::number("source"),
        Column::number("start"),
        Column::number("length"),
        Column::number("artifact").to(RowReference::ArtifactKey),
        Column::number("part_start"),
    ],
};

/// Returns what is known of a file.
pub async fn find(tx: &mut Tx<'_>, machine: &Machine, path: &str) -> Result<Option<TranscriptSource>> {
    let space = tx.space;
    let sql = format!("{} AND machine = ?2 AND path = ?3", TranscriptSource::select());
    tx.row_of(&sql, &[space.into(), machine.as_str().into(), path.into()]).await
}

/// Returns how far a file was taken in.
pub async fn mark(tx: &mut Tx<'_>, machine: &Machine, path: &str) -> Result<Option<SourceMark>> {
    let space = tx.space;
    let sql = "SELECT size, tail FROM sources WHERE space = ?1 AND machine = ?2 AND path = ?3";
    let row = tx.row(sql, &[space.into(), machine.as_str().into(), path.into()]).await?;
    row.map(|row| Ok(SourceMark { size: row.integer(0)?.cast_unsigned(), tail: tail(row.blob(1)?)? })).transpose()
}

/// Returns the sources that are referred to by an id, at most `limit`.
pub async fn of_session(tx: &mut Tx<'_>, session: &GivenSessionId, limit: u32) -> Result<Vec<TranscriptSource>> {
    let space = tx.space;
    let sql = format!("{} AND session = ?2 ORDER BY machine, path LIMIT ?3", TranscriptSource::select());
    tx.rows_of(&sql, &[space.into(), session.as_str().into(), i64::from(limit).into()]).await
}

/// Returns the sources after a machine and path, in that order, at most `limit`.
pub async fn list(tx: &mut Tx<'_>, after: Option<(&str, &str)>, limit: u32) -> Result<Vec<TranscriptSource>> {
    let space = tx.space;
    let (machine, path) = after.unwrap_or_default();
    let select = TranscriptSource::select();
    let sql = format!("{select} AND (machine, path) > (?2, ?3) ORDER BY machine, path LIMIT ?4");
    tx.rows_of(&sql, &[space.into(), machine.into(), path.into(), i64::from(limit).into()]).await
}

/// Returns the files, as machine and path, that have stretches which are bytes of an artifact.
pub async fn of_artifact(tx: &mut Tx<'_>, artifact: &ArtifactId) -> Result<Vec<(Machine, String)>> {
    let sql = "SELECT DISTINCT s.machine, s.path FROM artifacts a JOIN segments g ON g.artifact = a.key \
               JOIN sources s ON s.key = g.source WHERE a.space = ?1 AND a.digest = ?2";
    let space = tx.space;
    let rows = tx.rows(sql, &[space.into(), Param::Blob(artifact.as_bytes())]).await?;
    rows.iter().map(|row| Ok((stored::<Machine>(row.text(0)?)?, row.text(1)?.to_owned()))).collect()
}

/// Returns the artifacts that the stretches of a file lie in.
pub async fn artifacts(tx: &mut Tx<'_>, machine: &Machine, path: &str) -> Result<Vec<ArtifactId>> {
    let sql = "SELECT DISTINCT a.digest FROM sources s JOIN segments g ON g.source = s.key \
               JOIN artifacts a ON a.key = g.artifact WHERE s.space = ?1 AND s.machine = ?2 AND s.path = ?3";
    let params = [tx.space.into(), machine.as_str().into(), path.into()];
    tx.rows(sql, &params).await?.iter().map(|row| artifact_id(row.blob(0)?)).collect()
}

/// Remembers how far a file was taken in, and the stretches that came with it.
///
/// The journal does not tell of it, so it may be done twice when a connection is lost, and the second time changes nothing.
pub async fn save(tx: &mut Tx<'_>, source: &TranscriptSource, segments: &[SourceSegment]) -> Result<()> {
    let space = tx.space;
    let sql = "INSERT INTO sources (space, machine, path, format, session, size, tail, state, taken_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
               ON CONFLICT (space, machine, path) DO UPDATE SET format = excluded.format, \
               session = excluded.session, size = excluded.size, tail = excluded.tail, state = excluded.state, taken_at = excluded.taken_at";
    let params = [
        space.into(),
        source.machine.as_str().into(),
        source.path.as_str().into(),
        source.format.as_str().into(),
        source.session.as_ref().map(GivenSessionId::as_str).into(),
        source.size.cast_signed().into(),
        Param::Blob(&source.tail),
        source.state.as_str().into(),
        source.taken_at.as_micros().into(),
    ];
    tx.post(sql, &params).await?;
    let key = require_key(tx, &source.machine, &source.path).await?;
    for segment in segments {
        let sql = "INSERT INTO segments (source, start, length, artifact, part_start) VALUES (?1, ?2, ?3, \
                   (SELECT a.key FROM artifacts a WHERE a.space = ?4 AND a.digest = ?5), ?6) \
                   ON CONFLICT (source, start) DO UPDATE SET length = excluded.length, artifact = excluded.artifact, \
                   part_start = excluded.part_start";
        let numbers = [segment.start, segment.length].map(u64::cast_signed);
        let params = [
            key.into(),
            numbers[0].into(),
            numbers[1].into(),
            space.into(),
            Param::Blob(segment.artifact.as_bytes()),
            segment.part_start.cast_signed().into(),
        ];
        tx.post(sql, &params).await?;
    }
    let Some(first) = segments.iter().map(|segment| segment.start).min() else { return Ok(()) };
    // What was purged comes again when its file does, and must not come back by what is kept to go on with it.
    let sql = "SELECT 1 FROM segments g JOIN artifacts a ON a.key = g.artifact \
               WHERE g.source = ?1 AND g.start >= ?2 AND a.encoding = 'withheld' LIMIT 1";
    if tx.row(sql, &[key.into(), first.cast_signed().into()]).await?.is_some() {
        forget_content(tx, key, &source.state).await?;
    }
    Ok(())
}

/// Removes from what is kept to go on with the files of an artifact what repeats their content, for good.
pub async fn forget_content_of(tx: &mut Tx<'_>, artifact: &ArtifactId) -> Result<()> {
    let sql = "SELECT DISTINCT s.key, s.state FROM artifacts a JOIN segments g ON g.artifact = a.key \
               JOIN sources s ON s.key = g.source WHERE a.space = ?1 AND a.digest = ?2";
    let space = tx.space;
    for row in tx.rows(sql, &[space.into(), Param::Blob(artifact.as_bytes())]).await? {
        forget_content(tx, row.integer(0)?, row.text(1)?).await?;
    }
    Ok(())
}

async fn forget_content(tx: &mut Tx<'_>, key: i64, state: &str) -> Result<()> {
    // It is written by capture, which needs the rest of it.
    let mut state: serde_json::Value = serde_json::from_str(state)
        .map_err(|error| Error::damaged(format!("the state of a source cannot be read: {error}")))?;
    if without_content(&mut state) {
        let text = state.to_string();
        tx.post("UPDATE sources SET state = ?2 WHERE key = ?1", &[key.into(), text.as_str().into()]).await?;
    }
    Ok(())
}

/// Takes out of a state the records of prompts and what was said in other sessions. Tells whether there was any of it.
fn without_content(state: &mut serde_json::Value) -> bool {
    use serde_json::Value;
    match state {
        Value::Object(fields) => {
            let mut had_any = fields.remove("prompt").is_some();
            if let Some(Value::Array(said)) = fields.get_mut("said") {
                had_any |= !said.is_empty();
                said.clear();
            }
            fields.values_mut().fold(had_any, |had_any, field| without_content(field) | had_any)
        }
        Value::Array(values) => values.iter_mut().fold(false, |had_any, value| without_content(value) | had_any),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Forgets which stored bytes a file is, because it has become another file. What was made of it stays.
pub async fn forget(tx: &mut Tx<'_>, machine: &Machine, path: &str) -> Result<()> {
    let key = require_key(tx, machine, path).await?;
    tx.post("DELETE FROM segments WHERE source = ?1", &[key.into()]).await
}

/// Returns up to `limit` stretches of a file in order, from the one that a byte lies in.
pub async fn segments(
    tx: &mut Tx<'_>,
    machine: &Machine,
    path: &str,
    from: u64,
    limit: u32,
) -> Result<Vec<SourceSegment>> {
    let space = tx.space;
    let columns = SegmentRow::columns_of("g");
    let sql = format!(
        "SELECT {columns}, a.digest FROM sources s JOIN segments g ON g.source = s.key \
         JOIN artifacts a ON a.key = g.artifact \
         WHERE s.space = ?1 AND s.machine = ?2 AND s.path = ?3 AND g.start >= \
         (SELECT COALESCE(MAX(b.start), 0) FROM segments b WHERE b.source = s.key AND b.start <= ?4) \
         ORDER BY g.start LIMIT ?5"
    );
    let params =
        [space.into(), machine.as_str().into(), path.into(), from.cast_signed().into(), i64::from(limit).into()];
    let decode = |row: &mut Row| {
        let row = &mut row.reader(0);
        let SegmentRow { start, length, part_start } = SegmentRow::decode(row)?;
        Ok(SourceSegment { start, length, artifact: artifact_id(row.blob()?)?, part_start })
    };
    tx.rows(&sql, &params).await?.iter_mut().map(decode).collect()
}

async fn require_key(tx: &mut Tx<'_>, machine: &Machine, path: &str) -> Result<i64> {
    let space = tx.space;
    let sql = "SELECT key FROM sources WHERE space = ?1 AND machine = ?2 AND path = ?3";
    let row = tx.row(sql, &[space.into(), machine.as_str().into(), path.into()]).await?;
    row.ok_or_else(|| Error::damaged(format!("source {path} is not there")))?.integer(0)
}

impl TableRow for TranscriptSource {
    const TABLE: &'static Table = &SOURCES;
    const COLUMNS: &'static [&'static str] =
        &["machine", "path", "format", "session", "size", "tail", "state", "taken_at"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            machine: stored::<Machine>(row.text()?)?,
            path: row.text()?.to_owned(),
            format: stored::<Format>(row.text()?)?,
            session: row.optional_text()?.map(GivenSessionId::new),
            size: row.unsigned()?,
            tail: tail(row.blob()?)?,
            state: row.text()?.to_owned(),
            taken_at: time(row.integer()?)?,
        })
    }
}

/// A stretch of a source, without the artifact that holds its bytes.
pub(crate) struct SegmentRow {
    start: u64,
    length: u64,
    part_start: u64,
}

impl TableRow for SegmentRow {
    const TABLE: &'static Table = &SEGMENTS;
    const COLUMNS: &'static [&'static str] = &["start", "length", "part_start"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { start: row.unsigned()?, length: row.unsigned()?, part_start: row.unsigned()? })
    }
}

fn tail(bytes: &[u8]) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| Error::damaged("the digest of a source has the wrong length"))
}
