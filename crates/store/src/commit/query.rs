//! Finding commits by who, when and what for.

use std::fmt::Write as _;

use contexture_core::{ArtifactId, CommitId, Format, Principal, RuntimeSessionId, Template, Thread, Ticket, Timestamp};

use super::{Moment, StoredCommit, commit_id};
use crate::{
    Result, annotation,
    sql::{Param, Tx},
    table::TableRow as _,
};

/// Which commits to list. An empty filter lists all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this principal.
    pub principal: Option<Principal>,
    /// Only those of this session.
    pub session: Option<RuntimeSessionId>,
    /// Only those for this work item.
    pub ticket: Option<Ticket>,
    /// Only those in this thread.
    pub thread: Option<Thread>,
    /// Only those of this kind of agent.
    pub template: Option<Template>,
    /// Only those in this format.
    pub format: Option<Format>,
    /// Only those made at or after this instant.
    pub since: Option<Timestamp>,
    /// Only those made before this instant.
    pub until: Option<Timestamp>,
    /// Only those that nobody has summed up yet.
    pub missing_summary: bool,
}

/// Where the next page starts: after the commit made then, with that sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAfter {
    /// When that commit was made.
    pub created_at: Timestamp,
    /// Its sequence number.
    pub seq: u64,
}

/// The latest summary of a commit is absent or empty.
const NO_SUMMARY: &str = " AND coalesce((SELECT n.annotation FROM annotations n \
     WHERE n.line = commits.line AND n.position = commits.position AND n.annotation LIKE '{\"kind\":\"summary\"%' \
     ORDER BY n.seq DESC LIMIT 1), '{\"kind\":\"summary\",\"text\":\"\"}') = '{\"kind\":\"summary\",\"text\":\"\"}'";

/// Returns up to `limit` commits that pass the filter, newest first by the time they carry, then by sequence.
pub async fn list(tx: &mut Tx<'_>, filter: &Filter, after: Option<PageAfter>, limit: u32) -> Result<Vec<StoredCommit>> {
    let mut params: Vec<Param<'_>> = vec![tx.space.into()];
    // The second condition always holds; PostgreSQL's index by time asks for it.
    let mut sql = format!("{} AND seq > 0", StoredCommit::select());
    let conditions = [
        ("principal =", filter.principal.as_ref().map(|principal| principal.as_str().into())),
        ("session =", filter.session.as_ref().map(|session| session.as_str().into())),
        ("ticket =", filter.ticket.as_ref().map(|ticket| ticket.as_str().into())),
        ("thread =", filter.thread.as_ref().map(|thread| thread.as_str().into())),
        ("template =", filter.template.as_ref().map(|template| template.as_str().into())),
        ("format =", filter.format.as_ref().map(|format| format.as_str().into())),
        ("created_at >=", filter.since.map(|since| since.as_micros().into())),
        ("created_at <", filter.until.map(|until| until.as_micros().into())),
    ];
    for (condition, param) in conditions {
        if let Some(param) = param {
            params.push(param);
            // Writing to a String cannot fail.
            let _written = write!(sql, " AND {condition} ?{}", params.len());
        }
    }
    if let Some(PageAfter { created_at, seq }) = after {
        params.extend([Param::from(created_at.as_micros()), seq.cast_signed().into()]);
        let _written = write!(sql, " AND (created_at, seq) < (?{}, ?{})", params.len() - 1, params.len());
    }
    if filter.missing_summary {
        sql.push_str(NO_SUMMARY);
    }
    params.push(i64::from(limit).into());
    let _written = write!(sql, " ORDER BY created_at DESC, seq DESC LIMIT ?{}", params.len());
    let mut page = tx.rows_of::<StoredCommit>(&sql, &params).await?;
    for commit in &mut page {
        let at = commit.place;
        if let Some((_, found)) = annotation::in_force(tx, at.line, at.position, at.position).await?.pop() {
            commit.annotations = found;
        }
    }
    Ok(page)
}

/// Returns the commits whose content an artifact is, oldest first. It goes over all commits of the space.
pub async fn with_artifact(tx: &mut Tx<'_>, artifact: &ArtifactId) -> Result<Vec<StoredCommit>> {
    let sql = format!("{} AND artifact = ?2 ORDER BY seq", StoredCommit::select());
    let space = tx.space;
    tx.rows_of(&sql, &[space.into(), Param::Blob(artifact.as_bytes())]).await
}

/// Returns a principal's last commit at or before an instant; among equal instants the last made.
pub async fn resolve(tx: &mut Tx<'_>, moment: &Moment) -> Result<Option<CommitId>> {
    let space = tx.space;
    let sql = "SELECT id FROM commits WHERE space = ?1 AND principal = ?2 AND created_at <= ?3 \
               ORDER BY created_at DESC, seq DESC LIMIT 1";
    let params = [space.into(), moment.principal.as_str().into(), moment.at.as_micros().into()];
    tx.row(sql, &params).await?.map(|row| commit_id(row.blob(0)?)).transpose()
}
