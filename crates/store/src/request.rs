//! Idempotency keys: a request that is sent again makes nothing new.

use contexture_core::{CommitId, IdempotencyKey};

use crate::{
    Error, Result,
    commit::commit_id,
    sql::{Param, Tx},
    table::{Column, RowOwner, RowReference, Table},
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
    let sql = "SELECT payload, commit_id FROM requests WHERE space = ?1 AND key = ?2";
    let Some(row) = tx.row(sql, &[space.into(), key.as_str().into()]).await? else {
        return Ok(None);
    };
    let commit = commit_id(row.blob(1)?)?;
    if row.blob(0)? == payload { Ok(Some(commit)) } else { Err(Error::KeyConflict { key: key.clone(), commit }) }
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
