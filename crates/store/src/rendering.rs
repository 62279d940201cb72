//! Renderings: translated conversations, kept so that they need not be translated again.
//!
//! They are made of what a space holds and may be dropped at any time. A row holds its bytes itself and is no artifact, so
//! that it keeps no content alive. Whatever changes what is shown of content ([`CHANGING`]) drops all renderings of its
//! space in its own transaction, and none is kept that was begun before.

use contexture_core::{ArtifactId, CommitId, JournalKind, Timestamp};

use crate::{
    Error, Result,
    artifact::artifact_id,
    commit::commit_id,
    space::time,
    sql::{Param, Row, RowReader, Tx},
    stats::RenderingStats,
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// What tells a rendering from others: a digest of all that it follows from.
pub type RenderingKey = [u8; 32];

/// Longest content of a rendering.
pub const MAX_RENDERING_BYTES: usize = 64 << 20;
/// Longest description of a rendering.
pub const MAX_REPORT_BYTES: usize = 256 << 10;
/// Most renderings of a space.
pub const MAX_RENDERINGS: usize = 256;
/// Most bytes that the renderings of a space take.
pub const MAX_STORED_BYTES: u64 = 256 << 20;

/// The records of the journal after which content may be shown otherwise than before.
const CHANGING: [JournalKind; 3] =
    [JournalKind::SecretPolicyChanged, JournalKind::SecretsFound, JournalKind::ArtifactWithheld];

/// How long a rendering is used before that is written down again.
const SAME_USE_MICROS: i64 = 3_600_000_000;

/// The table of renderings.
pub(crate) static RENDERINGS: Table = Table {
    name: "renderings",
    owner: RowOwner::Space,
    key: &["space", "key"],
    columns: &[
        Column::number("space"),
        Column::bytes("key"),
        Column::bytes("commit_id").to(RowReference::Commit),
        Column::bytes("digest"),
        Column::number("size"),
        Column::number("stored_size"),
        Column::number("used_at"),
        Column::text("report"),
        Column::bytes("body"),
    ],
};

/// A translated conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendering {
    /// The commit whose conversation it is.
    pub commit: CommitId,
    /// What is known of it, in the words of whoever made it.
    pub report: String,
    digest: ArtifactId,
    size: usize,
    used_at: Timestamp,
    /// The content as one LZ4 block.
    body: Vec<u8>,
}

/// What dropping renderings came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedRenderings {
    /// How many there were.
    pub count: u64,
    /// Bytes that they took.
    pub stored_bytes: u64,
}

/// Where the journal was when somebody began to translate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderingStart(u64);

impl Rendering {
    /// Hashes and compresses content. Nothing is returned of what is too large to be kept.
    pub fn compress(commit: CommitId, content: &[u8], report: String, now: Timestamp) -> Option<Self> {
        if content.len() > MAX_RENDERING_BYTES || report.len() > MAX_REPORT_BYTES {
            return None;
        }
        let body = lz4_flex::block::compress(content);
        Some(Self { commit, report, digest: ArtifactId::of(content), size: content.len(), used_at: now, body })
    }

    /// Returns the content; nothing if it is damaged.
    pub fn content(&self) -> Option<Vec<u8>> {
        let content = lz4_flex::block::decompress(&self.body, self.size).ok()?;
        (ArtifactId::of(&content) == self.digest).then_some(content)
    }
}

/// Returns a rendering, if there is one, and from when on another one may be kept in its place.
pub async fn find(tx: &mut Tx<'_>, key: &RenderingKey) -> Result<(Option<Rendering>, RenderingStart)> {
    let sql = format!("{} AND key = ?2", Rendering::select());
    let space = tx.space;
    let found = tx.row_of(&sql, &[space.into(), Param::Blob(key)]).await?;
    let tip = crate::journal::tip(tx).await?;
    Ok((found, RenderingStart(tip.map_or(0, |(seq, _)| seq))))
}

/// Tells whether it should be written down that a rendering is used at a moment.
pub fn is_used_anew(rendering: &Rendering, now: Timestamp) -> bool {
    now.as_micros().saturating_sub(rendering.used_at.as_micros()) > SAME_USE_MICROS
}

/// Writes down that a rendering is used now.
pub async fn touch(tx: &mut Tx<'_>, key: &RenderingKey) -> Result<()> {
    let (space, now) = (tx.space, tx.scope.now.as_micros());
    let sql = "UPDATE renderings SET used_at = ?3 WHERE space = ?1 AND key = ?2";
    tx.post(sql, &[space.into(), Param::Blob(key), now.into()]).await
}

/// Keeps a rendering, and drops those that were not used for longest as far as there are too many. Returns whether it is
/// kept: not if content may be shown otherwise by now than when it was begun.
pub async fn keep(
    tx: &mut Tx<'_>,
    key: &RenderingKey,
    rendering: &Rendering,
    RenderingStart(begun): RenderingStart,
) -> Result<bool> {
    let space = tx.space;
    let kinds = CHANGING.map(|kind| format!("'{}'", kind.as_str())).join(", ");
    let changed = format!("SELECT 1 FROM journal WHERE space = ?1 AND seq > ?2 AND kind IN ({kinds}) LIMIT 1");
    if tx.row(&changed, &[space.into(), begun.cast_signed().into()]).await?.is_some() {
        return Ok(false);
    }
    let sql = "INSERT INTO renderings (space, key, commit_id, digest, size, stored_size, used_at, report, body) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
               ON CONFLICT (space, key) DO UPDATE SET digest = excluded.digest, size = excluded.size, \
               stored_size = excluded.stored_size, used_at = excluded.used_at, report = excluded.report, \
               body = excluded.body";
    let Rendering { commit, report, digest, size, used_at, body } = rendering;
    let length = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let params = [
        space.into(),
        Param::Blob(key),
        Param::Blob(commit.as_bytes()),
        Param::Blob(digest.as_bytes()),
        length(*size).into(),
        length(body.len()).into(),
        used_at.as_micros().into(),
        report.as_str().into(),
        Param::Blob(body),
    ];
    tx.execute(sql, &params).await?;
    evict(tx).await?;
    Ok(true)
}

/// Drops renderings beyond what a space may have.
async fn evict(tx: &mut Tx<'_>) -> Result<()> {
    let space = tx.space;
    let sql = "SELECT key, stored_size FROM renderings WHERE space = ?1 ORDER BY used_at DESC, key";
    let rows = tx.rows(sql, &[space.into()]).await?;
    let mut stored = 0_u64;
    for (n, row) in rows.iter().enumerate() {
        stored = stored.saturating_add(row.integer(1)?.cast_unsigned());
        if n >= MAX_RENDERINGS || stored > MAX_STORED_BYTES {
            tx.post("DELETE FROM renderings WHERE space = ?1 AND key = ?2", &[space.into(), Param::Blob(row.blob(0)?)])
                .await?;
        }
    }
    Ok(())
}

/// Drops all renderings of the space: content is shown otherwise from now on.
pub async fn forget_all(tx: &mut Tx<'_>) -> Result<()> {
    let space = tx.space;
    tx.post("DELETE FROM renderings WHERE space = ?1", &[space.into()]).await
}

/// Returns what the renderings come to that nobody has used since a moment.
pub async fn unused_since(tx: &mut Tx<'_>, micros: i64) -> Result<DroppedRenderings> {
    let sql = "SELECT count(*), CAST(coalesce(sum(stored_size), 0) AS BIGINT) FROM renderings \
               WHERE space = ?1 AND used_at < ?2";
    let space = tx.space;
    measured(&tx.one(sql, &[space.into(), micros.into()]).await?)
}

/// Drops the renderings that nobody has used since a moment.
pub async fn drop_unused(tx: &mut Tx<'_>, micros: i64) -> Result<DroppedRenderings> {
    let dropped = unused_since(tx, micros).await?;
    let space = tx.space;
    tx.post("DELETE FROM renderings WHERE space = ?1 AND used_at < ?2", &[space.into(), micros.into()]).await?;
    Ok(dropped)
}

/// Measures the renderings of the space.
pub(crate) async fn measure(tx: &mut Tx<'_>) -> Result<RenderingStats> {
    let sql = "SELECT count(*), CAST(coalesce(sum(stored_size), 0) AS BIGINT), CAST(coalesce(sum(size), 0) AS BIGINT) \
               FROM renderings WHERE space = ?1";
    let space = tx.space;
    let row = tx.one(sql, &[space.into()]).await?;
    let DroppedRenderings { count, stored_bytes } = measured(&row)?;
    Ok(RenderingStats { count, bytes: row.integer(2)?.cast_unsigned(), stored_bytes })
}

fn measured(row: &Row) -> Result<DroppedRenderings> {
    Ok(DroppedRenderings { count: row.integer(0)?.cast_unsigned(), stored_bytes: row.integer(1)?.cast_unsigned() })
}

impl TableRow for Rendering {
    const TABLE: &'static Table = &RENDERINGS;
    const COLUMNS: &'static [&'static str] = &["commit_id", "digest", "size", "used_at", "report", "body"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let (commit, digest) = (commit_id(row.blob()?)?, artifact_id(row.blob()?)?);
        let size = usize::try_from(row.unsigned()?).ok().filter(|size| *size <= MAX_RENDERING_BYTES);
        let size = size.ok_or_else(|| Error::damaged("a rendering is longer than one can be"))?;
        Ok(Self {
            commit,
            digest,
            size,
            used_at: time(row.integer()?)?,
            report: row.text()?.to_owned(),
            body: row.blob()?.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_comes_back_or_is_known_to_be_damaged() {
        let commit = CommitId::from_bytes([1; CommitId::LEN]);
        let now = Timestamp::from_micros(0).unwrap();
        let content = b"a conversation ".repeat(1000);
        let mut rendering = Rendering::compress(commit, &content, "{}".into(), now).unwrap();
        assert_eq!(rendering.content().as_ref(), Some(&content));
        rendering.body[20] ^= 1;
        assert_eq!(rendering.content(), None);
        assert!(Rendering::compress(commit, &content, "x".repeat(MAX_REPORT_BYTES + 1), now).is_none());
    }
}
