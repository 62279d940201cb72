//! Finding commits by who, when and what for.

use std::fmt::Write as _;

use contexture_core::{
    Annotation, ArtifactId, CommitId, CommitKind, Format, LabelKey, Machine, Principal, RuntimeSessionId, SummaryText,
    Tag, Template, Thread, Ticket, Timestamp, Trigger,
};

use super::{Moment, StoredCommit, commit_id};
use crate::{
    Error, Result, annotation,
    search::{LABELLED, label_texts},
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
    /// Only those made on this machine.
    pub machine: Option<Machine>,
    /// Only those of this kind.
    pub kind: Option<CommitKind>,
    /// Only those that this caused.
    pub trigger: Option<Trigger>,
    /// Only those that have this tag.
    pub tag: Option<Tag>,
    /// Only those that have this label or come after one that has, until it is set anew.
    pub label: Option<(LabelKey, SummaryText)>,
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

/// The latest that was said of a tag is that the commit has it.
const TAGGED: &str = " AND (SELECT n.annotation FROM annotations n WHERE n.line = commits.line \
     AND n.position = commits.position AND n.annotation IN (?{tag}, ?{untag}) ORDER BY n.seq DESC LIMIT 1) = ?{tag}";
/// The commit lies where a label holds.
const IN_LABELLED: &str = " AND EXISTS (SELECT 1 FROM labelled WHERE labelled.line = commits.line \
     AND commits.position >= labelled.first AND (labelled.until IS NULL OR commits.position < labelled.until))";

/// Texts that a statement is given and that no filter holds as they are.
struct Texts {
    /// What sets the tag, and what takes it off.
    tag: Option<(String, String)>,
    /// How labels with the key start, and the one with the value.
    label: Option<(String, String)>,
}

impl Texts {
    fn of(filter: &Filter) -> Result<Self> {
        let json = |annotation: Annotation| {
            serde_json::to_string(&annotation)
                .map_err(|error| Error::damaged(format!("a tag has no JSON form: {error}")))
        };
        let tag = match filter.tag.clone() {
            Some(tag) => Some((json(Annotation::Tag { tag: tag.clone() })?, json(Annotation::Untag { tag })?)),
            None => None,
        };
        let label = filter.label.as_ref().map(|(key, value)| label_texts(key, value)).transpose()?;
        Ok(Self { tag, label })
    }
}

/// Returns up to `limit` commits that pass the filter, newest first by the time they carry, then by sequence.
///
/// An index leads to those of a principal, session, ticket, thread, template and time. By the rest, an index is followed
/// and what does not pass is left out; of a label, all that was said under its key is read.
pub async fn list(tx: &mut Tx<'_>, filter: &Filter, after: Option<PageAfter>, limit: u32) -> Result<Vec<StoredCommit>> {
    let texts = Texts::of(filter)?;
    let mut params: Vec<Param<'_>> = vec![tx.space.into()];
    let mut sql = String::new();
    if let Some((start, label)) = &texts.label {
        params.extend([Param::from(start.as_str()), label.as_str().into()]);
        let tables = LABELLED.replace("{key}", "2").replace("{label}", "3");
        sql = format!("WITH RECURSIVE {} ", tables.trim_end_matches([',', ' ']));
    }
    // The second condition always holds; PostgreSQL's index by time asks for it.
    let _written = write!(sql, "{} AND seq > 0", StoredCommit::select());
    let conditions = [
        ("principal =", filter.principal.as_ref().map(|principal| principal.as_str().into())),
        ("session =", filter.session.as_ref().map(|session| session.as_str().into())),
        ("ticket =", filter.ticket.as_ref().map(|ticket| ticket.as_str().into())),
        ("thread =", filter.thread.as_ref().map(|thread| thread.as_str().into())),
        ("template =", filter.template.as_ref().map(|template| template.as_str().into())),
        ("machine =", filter.machine.as_ref().map(|machine| machine.as_str().into())),
        ("kind =", filter.kind.map(|kind| kind.as_str().into())),
        ("cause =", filter.trigger.map(|trigger| trigger.as_str().into())),
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
    if let Some((tag, untag)) = &texts.tag {
        params.extend([Param::from(tag.as_str()), untag.as_str().into()]);
        let (tag, untag) = ((params.len() - 1).to_string(), params.len().to_string());
        sql.push_str(&TAGGED.replace("{tag}", &tag).replace("{untag}", &untag));
    }
    if texts.label.is_some() {
        sql.push_str(IN_LABELLED);
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
