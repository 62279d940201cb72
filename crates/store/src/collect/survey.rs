//! Looks for what may be removed, beside those who write.

use futures_util::FutureExt as _;

use super::{CollectPhase, CollectProgress, Collected, KeptUnreferenced, batch};
use crate::{
    Result, Scope, Store,
    artifact::ARTIFACTS,
    journal,
    reachable::{self, KeySet},
    table::{RowOwner, TABLES, Table},
};

/// What a look at all rows found. It may be out of date where somebody has written since.
pub(super) struct Survey {
    /// The last record of the journal before the look began.
    pub(super) seq: u64,
    /// Artifacts that something refers to.
    pub(super) referenced: KeySet,
    /// Artifacts that nothing refers to and that may go.
    pub(super) unreferenced: KeySet,
    /// What they come to.
    pub(super) collected: Collected,
}

/// Artifacts that are looked at together.
const KEYS_PER_LOOK: usize = 1024;

impl Survey {
    pub(super) async fn of(
        store: &Store,
        scope: &Scope,
        stored_before: i64,
        progress: &mut (dyn FnMut(CollectProgress) + Send),
    ) -> Result<Self> {
        let tip = store.read(scope.clone(), (), |tx, ()| journal::tip(tx).boxed()).await?;
        let mut done = 0;
        let mut advance = |rows: usize| {
            done += rows as u64;
            progress(CollectProgress { phase: CollectPhase::Search, done, total: done });
        };
        let mut referenced = KeySet::default();
        for table in TABLES.iter().filter(|table| !is_belonging(table)) {
            for statement in table.artifact_statements() {
                let visit = |rows: Vec<[i64; 1]>| {
                    advance(rows.len());
                    for [key] in rows {
                        referenced.insert(key);
                    }
                };
                reachable::each_page(store, scope, table.page_key().count(), statement, visit).await?;
            }
        }
        follow_belongings(store, scope, &mut referenced, &mut advance).await?;
        let mut staying = KeySet::default();
        let mut old = KeySet::default();
        let mut kept = KeptUnreferenced::default();
        let sort = |rows: Vec<[i64; 3]>| {
            advance(rows.len());
            for [key, size, stored_at] in rows.into_iter().filter(|[key, ..]| !referenced.contains(*key)) {
                if stored_at < stored_before {
                    old.insert(key);
                } else {
                    staying.insert(key);
                    kept.too_young += 1;
                    kept.too_young_bytes += size.cast_unsigned();
                }
            }
        };
        let statement = ARTIFACTS.page_statement("t.key, t.size, t.stored_at", "");
        reachable::each_page(store, scope, 1, statement, sort).await?;
        let keys: Vec<i64> = old.descending().collect();
        for keys in keys.chunks(KEYS_PER_LOOK) {
            let looking = store.read(scope.clone(), keys.to_vec(), |tx, keys| batch::by_themselves(tx, keys).boxed());
            for row in looking.await? {
                staying.insert(row.key);
                kept.by_themselves += 1;
                kept.by_themselves_bytes += row.size;
            }
        }
        follow_belongings(store, scope, &mut staying, &mut advance).await?;
        for key in staying.descending() {
            old.remove(key);
        }
        let mut collected = Collected { kept, ..Collected::default() };
        let count = |rows: Vec<[i64; 4]>| {
            advance(rows.len());
            for [_, size, stored, has_body] in rows.into_iter().filter(|[key, ..]| old.contains(*key)) {
                collected.artifacts += 1;
                collected.bytes += size.cast_unsigned() * has_body.cast_unsigned();
                collected.stored_bytes += stored.cast_unsigned();
            }
        };
        let statement = ARTIFACTS.page_statement(&format!("t.key, {}", batch::SIZES), "");
        reachable::each_page(store, scope, 1, statement, count).await?;
        Ok(Self { seq: tip.map_or(0, |(seq, _)| seq), referenced, unreferenced: old, collected })
    }
}

/// Adds to a set of artifacts what their rows refer to, and so on.
async fn follow_belongings(
    store: &Store,
    scope: &Scope,
    artifacts: &mut KeySet,
    advance: &mut (impl FnMut(usize) + Send),
) -> Result<()> {
    loop {
        let before = artifacts.len();
        for (table, column) in reachable::belongings() {
            for statement in table.belonging_statements(column) {
                let visit = |rows: Vec<[i64; 2]>| {
                    advance(rows.len());
                    for [owner, reference] in rows {
                        if artifacts.contains(owner) {
                            artifacts.insert(reference);
                        }
                    }
                };
                reachable::each_page(store, scope, table.page_key().count(), statement, visit).await?;
            }
        }
        if artifacts.len() == before {
            return Ok(());
        }
    }
}

fn is_belonging(table: &Table) -> bool {
    matches!(table.owner, RowOwner::Row { table: owner, .. } if owner.name == ARTIFACTS.name)
}
