//! What refers to artifacts, found by following the descriptions of all tables.

mod key_set;

use std::sync::Arc;

use contexture_core::{CommitId, JournalKind};
use futures_util::FutureExt as _;

pub(crate) use key_set::KeySet;

use crate::{
    Result, Scope, Store,
    artifact::ARTIFACTS,
    commit::COMMITS,
    sql::{Param, Row, Tx},
    table::{Column, RowOwner, RowReference, TABLES, Table},
};

/// Rows in a page of numbers.
const PAGE_ROWS: u32 = 8192;

/// Goes over the rows of a space by a statement of pages, whose rows begin with so many numbers that tell them apart.
/// `visit` is given the numbers that follow, a page at a time.
pub(crate) async fn each_page<const COLUMNS: usize>(
    store: &Store,
    scope: &Scope,
    key_len: usize,
    statement: String,
    mut visit: impl FnMut(Vec<[i64; COLUMNS]>),
) -> Result<()> {
    let statement: Arc<str> = statement.into();
    let mut after = vec![0; key_len];
    loop {
        let args = (Arc::clone(&statement), after.clone());
        let reading = store.read(scope.clone(), args, |tx, (sql, after)| page::<COLUMNS>(tx, sql, after).boxed());
        let Page { rows, last } = reading.await?;
        let is_full = rows.len() == PAGE_ROWS as usize;
        visit(rows);
        match last {
            Some(last) if is_full => after = last,
            Some(_) | None => return Ok(()),
        }
    }
}

/// Rows of a table: some of their columns, and the key of the last.
struct Page<const COLUMNS: usize> {
    rows: Vec<[i64; COLUMNS]>,
    last: Option<Vec<i64>>,
}

async fn page<const COLUMNS: usize>(tx: &mut Tx<'_>, sql: &str, after: &[i64]) -> Result<Page<COLUMNS>> {
    let mut params: Vec<Param<'_>> = vec![tx.space.into()];
    params.extend(after.iter().map(|number| Param::Integer(*number)));
    params.push(i64::from(PAGE_ROWS).into());
    let rows = tx.rows(sql, &params).await?;
    let key = |row: &Row| (0..after.len()).map(|column| row.integer(column)).collect::<Result<_>>();
    let last = rows.last().map(key).transpose()?;
    let columns = |row: &Row| {
        let mut columns = [0; COLUMNS];
        for (value, column) in columns.iter_mut().zip(after.len()..) {
            *value = row.integer(column)?;
        }
        Ok(columns)
    };
    Ok(Page { rows: rows.iter().map(columns).collect::<Result<_>>()?, last })
}

/// Returns the tables whose rows belong to artifacts, each with the column that says to which.
///
/// What such a row refers to is needed only as long as its artifact is, and it goes with the artifact.
pub(crate) fn belongings() -> impl Iterator<Item = (&'static Table, &'static str)> {
    TABLES.iter().filter_map(|table| match table.owner {
        RowOwner::Row { table: owner, column } if owner.name == ARTIFACTS.name => Some((*table, column)),
        RowOwner::Row { .. } | RowOwner::Space | RowOwner::Store => None,
    })
}

/// How those rows are found that have come to refer to an artifact since somebody went over all rows.
///
/// Nobody looks at all rows again while writers wait, so each column that refers to artifacts must have one.
enum Recheck {
    /// An index leads from an artifact to the rows that refer to it. The statement looks them up.
    Index(String),
    /// The rows lie in the order of the journal. The statement is one of pages, and the number of its keys comes with it.
    Order(String, usize),
    /// A record of the journal tells of each.
    Record,
}

impl Recheck {
    fn all() -> Vec<Self> {
        TABLES.iter().flat_map(|table| Self::of(table)).flatten().collect()
    }

    /// Returns the ways for a table, one for each column that refers to artifacts.
    fn of(table: &'static Table) -> impl Iterator<Item = Option<Self>> {
        let columns = table.columns.iter().filter(|column| {
            matches!(column.reference, Some(RowReference::ArtifactKey | RowReference::ArtifactDigest))
        });
        columns.zip(table.artifact_statements()).map(|(column, statement)| Self::of_column(table, column, statement))
    }

    fn of_column(table: &Table, column: &Column, statement: String) -> Option<Self> {
        if table.name == COMMITS.name {
            return Some(Self::Record);
        }
        let keys: Vec<&str> = table.page_key().collect();
        let first = table.columns.iter().find(|column| keys.first() == Some(&column.name));
        if let Some(RowReference::JournalRecord | RowReference::EnvelopeRecord) =
            first.and_then(|first| first.reference)
        {
            return Some(Self::Order(statement, keys.len()));
        }
        match (table.owner, column) {
            (
                RowOwner::Row { table: owner, column: owned },
                Column { name, reference: Some(RowReference::ArtifactKey), .. },
            ) => Some(Self::Index(format!(
                "SELECT t.{name} FROM {} t JOIN {} o ON o.key = t.{owned} WHERE o.space + 0 = ?1 AND t.{name} =",
                table.name, owner.name
            ))),
            _ => None,
        }
    }
}

/// Returns which of these artifacts rows refer to now, as far as an index leads to the rows.
pub(crate) async fn referred_to(tx: &mut Tx<'_>, artifacts: &[i64]) -> Result<KeySet> {
    let mut found = KeySet::default();
    for recheck in Recheck::all() {
        if let Recheck::Index(sql) = recheck {
            let space = tx.space;
            for row in tx.look_up(&sql, space.into(), artifacts).await? {
                found.insert(row.integer(0)?);
            }
        }
    }
    Ok(found)
}

/// Returns the artifacts that the rows refer to which came after a record of the journal, as far as no index leads to them.
pub(crate) async fn referred_to_since(tx: &mut Tx<'_>, seq: u64) -> Result<KeySet> {
    let mut found = KeySet::default();
    let seq = seq.cast_signed();
    for recheck in Recheck::all() {
        match recheck {
            Recheck::Index(_) => {}
            Recheck::Order(sql, key_len) => {
                let mut after = vec![i64::MAX; key_len];
                after[0] = seq;
                follow(tx, &sql, after, &mut found).await?;
            }
            Recheck::Record => {
                // A look-up for each record: PostgreSQL, which knows nothing of a young table, would join all commits.
                let sql = format!(
                    "SELECT j.seq, coalesce((SELECT c.artifact_key FROM commits c \
                     WHERE c.space = j.space AND c.id = substr(j.digest, 1, {})), 0) FROM journal j \
                     WHERE j.space = ?1 AND j.seq > ?2 AND j.kind = '{}' ORDER BY j.seq LIMIT ?3",
                    CommitId::LEN,
                    JournalKind::CommitCreated.as_str()
                );
                follow(tx, &sql, vec![seq], &mut found).await?;
            }
        }
    }
    Ok(found)
}

async fn follow(tx: &mut Tx<'_>, sql: &str, mut after: Vec<i64>, found: &mut KeySet) -> Result<()> {
    loop {
        let Page { rows, last } = page::<1>(tx, sql, &after).await?;
        let is_full = rows.len() == PAGE_ROWS as usize;
        for [key] in rows {
            found.insert(key);
        }
        match last {
            Some(last) if is_full => after = last,
            Some(_) | None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_to_an_artifact_can_be_found_again() {
        for table in TABLES {
            assert!(Recheck::of(table).all(|recheck| recheck.is_some()), "{}", table.name);
            assert_eq!(Recheck::of(table).count(), table.artifact_statements().count(), "{}", table.name);
        }
        let names: Vec<&str> = belongings().map(|(table, _)| table.name).collect();
        assert_eq!(names, ["parts", "findings", "sealed_originals", "withheld"]);
    }
}
