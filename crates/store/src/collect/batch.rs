//! Removes some artifacts in one transaction, which makes sure that nothing refers to them.

use std::ops::AddAssign;

use contexture_core::{JournalKind, Mutation};
use futures_util::FutureExt as _;

use crate::{
    Result, Scope, Store,
    artifact::{ARTIFACTS, Artifacts, artifact_id},
    journal,
    reachable::{self, KeySet},
    sql::{Param, Row, Tx},
};

/// Most artifacts that go in one transaction, so that writers wait for few of them: about 16 MB of pieces.
pub(super) const MAX_ARTIFACTS: usize = 256;
/// Rows that one statement removes.
const ROWS_PER_STATEMENT: usize = 64;

/// The sizes of an artifact `t`: of its content, of its row, and whether the row has the content.
pub(super) const SIZES: &str =
    "t.size, CAST(coalesce(length(t.body), 0) AS BIGINT), CAST(CASE WHEN t.body IS NULL THEN 0 ELSE 1 END AS BIGINT)";

/// Artifacts that are to go unless something has come to refer to them.
pub(super) struct Batch {
    pub(super) keys: Vec<i64>,
    /// The record of the journal up to which it is known what refers to artifacts.
    pub(super) seq: u64,
    pub(super) stored_before: i64,
}

/// How a batch ended.
pub(super) struct Ended {
    /// The record of the journal up to which it is known what refers to artifacts now.
    pub(super) seq: u64,
    pub(super) removed: Removed,
    /// Those that stay for now because rows refer to them, which may be of others that go.
    pub(super) referred_to: Vec<i64>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Removed {
    pub(super) artifacts: u64,
    pub(super) bytes: u64,
    pub(super) stored_bytes: u64,
}

/// An artifact that nothing refers to and that stays.
pub(super) struct ByItself {
    pub(super) key: i64,
    pub(super) size: u64,
}

impl Batch {
    /// Removes them. What has come to be referred to is added to what is.
    pub(super) async fn run(mut self, store: &Store, scope: &Scope, referenced: &mut KeySet) -> Result<Ended> {
        // Most of what is new is looked at before others have to wait.
        let catching_up = store.read(scope.clone(), self.seq, |tx, &seq| catch_up(tx, seq).boxed());
        let (seq, new) = catching_up.await?;
        referenced.extend(new);
        self.keys.retain(|key| !referenced.contains(*key));
        self.seq = seq;
        if self.keys.is_empty() {
            return Ok(Ended { seq, removed: Removed::default(), referred_to: Vec::new() });
        }
        let (ended, new) = store.write(scope.clone(), self, |tx, batch| batch.remove(tx).boxed()).await?;
        referenced.extend(new);
        Ok(ended)
    }

    async fn remove(&self, tx: &mut Tx<'_>) -> Result<(Ended, KeySet)> {
        let (_, new) = catch_up(tx, self.seq).await?;
        let mut by_themselves_now = KeySet::default();
        for row in by_themselves(tx, &self.keys).await? {
            by_themselves_now.insert(row.key);
        }
        let referred_to_now = reachable::referred_to(tx, &self.keys).await?;
        let (mut going, mut digests, mut removed, mut referred_to) =
            (Vec::new(), Vec::new(), Removed::default(), Vec::new());
        let space = tx.space;
        let sql =
            format!("SELECT t.key, t.stored_at, t.digest, {SIZES} FROM artifacts t WHERE t.space + 0 = ?1 AND t.key =");
        for row in tx.look_up(&sql, space.into(), &self.keys).await? {
            let key = row.integer(0)?;
            if row.integer(1)? >= self.stored_before || new.contains(key) || by_themselves_now.contains(key) {
                continue;
            }
            if referred_to_now.contains(key) {
                referred_to.push(key);
                continue;
            }
            going.push(key);
            digests.push(artifact_id(row.blob(2)?)?);
            removed.artifacts += 1;
            removed.bytes += row.integer(3)?.cast_unsigned() * row.integer(5)?.cast_unsigned();
            removed.stored_bytes += row.integer(4)?.cast_unsigned();
        }
        // The journal must tell of it also because a writer who saw what goes finds by its records that it did.
        if !going.is_empty() {
            for (table, column) in reachable::belongings() {
                delete(tx, table.name, column, &going).await?;
            }
            delete(tx, ARTIFACTS.name, "key", &going).await?;
            tx.known.forget_all::<Artifacts>();
            digests.sort_unstable();
            journal::append(tx, Mutation::new(JournalKind::ArtifactsCollected, going.len().to_string(), &digests))
                .await?;
        }
        let seq = tx.journal_tip.map_or(0, |(seq, _)| seq);
        Ok((Ended { seq, removed, referred_to }, new))
    }
}

/// Returns the last record of the journal and the artifacts that came to be referred to after another.
async fn catch_up(tx: &mut Tx<'_>, seq: u64) -> Result<(u64, KeySet)> {
    let tip = journal::tip(tx).await?.map_or(0, |(seq, _)| seq);
    let new = if tip > seq { reachable::referred_to_since(tx, seq).await? } else { KeySet::default() };
    Ok((tip, new))
}

/// Returns which of these artifacts stay though nothing refers to them: those that the journal says were stored by
/// themselves, and those whose content was removed, of which it is known that they were here.
pub(super) async fn by_themselves(tx: &mut Tx<'_>, keys: &[i64]) -> Result<Vec<ByItself>> {
    let space = tx.space;
    let sql = "SELECT t.key, t.size FROM artifacts t WHERE t.space + 0 = ?1 AND (EXISTS (SELECT 1 FROM journal j \
               WHERE j.space = t.space AND j.kind = 'artifact.stored' AND j.digest = t.digest) \
               OR EXISTS (SELECT 1 FROM withheld w WHERE w.artifact = t.key)) AND t.key =";
    let found = |row: &Row| Ok(ByItself { key: row.integer(0)?, size: row.integer(1)?.cast_unsigned() });
    tx.look_up(sql, space.into(), keys).await?.iter().map(found).collect()
}

async fn delete(tx: &mut Tx<'_>, table: &str, column: &str, keys: &[i64]) -> Result<()> {
    for some in keys.chunks(ROWS_PER_STATEMENT) {
        let numbers: Vec<String> = (1..=some.len()).map(|number| format!("?{number}")).collect();
        let params: Vec<Param<'_>> = some.iter().map(|key| Param::Integer(*key)).collect();
        tx.post(&format!("DELETE FROM {table} WHERE {column} IN ({})", numbers.join(", ")), &params).await?;
    }
    Ok(())
}

impl AddAssign for Removed {
    fn add_assign(&mut self, more: Self) {
        self.artifacts += more.artifacts;
        self.bytes += more.bytes;
        self.stored_bytes += more.stored_bytes;
    }
}
