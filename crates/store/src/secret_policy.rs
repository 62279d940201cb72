//! How the secrets of a space are treated. The store keeps the words and does not look into them.

use contexture_core::{JournalKind, Mutation};

use crate::{
    JsonText, Result, journal,
    known::Noun,
    rendering,
    space::stored,
    sql::{RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// The policy of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPolicy {
    /// The record of the journal that tells of it.
    pub seq: u64,
    /// What it says.
    pub document: JsonText,
}

/// The policies that a transaction knows.
struct Policies;

impl Noun for Policies {
    type Key = ();
    type State = Option<u64>;
    const IS_JOURNALED: bool = true;
}

/// The table of policies.
pub(crate) static SECRET_POLICIES: Table = Table {
    name: "secret_policies",
    owner: RowOwner::Space,
    key: &["space"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::text("document"),
    ],
};

/// The table of how far secrets were looked for in what was stored before.
pub(crate) static SECRET_SCANS: Table = Table {
    name: "secret_scans",
    owner: RowOwner::Space,
    key: &["space"],
    columns: &[Column::number("space"), Column::number("seq")],
};

/// Returns the policy of the space, if it was ever set.
pub async fn find(tx: &mut Tx<'_>) -> Result<Option<StoredPolicy>> {
    let space = tx.space;
    let policy: Option<StoredPolicy> = tx.row_of(&StoredPolicy::select(), &[space.into()]).await?;
    tx.known.learn::<Policies>((), policy.as_ref().map(|policy| policy.seq));
    Ok(policy)
}

/// Returns which policy the space has, by the record of the journal that tells of it.
pub async fn current(tx: &mut Tx<'_>) -> Result<Option<u64>> {
    if let Some(known) = tx.known.get::<Policies>(&()) {
        return Ok(*known);
    }
    Ok(find(tx).await?.map(|policy| policy.seq))
}

/// Sets the policy of the space. `word` names it in the journal.
pub async fn set(tx: &mut Tx<'_>, word: &str, document: &JsonText) -> Result<u64> {
    let mutation = Mutation::of_bytes(JournalKind::SecretPolicyChanged, word, document.as_str().as_bytes());
    let seq = journal::append(tx, mutation).await?;
    let sql = "INSERT INTO secret_policies (space, seq, document) VALUES (?1, ?2, ?3) \
               ON CONFLICT (space) DO UPDATE SET seq = excluded.seq, document = excluded.document";
    let space = tx.space;
    tx.post(sql, &[space.into(), seq.cast_signed().into(), document.as_str().into()]).await?;
    rendering::forget_all(tx).await?;
    tx.known.learn::<Policies>((), Some(seq));
    Ok(seq)
}

/// Returns up to which record of the journal secrets were looked for.
pub async fn scanned(tx: &mut Tx<'_>) -> Result<u64> {
    let space = tx.space;
    let scan: Option<SecretScan> = tx.row_of(&SecretScan::select(), &[space.into()]).await?;
    Ok(scan.map_or(0, |scan| scan.seq))
}

/// Says up to which record of the journal secrets were looked for.
pub async fn set_scanned(tx: &mut Tx<'_>, seq: u64) -> Result<()> {
    let sql = "INSERT INTO secret_scans (space, seq) VALUES (?1, ?2) \
               ON CONFLICT (space) DO UPDATE SET seq = excluded.seq WHERE secret_scans.seq < excluded.seq";
    let space = tx.space;
    tx.post(sql, &[space.into(), seq.cast_signed().into()]).await
}

impl TableRow for StoredPolicy {
    const TABLE: &'static Table = &SECRET_POLICIES;
    const COLUMNS: &'static [&'static str] = &["seq", "document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { seq: row.unsigned()?, document: stored::<JsonText>(row.text()?)? })
    }
}

/// How far secrets were looked for.
pub(crate) struct SecretScan {
    seq: u64,
}

impl TableRow for SecretScan {
    const TABLE: &'static Table = &SECRET_SCANS;
    const COLUMNS: &'static [&'static str] = &["seq"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { seq: row.unsigned()? })
    }
}
