//! How a commit is written to and read from its row.

use std::{fmt, str::FromStr};

use contexture_core::{
    Annotations, Commit, CommitId, CommitKind, Count, Format, Machine, Principal, Provenance, RuntimeSessionId,
    Template, Thread, Ticket, Trigger,
};

use super::{COMMITS, CommitPlace, Site, StoredCommit};
use crate::{
    Error, Result,
    artifact::artifact_id,
    space::{stored, time},
    sql::{Param, Row, Tx},
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
    fn decode(row: &Row) -> Result<Self> {
        fn name<T: FromStr<Err: fmt::Display>>(row: &Row, column: usize) -> Result<Option<T>> {
            row.optional_text(column)?.map(stored).transpose()
        }
        let merges = row.blob(14)?;
        if merges.len() % CommitId::LEN != 0 {
            return Err(Error::damaged("a list of merged commits is cut off"));
        }
        let commit = Commit {
            parent: row.optional_blob(3)?.map(commit_id).transpose()?,
            kind: stored::<CommitKind>(row.text(4)?)?,
            artifact: artifact_id(row.blob(5)?)?,
            format: stored::<Format>(row.text(6)?)?,
            provenance: Provenance {
                template: name(row, 7)?,
                principal: name(row, 8)?,
                machine: name(row, 9)?,
                session: name(row, 10)?,
                ticket: name(row, 11)?,
                thread: name(row, 12)?,
            },
            trigger: stored::<Trigger>(row.text(13)?)?,
            merges: merges.chunks_exact(CommitId::LEN).map(commit_id).collect::<Result<_>>()?,
            message_count: count(row, 15)?,
            token_count: count(row, 16)?,
            created_at: time(row.integer(17)?)?,
        };
        Ok(Self {
            id: commit_id(row.blob(2)?)?,
            commit,
            seq: row.integer(18)?.cast_unsigned(),
            depth: row.integer(19)?.cast_unsigned(),
            place: CommitPlace { line: row.integer(0)?, position: row.integer(1)? },
            reset: place(row, 20)?,
            annotations: Annotations::default(),
        })
    }
}

/// Reads a place from two columns that are both set or both not.
pub(crate) fn place(row: &Row, column: usize) -> Result<Option<CommitPlace>> {
    let line = row.optional_integer(column)?;
    let position = row.optional_integer(column + 1)?;
    Ok(line.zip(position).map(|(line, position)| CommitPlace { line, position }))
}

pub(crate) fn commit_id(bytes: &[u8]) -> Result<CommitId> {
    bytes.try_into().map_err(|_| Error::damaged("a commit id has the wrong length"))
}

fn count(row: &Row, column: usize) -> Result<Option<Count>> {
    let Some(number) = row.optional_integer(column)? else {
        return Ok(None);
    };
    let count = u64::try_from(number).ok().and_then(Count::new);
    count.map(Some).ok_or_else(|| Error::damaged(format!("{number} is no count")))
}
