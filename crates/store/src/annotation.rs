//! Annotations: what is said about commits, in order, never overwritten.

use std::collections::HashMap;

use contexture_core::{
    Actor, Annotation, Annotations, ChainDigest, CommitId, JournalKind, LabelKey, Mutation, Noted, SummaryText,
    Timestamp,
};
use serde::Deserialize;

use crate::{
    Error, Result,
    commit::{self, CommitPlace, LineSegment, require},
    journal,
    space::{stored, time},
    sql::{RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
    withheld_text,
};

/// The table of annotations.
pub(crate) static ANNOTATIONS: Table = Table {
    name: "annotations",
    owner: RowOwner::Space,
    key: &["line", "position", "seq"],
    columns: &[
        Column::number("line").to(RowReference::CommitPlace),
        Column::number("position"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::number("space"),
        Column::text("annotation"),
        Column::text("author"),
        Column::number("at"),
        Column::bytes("withheld").optional(),
    ],
};

/// Adds a statement about a commit, by the transaction's actor at its time.
pub async fn add(tx: &mut Tx<'_>, commit: &CommitId, annotation: Annotation) -> Result<()> {
    let noted = Noted { annotation, author: tx.scope.actor.clone(), at: tx.scope.now };
    let place = require(tx, commit).await?;
    insert(tx, commit, place, &noted).await
}

/// Adds the statements that were made elsewhere, with their authors and times, except those that are here already.
///
/// Returns how many were added. What was said twice is here only if it is here twice: a tag may come, go and come back.
pub async fn restore(tx: &mut Tx<'_>, commit: &CommitId, notes: &[Noted]) -> Result<u64> {
    let place = require(tx, commit).await?;
    let mut here = between(tx, place.line, place.position, place.position).await?;
    let mut added = 0;
    for noted in notes {
        let digest = mutation(commit, noted).digest;
        // What was removed is known all the same.
        let is_known = |known: &AnnotationRow| known.noted == *noted || known.withheld == Some(digest);
        if let Some(known) = here.iter().position(is_known) {
            here.swap_remove(known);
        } else {
            insert(tx, commit, place, noted).await?;
            added += 1;
        }
    }
    Ok(added)
}

async fn insert(tx: &mut Tx<'_>, commit: &CommitId, place: CommitPlace, noted: &Noted) -> Result<()> {
    let text = serde_json::to_string(&noted.annotation)
        .map_err(|error| Error::damaged(format!("an annotation has no JSON form: {error}")))?;
    let seq = journal::append(tx, mutation(commit, noted)).await?;
    let space = tx.space;
    let sql = "INSERT INTO annotations (line, position, seq, space, annotation, author, at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let params = [
        place.line.into(),
        place.position.into(),
        seq.cast_signed().into(),
        space.into(),
        text.as_str().into(),
        noted.author.as_str().into(),
        noted.at.as_micros().into(),
    ];
    tx.post(sql, &params).await
}

pub(crate) fn mutation(commit: &CommitId, noted: &Noted) -> Mutation {
    Mutation::new(JournalKind::CommitAnnotated, commit.to_string(), noted)
}

/// Removes from what was said about a commit what may come from its content, for good. Returns how many statements say
/// something else now. The journal keeps the digests of what they said.
pub async fn withhold(tx: &mut Tx<'_>, commit: &CommitId, instead: &SummaryText) -> Result<u64> {
    let place = require(tx, commit).await?;
    let mut changed = 0;
    for AnnotationRow { seq, noted, .. } in between(tx, place.line, place.position, place.position).await? {
        let Some(annotation) = without_content(&noted.annotation, instead) else { continue };
        rewrite(tx, place, seq, &annotation).await?;
        changed += 1;
    }
    if changed > 0 {
        journal::append(tx, Mutation::new(JournalKind::AnnotationWithheld, commit.to_string(), &changed)).await?;
    }
    Ok(changed)
}

/// A statement about a commit, where it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnnotation {
    /// The commit.
    pub commit: CommitId,
    /// What is said.
    pub annotation: Annotation,
    place: CommitPlace,
    seq: i64,
}

impl StoredAnnotation {
    /// Returns the same statement in other words.
    #[must_use]
    pub fn saying(&self, annotation: Annotation) -> Self {
        Self { annotation, ..self.clone() }
    }
}

/// Returns up to `limit` statements of the space after one of them that were made since an instant.
pub async fn page(
    tx: &mut Tx<'_>,
    after: Option<&StoredAnnotation>,
    since: Option<Timestamp>,
    limit: u32,
) -> Result<Vec<StoredAnnotation>> {
    let (line, position, seq) =
        after.map_or((i64::MIN, i64::MIN, i64::MIN), |after| (after.place.line, after.place.position, after.seq));
    let columns = AnnotationRow::columns();
    let sql = format!(
        "SELECT {columns} FROM annotations WHERE space = ?1 AND (line, position, seq) > (?2, ?3, ?4) AND at >= ?5 \
         ORDER BY line, position, seq LIMIT ?6"
    );
    let since = since.map_or(i64::MIN, Timestamp::as_micros);
    let params = [tx.space.into(), line.into(), position.into(), seq.into(), since.into(), i64::from(limit).into()];
    let rows: Vec<AnnotationRow> = tx.rows_of(&sql, &params).await?;
    let mut page = Vec::with_capacity(rows.len());
    for AnnotationRow { place, noted, seq, .. } in rows {
        let commit = commit::at(tx, place).await?.id;
        page.push(StoredAnnotation { commit, annotation: noted.annotation, place, seq });
    }
    Ok(page)
}

/// Has a statement say something else for good. The journal keeps the digest of what it said.
pub async fn replace(tx: &mut Tx<'_>, stored: &StoredAnnotation) -> Result<()> {
    let StoredAnnotation { commit, annotation, place, seq } = stored;
    rewrite(tx, *place, *seq, annotation).await?;
    journal::append(tx, Mutation::new(JournalKind::AnnotationWithheld, commit.to_string(), &1)).await?;
    Ok(())
}

async fn rewrite(tx: &mut Tx<'_>, place: CommitPlace, seq: i64, annotation: &Annotation) -> Result<()> {
    let text = serde_json::to_string(annotation)
        .map_err(|error| Error::damaged(format!("an annotation has no JSON form: {error}")))?;
    let sql = format!(
        "UPDATE annotations SET annotation = ?4, withheld = {} WHERE line = ?1 AND position = ?2 AND seq = ?3",
        withheld_text::digest_of("annotations", "seq")
    );
    tx.post(&sql, &[place.line.into(), place.position.into(), seq.into(), text.as_str().into()]).await
}

/// Labels that say where and by what a commit was made, not what was said in it.
const LABELS_OF_PLACE: &[&str] =
    &["cwd", "branch", "model", "agent", "spawned-by", "parent-session", "forked-from", "session-end"];

/// Returns an annotation without what may come from the content of its commit; nothing when it holds none.
fn without_content(annotation: &Annotation, instead: &SummaryText) -> Option<Annotation> {
    match annotation {
        Annotation::Summary { text } if !text.as_str().is_empty() && text != instead => {
            Some(Annotation::Summary { text: instead.clone() })
        }
        Annotation::Label { key, value } if value != instead && !LABELS_OF_PLACE.contains(&key.as_str()) => {
            Some(Annotation::Label { key: key.clone(), value: instead.clone() })
        }
        Annotation::Coverage { coverage } if coverage.losses.iter().any(|loss| loss != instead) => {
            let mut coverage = coverage.clone();
            coverage.losses.fill(instead.clone());
            Some(Annotation::Coverage { coverage })
        }
        Annotation::Summary { .. }
        | Annotation::Label { .. }
        | Annotation::Coverage { .. }
        | Annotation::Tag { .. }
        | Annotation::Untag { .. } => None,
    }
}

/// Returns everything that was ever said about a commit, oldest first.
pub async fn history(tx: &mut Tx<'_>, place: CommitPlace) -> Result<Vec<Noted>> {
    let rows = between(tx, place.line, place.position, place.position).await?;
    Ok(rows.into_iter().map(|row| row.noted).collect())
}

/// Returns the annotations in force of the commits of a line between two positions, by position.
pub(crate) async fn in_force(tx: &mut Tx<'_>, line: i64, first: i64, last: i64) -> Result<Vec<(i64, Annotations)>> {
    let mut folded: Vec<(i64, Annotations)> = Vec::new();
    for AnnotationRow { place, noted, .. } in between(tx, line, first, last).await? {
        match folded.last_mut() {
            Some((same, annotations)) if *same == place.position => annotations.apply(noted.annotation),
            _ => {
                let mut annotations = Annotations::default();
                annotations.apply(noted.annotation);
                folded.push((place.position, annotations));
            }
        }
    }
    Ok(folded)
}

/// Returns the labels that commits of a stretch were given, those of the newest commit first, and the last word on a
/// commit before what it replaced.
pub async fn labels(tx: &mut Tx<'_>, stretch: LineSegment) -> Result<Vec<(LabelKey, SummaryText)>> {
    // The beginning of the text is how every label is written; most annotations are none, and are not read.
    let columns = AnnotationRow::columns();
    let sql = format!(
        "SELECT {columns} FROM annotations \
         WHERE line = ?1 AND position BETWEEN ?2 AND ?3 AND annotation LIKE '{{\"kind\":\"label\",%' \
         ORDER BY position DESC, seq DESC"
    );
    let rows = tx.rows_of(&sql, &[stretch.line.into(), stretch.first.into(), stretch.last.into()]).await?;
    let label = |row: AnnotationRow| match row.noted.annotation {
        Annotation::Label { key, value } => Some((key, value)),
        Annotation::Summary { .. }
        | Annotation::Tag { .. }
        | Annotation::Untag { .. }
        | Annotation::Coverage { .. } => None,
    };
    Ok(rows.into_iter().filter_map(label).collect())
}

/// Returns the summaries in force of the commits of a stretch, by position.
pub(crate) async fn summaries(tx: &mut Tx<'_>, stretch: LineSegment) -> Result<HashMap<i64, SummaryText>> {
    let sql = "SELECT position, annotation FROM annotations \
               WHERE line = ?1 AND position BETWEEN ?2 AND ?3 AND annotation LIKE '{\"kind\":\"summary\",%' \
               ORDER BY position, seq";
    let rows = tx.rows(sql, &[stretch.line.into(), stretch.first.into(), stretch.last.into()]).await?;
    let mut summaries = HashMap::with_capacity(rows.len());
    for row in &rows {
        let SummaryNote { text } = serde_json::from_str(row.text(1)?)
            .map_err(|error| Error::damaged(format!("an annotation cannot be read: {error}")))?;
        let position = row.integer(0)?;
        if text.as_str().is_empty() {
            summaries.remove(&position);
        } else {
            summaries.insert(position, text);
        }
    }
    Ok(summaries)
}

/// A summary as it is written, without its kind.
#[derive(Deserialize)]
struct SummaryNote {
    text: SummaryText,
}

async fn between(tx: &mut Tx<'_>, line: i64, first: i64, last: i64) -> Result<Vec<AnnotationRow>> {
    let columns = AnnotationRow::columns();
    let sql = format!(
        "SELECT {columns} FROM annotations WHERE line = ?1 AND position BETWEEN ?2 AND ?3 ORDER BY position, seq"
    );
    tx.rows_of(&sql, &[line.into(), first.into(), last.into()]).await
}

/// What was said about the commit at a place.
pub(crate) struct AnnotationRow {
    pub(crate) place: CommitPlace,
    pub(crate) noted: Noted,
    /// The record of the journal that tells of it.
    pub(crate) seq: i64,
    /// What the journal says of it, when something was removed from it since.
    pub(crate) withheld: Option<ChainDigest>,
}

impl TableRow for AnnotationRow {
    const TABLE: &'static Table = &ANNOTATIONS;
    const COLUMNS: &'static [&'static str] = &["line", "position", "annotation", "author", "at", "seq", "withheld"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            place: CommitPlace { line: row.integer()?, position: row.integer()? },
            noted: Noted {
                annotation: serde_json::from_str(row.text()?)
                    .map_err(|error| Error::damaged(format!("an annotation cannot be read: {error}")))?,
                author: stored::<Actor>(row.text()?)?,
                at: time(row.integer()?)?,
            },
            seq: row.integer()?,
            withheld: row.optional_blob()?.map(withheld_text::digest).transpose()?,
        })
    }
}
