//! Counts the artifacts that nothing refers to.

use std::{collections::HashMap, sync::Arc};

use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Phase,
    checker::{self, StoreChecker},
};
use crate::{
    Result,
    artifact::ARTIFACTS,
    sql::{Param, Row, Tx},
    table::{TABLES, Table},
};

/// Artifacts that no commit, no envelope, no source and no larger artifact refers to.
///
/// They are legal: storing an artifact by itself makes one, and so does a large one that was not stored to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unreferenced {
    /// How many there are.
    pub artifacts: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

/// Rows in a page of numbers.
const PAGE_ROWS: u32 = 8192;

impl StoreChecker<'_> {
    /// Counts the artifacts that nothing refers to.
    pub(super) async fn unreferenced(&mut self) -> Result<()> {
        let checked = self.report.checked;
        self.begin(
            Phase::Unreferenced,
            checked.commits + checked.envelopes + checked.envelope_artifacts + checked.artifacts,
        );
        match self.count_unreferenced().await {
            Ok(unreferenced) => self.report.unreferenced = Some(unreferenced),
            // The passes over the tables have reported the damage; this is information and can be left out.
            Err(error) if checker::is_damage(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn count_unreferenced(&mut self) -> Result<Unreferenced> {
        let mut used = KeySet::default();
        for table in TABLES {
            for statement in table.artifact_statements() {
                self.each(table, statement, |[key]: [i64; 1]| used.insert(key)).await?;
            }
        }
        let mut unreferenced = Unreferenced::default();
        let count = |[key, size]: [i64; 2]| {
            if !used.contains(key) {
                unreferenced.artifacts += 1;
                unreferenced.bytes = unreferenced.bytes.saturating_add(size.cast_unsigned());
            }
        };
        self.each(&ARTIFACTS, ARTIFACTS.page_statement("t.key, t.size", ""), count).await?;
        Ok(unreferenced)
    }

    /// Goes over the rows of a table by a statement of pages whose columns are so many numbers.
    async fn each<const COLUMNS: usize>(
        &mut self,
        table: &Table,
        statement: String,
        mut visit: impl FnMut([i64; COLUMNS]),
    ) -> Result<()> {
        let statement: Arc<str> = statement.into();
        let mut after = vec![0; table.page_key().count()];
        loop {
            let args = (Arc::clone(&statement), after.clone());
            let reading =
                self.store.read(self.scope.clone(), args, |tx, (sql, after)| page::<COLUMNS>(tx, sql, after).boxed());
            let ReferencePage { rows, last } = reading.await?;
            let is_full = rows.len() == PAGE_ROWS as usize;
            self.advance(rows.len() as u64);
            rows.into_iter().for_each(&mut visit);
            match last {
                Some(last) if is_full => after = last,
                Some(_) | None => return Ok(()),
            }
        }
    }
}

/// Rows of a table: some of their columns, and the key of the last.
struct ReferencePage<const COLUMNS: usize> {
    rows: Vec<[i64; COLUMNS]>,
    last: Option<Vec<i64>>,
}

async fn page<const COLUMNS: usize>(tx: &mut Tx<'_>, sql: &str, after: &[i64]) -> Result<ReferencePage<COLUMNS>> {
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
    Ok(ReferencePage { rows: rows.iter().map(columns).collect::<Result<_>>()?, last })
}

/// A set of keys that costs little more than a bit for each, because keys are given out in order.
#[derive(Default)]
struct KeySet(HashMap<i64, u64>);

impl KeySet {
    const WORD_BITS: i64 = u64::BITS as i64;

    fn insert(&mut self, key: i64) {
        *self.0.entry(key.div_euclid(Self::WORD_BITS)).or_default() |= 1 << key.rem_euclid(Self::WORD_BITS);
    }

    fn contains(&self, key: i64) -> bool {
        let word = self.0.get(&key.div_euclid(Self::WORD_BITS));
        word.is_some_and(|word| word & (1 << key.rem_euclid(Self::WORD_BITS)) != 0)
    }
}
