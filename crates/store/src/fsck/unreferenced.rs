//! Counts the artifacts that nothing refers to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Phase,
    checker::{self, StoreChecker},
};
use crate::{
    Result,
    artifact::ARTIFACTS,
    reachable::{self, KeySet},
    table::TABLES,
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

impl StoreChecker<'_> {
    /// Counts the artifacts that nothing refers to.
    pub(super) async fn unreferenced(&mut self) -> Result<()> {
        let checked = self.report.checked;
        self.begin(
            Phase::Unreferenced,
            checked.commits + checked.envelopes + checked.envelope_artifacts + checked.messages + checked.artifacts,
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
        let (store, scope) = (self.store, self.scope);
        let mut used = KeySet::default();
        for table in TABLES {
            for statement in table.artifact_statements() {
                let visit = |rows: Vec<[i64; 1]>| {
                    self.advance(rows.len() as u64);
                    for [key] in rows {
                        used.insert(key);
                    }
                };
                reachable::each_page(store, scope, table.page_key().count(), statement, visit).await?;
            }
        }
        let mut unreferenced = Unreferenced::default();
        let count = |rows: Vec<[i64; 2]>| {
            self.advance(rows.len() as u64);
            for [_, size] in rows.into_iter().filter(|[key, _]| !used.contains(*key)) {
                unreferenced.artifacts += 1;
                unreferenced.bytes = unreferenced.bytes.saturating_add(size.cast_unsigned());
            }
        };
        reachable::each_page(store, scope, 1, ARTIFACTS.page_statement("t.key, t.size", ""), count).await?;
        Ok(unreferenced)
    }
}
