//! What was taken out of artifacts that are stored masked, encrypted by those who stored them.

use contexture_core::ArtifactId;

use super::{ARTIFACTS, require, withheld};
use crate::{
    Result,
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, Table, TableRow},
};

/// The table of encrypted originals.
pub(crate) static SEALED_ORIGINALS: Table = Table {
    name: "sealed_originals",
    owner: RowOwner::Row { table: &ARTIFACTS, column: "artifact" },
    key: &["artifact"],
    columns: &[Column::number("artifact"), Column::bytes("patch").optional()],
};

/// What is left of the secrets of an artifact that is stored masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealedPatch {
    /// What was taken out, encrypted.
    Kept(Vec<u8>),
    /// It was destroyed.
    Destroyed,
}

/// Keeps what was taken out of an artifact that is stored. What is kept already stays, and what was purged is not kept.
pub async fn keep_original(tx: &mut Tx<'_>, id: &ArtifactId, patch: &[u8]) -> Result<()> {
    let artifact = require(tx, id).await?;
    if withheld::is_withheld(tx, artifact).await? {
        return Ok(());
    }
    let sql = "INSERT INTO sealed_originals (artifact, patch) VALUES (?1, ?2) ON CONFLICT (artifact) DO NOTHING";
    tx.post(sql, &[artifact.into(), Param::Blob(patch)]).await
}

/// Puts a patch with less in it in the place of the one that is kept, or destroys it.
pub async fn replace_original(tx: &mut Tx<'_>, id: &ArtifactId, patch: &SealedPatch) -> Result<()> {
    let artifact = require(tx, id).await?;
    match patch {
        SealedPatch::Kept(patch) => {
            let sql = "UPDATE sealed_originals SET patch = ?2 WHERE artifact = ?1 AND patch IS NOT NULL";
            tx.post(sql, &[artifact.into(), Param::Blob(patch)]).await
        }
        SealedPatch::Destroyed => {
            tx.post("UPDATE sealed_originals SET patch = NULL WHERE artifact = ?1", &[artifact.into()]).await
        }
    }
}

/// Returns what was taken out of an artifact, if anything was.
pub async fn original(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<Option<SealedPatch>> {
    let artifact = require(tx, id).await?;
    of_artifact(tx, artifact).await
}

pub(super) async fn of_artifact(tx: &mut Tx<'_>, artifact: i64) -> Result<Option<SealedPatch>> {
    let sql = format!("SELECT {} FROM sealed_originals WHERE artifact = ?1", SealedPatch::columns());
    tx.row_of(&sql, &[artifact.into()]).await
}

impl TableRow for SealedPatch {
    const TABLE: &'static Table = &SEALED_ORIGINALS;
    const COLUMNS: &'static [&'static str] = &["patch"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(row.take_blob()?.map_or(Self::Destroyed, Self::Kept))
    }
}
