//! Texts in rows from which something is removed for good: the rows stay, and so does what the journal says of them.

use contexture_core::{ChainDigest, CommitId, JournalKind, Mutation};

use crate::{
    Error, Result, annotation,
    commit::{self, CommitPlace},
    event, injection, journal, missing, source,
    sql::{Param, Tx},
    table::Table,
};

/// Rows that are looked at in one query.
const PAGE_ROWS: u32 = 256;

/// What to put in the place of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextReplacement {
    /// The texts to look for, none of which is empty.
    pub values: Vec<String>,
    /// What stands in their place: it stands in JSON as it is.
    pub instead: String,
}

/// Where something was replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplacedTexts {
    /// The commits about which something was said.
    pub commits: Vec<CommitId>,
    /// How many statements about commits.
    pub annotations: u64,
    /// How many injections, gaps and events.
    pub records: u64,
    /// How many states of sources.
    pub sources: u64,
}

impl TextReplacement {
    /// Returns a text without the values; nothing when they are not in it.
    fn apply(&self, text: &str) -> Option<String> {
        let mut replaced = text.to_owned();
        for value in &self.values {
            if replaced.contains(value) {
                replaced = replaced.replace(value, &self.instead);
            }
        }
        (replaced != text).then_some(replaced)
    }
}

/// Replaces texts in all that the space holds beside content. With [`ReplaceMode::Look`] it only says where it would.
pub async fn replace(tx: &mut Tx<'_>, replacement: &TextReplacement, mode: ReplaceMode) -> Result<ReplacedTexts> {
    let mut found = ReplacedTexts::default();
    annotations(tx, replacement, mode, &mut found).await?;
    for (table, journaled_at) in
        [(&injection::INJECTIONS, "seq"), (&missing::MISSING, "changed_seq"), (&event::EVENTS, "seq")]
    {
        found.records += records(tx, table, journaled_at, replacement, mode).await?;
    }
    found.sources = states(tx, replacement, mode).await?;
    Ok(found)
}

/// Whether to change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceMode {
    /// Changes nothing.
    Look,
    /// Changes what is found.
    Change,
}

async fn annotations(
    tx: &mut Tx<'_>,
    replacement: &TextReplacement,
    mode: ReplaceMode,
    found: &mut ReplacedTexts,
) -> Result<()> {
    let mut after = (i64::MIN, i64::MIN, i64::MIN);
    loop {
        let sql = "SELECT line, position, seq, annotation FROM annotations \
                   WHERE space = ?1 AND (line, position, seq) > (?2, ?3, ?4) ORDER BY line, position, seq LIMIT ?5";
        let params = [tx.space.into(), after.0.into(), after.1.into(), after.2.into(), i64::from(PAGE_ROWS).into()];
        let rows = tx.rows(sql, &params).await?;
        for row in &rows {
            let (line, position, seq) = (row.integer(0)?, row.integer(1)?, row.integer(2)?);
            after = (line, position, seq);
            let Some(text) = replacement.apply(row.text(3)?) else { continue };
            found.annotations += 1;
            let commit = commit::at(tx, CommitPlace { line, position }).await?.id;
            if !found.commits.contains(&commit) {
                found.commits.push(commit);
            }
            if mode == ReplaceMode::Look {
                continue;
            }
            let sql = format!(
                "UPDATE annotations SET annotation = ?4, withheld = {} WHERE line = ?1 AND position = ?2 AND seq = ?3",
                digest_of(annotation::ANNOTATIONS.name, "seq")
            );
            tx.post(&sql, &[line.into(), position.into(), seq.into(), text.as_str().into()]).await?;
            journal::append(tx, Mutation::new(JournalKind::AnnotationWithheld, commit.to_string(), &1)).await?;
        }
        if rows.len() < PAGE_ROWS as usize {
            return Ok(());
        }
    }
}

async fn records(
    tx: &mut Tx<'_>,
    table: &Table,
    journaled_at: &str,
    replacement: &TextReplacement,
    mode: ReplaceMode,
) -> Result<u64> {
    let (name, digest) = (table.name, digest_of(table.name, journaled_at));
    let (mut after, mut changed) = (0, 0);
    loop {
        let sql = format!("SELECT seq, document FROM {name} WHERE space = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
        let space = tx.space;
        let rows = tx.rows(&sql, &[space.into(), Param::Integer(after), i64::from(PAGE_ROWS).into()]).await?;
        for row in &rows {
            after = row.integer(0)?;
            let Some(text) = replacement.apply(row.text(1)?) else { continue };
            changed += 1;
            if mode == ReplaceMode::Change {
                let sql = format!("UPDATE {name} SET document = ?3, withheld = {digest} WHERE space = ?1 AND seq = ?2");
                tx.post(&sql, &[space.into(), after.into(), text.as_str().into()]).await?;
            }
        }
        if rows.len() < PAGE_ROWS as usize {
            return Ok(changed);
        }
    }
}

/// Replaces texts in what is needed to go on with sources.
async fn states(tx: &mut Tx<'_>, replacement: &TextReplacement, mode: ReplaceMode) -> Result<u64> {
    let name = source::SOURCES.name;
    let (mut after, mut changed) = (0, 0);
    loop {
        let sql = format!("SELECT key, state FROM {name} WHERE space + 0 = ?1 AND key > ?2 ORDER BY key LIMIT ?3");
        let space = tx.space;
        let rows = tx.rows(&sql, &[space.into(), Param::Integer(after), i64::from(PAGE_ROWS).into()]).await?;
        for row in &rows {
            after = row.integer(0)?;
            let Some(text) = replacement.apply(row.text(1)?) else { continue };
            changed += 1;
            if mode == ReplaceMode::Change {
                tx.post(&format!("UPDATE {name} SET state = ?2 WHERE key = ?1"), &[after.into(), text.as_str().into()])
                    .await?;
            }
        }
        if rows.len() < PAGE_ROWS as usize {
            return Ok(changed);
        }
    }
}

/// Returns the expression for what the journal says of a row of a table, or said before something was removed from it.
pub(crate) fn digest_of(table: &str, journaled_at: &str) -> String {
    format!(
        "COALESCE(withheld, (SELECT j.digest FROM journal j \
         WHERE j.space = {table}.space AND j.seq = {table}.{journaled_at}))"
    )
}

pub(crate) fn digest(bytes: &[u8]) -> Result<ChainDigest> {
    bytes.try_into().map(ChainDigest).map_err(|_| Error::damaged("the digest of what a row said has the wrong length"))
}
