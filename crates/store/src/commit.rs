//! Commits and the lines they lie on.
//!
//! A commit whose parent is the last of a line continues that line at the next position; otherwise it opens a new line
//! at that fork point. So a checkpoint and a fork cost the same at any depth, and a walk is a range scan per line.

mod query;
mod row;
mod users;
mod walk;

use std::fmt;

use contexture_core::{
    Annotations, ChainDigest, Commit, CommitId, JournalKind, Mutation, Principal, SummaryText, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use query::{Filter, PageAfter, list, resolve, with_artifact};
pub use users::{ArtifactUse, users};
pub use walk::{
    LineSegment, SegmentTotals, WholeLine, ancestry, children, deltas_by_format, merged_in, page_back, page_forward,
    segments, summaries_back, tips, totals, whole_lines,
};

use crate::{
    Error, Result,
    artifact::Artifacts,
    journal,
    known::Noun,
    sql::{Param, Row, Tx},
    table::{Column, RowOwner, RowReference, Table},
};
pub(crate) use row::{commit_id, place};

/// Where a commit lies: its line and its position on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CommitPlace {
    /// Key of the line.
    pub line: i64,
    /// Position on the line, from 0.
    pub position: i64,
}

impl fmt::Display for CommitPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, position {}", self.line, self.position)
    }
}

/// A commit as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCommit {
    /// Its id.
    pub id: CommitId,
    /// Its record.
    pub commit: Commit,
    /// Sequence number of its creation in the journal of its space.
    pub seq: u64,
    /// How many commits come before it.
    pub depth: u64,
    /// Where it lies.
    pub place: CommitPlace,
    /// The nearest compaction or snapshot at or before it.
    pub reset: Option<CommitPlace>,
    /// What is said about it.
    pub annotations: Annotations,
}

/// A commit, with nothing of it but what sums it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizedCommit {
    /// Its id.
    pub id: CommitId,
    /// How many commits come before it.
    pub depth: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its summary in force.
    pub summary: Option<SummaryText>,
}

/// A line as its row has it.
pub(crate) struct LineRow {
    pub(crate) key: i64,
    /// The line that it forks off.
    pub(crate) fork_line: Option<i64>,
    /// Where on that line.
    pub(crate) fork_position: Option<i64>,
}

/// The table of lines.
pub(crate) static LINES: Table = Table {
    name: "lines",
    owner: RowOwner::Space,
    key: &["key"],
    columns: &[
        Column::number("key"),
        Column::number("space"),
        Column::number("fork_line").optional().to(RowReference::CommitPlace),
        Column::number("fork_position").optional(),
    ],
};

/// The table of commits.
pub(crate) static COMMITS: Table = Table {
    name: "commits",
    owner: RowOwner::Space,
    key: &["line", "position"],
    columns: &[
        Column::number("line").to(RowReference::Line),
        Column::number("position"),
        Column::number("space"),
        Column::bytes("id"),
        Column::bytes("parent").optional().to(RowReference::Commit),
        Column::text("kind"),
        Column::bytes("artifact").to(RowReference::SameArtifact),
        Column::number("artifact_key").to(RowReference::ArtifactKey),
        Column::text("format"),
        Column::text("template").optional(),
        Column::text("principal").optional(),
        Column::text("machine").optional(),
        Column::text("session").optional(),
        Column::text("ticket").optional(),
        Column::text("thread").optional(),
        Column::text("cause"),
        Column::bytes("merges").to(RowReference::Commits),
        Column::number("message_count").optional(),
        Column::number("token_count").optional(),
        Column::number("created_at"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::number("depth"),
        Column::number("reset_line").optional().to(RowReference::CommitPlace),
        Column::number("reset_position").optional(),
    ],
};

/// Stores a commit whose artifact is already stored. Tells whether it is new; a commit already here stays as it is.
pub async fn insert(tx: &mut Tx<'_>, commit: &Commit) -> Result<(CommitId, Inserted)> {
    let encoded = commit.digest();
    let id = Commit::id_of(&encoded);
    let survey = survey(tx, &id, commit).await?;
    if survey.already_there {
        return Ok((id, Inserted::AlreadyThere));
    }
    if survey.artifact_key.is_none() && tx.known.get::<Artifacts>(&commit.artifact).is_none() {
        return Err(Error::NoArtifact(commit.artifact));
    }
    for merged in &commit.merges {
        find_place(tx, merged).await?.ok_or(Error::NoMerged(*merged))?;
    }
    let site = site(tx, commit, survey.parent).await?;
    let mutation = Mutation { kind: JournalKind::CommitCreated, subject: id.to_string(), digest: ChainDigest(encoded) };
    let seq = journal::append(tx, mutation).await?;
    row::insert(tx, row::NewRow { id: &id, commit, site, artifact_key: survey.artifact_key, seq }).await?;
    if let Some(parent) = &commit.parent {
        // It has a child now. Few go on from it, so it is not worth keeping in mind.
        tx.known.forget::<Commits>(parent);
    }
    tx.known.learn::<Commits>(id, Tip { site, is_continued: false });
    Ok((id, Inserted::New))
}

/// What became of a commit that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It was not there before.
    New,
    /// It was there, the same in every field.
    AlreadyThere,
}

/// Where a new commit goes and what it inherits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    place: CommitPlace,
    depth: i64,
    reset: Option<CommitPlace>,
}

/// What the store knows of a commit before it is stored, asked in one statement: this is the hot path.
struct Survey {
    already_there: bool,
    /// The key of the artifact's row; none also when the artifact was only just made sure of.
    artifact_key: Option<i64>,
    parent: Option<Tip>,
}

/// A commit as something to go on from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tip {
    site: Site,
    /// Whether another commit lies behind it on its line. Only then may it have other children.
    pub(crate) is_continued: bool,
}

/// The commits that a transaction knows as something to go on from.
pub(crate) struct Commits;

impl Noun for Commits {
    type Key = CommitId;
    type State = Tip;
    const IS_JOURNALED: bool = true;
}

/// The columns that [`Tip::decode`] reads, in its order, of the commit `p`.
pub(crate) const TIP_COLUMNS: &str = "p.line, p.position, p.depth, p.reset_line, p.reset_position, \
     (SELECT 1 FROM commits n WHERE n.line = p.line AND n.position = p.position + 1)";

impl Tip {
    /// Reads [`TIP_COLUMNS`] from a column on.
    pub(crate) fn decode(row: &Row, column: usize) -> Result<Option<Self>> {
        let Some(place) = row::place(row, column)? else {
            return Ok(None);
        };
        let site = Site { place, depth: row.integer(column + 2)?, reset: row::place(row, column + 3)? };
        Ok(Some(Self { site, is_continued: row.optional_integer(column + 5)?.is_some() }))
    }
}

async fn survey(tx: &mut Tx<'_>, id: &CommitId, commit: &Commit) -> Result<Survey> {
    // What has no children is not the parent of this commit.
    let parent = commit.parent.as_ref().and_then(|parent| tx.known.get::<Commits>(parent));
    if let Some(&parent) = parent.filter(|tip| !tip.is_continued)
        && tx.known.get::<Artifacts>(&commit.artifact).is_some()
    {
        return Ok(Survey { already_there: false, artifact_key: None, parent: Some(parent) });
    }
    let space = tx.space;
    let sql = format!(
        "SELECT (SELECT 1 FROM commits c WHERE c.space = ?1 AND c.id = ?2), \
         (SELECT a.key FROM artifacts a WHERE a.space = ?1 AND a.digest = ?3), {TIP_COLUMNS} \
         FROM spaces s LEFT JOIN commits p ON p.space = s.key AND p.id = ?4 WHERE s.key = ?1"
    );
    let params = [
        space.into(),
        Param::Blob(id.as_bytes()),
        Param::Blob(commit.artifact.as_bytes()),
        commit.parent.as_ref().map(|parent| parent.as_bytes().as_slice()).into(),
    ];
    let row = tx.one(&sql, &params).await?;
    Ok(Survey {
        already_there: row.optional_integer(0)?.is_some(),
        artifact_key: row.optional_integer(1)?,
        parent: Tip::decode(&row, 2)?,
    })
}

async fn site(tx: &mut Tx<'_>, commit: &Commit, parent: Option<Tip>) -> Result<Site> {
    let (place, depth, inherited) = match (&commit.parent, parent) {
        (None, _) => (CommitPlace { line: open_line(tx, None).await?, position: 0 }, 0, None),
        (Some(missing), None) => return Err(Error::NoParent(*missing)),
        (Some(_), Some(Tip { site, is_continued })) => {
            let place = if is_continued {
                CommitPlace { line: open_line(tx, Some(site.place)).await?, position: 0 }
            } else {
                CommitPlace { line: site.place.line, position: site.place.position + 1 }
            };
            (place, site.depth + 1, site.reset)
        }
    };
    let reset = if commit.kind.is_reset() { Some(place) } else { inherited };
    Ok(Site { place, depth, reset })
}

async fn open_line(tx: &mut Tx<'_>, fork: Option<CommitPlace>) -> Result<i64> {
    let space = tx.space;
    let sql = "INSERT INTO lines (space, fork_line, fork_position) VALUES (?1, ?2, ?3) RETURNING key";
    let params = [space.into(), fork.map(|at| at.line).into(), fork.map(|at| at.position).into()];
    tx.one(sql, &params).await?.integer(0)
}

/// Returns where a commit lies.
pub async fn find_place(tx: &mut Tx<'_>, id: &CommitId) -> Result<Option<CommitPlace>> {
    if let Some(tip) = tx.known.get::<Commits>(id) {
        return Ok(Some(tip.site.place));
    }
    let space = tx.space;
    let sql = "SELECT line, position FROM commits WHERE space = ?1 AND id = ?2";
    let row = tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?;
    row.map(|row| Ok(CommitPlace { line: row.integer(0)?, position: row.integer(1)? })).transpose()
}

/// Tells whether a commit is stored. An index knows, so this reads no row.
pub(crate) async fn exists(tx: &mut Tx<'_>, id: &CommitId) -> Result<bool> {
    let space = tx.space;
    let sql = "SELECT 1 FROM commits WHERE space = ?1 AND id = ?2";
    Ok(tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?.is_some())
}

/// Returns where a commit lies, or the error that says there is none.
pub async fn require(tx: &mut Tx<'_>, id: &CommitId) -> Result<CommitPlace> {
    find_place(tx, id).await?.ok_or(Error::NoCommit(*id))
}

/// Returns a commit.
pub async fn show(tx: &mut Tx<'_>, id: &CommitId) -> Result<StoredCommit> {
    let place = require(tx, id).await?;
    at(tx, place).await
}

/// Returns the commit at a place.
pub async fn at(tx: &mut Tx<'_>, place: CommitPlace) -> Result<StoredCommit> {
    let mut page = walk::between(tx, place.line, place.position, place.position, 1).await?;
    page.pop().ok_or_else(|| Error::damaged(format!("line {} has no position {}", place.line, place.position)))
}

/// Returns the commits whose ids lie in a range, at most `limit`: how an abbreviated id is looked up.
pub async fn ids_between(tx: &mut Tx<'_>, first: &CommitId, last: &CommitId, limit: u32) -> Result<Vec<CommitId>> {
    let space = tx.space;
    let sql = "SELECT id FROM commits WHERE space = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id LIMIT ?4";
    let params = [space.into(), Param::Blob(first.as_bytes()), Param::Blob(last.as_bytes()), i64::from(limit).into()];
    tx.rows(sql, &params).await?.iter().map(|row| commit_id(row.blob(0)?)).collect()
}

/// The key under which `resolve` looks: whose last commit, and when.
#[derive(Debug, Clone)]
pub struct Moment {
    /// Whose.
    pub principal: Principal,
    /// At or before this instant.
    pub at: Timestamp,
}
