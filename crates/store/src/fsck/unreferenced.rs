//! Counts the artifacts that nothing refers to.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Phase,
    checker::{self, Checker},
};
use crate::{
    Result,
    sql::{Row, Tx},
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

// Each of these lists an artifact's key and size after a key of two numbers, which are never both 0, and starts with
// that key. The sums keep SQLite from choosing an index that starts with the space and sorting all of it for each page.
const USED_BY_COMMITS: &str = "SELECT line, position, artifact_key, 0 FROM commits \
     WHERE space + 0 = ?1 AND (line, position) > (?2, ?3) ORDER BY line, position LIMIT ?4";
const USED_AS_PARTS: &str = "SELECT p.artifact, p.start, p.part, 0 FROM parts p \
     JOIN artifacts a ON a.key = p.artifact AND a.space = ?1 \
     WHERE (p.artifact, p.start) > (?2, ?3) ORDER BY p.artifact, p.start LIMIT ?4";
const USED_BY_SOURCES: &str = "SELECT g.source, g.start + 1, g.artifact, 0 FROM segments g \
     JOIN sources s ON s.key = g.source AND s.space = ?1 \
     WHERE (g.source, g.start + 1) > (?2, ?3) ORDER BY g.source, g.start LIMIT ?4";
const USED_AS_DOCUMENTS: &str = "SELECT e.seq, 0, a.key, 0 FROM envelopes e \
     JOIN artifacts a ON a.space = e.space AND a.digest = e.document \
     WHERE e.space = ?1 AND e.seq > ?2 AND ?3 = 0 ORDER BY e.seq LIMIT ?4";
const USED_BY_ENVELOPES: &str = "SELECT x.envelope, x.position, a.key, 0 FROM envelope_artifacts x \
     JOIN artifacts a ON a.space = x.space AND a.digest = x.artifact \
     WHERE x.space = ?1 AND (x.envelope, x.position) > (?2, ?3) ORDER BY x.envelope, x.position LIMIT ?4";
const STORED: &str = "SELECT key, 0, key, size FROM artifacts \
     WHERE space + 0 = ?1 AND key > ?2 AND ?3 = 0 ORDER BY key LIMIT ?4";

/// Rows in a page of numbers.
const PAGE_ROWS: u32 = 8192;

impl Checker<'_> {
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
        self.each(USED_BY_COMMITS, |key, _| used.insert(key)).await?;
        self.each(USED_AS_PARTS, |key, _| used.insert(key)).await?;
        self.each(USED_BY_SOURCES, |key, _| used.insert(key)).await?;
        self.each(USED_AS_DOCUMENTS, |key, _| used.insert(key)).await?;
        self.each(USED_BY_ENVELOPES, |key, _| used.insert(key)).await?;
        let mut unreferenced = Unreferenced::default();
        let count = |key, size: i64| {
            if !used.contains(key) {
                unreferenced.artifacts += 1;
                unreferenced.bytes = unreferenced.bytes.saturating_add(size.cast_unsigned());
            }
        };
        self.each(STORED, count).await?;
        Ok(unreferenced)
    }

    async fn each(&mut self, sql: &'static str, mut visit: impl FnMut(i64, i64)) -> Result<()> {
        let mut after = [0, 0];
        loop {
            let rows = self
                .store
                .read(self.scope.clone(), (sql, after), |tx, &(sql, after)| page(tx, sql, after).boxed())
                .await?;
            for &[_, _, key, size] in &rows {
                visit(key, size);
            }
            self.advance(rows.len() as u64);
            match rows.last() {
                Some(&[first, second, ..]) if rows.len() == PAGE_ROWS as usize => after = [first, second],
                Some(_) | None => return Ok(()),
            }
        }
    }
}

async fn page(tx: &mut Tx<'_>, sql: &str, after: [i64; 2]) -> Result<Vec<[i64; 4]>> {
    let space = tx.space;
    let rows = tx.rows(sql, &[space.into(), after[0].into(), after[1].into(), i64::from(PAGE_ROWS).into()]).await?;
    let decode = |row: &Row| Ok([row.integer(0)?, row.integer(1)?, row.integer(2)?, row.integer(3)?]);
    rows.iter().map(decode).collect()
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
