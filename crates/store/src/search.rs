//! The index that searches ask: the words of what commits hold and of what is said about them.
//!
//! It follows the journal and is made of nothing but what the store holds, so it may be behind, and it may be dropped.
//! Texts are cut into words here, the same on every engine; the engine keeps the words and finds them again.

mod find;
mod query;
mod word_split;

use std::{fmt, str::FromStr};

use contexture_core::{Role, UnknownWord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use find::{Filter, Hit, SearchRequest, find, newest};
pub(crate) use find::{LABELLED, label_texts};
pub use query::{Query, QueryError};
pub use word_split::{Passage, Words, passages};

use crate::{
    Error, Result,
    commit::CommitPlace,
    space::stored,
    sql::{Dialect, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// Version of how text is taken from commits and cut into words. An index that was made by older rules is made anew.
pub const RULES: u32 = 1;
/// The version of an index that is to be made anew.
const CONDEMNED: u32 = 0;

/// How far the index of a space is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    /// Every journal record up to this one is in it.
    pub seq: u64,
    /// So many passages of the record that follows are in it too.
    #[serde(skip)]
    pub inside: u64,
    /// The rules that it is made by.
    #[serde(skip)]
    pub rules: u32,
    /// How many passages are in it.
    pub passages: u64,
    /// How many bytes of text they had when they were taken in.
    pub bytes: u64,
}

/// Where in a commit a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// In which of its entries, the first being 1; nothing when it is in what is said about the commit.
    pub entry: Option<u64>,
    /// In which part of that.
    pub part: u64,
    /// Which passage of the part it is.
    pub passage: u64,
    /// Who says it.
    pub role: Option<Role>,
    /// What it is.
    pub kind: PassageKind,
}

/// What a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PassageKind {
    /// Words that somebody said.
    Text,
    /// What a model thought.
    Thinking,
    /// The name of a tool and what it was given.
    ToolCall,
    /// What a tool answered.
    ToolResult,
    /// What stands for what came before, or sums up a commit.
    Summary,
    /// A tag or label of a commit.
    Label,
}

/// What becomes of the index when it follows the journal.
#[derive(Debug, Clone)]
pub enum IndexChange {
    /// A passage comes in.
    Add {
        /// Where its commit lies.
        place: CommitPlace,
        /// Where in the commit it is.
        spot: Spot,
        /// Its words.
        passage: Passage,
    },
    /// What was said about a commit goes out, because all of it comes again.
    ForgetNotes {
        /// Where the commit lies.
        place: CommitPlace,
    },
}

/// Whether the index was where a change expected it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// It was, and is further now.
    Here,
    /// Somebody else has moved it meanwhile, and nothing was changed.
    Elsewhere,
}

/// The table of how far the index of each space is.
pub(crate) static SEARCH_CURSORS: Table = Table {
    name: "search_cursors",
    owner: RowOwner::Space,
    key: &["space"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::number("inside"),
        Column::number("rules"),
        Column::number("passages"),
        Column::number("bytes"),
    ],
};

/// The table of passages. Their words lie where each engine looks for words.
pub(crate) static PASSAGES: Table = Table {
    name: "passages",
    owner: RowOwner::Space,
    key: &["key"],
    columns: &[
        Column::number("key"),
        Column::number("space"),
        Column::number("line").to(RowReference::CommitPlace),
        Column::number("position"),
        Column::number("entry").optional(),
        Column::number("part"),
        Column::number("passage"),
        Column::text("role").optional(),
        Column::text("kind"),
    ],
};

impl PassageKind {
    /// Every kind.
    pub const ALL: &'static [Self] =
        &[Self::Text, Self::Thinking, Self::ToolCall, Self::ToolResult, Self::Summary, Self::Label];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Thinking => "thinking",
            Self::ToolCall => "tool-call",
            Self::ToolResult => "tool-result",
            Self::Summary => "summary",
            Self::Label => "label",
        }
    }
}

impl fmt::Display for PassageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for PassageKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let known = Self::ALL.iter().copied();
        known.clone().find(|kind| kind.as_str() == word).ok_or_else(|| UnknownWord::new(word, known.map(Self::as_str)))
    }
}

/// Returns how far the index of the space is; nothing when there is none.
pub async fn cursor(tx: &mut Tx<'_>) -> Result<Option<Cursor>> {
    let space = tx.space;
    tx.row_of(&Cursor::select(), &[space.into()]).await
}

/// Begins the index of the space, unless there is one: what may be left of an earlier one is to be dropped first.
pub async fn begin(tx: &mut Tx<'_>) -> Result<()> {
    let space = tx.space;
    let sql = "INSERT INTO search_cursors (space, seq, inside, rules, passages, bytes) VALUES (?1, 0, 0, ?2, 0, 0) \
               ON CONFLICT (space) DO NOTHING";
    tx.post(sql, &[space.into(), i64::from(CONDEMNED).into()]).await
}

/// Moves the index on from where it is thought to be, with what comes in and goes out on the way.
pub async fn advance(
    tx: &mut Tx<'_>,
    from: &Cursor,
    (seq, inside): (u64, u64),
    changes: &[IndexChange],
) -> Result<Moved> {
    let space = tx.space;
    let (mut added, mut bytes) = (0, 0);
    for change in changes {
        if let IndexChange::Add { passage, .. } = change {
            added += 1;
            bytes += passage.range.len() as u64;
        }
    }
    let sql = "UPDATE search_cursors SET seq = ?4, inside = ?5, passages = passages + ?6, bytes = bytes + ?7 \
               WHERE space = ?1 AND seq = ?2 AND inside = ?3 AND rules = ?8";
    let [from_seq, from_inside, seq, inside, added, bytes] =
        [from.seq, from.inside, seq, inside, added, bytes].map(u64::cast_signed);
    let params = [
        space.into(),
        from_seq.into(),
        from_inside.into(),
        seq.into(),
        inside.into(),
        added.into(),
        bytes.into(),
        i64::from(RULES).into(),
    ];
    if tx.execute(sql, &params).await? == 0 {
        return Ok(Moved::Elsewhere);
    }
    for change in changes {
        match change {
            IndexChange::Add { place, spot, passage } => add(tx, *place, spot, passage).await?,
            IndexChange::ForgetNotes { place } => forget_notes(tx, *place).await?,
        }
    }
    Ok(Moved::Here)
}

async fn add(tx: &mut Tx<'_>, place: CommitPlace, spot: &Spot, passage: &Passage) -> Result<()> {
    let params = [
        tx.space.into(),
        place.line.into(),
        place.position.into(),
        spot.entry.map(u64::cast_signed).into(),
        spot.part.cast_signed().into(),
        spot.passage.cast_signed().into(),
        spot.role.map(Role::as_str).into(),
        spot.kind.as_str().into(),
        passage.words.as_str().into(),
    ];
    match tx.dialect() {
        Dialect::Sqlite => {
            let sql = "INSERT INTO passages (space, line, position, entry, part, passage, role, kind) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            tx.post(sql, &params[..8]).await?;
            let sql = "INSERT INTO passage_words (rowid, words) VALUES (last_insert_rowid(), ?1)";
            tx.post(sql, &params[8..]).await
        }
        Dialect::Postgres => {
            let sql = "INSERT INTO passages (space, line, position, entry, part, passage, role, kind, words) \
                       VALUES (?1, ?2, ?3, CAST(?4 AS BIGINT), ?5, ?6, CAST(?7 AS TEXT), ?8, \
                       CAST(CAST(?9 AS TEXT) AS TSVECTOR))";
            tx.post(sql, &params).await
        }
    }
}

async fn forget_notes(tx: &mut Tx<'_>, place: CommitPlace) -> Result<()> {
    let notes = "SELECT key FROM passages WHERE line = ?1 AND position = ?2 AND entry IS NULL";
    forget_passages(tx, notes, place).await.map(drop)
}

async fn forget_passages(tx: &mut Tx<'_>, passages: &str, place: CommitPlace) -> Result<u64> {
    let params = [place.line.into(), place.position.into()];
    if tx.dialect() == Dialect::Sqlite {
        tx.post(&format!("DELETE FROM passage_words WHERE rowid IN ({passages})"), &params).await?;
    }
    let gone = tx.execute(&format!("DELETE FROM passages WHERE key IN ({passages})"), &params).await?;
    let space = tx.space;
    // Those of an index that is to be made anew are not counted any more.
    let sql =
        "UPDATE search_cursors SET passages = CASE WHEN passages < ?2 THEN 0 ELSE passages - ?2 END WHERE space = ?1";
    tx.post(sql, &[space.into(), gone.cast_signed().into()]).await?;
    Ok(gone)
}

/// Takes all passages of a commit out of the index. Returns how many there were. Their words leave the database once it is
/// [erased](crate::Store::erase).
pub async fn forget(tx: &mut Tx<'_>, place: CommitPlace) -> Result<u64> {
    let passages = "SELECT key FROM passages WHERE line = ?1 AND position = ?2";
    forget_passages(tx, passages, place).await
}

/// Says that the index of the space is to be made anew. Whoever searches next does that.
pub async fn condemn(tx: &mut Tx<'_>) -> Result<()> {
    let space = tx.space;
    // Whatever the row says, it can be read afterwards.
    let sql = "UPDATE search_cursors SET seq = 0, inside = 0, rules = ?2, passages = 0, bytes = 0 WHERE space = ?1";
    tx.post(sql, &[space.into(), i64::from(CONDEMNED).into()]).await
}

/// Takes up to `limit` passages out of an index that older rules made. Once it is empty it begins anew.
pub async fn drop_some(tx: &mut Tx<'_>, limit: u32) -> Result<()> {
    let space = tx.space;
    let params = [space.into(), i64::from(RULES).into()];
    if tx.row("SELECT 1 FROM search_cursors WHERE space = ?1 AND rules < ?2", &params).await?.is_none() {
        return Ok(());
    }
    let sql = "SELECT 1 FROM passages WHERE space <> ?1 LIMIT 1";
    let is_alone = tx.row(sql, &[space.into()]).await?.is_none();
    let gone = if tx.dialect() == Dialect::Sqlite && is_alone {
        // At once, and whatever state the words are in.
        tx.post("INSERT INTO passage_words (passage_words) VALUES ('delete-all')", &[]).await?;
        tx.execute("DELETE FROM passages WHERE space = ?1", &[space.into()]).await?;
        0
    } else {
        let rows = "SELECT key FROM passages WHERE space = ?1 ORDER BY key LIMIT ?2";
        let params = [space.into(), i64::from(limit).into()];
        if tx.dialect() == Dialect::Sqlite {
            tx.post(&format!("DELETE FROM passage_words WHERE rowid IN ({rows})"), &params).await?;
        }
        tx.execute(&format!("DELETE FROM passages WHERE key IN ({rows})"), &params).await?
    };
    if gone < u64::from(limit) {
        let sql = "UPDATE search_cursors SET seq = 0, inside = 0, rules = ?2, passages = 0, bytes = 0 WHERE space = ?1";
        tx.post(sql, &[space.into(), i64::from(RULES).into()]).await?;
    }
    Ok(())
}

impl TableRow for Cursor {
    const TABLE: &'static Table = &SEARCH_CURSORS;
    const COLUMNS: &'static [&'static str] = &["seq", "inside", "rules", "passages", "bytes"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let (seq, inside, rules) = (row.integer()?, row.integer()?, row.integer()?);
        let (passages, bytes) = (row.integer()?, row.integer()?);
        let natural = |number: i64| {
            u64::try_from(number).map_err(|_| Error::damaged("the search index counts something below zero"))
        };
        Ok(Self {
            seq: natural(seq)?,
            inside: natural(inside)?,
            // A program of the future may count further than this one; both are newer.
            rules: u32::try_from(natural(rules)?).unwrap_or(u32::MAX),
            passages: natural(passages)?,
            bytes: natural(bytes)?,
        })
    }
}

/// Where a passage is.
pub(crate) struct PassageRow {
    place: CommitPlace,
    spot: Spot,
}

impl TableRow for PassageRow {
    const TABLE: &'static Table = &PASSAGES;
    const COLUMNS: &'static [&'static str] = &["line", "position", "entry", "part", "passage", "role", "kind"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            place: CommitPlace { line: row.integer()?, position: row.integer()? },
            spot: Spot {
                entry: row.optional_integer()?.map(i64::cast_unsigned),
                part: row.unsigned()?,
                passage: row.unsigned()?,
                role: row.optional_text()?.map(stored::<Role>).transpose()?,
                kind: stored::<PassageKind>(row.text()?)?,
            },
        })
    }
}
