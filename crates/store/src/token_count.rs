//! Token counts that were worked out before: by counter and digest of the text, in no space and no journal.

use std::collections::HashMap;

use contexture_core::CounterName;

use crate::{
    Error, Result,
    sql::{Param, Row, RowReader, Tx},
    table::{Column, RowOwner, Table, TableRow},
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
    let one = format!("SELECT {} FROM token_counts WHERE counter = ?1 AND digest =", TokenCountRow::columns());
    let mut rows = tx.look_up(&one, counter.as_str().into(), &keys).await?;
    let decode = |row: &mut Row| TokenCountRow::of(row).map(|TokenCountRow { digest, tokens }| (digest, tokens));
    let known = rows.iter_mut().map(decode).collect::<Result<HashMap<TextDigest, u64>>>()?;
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

/// How many tokens a text has, by a counter that is known.
pub(crate) struct TokenCountRow {
    digest: TextDigest,
    tokens: u64,
}

impl TableRow for TokenCountRow {
    const TABLE: &'static Table = &TOKEN_COUNTS;
    const COLUMNS: &'static [&'static str] = &["digest", "tokens"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let digest = row.blob()?.try_into().map_err(|_| Error::damaged("the digest of a text has the wrong length"))?;
        Ok(Self { digest, tokens: row.unsigned()? })
    }
}
