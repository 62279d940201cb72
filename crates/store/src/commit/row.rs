//! How a commit is written to and read from its row.

use std::{fmt, str::FromStr};

use contexture_core::{
    Annotations, Commit, CommitId, CommitKind, Count, Format, Machine, Principal, Provenance, RuntimeSessionId,
    Template, Thread, Ticket, Trigger,
};

use super::{COMMITS, CommitPlace, LINES, LineRow, Site, StoredCommit};
use crate::{
    Error, Result,
    artifact::artifact_id,
    space::{stored, time},
    sql::{Param, Row, RowReader, Tx},
    table::{Table, TableRow},
};

pub(super) struct NewRow<'r> {
    pub(super) id: &'r CommitId,
    pub(super) commit: &'r Commit,
    pub(super) site: Site,
    /// None is looked up.
    pub(super) artifact_key: Option<i64>,
    pub(super) seq: u64,
}

pub(super) async fn insert(tx: &mut Tx<'_>, new: NewRow<'_>) -> Result<()> {
    let NewRow { id, commit, site, artifact_key, seq } = new;
    let Provenance { template, principal, machine, session, ticket, thread } = &commit.provenance;
    let merges: Vec<u8> = commit.merges.iter().flat_map(|merged| *merged.as_bytes()).collect();
    let count = |count: Option<Count>| Param::from(count.map(|count| count.get().cast_signed()));
    let space = tx.space;
    let sql = "INSERT INTO commits (line, position, space, id, parent, kind, artifact, artifact_key, format, template, \
               principal, machine, session, ticket, thread, cause, merges, message_count, token_count, created_at, \
               seq, depth, reset_line, reset_position) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
               COALESCE(?8, (SELECT a.key FROM artifacts a WHERE a.space = ?3 AND a.digest = ?7)), ?9, ?10, ?11, ?12, \
               ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)";
    let params = [
        site.place.line.into(),
        site.place.position.into(),
        space.into(),
        Param::Blob(id.as_bytes()),
        commit.parent.as_ref().map(|parent| parent.as_bytes().as_slice()).into(),
        commit.kind.as_str().into(),
        Param::Blob(commit.artifact.as_bytes()),
        artifact_key.into(),
        commit.format.as_str().into(),
        template.as_ref().map(Template::as_str).into(),
        principal.as_ref().map(Principal::as_str).into(),
        machine.as_ref().map(Machine::as_str).into(),
        session.as_ref().map(RuntimeSessionId::as_str).into(),
        ticket.as_ref().map(Ticket::as_str).into(),
        thread.as_ref().map(Thread::as_str).into(),
        commit.trigger.as_str().into(),
        Param::Blob(&merges),
        count(commit.message_count),
        count(commit.token_count),
        commit.created_at.as_micros().into(),
        seq.cast_signed().into(),
        site.depth.into(),
        site.reset.map(|reset| reset.line).into(),
        site.reset.map(|reset| reset.position).into(),
    ];
    tx.post(sql, &params).await
}

impl TableRow for StoredCommit {
    const TABLE: &'static Table = &COMMITS;
    const COLUMNS: &'static [&'static str] = &[
        "line",
        "position",
        "id",
        "parent",
        "kind",
        "artifact",
        "format",
        "template",
        "principal",
        "machine",
        "session",
        "ticket",
        "thread",
        "cause",
        "merges",
        "message_count",
        "token_count",
        "created_at",
        "seq",
        "depth",
        "reset_line",
        "reset_position",
    ];

    /// The annotations are still to be filled in.
    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let place = CommitPlace { line: row.integer()?, position: row.integer()? };
        let id = commit_id(row.blob()?)?;
        let commit = Commit {
            parent: row.optional_blob()?.map(commit_id).transpose()?,
            kind: stored::<CommitKind>(row.text()?)?,
            artifact: artifact_id(row.blob()?)?,
            format: stored::<Format>(row.text()?)?,
            provenance: Provenance {
                template: name(row)?,
                principal: name(row)?,
                machine: name(row)?,
                session: name(row)?,
                ticket: name(row)?,
                thread: name(row)?,
            },
            trigger: stored::<Trigger>(row.text()?)?,
            merges: merges(row.blob()?)?,
            message_count: count(row)?,
            token_count: count(row)?,
            created_at: time(row.integer()?)?,
        };
        let (seq, depth) = (row.unsigned()?, row.unsigned()?);
        let reset = placed(row.optional_integer()?, row.optional_integer()?);
        Ok(Self { id, commit, seq, depth, place, reset, annotations: Annotations::default() })
    }
}

impl TableRow for LineRow {
    const TABLE: &'static Table = &LINES;
    const COLUMNS: &'static [&'static str] = &["key", "fork_line", "fork_position"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { key: row.integer()?, fork_line: row.optional_integer()?, fork_position: row.optional_integer()? })
    }
}

/// Reads a place from two columns that are both set or both not.
pub(crate) fn place(row: &Row, column: usize) -> Result<Option<CommitPlace>> {
    Ok(placed(row.optional_integer(column)?, row.optional_integer(column + 1)?))
}

/// Returns a place of which both or neither is known.
pub(super) fn placed(line: Option<i64>, position: Option<i64>) -> Option<CommitPlace> {
    line.zip(position).map(|(line, position)| CommitPlace { line, position })
}

pub(crate) fn commit_id(bytes: &[u8]) -> Result<CommitId> {
    bytes.try_into().map_err(|_| Error::damaged("a commit id has the wrong length"))
}

/// Reads the ids of merged commits, which lie one after the other.
pub(super) fn merges(bytes: &[u8]) -> Result<Vec<CommitId>> {
    if !bytes.len().is_multiple_of(CommitId::LEN) {
        return Err(Error::damaged("a list of merged commits is cut off"));
    }
    bytes.chunks_exact(CommitId::LEN).map(commit_id).collect()
}

fn name<T: FromStr<Err: fmt::Display>>(row: &mut RowReader<'_>) -> Result<Option<T>> {
    row.optional_text()?.map(stored).transpose()
}

fn count(row: &mut RowReader<'_>) -> Result<Option<Count>> {
    let Some(number) = row.optional_integer()? else {
        return Ok(None);
    };
    let count = u64::try_from(number).ok().and_then(Count::new);
    count.map(Some).ok_or_else(|| Error::damaged(format!("{number} is no count")))
}
