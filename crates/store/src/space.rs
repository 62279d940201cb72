//! Spaces: the tenants of a store.

use std::{fmt, str::FromStr};

use contexture_core::{JournalKind, Mutation, SpaceName, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, journal,
    sql::{RowReader, Tx},
    table::{Column, RowOwner, Table, TableRow},
};

/// A space as the store lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Its name.
    pub name: SpaceName,
    /// When it was first written to.
    pub created_at: Timestamp,
}

/// The table of spaces.
pub(crate) static SPACES: Table = Table {
    name: "spaces",
    owner: RowOwner::Store,
    key: &["key"],
    columns: &[Column::number("key"), Column::text("name"), Column::number("created_at")],
};

/// Makes the transaction's space and enters it.
pub(crate) async fn create(tx: &mut Tx<'_>) -> Result<()> {
    let (name, now) = (tx.scope.space.clone(), tx.scope.now);
    let sql = "INSERT INTO spaces (name, created_at) VALUES (?1, ?2) RETURNING key";
    tx.space = tx.one(sql, &[name.as_str().into(), now.as_micros().into()]).await?.integer(0)?;
    let change = Space { name: name.clone(), created_at: now };
    journal::append(tx, Mutation::new(JournalKind::SpaceCreated, name.as_str(), &change)).await?;
    Ok(())
}

/// Returns every space of the store, whichever the transaction is in.
pub async fn list(tx: &mut Tx<'_>) -> Result<Vec<Space>> {
    tx.rows_of(&format!("SELECT {} FROM spaces ORDER BY name", Space::columns()), &[]).await
}

impl TableRow for Space {
    const TABLE: &'static Table = &SPACES;
    const COLUMNS: &'static [&'static str] = &["name", "created_at"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { name: stored::<SpaceName>(row.text()?)?, created_at: time(row.integer()?)? })
    }
}

/// Checks a stored name again; one that is not legal means damage.
pub(crate) fn stored<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| Error::damaged(error.to_string()))
}

/// Reads a stored time.
pub(crate) fn time(micros: i64) -> Result<Timestamp> {
    Timestamp::from_micros(micros).ok_or_else(|| Error::damaged(format!("{micros} is no time")))
}
