//! Heads: names that point to commits, moved by compare-and-swap, with a log of every move.

use contexture_core::{Actor, CommitId, HeadName, JournalKind, Mutation, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    commit::{commit_id, require},
    journal,
    known::Noun,
    space::{stored, time},
    sql::{Param, Row, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// A head and where it points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Head {
    /// Its name.
    pub name: HeadName,
    /// The commit it points to.
    pub commit: CommitId,
    /// When it last moved.
    pub moved_at: Timestamp,
}

/// One move of a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeadMove {
    /// Sequence number of the move in the journal.
    pub seq: u64,
    /// Where it was; nothing when the move made it.
    #[serde(rename = "from")]
    pub origin: Option<CommitId>,
    /// Where it went; nothing when the move deleted it.
    #[serde(rename = "to")]
    pub target: Option<CommitId>,
    /// Who moved it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
}

/// Where a head must be for a move to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
    /// Anywhere, or nowhere yet.
    Anything,
    /// It must not exist.
    Absent,
    /// At this commit.
    At(CommitId),
}

impl Expect {
    /// Refuses when the head is elsewhere.
    pub fn check(self, head: &HeadName, actual: Option<CommitId>) -> Result<()> {
        let expected = match self {
            Self::Anything => return Ok(()),
            Self::Absent => None,
            Self::At(commit) => Some(commit),
        };
        if actual == expected { Ok(()) } else { Err(Error::HeadConflict { head: head.clone(), expected, actual }) }
    }
}

/// The heads that a transaction knows.
pub(crate) struct Heads;

/// How a head is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeadState {
    /// Where it points; nothing when it was never made or was deleted.
    pub(crate) target: Option<CommitId>,
    /// Sequence number of its last move.
    pub(crate) moved_seq: Option<i64>,
}

impl Noun for Heads {
    type Key = HeadName;
    type State = HeadState;
    const IS_JOURNALED: bool = true;
}

/// The columns that [`HeadState::decode`] reads, in its order, of the head `h`.
pub(crate) const STATE_COLUMNS: &str = "h.commit_id, h.moved_seq";

impl HeadState {
    /// Reads [`STATE_COLUMNS`] from a column on.
    pub(crate) fn decode(row: &Row, column: usize) -> Result<Self> {
        let target = row.optional_blob(column)?.map(commit_id).transpose()?;
        Ok(Self { target, moved_seq: row.optional_integer(column + 1)? })
    }
}

/// The table of heads.
pub(crate) static HEADS: Table = Table {
    name: "heads",
    owner: RowOwner::Space,
    key: &["space", "name"],
    columns: &[
        Column::number("space"),
        Column::text("name"),
        Column::bytes("commit_id").optional().to(RowReference::Commit),
        Column::number("moved_at"),
        Column::number("moved_seq").to(RowReference::JournalRecord),
    ],
};

/// The table of the moves of heads.
pub(crate) static REFLOG: Table = Table {
    name: "reflog",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::text("head"),
        Column::number("previous").optional().to(RowReference::JournalRecord),
        Column::bytes("from_commit").optional().to(RowReference::Commit),
        Column::bytes("to_commit").optional().to(RowReference::Commit),
        Column::text("actor"),
        Column::number("at"),
    ],
};

/// Returns where a head points.
pub async fn find(tx: &mut Tx<'_>, name: &HeadName) -> Result<Option<CommitId>> {
    Ok(state(tx, name).await?.target)
}

async fn state(tx: &mut Tx<'_>, name: &HeadName) -> Result<HeadState> {
    if let Some(state) = tx.known.get::<Heads>(name) {
        return Ok(*state);
    }
    let space = tx.space;
    let sql = format!("SELECT {STATE_COLUMNS} FROM heads h WHERE h.space = ?1 AND h.name = ?2");
    let row = tx.row(&sql, &[space.into(), name.as_str().into()]).await?;
    let state = row.map_or(Ok(HeadState { target: None, moved_seq: None }), |row| HeadState::decode(&row, 0))?;
    tx.known.learn::<Heads>(name.clone(), state);
    Ok(state)
}

/// Returns heads in name order: those after `after` whose name starts with `prefix`, at most `limit`.
pub async fn list(tx: &mut Tx<'_>, prefix: &str, after: Option<&HeadName>, limit: u32) -> Result<Vec<Head>> {
    let space = tx.space;
    let select = Head::select();
    let sql = format!(
        "{select} AND name > ?2 AND substr(name, 1, length(?3)) = ?3 AND commit_id IS NOT NULL ORDER BY name LIMIT ?4"
    );
    let after = after.map_or("", HeadName::as_str);
    tx.rows_of(&sql, &[space.into(), after.into(), prefix.into(), i64::from(limit).into()]).await
}

/// Points a head to a commit, making it if need be. Returns where it was.
pub async fn set(tx: &mut Tx<'_>, name: &HeadName, target: CommitId, expect: Expect) -> Result<Option<CommitId>> {
    require(tx, &target).await?;
    let origin = find(tx, name).await?;
    expect.check(name, origin)?;
    advance(tx, name, origin, target).await?;
    Ok(origin)
}

/// Points a head to a commit. The caller has seen, in this transaction, that the commit exists and where the head is.
pub async fn advance(tx: &mut Tx<'_>, name: &HeadName, origin: Option<CommitId>, target: CommitId) -> Result<()> {
    if origin == Some(target) {
        return Ok(());
    }
    record(tx, name, origin, Some(target)).await
}

/// Deletes a head; its log stays. Returns where it was.
pub async fn delete(tx: &mut Tx<'_>, name: &HeadName, expect: Expect) -> Result<CommitId> {
    let origin = find(tx, name).await?.ok_or_else(|| Error::NoHead(name.clone()))?;
    expect.check(name, Some(origin))?;
    record(tx, name, Some(origin), None).await?;
    Ok(origin)
}

/// Returns the moves of a head before a sequence number, newest first, at most `limit`.
pub async fn log(tx: &mut Tx<'_>, name: &HeadName, before: u64, limit: u32) -> Result<Vec<HeadMove>> {
    let space = tx.space;
    // Each move knows the one before it. Whoever reads on begins with the move that was read last.
    let (columns, of_move) = (HeadMove::columns(), HeadMove::columns_of("r"));
    let sql = format!(
        "WITH RECURSIVE moves ({columns}, previous) AS (SELECT {of_move}, r.previous FROM reflog r \
         WHERE r.space = ?1 AND r.head = ?2 AND r.seq = coalesce(\
         (SELECT l.seq FROM reflog l WHERE l.space = ?1 AND l.head = ?2 AND l.seq = ?3), \
         (SELECT h.moved_seq FROM heads h WHERE h.space = ?1 AND h.name = ?2)) \
         UNION ALL SELECT {of_move}, r.previous FROM moves m \
         JOIN reflog r ON r.space = ?1 AND r.seq = m.previous AND r.seq < m.seq AND r.head = ?2) \
         SELECT {columns} FROM moves WHERE seq < ?3 LIMIT ?4"
    );
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let params = [space.into(), name.as_str().into(), before.into(), i64::from(limit).into()];
    tx.rows_of(&sql, &params).await
}

/// A deleted head has a row without a commit, which is none to read.
impl TableRow for Head {
    const TABLE: &'static Table = &HEADS;
    const COLUMNS: &'static [&'static str] = &["name", "commit_id", "moved_at"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            name: stored::<HeadName>(row.text()?)?,
            commit: commit_id(row.blob()?)?,
            moved_at: time(row.integer()?)?,
        })
    }
}

impl TableRow for HeadMove {
    const TABLE: &'static Table = &REFLOG;
    const COLUMNS: &'static [&'static str] = &["seq", "from_commit", "to_commit", "actor", "at"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.unsigned()?,
            origin: row.optional_blob()?.map(commit_id).transpose()?,
            target: row.optional_blob()?.map(commit_id).transpose()?,
            actor: stored::<Actor>(row.text()?)?,
            at: time(row.integer()?)?,
        })
    }
}

/// Returns a move as the journal tells of it.
pub(crate) fn mutation(name: &HeadName, origin: Option<CommitId>, target: Option<CommitId>) -> Mutation {
    let kind = if target.is_some() { JournalKind::HeadMoved } else { JournalKind::HeadDeleted };
    // Each id after a byte that says whether there is one.
    let mut change = Vec::with_capacity(2 * (1 + CommitId::LEN));
    for commit in [origin, target] {
        change.push(u8::from(commit.is_some()));
        change.extend(commit.iter().flat_map(CommitId::as_bytes));
    }
    Mutation::of_bytes(kind, name.as_str(), &change)
}

/// Writes a move down: in the journal, in the head's log, and where the head is.
///
/// A head that is deleted keeps its row, which leads to its log.
async fn record(tx: &mut Tx<'_>, name: &HeadName, origin: Option<CommitId>, target: Option<CommitId>) -> Result<()> {
    let previous = state(tx, name).await?.moved_seq;
    let seq = journal::append(tx, mutation(name, origin, target)).await?.cast_signed();
    let (space, scope) = (tx.space, tx.scope);
    let sql = "INSERT INTO heads (space, name, commit_id, moved_at, moved_seq) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (space, name) DO UPDATE SET commit_id = excluded.commit_id, moved_at = excluded.moved_at, \
               moved_seq = excluded.moved_seq";
    let target_bytes = Param::from(target.as_ref().map(|id| id.as_bytes().as_slice()));
    let params = [space.into(), name.as_str().into(), target_bytes, scope.now.as_micros().into(), seq.into()];
    tx.post(sql, &params).await?;
    let sql = "INSERT INTO reflog (space, seq, head, previous, from_commit, to_commit, actor, at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let params = [
        space.into(),
        seq.into(),
        name.as_str().into(),
        previous.into(),
        origin.as_ref().map(|id| id.as_bytes().as_slice()).into(),
        target_bytes,
        scope.actor.as_str().into(),
        scope.now.as_micros().into(),
    ];
    tx.post(sql, &params).await?;
    tx.known.learn::<Heads>(name.clone(), HeadState { target, moved_seq: Some(seq) });
    Ok(())
}
