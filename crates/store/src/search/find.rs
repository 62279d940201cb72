//! Asking the index: which passages of which commits match, the best first.

use std::fmt::Write as _;

use contexture_core::{
    Annotation, CommitId, Format, LabelKey, Principal, Role, RuntimeSessionId, SummaryText, Timestamp,
};

use super::{PassageKind, PassageRow, Query, Spot};
use crate::{
    Error, Result,
    commit::{CommitPlace, PageAfter, StoredCommit},
    sql::{Dialect, Param, Row, Tx},
    table::TableRow as _,
};

/// What to look for. A filter that is not set lets everything pass.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// What the text must hold.
    pub query: Query,
    /// Which passages of which commits are looked at.
    pub filter: Filter,
    /// Most commits that are returned.
    pub max_commits: u32,
    /// Most passages that are returned of one commit.
    pub max_hits: u32,
}

/// Which passages of which commits are looked at.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this commit and those before it.
    pub ancestors_of: Option<CommitId>,
    /// Only what is said in this role.
    pub role: Option<Role>,
    /// Only this kind of passage.
    pub kind: Option<PassageKind>,
    /// Only commits in this format.
    pub format: Option<Format>,
    /// Only commits of this runtime, in whatever version: the part of their template before the slash.
    pub runtime: Option<String>,
    /// Where a runtime is named, commits in these formats too: the template of a commit may be a role.
    pub runtime_formats: Vec<Format>,
    /// Only commits of this principal.
    pub principal: Option<Principal>,
    /// Only commits of this session.
    pub session: Option<RuntimeSessionId>,
    /// Only commits that have this label or come after one that has, until it is set anew.
    pub label: Option<(LabelKey, SummaryText)>,
    /// Only commits made at or after this instant.
    pub since: Option<Timestamp>,
    /// Only commits made before this instant.
    pub until: Option<Timestamp>,
}

/// A passage that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where its commit lies.
    pub place: CommitPlace,
    /// Where in the commit it is.
    pub spot: Spot,
    /// How well it matches, in millionths; only comparable with others of the same search.
    pub score: i64,
    /// How many passages of the commit match.
    pub hits_in_commit: u64,
}

/// The matching passages with their scores.
const FOUND_BY_SQLITE: &str = "found AS MATERIALIZED (\
     SELECT rowid AS key, CAST(-1000000 * bm25(passage_words) AS INTEGER) AS score \
     FROM passage_words WHERE passage_words MATCH ?2)";
const FOUND_BY_POSTGRES: &str = "found AS MATERIALIZED (\
     SELECT key, CAST(1000000 * ts_rank_cd(words, CAST(CAST(?2 AS TEXT) AS TSQUERY), 1) AS BIGINT) AS score \
     FROM passages WHERE words @@ CAST(CAST(?2 AS TEXT) AS TSQUERY) AND space = ?1)";

/// The lines of a history and how far it reaches on each.
const REACH: &str = "reach(line, last) AS (\
     SELECT line, position FROM commits WHERE space = ?1 AND id = ?{id} \
     UNION ALL SELECT l.fork_line, l.fork_position FROM reach JOIN lines l ON l.key = reach.line \
     WHERE l.fork_line IS NOT NULL), ";

/// The stretches of lines for which a label holds: from where it is set to where it is set anew, and along the forks
/// that leave in between.
pub(crate) const LABELLED: &str = "said(line, position, annotation, until) AS (\
     SELECT line, position, annotation, lead(position) OVER (PARTITION BY line ORDER BY position, seq) \
     FROM annotations WHERE space = ?1 \
     AND substr(annotation, 1, length(CAST(?{key} AS TEXT))) = CAST(?{key} AS TEXT)), \
     labelled(line, first, until) AS (\
     SELECT line, position, until FROM said WHERE annotation = ?{label} \
     UNION ALL SELECT l.key, 0, (SELECT min(said.position) FROM said WHERE said.line = l.key) \
     FROM labelled JOIN lines l ON l.fork_line = labelled.line AND l.fork_position >= labelled.first \
     AND (labelled.until IS NULL OR l.fork_position < labelled.until)), ";

/// Returns the passages that match, those of one commit together, the commits by their best passage, then the newest
/// first.
pub async fn find(tx: &mut Tx<'_>, request: &SearchRequest) -> Result<Vec<Hit>> {
    let SearchRequest { query, filter, max_commits, max_hits } = request;
    let texts = Texts::of(query, filter, tx.dialect())?;
    let Clauses { tables, conditions, mut params } = Clauses::of(filter, &texts, tx);
    let mut sql = tables;
    params.extend([Param::from(i64::from(*max_hits)), (i64::from(*max_commits) * i64::from(*max_hits)).into()]);
    let _written = write!(
        sql,
        ", hits AS (SELECT {}, f.score, \
         c.created_at, c.seq, \
         row_number() OVER (PARTITION BY p.line, p.position ORDER BY f.score DESC, p.key) AS place, \
         count(*) OVER (PARTITION BY p.line, p.position) AS number, \
         max(f.score) OVER (PARTITION BY p.line, p.position) AS best \
         FROM found f JOIN passages p ON p.key = f.key \
         JOIN commits c ON c.line = p.line AND c.position = p.position \
         WHERE p.space = ?1{conditions}) \
         SELECT {}, score, number FROM hits WHERE place <= ?{} \
         ORDER BY best DESC, created_at DESC, seq DESC, place LIMIT ?{}",
        PassageRow::columns_of("p"),
        PassageRow::columns(),
        params.len() - 1,
        params.len(),
    );
    let mut hits = tx.rows(&sql, &params).await?.iter_mut().map(decode).collect::<Result<Vec<_>>>()?;
    // The limit is for as many commits that all have as many hits as are shown.
    let (mut commits, mut last) = (0, None);
    let beyond = hits.iter().position(|hit| {
        commits += u32::from(last != Some(hit.place));
        last = Some(hit.place);
        commits > *max_commits
    });
    hits.truncate(beyond.unwrap_or(hits.len()));
    Ok(hits)
}

/// Texts that a statement is given and that no filter holds as they are.
struct Texts {
    expression: String,
    label: Option<(String, String)>,
    runtime: Option<String>,
}

impl Texts {
    fn of(query: &Query, filter: &Filter, dialect: Dialect) -> Result<Self> {
        Ok(Self {
            expression: query.expression(dialect),
            label: filter.label.as_ref().map(|(key, value)| label_texts(key, value)).transpose()?,
            runtime: filter.runtime.as_ref().map(|runtime| format!("{runtime}/")),
        })
    }
}

/// The parts that all statements about passages have: `found` is what matches, of which the passage `p` and its commit `c`
/// must meet the conditions.
struct Clauses<'q> {
    tables: String,
    conditions: String,
    params: Vec<Param<'q>>,
}

impl<'q> Clauses<'q> {
    fn of(filter: &'q Filter, texts: &'q Texts, tx: &Tx<'_>) -> Self {
        let found = match tx.dialect() {
            Dialect::Sqlite => FOUND_BY_SQLITE,
            Dialect::Postgres => FOUND_BY_POSTGRES,
        };
        let mut params: Vec<Param<'q>> = vec![tx.space.into(), texts.expression.as_str().into()];
        let mut tables = String::from("WITH RECURSIVE ");
        let mut conditions = String::new();
        if let Some(commit) = &filter.ancestors_of {
            params.push(Param::Blob(commit.as_bytes()));
            tables.push_str(&REACH.replace("{id}", &params.len().to_string()));
            conditions
                .push_str(" AND EXISTS (SELECT 1 FROM reach WHERE reach.line = p.line AND p.position <= reach.last)");
        }
        if let Some((key, label)) = &texts.label {
            params.extend([Param::from(key.as_str()), label.as_str().into()]);
            let (key, label) = ((params.len() - 1).to_string(), params.len().to_string());
            tables.push_str(&LABELLED.replace("{key}", &key).replace("{label}", &label));
            conditions.push_str(
                " AND EXISTS (SELECT 1 FROM labelled WHERE labelled.line = p.line AND p.position >= labelled.first \
                 AND (labelled.until IS NULL OR p.position < labelled.until))",
            );
        }
        let plain = [
            ("p.role =", filter.role.map(|role| role.as_str().into())),
            ("p.kind =", filter.kind.map(|kind| kind.as_str().into())),
            ("c.format =", filter.format.as_ref().map(|format| format.as_str().into())),
            ("c.principal =", filter.principal.as_ref().map(|principal| principal.as_str().into())),
            ("c.session =", filter.session.as_ref().map(|session| session.as_str().into())),
            ("c.created_at >=", filter.since.map(|since| since.as_micros().into())),
            ("c.created_at <", filter.until.map(|until| until.as_micros().into())),
        ];
        for (condition, param) in plain {
            if let Some(param) = param {
                params.push(param);
                // Writing to a String cannot fail.
                let _written = write!(conditions, " AND {condition} ?{}", params.len());
            }
        }
        if let Some(runtime) = &texts.runtime {
            params.push(runtime.as_str().into());
            let number = params.len();
            let _written = write!(
                conditions,
                " AND (substr(c.template || '/', 1, length(CAST(?{number} AS TEXT))) = CAST(?{number} AS TEXT)"
            );
            for format in &filter.runtime_formats {
                params.push(format.as_str().into());
                let _written = write!(conditions, " OR c.format = ?{}", params.len());
            }
            conditions.push(')');
        }
        tables.push_str(found);
        Self { tables, conditions, params }
    }
}

/// Returns up to `limit` commits with passages that match, newest first by the time they carry, then by sequence.
pub async fn newest(
    tx: &mut Tx<'_>,
    (query, filter): (&Query, &Filter),
    after: Option<PageAfter>,
    limit: u32,
) -> Result<Vec<StoredCommit>> {
    let texts = Texts::of(query, filter, tx.dialect())?;
    let Clauses { tables: mut sql, conditions, mut params } = Clauses::of(filter, &texts, tx);
    let _written = write!(
        sql,
        " {} AND seq > 0 AND (line, position) IN \
         (SELECT p.line, p.position FROM found f JOIN passages p ON p.key = f.key \
         JOIN commits c ON c.line = p.line AND c.position = p.position WHERE p.space = ?1{conditions})",
        StoredCommit::select()
    );
    if let Some(PageAfter { created_at, seq }) = after {
        params.extend([Param::from(created_at.as_micros()), seq.cast_signed().into()]);
        let _written = write!(sql, " AND (created_at, seq) < (?{}, ?{})", params.len() - 1, params.len());
    }
    params.push(i64::from(limit).into());
    let _written = write!(sql, " ORDER BY created_at DESC, seq DESC LIMIT ?{}", params.len());
    tx.rows_of(&sql, &params).await
}

/// Returns how the annotations of a label start, and the one that sets it to a value, as they are stored.
pub(crate) fn label_texts(key: &LabelKey, value: &SummaryText) -> Result<(String, String)> {
    let json = |value: SummaryText| {
        serde_json::to_string(&Annotation::Label { key: key.clone(), value })
            .map_err(|error| Error::damaged(format!("a label has no JSON form: {error}")))
    };
    let mut start = json(SummaryText::default())?;
    // Without the quotation mark and the brace that end an empty value.
    start.truncate(start.len() - 2);
    Ok((start, json(value.clone())?))
}

fn decode(row: &mut Row) -> Result<Hit> {
    let row = &mut row.reader(0);
    let PassageRow { place, spot } = PassageRow::decode(row)?;
    Ok(Hit { place, spot, score: row.integer()?, hits_in_commit: row.unsigned()? })
}
