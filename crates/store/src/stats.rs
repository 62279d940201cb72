//! Measures of a space: how much of what it holds, and what storing it costs.

use std::{fmt, str::FromStr};

use contexture_core::{CommitKind, Format, Principal, RuntimeSessionId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    artifact::Encoding,
    rendering, search,
    space::{stored, time},
    sql::{Param, Row, Tx},
};

/// Measures of a space at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// Its commits.
    pub commits: CommitStats,
    /// Lines that they lie on.
    pub lines: u64,
    /// Lines that fork off another; the others start at a root.
    pub forks: u64,
    /// Heads.
    pub heads: u64,
    /// Its artifacts.
    pub artifacts: ArtifactStats,
    /// Annotations, those that later ones replaced too.
    pub annotations: u64,
    /// Idempotency keys.
    pub requests: u64,
    /// Envelopes.
    pub envelopes: u64,
    /// Journal records.
    pub journal_records: u64,
    /// Who made the commits.
    pub principals: Tally<Principal>,
    /// In which runs they were made.
    pub sessions: Tally<RuntimeSessionId>,
    /// How they are written.
    pub formats: Tally<Format>,
    /// Translations that are kept; absent when there are none.
    #[serde(default, skip_serializing_if = "RenderingStats::is_empty")]
    pub renderings: RenderingStats,
    /// The index that searches ask; absent before the first search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<search::Cursor>,
}

/// Measures of the commits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitStats {
    /// All of them.
    pub count: u64,
    /// Those that add to their parent.
    pub deltas: u64,
    /// Those that sum up what came before.
    pub compactions: u64,
    /// Those that hold the whole conversation.
    pub snapshots: u64,
    /// Bytes of their artifacts, as often as commits refer to them: what they would take if nothing were shared.
    pub bytes: u64,
    /// The earliest time that one carries.
    pub first_at: Option<Timestamp>,
    /// The latest time that one carries.
    pub last_at: Option<Timestamp>,
}

/// Measures of the artifacts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactStats {
    /// All of them, parts of others too. No two have the same content.
    pub count: u64,
    /// Rows that hold bytes: small artifacts and parts of large ones.
    pub rows: u64,
    /// Bytes of content in those rows. With `stored_bytes` this tells how well the rows compress, with
    /// [`CommitStats::bytes`] how much is shared.
    pub row_bytes: u64,
    /// Bytes that those rows take once compressed.
    pub stored_bytes: u64,
    /// Artifacts in parts.
    pub large: u64,
    /// Bytes of content of the artifacts in parts.
    pub large_bytes: u64,
    /// Places for parts in all of them.
    pub parts: u64,
    /// Rows that fill those places; fewer where large artifacts share content.
    pub distinct_parts: u64,
}

/// Measures of the translations that are kept to be given again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenderingStats {
    /// How many there are.
    pub count: u64,
    /// Bytes of their content.
    pub bytes: u64,
    /// Bytes that they take once compressed.
    pub stored_bytes: u64,
}

impl RenderingStats {
    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How often each of some names occurs among the commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally<T> {
    /// How many different names there are.
    pub distinct: u64,
    /// The most frequent, at most [`MAX_TALLIED`], the most frequent first.
    pub top: Vec<Tallied<T>>,
}

/// How often a name occurs among the commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tallied<T> {
    /// The name.
    pub name: T,
    /// Commits that carry it.
    pub commits: u64,
}

/// What a store takes on disk, with all its spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Footprint {
    /// Bytes of the database.
    pub database_bytes: u64,
    /// Bytes of the write-ahead log that are not yet in the database, where the log is the store's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
}

/// Most names that a [`Tally`] lists.
pub const MAX_TALLIED: u32 = 20;

/// Measures the transaction's space. Reads every row of its commits and artifacts, though not their bytes.
pub async fn collect(tx: &mut Tx<'_>) -> Result<Stats> {
    Ok(Stats {
        commits: commits(tx).await?,
        lines: count(tx, "SELECT count(*) FROM lines WHERE space = ?1").await?,
        forks: count(tx, "SELECT count(*) FROM lines WHERE space = ?1 AND fork_line IS NOT NULL").await?,
        heads: count(tx, "SELECT count(*) FROM heads WHERE space = ?1 AND commit_id IS NOT NULL").await?,
        artifacts: artifacts(tx).await?,
        annotations: count(tx, "SELECT count(*) FROM annotations WHERE space = ?1").await?,
        requests: count(tx, "SELECT count(*) FROM requests WHERE space = ?1").await?,
        envelopes: count(tx, "SELECT count(*) FROM envelopes WHERE space = ?1").await?,
        journal_records: count(tx, "SELECT count(*) FROM journal WHERE space = ?1").await?,
        principals: tally(tx, "principal").await?,
        sessions: tally(tx, "session").await?,
        formats: tally(tx, "format").await?,
        renderings: rendering::measure(tx).await?,
        index: search::cursor(tx).await?,
    })
}

async fn commits(tx: &mut Tx<'_>) -> Result<CommitStats> {
    // Without groups: those would be sorted first, and a sort of every commit takes memory.
    let sql = "SELECT count(*), count(CASE WHEN c.kind = ?2 THEN 1 END), count(CASE WHEN c.kind = ?3 THEN 1 END), \
               count(CASE WHEN c.kind = ?4 THEN 1 END), CAST(coalesce(sum(a.size), 0) AS BIGINT), min(c.created_at), max(c.created_at) \
               FROM commits c LEFT JOIN artifacts a ON a.key = c.artifact_key WHERE c.space = ?1";
    let [delta, compaction, snapshot] =
        [CommitKind::Delta, CommitKind::Compaction, CommitKind::Snapshot].map(|kind| Param::Text(kind.as_str()));
    let space = tx.space;
    let row = tx.one(sql, &[space.into(), delta, compaction, snapshot]).await?;
    Ok(CommitStats {
        count: unsigned(&row, 0)?,
        deltas: unsigned(&row, 1)?,
        compactions: unsigned(&row, 2)?,
        snapshots: unsigned(&row, 3)?,
        bytes: unsigned(&row, 4)?,
        first_at: row.optional_integer(5)?.map(time).transpose()?,
        last_at: row.optional_integer(6)?.map(time).transpose()?,
    })
}

async fn artifacts(tx: &mut Tx<'_>) -> Result<ArtifactStats> {
    // Without groups, as above: bodies would be sorted too. The sum keeps SQLite from looking each row up through the
    // index by digest instead of reading on.
    let sql = "SELECT count(*), count(CASE WHEN encoding = ?2 THEN 1 END), \
               CAST(coalesce(sum(size), 0) AS BIGINT), \
               CAST(coalesce(sum(CASE WHEN encoding = ?2 THEN size END), 0) AS BIGINT), \
               CAST(coalesce(sum(length(body)), 0) AS BIGINT) \
               FROM artifacts WHERE space + 0 = ?1";
    let space = tx.space;
    let row = tx.one(sql, &[space.into(), Encoding::Parts.as_str().into()]).await?;
    let (count, large) = (unsigned(&row, 0)?, unsigned(&row, 1)?);
    let (bytes, large_bytes) = (unsigned(&row, 2)?, unsigned(&row, 3)?);
    let stored_bytes = unsigned(&row, 4)?;
    let sql = "SELECT count(*), count(DISTINCT p.part) FROM parts p JOIN artifacts a ON a.key = p.artifact \
               WHERE a.space = ?1";
    let row = tx.one(sql, &[space.into()]).await?;
    Ok(ArtifactStats {
        count,
        rows: count - large,
        row_bytes: bytes.saturating_sub(large_bytes),
        stored_bytes,
        large,
        large_bytes,
        parts: unsigned(&row, 0)?,
        distinct_parts: unsigned(&row, 1)?,
    })
}

/// Counts the commits by a column that may be absent.
async fn tally<T: FromStr<Err: fmt::Display>>(tx: &mut Tx<'_>, column: &'static str) -> Result<Tally<T>> {
    // Said of every column, because the indexes by column leave absent values out.
    let commits = format!("FROM commits WHERE space = ?1 AND {column} IS NOT NULL");
    let distinct = count(tx, &format!("SELECT count(DISTINCT {column}) {commits}")).await?;
    let sql =
        format!("SELECT {column}, count(*) {commits} GROUP BY {column} ORDER BY count(*) DESC, {column} LIMIT ?2");
    let space = tx.space;
    let rows = tx.rows(&sql, &[space.into(), i64::from(MAX_TALLIED).into()]).await?;
    let tallied = |row: &Row| Ok(Tallied { name: stored(row.text(0)?)?, commits: unsigned(row, 1)? });
    Ok(Tally { distinct, top: rows.iter().map(tallied).collect::<Result<_>>()? })
}

async fn count(tx: &mut Tx<'_>, sql: &str) -> Result<u64> {
    let space = tx.space;
    unsigned(&tx.one(sql, &[space.into()]).await?, 0)
}

fn unsigned(row: &Row, column: usize) -> Result<u64> {
    row.integer(column).map(i64::cast_unsigned)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use contexture_core::{Actor, ArtifactId, Commit, CommitId, Provenance, SpaceName, Trigger};
    use futures_util::FutureExt as _;

    use super::*;
    use crate::{
        Disclosure, Scope, Store,
        artifact::{self, Hot},
        commit,
        head::{self, Expect},
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000).unwrap()
    }

    fn scope() -> Scope {
        Scope {
            space: SpaceName::new("default").unwrap(),
            actor: Actor::new("ada").unwrap(),
            now: at(0),
            disclosure: Disclosure::Masked,
            opener: None,
        }
    }

    async fn fill(tx: &mut Tx<'_>, large: ArtifactId) -> Result<()> {
        let small = Hot::encode(vec![b'a'; 1000]);
        artifact::put(tx, &small).await?;
        let make = |kind, parent: Option<CommitId>, second, principal: &str| Commit {
            parent,
            kind,
            artifact: *small.id(),
            format: Format::new("text").unwrap(),
            provenance: Provenance { principal: Principal::new(principal).ok(), ..Provenance::default() },
            trigger: Trigger::Explicit,
            merges: Vec::new(),
            message_count: None,
            token_count: None,
            created_at: at(second),
        };
        let (root, _) = commit::insert(tx, &make(CommitKind::Snapshot, None, 5, "ada")).await?;
        let (second, _) = commit::insert(tx, &make(CommitKind::Delta, Some(root), 3, "bob")).await?;
        commit::insert(tx, &make(CommitKind::Compaction, Some(root), 9, "ada")).await?;
        let big = Commit {
            artifact: large,
            format: Format::new("events-v1").unwrap(),
            ..make(CommitKind::Delta, Some(second), 4, "")
        };
        let (tip, _) = commit::insert(tx, &big).await?;
        let main = contexture_core::HeadName::new("main").unwrap();
        head::set(tx, &main, tip, Expect::Absent).await.map(drop)
    }

    fn tallied<T>(name: T, commits: u64) -> Tallied<T> {
        Tallied { name, commits }
    }

    #[tokio::test]
    async fn everything_is_measured() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).await.unwrap();
        // One block thrice, so that parts repeat.
        let block: Vec<u8> =
            (0..400_000u32).flat_map(|number| blake3::hash(&number.to_le_bytes()).as_bytes()[..1].to_vec()).collect();
        let large = artifact::put_stream(&store, &scope(), Cursor::new(block.repeat(3))).await.unwrap();
        store.write(scope(), large.id, |tx, large| fill(tx, *large).boxed()).await.unwrap();
        let stats = store.read(scope(), (), |tx, ()| collect(tx).boxed()).await.unwrap();
        let ArtifactStats { rows, stored_bytes, parts, .. } = stats.artifacts;
        assert!(parts > rows, "some parts are shared: {parts} in {rows} rows");
        assert!((1..2000).contains(&(stored_bytes - large.new_bytes)), "only the small one compresses: {stored_bytes}");
        let expected = Stats {
            commits: CommitStats {
                count: 4,
                deltas: 2,
                compactions: 1,
                snapshots: 1,
                bytes: 3 * 1000 + 1_200_000,
                first_at: Some(at(3)),
                last_at: Some(at(9)),
            },
            lines: 2,
            forks: 1,
            heads: 1,
            artifacts: ArtifactStats {
                count: rows + 1,
                rows,
                row_bytes: large.new_bytes + 1000,
                stored_bytes,
                large: 1,
                large_bytes: 1_200_000,
                parts,
                distinct_parts: rows - 1,
            },
            annotations: 0,
            requests: 0,
            envelopes: 0,
            journal_records: 6,
            principals: Tally {
                distinct: 2,
                top: vec![tallied(Principal::new("ada").unwrap(), 2), tallied(Principal::new("bob").unwrap(), 1)],
            },
            sessions: Tally { distinct: 0, top: Vec::new() },
            formats: Tally {
                distinct: 2,
                top: vec![tallied(Format::new("text").unwrap(), 3), tallied(Format::new("events-v1").unwrap(), 1)],
            },
            renderings: RenderingStats::default(),
            index: None,
        };
        assert_eq!(stats, expected);
        assert!(store.footprint().await.unwrap().log_bytes.unwrap() > 0);
    }

    #[tokio::test]
    async fn a_space_that_nobody_wrote_to_measures_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).await.unwrap();
        let stats = store.read(scope(), (), |tx, ()| collect(tx).boxed()).await.unwrap();
        assert_eq!((stats.commits, stats.artifacts), (CommitStats::default(), ArtifactStats::default()));
    }
}
