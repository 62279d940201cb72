//! Removing artifacts that nothing refers to any more.

use std::collections::BTreeSet;

use contexture_core::ArtifactId;

use super::{PARTS, artifact_id};
use crate::{
    Result,
    sql::{Param, Tx},
    table::TABLES,
};

/// Rows that are looked at in one query.
const PAGE_ROWS: u32 = 8192;
/// Ids that one pass over the journal looks for.
const IDS_PER_PASS: usize = 256;

/// Removes those of some artifacts, given by their keys, that nothing refers to and that the journal does not name.
/// Returns how many there were. It goes over all references of the space once.
pub async fn remove_unused(tx: &mut Tx<'_>, mut keys: BTreeSet<i64>) -> Result<u64> {
    for table in TABLES {
        for statement in table.artifact_statements() {
            let mut after = vec![0; table.page_key().count()];
            // Keys of the least columns may be 0.
            after.fill(i64::MIN);
            while !keys.is_empty() {
                let mut params: Vec<Param<'_>> = vec![tx.space.into()];
                params.extend(after.iter().map(|number| Param::Integer(*number)));
                params.push(i64::from(PAGE_ROWS).into());
                let rows = tx.rows(&statement, &params).await?;
                for row in &rows {
                    if let Some(used) = row.optional_integer(after.len())? {
                        keys.remove(&used);
                    }
                }
                let Some(last) = rows.last().filter(|_| rows.len() == PAGE_ROWS as usize) else { break };
                after = (0..after.len()).map(|column| last.integer(column)).collect::<Result<_>>()?;
            }
        }
    }
    let mut ids: Vec<(i64, ArtifactId)> = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(row) = tx.row("SELECT digest FROM artifacts WHERE key = ?1", &[key.into()]).await? {
            ids.push((key, artifact_id(row.blob(0)?)?));
        }
    }
    let mut removed = 0;
    for some in ids.chunks(IDS_PER_PASS) {
        let announced = announced(tx, some).await?;
        for (key, _) in some.iter().filter(|(_, id)| !announced.contains(&id.to_string())) {
            for table in ["findings", "sealed_originals", "withheld", "parts"] {
                tx.post(&format!("DELETE FROM {table} WHERE artifact = ?1"), &[(*key).into()]).await?;
            }
            removed += tx.execute("DELETE FROM artifacts WHERE key = ?1", &[(*key).into()]).await?;
        }
    }
    Ok(removed)
}

/// Returns the artifacts in parts that some artifacts are parts of. It goes over all parts of the space once.
pub async fn wholes_with(tx: &mut Tx<'_>, parts: &BTreeSet<ArtifactId>) -> Result<Vec<ArtifactId>> {
    let sql = PARTS.page_statement("o.digest, a.digest", "JOIN artifacts a ON a.key = t.part");
    let (mut after, mut found) = ((i64::MIN, i64::MIN), BTreeSet::new());
    while !parts.is_empty() {
        let params = [tx.space.into(), after.0.into(), after.1.into(), i64::from(PAGE_ROWS).into()];
        let rows = tx.rows(&sql, &params).await?;
        for row in &rows {
            after = (row.integer(0)?, row.integer(1)?);
            if parts.contains(&artifact_id(row.blob(3)?)?) {
                found.insert(artifact_id(row.blob(2)?)?);
            }
        }
        if rows.len() < PAGE_ROWS as usize {
            break;
        }
    }
    Ok(found.into_iter().collect())
}

/// Returns those of some artifacts that the journal tells of.
async fn announced(tx: &mut Tx<'_>, ids: &[(i64, ArtifactId)]) -> Result<BTreeSet<String>> {
    let subjects: Vec<String> = ids.iter().map(|(_, id)| id.to_string()).collect();
    let numbers: Vec<String> = (2..subjects.len() + 2).map(|number| format!("?{number}")).collect();
    let sql = format!("SELECT DISTINCT subject FROM journal WHERE space = ?1 AND subject IN ({})", numbers.join(", "));
    let mut params: Vec<Param<'_>> = vec![tx.space.into()];
    params.extend(subjects.iter().map(|subject| Param::Text(subject)));
    tx.rows(&sql, &params).await?.iter().map(|row| Ok(row.text(0)?.to_owned())).collect()
}
