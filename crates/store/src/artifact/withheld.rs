//! Artifacts whose content is not here any more, or never was: their ids and sizes stay.

use contexture_core::{Actor, ArtifactId, Timestamp};

use super::{ARTIFACTS, require};
use crate::{
    Result,
    space::{stored, time},
    sql::{RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// The table of artifacts without content.
pub(crate) static WITHHELD: Table = Table {
    name: "withheld",
    owner: RowOwner::Row { table: &ARTIFACTS, column: "artifact" },
    key: &["artifact"],
    columns: &[
        Column::number("artifact"),
        Column::number("seq"),
        Column::text("reason"),
        Column::text("actor"),
        Column::number("at"),
        Column::number("substitute").optional().to(RowReference::ArtifactKey),
    ],
};

/// Why the content of an artifact is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The record of the journal that tells of it.
    pub seq: u64,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The key of the artifact that is shown for it.
    pub(crate) substitute: Option<i64>,
}

/// Returns why the content of an artifact is not here; nothing when it is.
pub async fn withheld(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<Option<Withheld>> {
    let artifact = require(tx, id).await?;
    let sql = format!("SELECT {} FROM withheld WHERE artifact = ?1", Withheld::columns());
    tx.row_of(&sql, &[artifact.into()]).await
}

impl TableRow for Withheld {
    const TABLE: &'static Table = &WITHHELD;
    const COLUMNS: &'static [&'static str] = &["seq", "reason", "actor", "at", "substitute"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.unsigned()?,
            reason: row.text()?.to_owned(),
            actor: stored::<Actor>(row.text()?)?,
            at: time(row.integer()?)?,
            substitute: row.optional_integer()?,
        })
    }
}
