//! Artifacts: immutable bytes by their BLAKE3, as hot rows or as lists of parts.

mod content;
mod encoding;
mod located;
mod sealed;
mod stream;
mod unused;
mod withheld;

use std::collections::{HashMap, HashSet};

use contexture_core::{
    ArtifactId, ByteReplacement, ChainDigest, CommitId, CommitKind, JournalKind, Mutation, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use content::{PreparedContent, count_purged_in, put_content};
pub use encoding::{Encoding, Hot, MAX_HOT_BYTES};
pub use located::{ArtifactReader, LocatedArtifact, read};
pub use sealed::{SealedPatch, keep_original, original, replace_original};
pub use stream::{ArtifactPart, StoredArtifact, StreamedContent, put_stream, put_streamed, read_stream};
pub use unused::{remove_unused, wholes_with};
pub use withheld::{
    LeftOut, Removed, Withheld, WithheldCause, WithheldContent, any_withheld, any_withheld_in, count_purged, leave_out,
    supersede, withheld, withhold,
};

pub(crate) use sealed::SEALED_ORIGINALS;
pub(crate) use withheld::{WITHHELD, is_withheld, mutation as withheld_mutation};

use crate::{
    Error, Result,
    commit::{Inserted, LineSegment, commit_id},
    finding, journal,
    known::Noun,
    space::stored,
    sql::{Disclosure, Param, Row, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// What is known of an artifact without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactStat {
    /// Its id.
    pub id: ArtifactId,
    /// Its size in bytes.
    pub size: u64,
    /// How it is stored.
    pub encoding: Encoding,
    /// In how many parts; 0 when it is one row.
    pub parts: u64,
    /// Bytes of its row or, without regard to sharing, of the rows of its parts.
    pub stored_bytes: u64,
}

/// A commit's artifact, not yet read.
#[derive(Debug)]
pub struct CommitArtifact {
    /// The commit.
    pub commit: CommitId,
    /// What its artifact is.
    pub kind: CommitKind,
    /// The artifact's id.
    pub artifact: ArtifactId,
    /// Where its bytes are; nothing when it is not stored.
    pub located: Option<LocatedArtifact>,
}

/// The artifacts that a transaction has made sure of.
pub(crate) struct Artifacts;

/// An artifact that is stored.
pub(crate) struct Stored;

impl Noun for Artifacts {
    type Key = ArtifactId;
    type State = Stored;
    const IS_JOURNALED: bool = false;
}

/// The table of artifacts.
pub(crate) static ARTIFACTS: Table = Table {
    name: "artifacts",
    owner: RowOwner::Space,
    key: &["key"],
    columns: &[
        Column::number("key"),
        Column::number("space"),
        Column::bytes("digest"),
        Column::number("size"),
        Column::text("encoding"),
        Column::bytes("body").optional(),
        Column::number("stored_at"),
        Column::number("has_findings"),
    ],
};

/// The table of what artifacts in parts consist of.
pub(crate) static PARTS: Table = Table {
    name: "parts",
    owner: RowOwner::Row { table: &ARTIFACTS, column: "artifact" },
    key: &["artifact", "start"],
    columns: &[
        Column::number("artifact"),
        Column::number("start"),
        Column::number("part").to(RowReference::ArtifactKey),
    ],
};

/// Stores a small artifact, which a later transaction may refer to. Tells whether it is new.
pub async fn put(tx: &mut Tx<'_>, hot: &Hot) -> Result<Inserted> {
    insert(tx, hot.id(), hot.size(), hot.encoding(), Some(hot.body())).await
}

/// Stores a small artifact, new or not, for the transaction that refers to it.
pub async fn ensure(tx: &mut Tx<'_>, hot: &Hot) -> Result<()> {
    let params = columns(tx, hot.id(), hot.size(), hot.encoding(), Some(hot.body()));
    if withheld::any_in_space(tx).await? {
        // It may be what did not come along.
        tx.execute(INSERT_OR_FILL, &params).await?;
    } else {
        tx.post(INSERT, &params).await?;
    }
    tx.known.learn::<Artifacts>(*hot.id(), Stored);
    Ok(())
}

/// Stores small artifacts, new or not, for the transaction that refers to them. Only the bytes of those that are new go to
/// the engine.
pub async fn ensure_all(tx: &mut Tx<'_>, batch: &[Hot]) -> Result<()> {
    let ids: Vec<ArtifactId> = batch.iter().map(|hot| *hot.id()).collect();
    let found = find_here(tx, &ids).await?;
    add_missing(tx, batch, &found).await.map(drop)
}

/// Stores small artifacts, which a later transaction may refer to. Returns how many bytes of them are new.
pub(crate) async fn put_all(tx: &mut Tx<'_>, batch: &[Hot]) -> Result<u64> {
    let ids: Vec<ArtifactId> = batch.iter().map(|hot| *hot.id()).collect();
    let found = find_here(tx, &ids).await?;
    for row in found.values() {
        row.freshen(tx).await?;
    }
    let missing = add_missing(tx, batch, &found).await?;
    Ok(missing.iter().map(|hot| hot.size()).sum())
}

/// Puts those artifacts anew that are stored and no longer young, because a later transaction may refer to them.
pub async fn freshen_all(tx: &mut Tx<'_>, ids: &[ArtifactId]) -> Result<()> {
    for found in find_all(tx, ids).await?.into_values() {
        found.freshen(tx).await?;
    }
    Ok(())
}

/// Stores those small artifacts that were not found, and returns them.
async fn add_missing<'b>(
    tx: &mut Tx<'_>,
    batch: &'b [Hot],
    found: &HashMap<ArtifactId, FoundArtifact>,
) -> Result<Vec<&'b Hot>> {
    // A batch may hold the same content twice.
    let mut seen = HashSet::new();
    let is_missing = |hot: &&Hot| !found.contains_key(hot.id()) && seen.insert(*hot.id());
    let missing: Vec<&Hot> = batch.iter().filter(is_missing).collect();
    for hot in &missing {
        ensure(tx, hot).await?;
    }
    Ok(missing)
}

/// Stores a large artifact, which a later transaction may refer to, as a list of parts that are stored already.
///
/// The parts are looked for again: earlier transactions stored them, and who removes what nothing refers to may have been
/// faster.
pub async fn compose(tx: &mut Tx<'_>, id: &ArtifactId, parts: &[ArtifactPart]) -> Result<Inserted> {
    let size = parts.iter().map(|part| part.size).sum();
    if insert(tx, id, size, Encoding::Parts, None).await? == Inserted::AlreadyThere {
        if count_purged(tx, &[*id]).await? > 0 {
            // Its parts were stored before it was known what they are.
            let ids: Vec<ArtifactId> = parts.iter().map(|part| part.id).collect();
            let stored = find_all(tx, &ids).await?;
            remove_unused(tx, stored.into_values().map(|part| part.key).collect()).await?;
        }
        return Ok(Inserted::AlreadyThere);
    }
    let artifact = require(tx, id).await?;
    let mut start = 0;
    for page in parts.chunks(PARTS_PER_LOOK_UP) {
        let ids: Vec<ArtifactId> = page.iter().map(|part| part.id).collect();
        let found = find_all(tx, &ids).await?;
        for part in page {
            let removed = || Error::PartRemoved { artifact: *id, part: part.id };
            let FoundArtifact { key, .. } = found.get(&part.id).ok_or_else(removed)?;
            let sql = "INSERT INTO parts (artifact, start, part) VALUES (?1, ?2, ?3)";
            tx.post(sql, &[artifact.into(), start.into(), (*key).into()]).await?;
            start += part.size.cast_signed();
        }
    }
    Ok(Inserted::New)
}

/// Records in the journal that an artifact was stored by itself, not with a commit.
pub async fn announce(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<()> {
    let digest = ChainDigest(*id.as_bytes());
    let mutation = Mutation { kind: JournalKind::ArtifactStored, subject: id.to_string(), digest };
    journal::append(tx, mutation).await.map(drop)
}

/// Does the same unless the journal has such a record. What killed programs left is there without one.
pub async fn announce_once(tx: &mut Tx<'_>, id: &ArtifactId, inserted: Inserted) -> Result<()> {
    if inserted == Inserted::New || !is_announced(tx, id).await? { announce(tx, id).await } else { Ok(()) }
}

/// Tells whether the journal has a record of an artifact that was stored by itself.
async fn is_announced(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<bool> {
    let space = tx.space;
    let sql = "SELECT 1 FROM journal WHERE space = ?1 AND kind = 'artifact.stored' AND digest = ?2 LIMIT 1";
    Ok(tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?.is_some())
}

/// Parts that are looked for together.
const PARTS_PER_LOOK_UP: usize = 1024;

/// How old an artifact may be that a later transaction refers to, without being put anew: what nothing refers to and is
/// older than the grace of a collection goes. Microseconds.
const FRESH_MICROS: i64 = 3_600_000_000;

// Without RETURNING: SQLite would open a temporary table for it, on the hot path.
const INSERT: &str = "INSERT INTO artifacts (space, digest, size, encoding, body, stored_at) \
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (space, digest) DO NOTHING";

/// Takes in what did not come along before, too; what was purged stays so. It is a statement of its own: one of many rows
/// must not name one twice.
const INSERT_OR_FILL: &str = "INSERT INTO artifacts (space, digest, size, encoding, body, stored_at) \
                              VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (space, digest) DO UPDATE \
                              SET size = excluded.size, encoding = excluded.encoding, \
                              body = excluded.body WHERE artifacts.encoding = 'absent'";

/// Returns the parameters of [`INSERT`].
fn columns<'p>(
    tx: &Tx<'_>,
    id: &'p ArtifactId,
    size: u64,
    encoding: Encoding,
    body: Option<&'p [u8]>,
) -> [Param<'p>; 6] {
    let (size, stored_at) = (size.cast_signed(), tx.now().as_micros());
    [tx.space.into(), Param::Blob(id.as_bytes()), size.into(), encoding.as_str().into(), body.into(), stored_at.into()]
}

async fn insert(
    tx: &mut Tx<'_>,
    id: &ArtifactId,
    size: u64,
    encoding: Encoding,
    body: Option<&[u8]>,
) -> Result<Inserted> {
    let params = columns(tx, id, size, encoding, body);
    if tx.execute(INSERT_OR_FILL, &params).await? > 0 {
        return Ok(Inserted::New);
    }
    if let Some(found) = find(tx, id).await? {
        found.freshen(tx).await?;
    }
    Ok(Inserted::AlreadyThere)
}

/// The row of an artifact that is stored.
#[derive(Debug, Clone, Copy)]
struct FoundArtifact {
    key: i64,
    stored_at: i64,
}

impl FoundArtifact {
    /// Puts the artifact anew when it is no longer young, so that it stays until a later transaction refers to it.
    async fn freshen(self, tx: &mut Tx<'_>) -> Result<()> {
        let now = tx.now().as_micros();
        if self.stored_at >= now.saturating_sub(FRESH_MICROS) {
            return Ok(());
        }
        tx.post("UPDATE artifacts SET stored_at = ?2 WHERE key = ?1", &[self.key.into(), now.into()]).await
    }
}

/// Returns the rows of those artifacts that need not be stored: their content is here, or was purged.
async fn find_here(tx: &mut Tx<'_>, ids: &[ArtifactId]) -> Result<HashMap<ArtifactId, FoundArtifact>> {
    rows_of_all(tx, ids, "AND encoding <> 'absent'").await
}

/// Returns the rows of those artifacts that are stored.
async fn find_all(tx: &mut Tx<'_>, ids: &[ArtifactId]) -> Result<HashMap<ArtifactId, FoundArtifact>> {
    rows_of_all(tx, ids, "").await
}

async fn rows_of_all(
    tx: &mut Tx<'_>,
    ids: &[ArtifactId],
    condition: &str,
) -> Result<HashMap<ArtifactId, FoundArtifact>> {
    let keys: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
    let one = format!("SELECT digest, key, stored_at FROM artifacts WHERE space = ?1 {condition} AND digest =");
    let rows = tx.look_up(&one, tx.space.into(), &keys).await?;
    let found = |row: &Row| Ok(FoundArtifact { key: row.integer(1)?, stored_at: row.integer(2)? });
    rows.iter().map(|row| Ok((artifact_id(row.blob(0)?)?, found(row)?))).collect()
}

/// Returns the row of an artifact.
async fn find(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<Option<FoundArtifact>> {
    let space = tx.space;
    let sql = "SELECT key, stored_at FROM artifacts WHERE space = ?1 AND digest = ?2";
    let row = tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?;
    row.map(|row| Ok(FoundArtifact { key: row.integer(0)?, stored_at: row.integer(1)? })).transpose()
}

/// Returns the key of an artifact, or the error that says there is none.
pub(crate) async fn require(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<i64> {
    Ok(find(tx, id).await?.ok_or(Error::NoArtifact(*id))?.key)
}

/// Returns the error that names one of these artifacts if it is not stored.
pub(crate) async fn require_all(tx: &mut Tx<'_>, ids: &[ArtifactId]) -> Result<()> {
    let found = find_all(tx, ids).await?;
    ids.iter().find(|id| !found.contains_key(id)).map_or(Ok(()), |id| Err(Error::NoArtifact(*id)))
}

/// Tells whether an artifact is stored.
pub async fn exists(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<bool> {
    Ok(find(tx, id).await?.is_some())
}

/// Returns what is known of an artifact.
pub async fn stat(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<ArtifactStat> {
    let key = require(tx, id).await?;
    let sql = "SELECT a.size, a.encoding, count(p.part), \
               coalesce(length(a.body), 0) + CAST(coalesce(sum(length(b.body)), 0) AS BIGINT) \
               FROM artifacts a LEFT JOIN parts p ON p.artifact = a.key LEFT JOIN artifacts b ON b.key = p.part \
               WHERE a.key = ?1 GROUP BY a.key";
    let row = tx.one(sql, &[key.into()]).await?;
    Ok(ArtifactStat {
        id: *id,
        size: row.integer(0)?.cast_unsigned(),
        encoding: stored::<Encoding>(row.text(1)?)?,
        parts: row.integer(2)?.cast_unsigned(),
        stored_bytes: row.integer(3)?.cast_unsigned(),
    })
}

/// Returns where the bytes of an artifact are. [`read`] and [`ArtifactReader`] get them, outside of the transaction, as
/// far as the scope may see them.
pub async fn locate(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<LocatedArtifact> {
    let key = require(tx, id).await?;
    let sql = format!("SELECT {} FROM artifacts WHERE key = ?1", LocatedArtifact::columns());
    let located: LocatedArtifact = tx.row_of(&sql, &[key.into()]).await?.ok_or(Error::NoArtifact(*id))?;
    as_seen(tx, located).await
}

/// Returns an artifact as those see it on whose behalf a transaction runs.
pub(crate) async fn as_seen(tx: &mut Tx<'_>, mut located: LocatedArtifact) -> Result<LocatedArtifact> {
    if located.has_findings {
        let replacements = replacements(tx, located.key, &located.id).await?;
        located.replace(replacements);
    }
    withheld::stand_in(tx, located).await
}

/// Returns where up to `limit` artifacts of the space are that come after one, in the order of their keys, and the key of
/// the last. Nothing stands for those whose content is not here.
pub async fn page(tx: &mut Tx<'_>, after: i64, limit: u32) -> Result<(Vec<LocatedArtifact>, Option<i64>)> {
    // The sum keeps SQLite from choosing the index by digest and sorting all of it for each page.
    let columns = LocatedArtifact::columns();
    let sql = format!("SELECT {columns} FROM artifacts WHERE space + 0 = ?1 AND key > ?2 ORDER BY key LIMIT ?3");
    let space = tx.space;
    let located: Vec<LocatedArtifact> =
        tx.rows_of(&sql, &[space.into(), after.into(), i64::from(limit).into()]).await?;
    let last = located.last().map(|located| located.key);
    Ok((located, last))
}

/// Returns up to `limit` parts of an artifact from a byte offset on, with the offsets they start at.
pub(crate) async fn parts(
    tx: &mut Tx<'_>,
    artifact: i64,
    from: u64,
    limit: u32,
) -> Result<Vec<(u64, LocatedArtifact)>> {
    let (part, whole) = (PartRow::columns_of("p"), LocatedArtifact::columns_of("a"));
    let sql = format!(
        "SELECT {part}, {whole} FROM parts p JOIN artifacts a ON a.key = p.part \
         WHERE p.artifact = ?1 AND p.start >= ?2 ORDER BY p.start LIMIT ?3"
    );
    let mut rows = tx.rows(&sql, &[artifact.into(), from.cast_signed().into(), i64::from(limit).into()]).await?;
    let mut parts = Vec::with_capacity(rows.len());
    for row in &mut rows {
        let row = &mut row.reader(0);
        let (start, located) = (PartRow::decode(row)?.start, LocatedArtifact::decode(row)?);
        parts.push((start, withheld::stand_in(tx, located).await?));
    }
    Ok(parts)
}

/// Returns where the artifacts of up to `limit` commits of a stretch are, oldest first.
pub async fn payloads(tx: &mut Tx<'_>, segment: LineSegment, limit: u32) -> Result<Vec<CommitArtifact>> {
    // The artifact is taken to be what the commit says it is; reading proves it.
    let columns = LocatedArtifact::columns_of("a").replace("a.digest", "c.artifact");
    let sql = format!(
        "SELECT c.id, c.kind, {columns} FROM commits c LEFT JOIN artifacts a ON a.key = c.artifact_key \
         WHERE c.line = ?1 AND c.position BETWEEN ?2 AND ?3 ORDER BY c.position LIMIT ?4"
    );
    let params = [segment.line.into(), segment.first.into(), segment.last.into(), i64::from(limit).into()];
    let decode = |mut row: Row| {
        Ok(CommitArtifact {
            commit: commit_id(row.blob(0)?)?,
            kind: stored::<CommitKind>(row.text(1)?)?,
            artifact: artifact_id(row.blob(3)?)?,
            located: row.optional_integer(2)?.map(|_| LocatedArtifact::decode(&mut row.reader(2))).transpose()?,
        })
    };
    let mut payloads = tx.rows(&sql, &params).await?.into_iter().map(decode).collect::<Result<Vec<_>>>()?;
    for located in payloads.iter_mut().filter_map(|payload| payload.located.as_mut()) {
        if located.has_findings {
            let (key, id) = (located.key, located.id);
            located.replace(replacements(tx, key, &id).await?);
        }
    }
    for payload in &mut payloads {
        if let Some(located) = payload.located.take_if(|located| located.is_gone()) {
            payload.located = Some(withheld::stand_in(tx, located).await?);
        }
    }
    Ok(payloads)
}

/// Returns what those on whose behalf a transaction runs see in the place of some of the bytes of an artifact.
async fn replacements(tx: &mut Tx<'_>, key: i64, id: &ArtifactId) -> Result<Vec<ByteReplacement>> {
    match tx.scope.disclosure {
        Disclosure::Masked => Ok(finding::of_artifact(tx, key).await?.iter().map(ByteReplacement::from).collect()),
        Disclosure::Exact => {
            let Some(opener) = &tx.scope.opener else { return Ok(Vec::new()) };
            let kept = match sealed::of_artifact(tx, key).await? {
                Some(SealedPatch::Kept(patch)) => opener.open(id, &patch),
                Some(SealedPatch::Destroyed) | None => None,
            };
            Ok(kept.unwrap_or_default())
        }
    }
}

/// Returns the artifacts whose ids lie in a range, at most `limit`: how an abbreviated id is looked up.
pub async fn ids_between(
    tx: &mut Tx<'_>,
    first: &ArtifactId,
    last: &ArtifactId,
    limit: u32,
) -> Result<Vec<ArtifactId>> {
    let space = tx.space;
    let sql = "SELECT digest FROM artifacts WHERE space = ?1 AND digest BETWEEN ?2 AND ?3 ORDER BY digest LIMIT ?4";
    let params = [space.into(), Param::Blob(first.as_bytes()), Param::Blob(last.as_bytes()), i64::from(limit).into()];
    tx.rows(sql, &params).await?.iter().map(|row| artifact_id(row.blob(0)?)).collect()
}

/// Returns up to `limit` artifacts after the key of one that were stored since an instant, with their keys, in the order of
/// the keys. Parts of others are among them.
pub async fn after(tx: &mut Tx<'_>, key: i64, since: Option<Timestamp>, limit: u32) -> Result<Vec<(i64, ArtifactId)>> {
    // The sum keeps SQLite from choosing the index by digest and sorting all of it for each page.
    let sql = "SELECT key, digest FROM artifacts WHERE space + 0 = ?1 AND key > ?2 AND stored_at >= ?3 \
               ORDER BY key LIMIT ?4";
    let since = since.map_or(0, Timestamp::as_micros);
    let params = [tx.space.into(), key.into(), since.into(), i64::from(limit).into()];
    tx.rows(sql, &params).await?.iter().map(|row| Ok((row.integer(0)?, artifact_id(row.blob(1)?)?))).collect()
}

/// A place for a part in a large artifact, without the part.
pub(crate) struct PartRow {
    pub(crate) start: u64,
}

impl TableRow for PartRow {
    const TABLE: &'static Table = &PARTS;
    const COLUMNS: &'static [&'static str] = &["start"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { start: row.unsigned()? })
    }
}

pub(crate) fn artifact_id(bytes: &[u8]) -> Result<ArtifactId> {
    bytes.try_into().map_err(|_| Error::damaged("an artifact id has the wrong length"))
}
