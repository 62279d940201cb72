//! Idempotency keys: a request that is sent again makes nothing new.

use contexture_core::{CommitId, IdempotencyKey};

use crate::{
    Error, Result,
    commit::commit_id,
    space::time,
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// Digest of everything that a request asks for.
pub type RequestDigest = [u8; 32];

/// The table of idempotency keys.
pub(crate) static REQUESTS: Table = Table {
    name: "requests",
    owner: RowOwner::Space,
    key: &["space", "key"],
    columns: &[
        Column::number("space"),
        Column::text("key"),
        Column::bytes("payload"),
        Column::bytes("commit_id").to(RowReference::Commit),
        Column::number("at"),
    ],
};

/// Returns the commit that this request made before.
///
/// The same key with another payload is a conflict.
pub async fn find(tx: &mut Tx<'_>, key: &IdempotencyKey, payload: &RequestDigest) -> Result<Option<CommitId>> {
    let space = tx.space;
    let sql = format!("{} AND key = ?2", RequestRow::select());
    match tx.row_of::<RequestRow>(&sql, &[space.into(), key.as_str().into()]).await? {
        None => Ok(None),
        Some(RequestRow { commit, payload: first }) if first == *payload => Ok(Some(commit)),
        Some(RequestRow { commit, .. }) => Err(Error::KeyConflict { key: key.clone(), commit }),
    }
}

/// Remembers which commit a request made.
pub async fn remember(tx: &mut Tx<'_>, key: &IdempotencyKey, payload: &RequestDigest, commit: &CommitId) -> Result<()> {
    let (space, now) = (tx.space, tx.scope.now);
    let sql = "INSERT INTO requests (space, key, payload, commit_id, at) VALUES (?1, ?2, ?3, ?4, ?5)";
    let params = [
        space.into(),
        key.as_str().into(),
        Param::Blob(payload),
        Param::Blob(commit.as_bytes()),
        now.as_micros().into(),
    ];
    tx.post(sql, &params).await
}

/// What is remembered of a request.
pub(crate) struct RequestRow {
    pub(crate) payload: RequestDigest,
    pub(crate) commit: CommitId,
}

impl TableRow for RequestRow {
    const TABLE: &'static Table = &REQUESTS;
    const COLUMNS: &'static [&'static str] = &["payload", "commit_id", "at"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let payload = row.blob()?.try_into().map_err(|_| Error::damaged("a payload digest has the wrong length"))?;
        let commit = commit_id(row.blob()?)?;
        // Nobody asks when it was; it must be a time all the same.
        time(row.integer()?)?;
        Ok(Self { payload, commit })
    }
}
