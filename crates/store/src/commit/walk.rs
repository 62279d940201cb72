//! Walks over history: range scans over the lines that a commit descends through.

use contexture_core::{CommitId, CommitKind, Format};

use super::{CommitPlace, LineRow, StoredCommit, SummarizedCommit, row};
use crate::{
    Error, Result, annotation,
    space::{stored, time},
    sql::{Row, Tx},
    table::TableRow as _,
};

/// A stretch of one line: the commits from `first` to `last`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSegment {
    /// Key of the line.
    pub line: i64,
    /// Position of the oldest commit.
    pub first: i64,
    /// Position of the newest commit.
    pub last: i64,
}

/// Measures of a stretch of history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SegmentTotals {
    /// Commits in it.
    pub commits: u64,
    /// Bytes of their artifacts.
    pub bytes: u64,
    /// Messages, as far as the commits count them.
    pub messages: u64,
}

impl LineSegment {
    /// Tells whether a place lies on this stretch.
    pub fn contains(&self, place: CommitPlace) -> bool {
        self.line == place.line && (self.first..=self.last).contains(&place.position)
    }
}

/// Returns the stretches that make up the history of a place, newest first, back to the root.
pub async fn segments(tx: &mut Tx<'_>, from: CommitPlace) -> Result<Vec<LineSegment>> {
    let sql = format!("SELECT {} FROM lines WHERE key = ?1", LineRow::columns());
    let mut segments = Vec::new();
    let mut next = Some(from);
    while let Some(place) = next {
        segments.push(LineSegment { line: place.line, first: 0, last: place.position });
        let row = tx.row_of::<LineRow>(&sql, &[place.line.into()]).await?;
        let row = row.ok_or_else(|| Error::damaged(format!("line {} is missing", place.line)))?;
        next = row::placed(row.fork_line, row.fork_position);
        if next.is_some_and(|fork| fork.line >= place.line) {
            return Err(Error::damaged(format!("line {} forks off a line that is not older", place.line)));
        }
    }
    Ok(segments)
}

/// Returns the stretches from a place back to an ancestor, newest first; nothing when it is not an ancestor.
pub async fn ancestry(tx: &mut Tx<'_>, from: CommitPlace, stop: CommitPlace) -> Result<Option<Vec<LineSegment>>> {
    let mut stretches = Vec::new();
    for mut segment in segments(tx, from).await? {
        if segment.contains(stop) {
            segment.first = stop.position;
            stretches.push(segment);
            return Ok(Some(stretches));
        }
        stretches.push(segment);
    }
    Ok(None)
}

/// Returns up to `limit` commits of a stretch, oldest first, with their annotations.
pub async fn page_forward(tx: &mut Tx<'_>, segment: LineSegment, limit: u32) -> Result<Vec<StoredCommit>> {
    let last = segment.last.min(segment.first.saturating_add(i64::from(limit) - 1));
    between(tx, segment.line, segment.first, last, limit).await
}

/// Returns up to `limit` commits of a stretch, newest first, with their annotations.
pub async fn page_back(tx: &mut Tx<'_>, segment: LineSegment, limit: u32) -> Result<Vec<StoredCommit>> {
    let first = segment.first.max(segment.last.saturating_sub(i64::from(limit) - 1));
    let mut page = between(tx, segment.line, first, segment.last, limit).await?;
    page.reverse();
    Ok(page)
}

/// Returns up to `limit` commits of a stretch, newest first, with nothing of them but their summaries.
pub async fn summaries_back(tx: &mut Tx<'_>, segment: LineSegment, limit: u32) -> Result<Vec<SummarizedCommit>> {
    let first = segment.first.max(segment.last.saturating_sub(i64::from(limit) - 1));
    let mut summaries = annotation::summaries(tx, LineSegment { first, ..segment }).await?;
    let sql = "SELECT position, id, depth, created_at FROM commits \
               WHERE line = ?1 AND position BETWEEN ?2 AND ?3 ORDER BY position DESC";
    let rows = tx.rows(sql, &[segment.line.into(), first.into(), segment.last.into()]).await?;
    let mut decode = |row: &Row| {
        Ok(SummarizedCommit {
            id: row::commit_id(row.blob(1)?)?,
            depth: row.integer(2)?.cast_unsigned(),
            created_at: time(row.integer(3)?)?,
            summary: summaries.remove(&row.integer(0)?),
        })
    };
    rows.iter().map(&mut decode).collect()
}

/// Returns how many deltas of a stretch there are in each format.
pub async fn deltas_by_format(tx: &mut Tx<'_>, segment: LineSegment) -> Result<Vec<(Format, u64)>> {
    let sql = "SELECT format, count(*) FROM commits \
               WHERE line = ?1 AND position BETWEEN ?2 AND ?3 AND kind = ?4 GROUP BY format";
    let delta = CommitKind::Delta.as_str();
    let rows = tx.rows(sql, &[segment.line.into(), segment.first.into(), segment.last.into(), delta.into()]).await?;
    rows.iter().map(|row| Ok((stored(row.text(0)?)?, row.integer(1)?.cast_unsigned()))).collect()
}

/// Returns the commits that the commits of a stretch merge.
pub async fn merged_in(tx: &mut Tx<'_>, segment: LineSegment) -> Result<Vec<CommitId>> {
    let sql = "SELECT merges FROM commits WHERE line = ?1 AND position BETWEEN ?2 AND ?3 AND length(merges) > 0";
    let rows = tx.rows(sql, &[segment.line.into(), segment.first.into(), segment.last.into()]).await?;
    let mut merged = Vec::new();
    for row in &rows {
        merged.extend(row::merges(row.blob(0)?)?);
    }
    Ok(merged)
}

/// Adds up the commits of a stretch.
pub async fn totals(tx: &mut Tx<'_>, segment: LineSegment) -> Result<SegmentTotals> {
    let sql = "SELECT count(*), CAST(coalesce(sum(a.size), 0) AS BIGINT), \
               CAST(coalesce(sum(c.message_count), 0) AS BIGINT) \
               FROM commits c JOIN artifacts a ON a.key = c.artifact_key \
               WHERE c.line = ?1 AND c.position BETWEEN ?2 AND ?3";
    let row = tx.one(sql, &[segment.line.into(), segment.first.into(), segment.last.into()]).await?;
    Ok(SegmentTotals {
        commits: row.integer(0)?.cast_unsigned(),
        bytes: row.integer(1)?.cast_unsigned(),
        messages: row.integer(2)?.cast_unsigned(),
    })
}

/// Returns up to `limit` commits whose parent is the given one, in the order they were made.
pub async fn children(tx: &mut Tx<'_>, place: CommitPlace, limit: u32) -> Result<Vec<StoredCommit>> {
    let mut children = between(tx, place.line, place.position + 1, place.position + 1, 1).await?;
    let sql = "SELECT key FROM lines WHERE fork_line = ?1 AND fork_position = ?2 ORDER BY key LIMIT ?3";
    let forks = tx.rows(sql, &[place.line.into(), place.position.into(), i64::from(limit).into()]).await?;
    for fork in &forks {
        children.extend(between(tx, fork.integer(0)?, 0, 0, 1).await?);
    }
    children.truncate(limit as usize);
    Ok(children)
}

/// Returns the last commits of lines after a line key, at most `limit`: every history of the space ends in one of them.
pub async fn tips(tx: &mut Tx<'_>, after_line: i64, limit: u32) -> Result<Vec<(CommitPlace, CommitId)>> {
    let space = tx.space;
    let sql = "SELECT c.line, c.position, c.id FROM lines l JOIN commits c ON c.line = l.key \
               WHERE l.space = ?1 AND l.key > ?2 \
               AND c.position = (SELECT max(position) FROM commits WHERE line = l.key) ORDER BY l.key LIMIT ?3";
    let rows = tx.rows(sql, &[space.into(), after_line.into(), i64::from(limit).into()]).await?;
    let decode = |row: &Row| {
        Ok((CommitPlace { line: row.integer(0)?, position: row.integer(1)? }, row::commit_id(row.blob(2)?)?))
    };
    rows.iter().map(decode).collect()
}

/// A line as a walk over all of them needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeLine {
    /// All of it.
    pub segment: LineSegment,
    /// Where it forks off another.
    pub fork: Option<CommitPlace>,
    /// When its newest commit was made.
    pub newest_at: i64,
    /// The record of the journal that tells of that commit.
    pub newest_seq: i64,
}

/// Returns the lines after a line key, at most `limit`.
pub async fn whole_lines(tx: &mut Tx<'_>, after_line: i64, limit: u32) -> Result<Vec<WholeLine>> {
    let space = tx.space;
    let sql = "SELECT l.key, c.position, l.fork_line, l.fork_position, c.created_at, c.seq \
               FROM lines l JOIN commits c ON c.line = l.key WHERE l.space = ?1 AND l.key > ?2 \
               AND c.position = (SELECT max(position) FROM commits WHERE line = l.key) ORDER BY l.key LIMIT ?3";
    let rows = tx.rows(sql, &[space.into(), after_line.into(), i64::from(limit).into()]).await?;
    let decode = |row: &Row| {
        Ok(WholeLine {
            segment: LineSegment { line: row.integer(0)?, first: 0, last: row.integer(1)? },
            fork: row::place(row, 2)?,
            newest_at: row.integer(4)?,
            newest_seq: row.integer(5)?,
        })
    };
    rows.iter().map(decode).collect()
}

pub(super) async fn between(
    tx: &mut Tx<'_>,
    line: i64,
    first: i64,
    last: i64,
    limit: u32,
) -> Result<Vec<StoredCommit>> {
    let columns = StoredCommit::columns();
    let sql = format!(
        "SELECT {columns} FROM commits WHERE line = ?1 AND position BETWEEN ?2 AND ?3 ORDER BY position LIMIT ?4"
    );
    let params = [line.into(), first.into(), last.into(), i64::from(limit).into()];
    let mut page = tx.rows_of::<StoredCommit>(&sql, &params).await?;
    let mut annotated = annotation::in_force(tx, line, first, last).await?.into_iter().peekable();
    for commit in &mut page {
        if let Some((_, annotations)) = annotated.next_if(|(position, _)| *position == commit.place.position) {
            commit.annotations = annotations;
        }
    }
    Ok(page)
}
