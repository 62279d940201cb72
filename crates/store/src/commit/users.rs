//! Which commits some artifacts belong to.

use std::collections::BTreeSet;

use contexture_core::{ArtifactId, CommitId};

use super::{COMMITS, CommitPlace, commit_id};
use crate::{Result, artifact::artifact_id, sql::Tx};

/// Commits that are looked at in one query.
const PAGE_ROWS: u32 = 8192;

/// A commit that an artifact belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactUse {
    /// The commit.
    pub commit: CommitId,
    /// Where it lies.
    pub place: CommitPlace,
    /// The artifact.
    pub artifact: ArtifactId,
}

/// Returns the commits that some artifacts belong to. It goes over all commits of the space once.
pub async fn users(tx: &mut Tx<'_>, artifacts: &BTreeSet<ArtifactId>) -> Result<Vec<ArtifactUse>> {
    let sql = COMMITS.page_statement("t.id, t.artifact", "");
    let (mut after, mut found) = ((i64::MIN, i64::MIN), Vec::new());
    while !artifacts.is_empty() {
        let space = tx.space;
        let params = [space.into(), after.0.into(), after.1.into(), i64::from(PAGE_ROWS).into()];
        let rows = tx.rows(&sql, &params).await?;
        for row in &rows {
            after = (row.integer(0)?, row.integer(1)?);
            let artifact = artifact_id(row.blob(3)?)?;
            if artifacts.contains(&artifact) {
                let place = CommitPlace { line: after.0, position: after.1 };
                found.push(ArtifactUse { commit: commit_id(row.blob(2)?)?, place, artifact });
            }
        }
        if rows.len() < PAGE_ROWS as usize {
            break;
        }
    }
    Ok(found)
}
