//! Checks the index that searches ask: its passages are of commits, have words, and it is not ahead of the journal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    problem,
};
use crate::{
    Result,
    commit::CommitPlace,
    journal,
    search::{self, PassageRow},
    sql::{Dialect, Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with a passage of the index. `ctx search --rebuild` makes the index anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum PassageFault {
    /// It is of no commit of this space.
    #[error("is of {place}, where no commit is")]
    NoCommit {
        /// Where the commit should be.
        place: CommitPlace,
    },
    /// Its words are gone, so that it is never found.
    #[error("has no words")]
    NoWords,
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
}

/// The first column that is not read as a [`PassageRow`], and those after it.
const KEY: usize = PassageRow::COLUMNS.len();
const COMMIT: usize = KEY + 1;
const WORDS: usize = COMMIT + 1;

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Passages;
    const TABLE: &'static Table = &search::PASSAGES;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let words = match tx.dialect() {
            Dialect::Sqlite => "(SELECT 1 FROM passage_words w WHERE w.rowid = p.key)",
            // They are a column that is never absent.
            Dialect::Postgres => "1",
        };
        let columns = PassageRow::columns_of("p");
        let sql = format!(
            "SELECT {columns}, p.key, c.seq, {words} FROM passages p \
             LEFT JOIN commits c ON c.line = p.line AND c.position = p.position AND c.space = p.space \
             WHERE p.space = ?1 AND p.key > ?2 ORDER BY p.key LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            found.checked.passages += 1;
            let passage = row.integer(KEY)?;
            self.after = passage;
            if let Some(fault) = fault(row)? {
                found.problems.push(FsckProblem::Passage { passage, fault });
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        self.after.to_string()
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.checked_add(1 << doublings)? })
    }
}

fn fault(row: &mut Row) -> Result<Option<PassageFault>> {
    let place = CommitPlace { line: row.integer(0)?, position: row.integer(1)? };
    if row.optional_integer(COMMIT)?.is_none() {
        return Ok(Some(PassageFault::NoCommit { place }));
    }
    if row.optional_integer(WORDS)?.is_none() {
        return Ok(Some(PassageFault::NoWords));
    }
    Ok(match PassageRow::of(row) {
        Ok(_) => None,
        Err(error) => Some(PassageFault::Unreadable { what: problem::reason(error) }),
    })
}

/// Returns what is wrong with how far the index is.
pub(super) async fn cursor(tx: &mut Tx<'_>) -> Result<Option<FsckProblem>> {
    let tip = journal::tip(tx).await?.map_or(0, |(seq, _)| seq);
    let ahead = search::cursor(tx).await?.map(|cursor| cursor.seq).filter(|seq| *seq > tip);
    Ok(ahead.map(|seq| FsckProblem::IndexAhead { seq, tip }))
}
