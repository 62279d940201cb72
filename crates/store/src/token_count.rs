//! Token counts that were worked out before: by counter and digest of the text, in no space and no journal.

use std::collections::HashMap;

use contexture_core::CounterName;

use crate::{
    Error, Result,
    sql::{Param, Row, Tx},
    table::{Column, RowOwner, Table},
};

/// Digest of a text.
pub type TextDigest = [u8; 32];

/// The table of token counts.
pub(crate) static TOKEN_COUNTS: Table = Table {
    name: "token_counts",
    owner: RowOwner::Store,
    key: &["counter", "digest"],
    columns: &[Column::text("counter"), Column::bytes("digest"), Column::number("tokens")],
};

/// Returns how many tokens each text has, in the order of the digests; nothing for those that are not known.
pub async fn find(tx: &mut Tx<'_>, counter: &CounterName, digests: &[TextDigest]) -> Result<Vec<Option<u64>>> {
    let keys: Vec<&[u8]> = digests.iter().map(<[u8; 32]>::as_slice).collect();
    let one = "SELECT digest, tokens FROM token_counts WHERE counter = ?1 AND digest =";
    let rows = tx.look_up(one, counter.as_str().into(), &keys).await?;
    let known = rows.iter().map(decode).collect::<Result<HashMap<TextDigest, u64>>>()?;
    Ok(digests.iter().map(|digest| known.get(digest).copied()).collect())
}

/// Remembers how many tokens texts have. What is known already stays.
pub async fn put(tx: &mut Tx<'_>, counter: &CounterName, counts: &[(TextDigest, u64)]) -> Result<()> {
    // Writers of different spaces meet only here. Always in the same order, they do not wait for each other in a circle.
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    for (digest, tokens) in &counts {
        let sql = "INSERT INTO token_counts (counter, digest, tokens) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (counter, digest) DO NOTHING";
        let tokens = i64::try_from(*tokens).unwrap_or(i64::MAX);
        tx.post(sql, &[counter.as_str().into(), Param::Blob(digest), tokens.into()]).await?;
    }
    Ok(())
}

fn decode(row: &Row) -> Result<(TextDigest, u64)> {
    let digest = row.blob(0)?.try_into().map_err(|_| Error::damaged("the digest of a text has the wrong length"))?;
    Ok((digest, row.integer(1)?.cast_unsigned()))
}
