//! What the tables hold: their columns, whose their rows are, and what they refer to.
//!
//! Each table module describes its own tables, once. Whoever goes over all that is stored follows the descriptions, so
//! that a table which is added later is not forgotten.

use crate::{
    Result, annotation, artifact, channel, commit, envelope, event, finding, head, injection, journal, missing,
    rendering, request, search, secret_policy, source, space,
    sql::{Row, RowReader},
    token_count,
};

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Whose its rows are.
    pub owner: RowOwner,
    /// The columns of its primary key.
    pub key: &'static [&'static str],
    /// All its columns, in order.
    pub columns: &'static [Column],
}

/// Whose the rows of a table are.
#[derive(Debug, Clone, Copy)]
pub enum RowOwner {
    /// Of no space.
    Store,
    /// Of the space that the column `space` names.
    Space,
    /// Of the row of another table whose `key` is in a column.
    Row {
        /// The other table, whose rows are of spaces.
        table: &'static Table,
        /// The column.
        column: &'static str,
    },
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ColumnKind,
    /// Whether a row may have no value.
    pub is_optional: bool,
    /// What its values refer to.
    pub reference: Option<RowReference>,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// Whole numbers.
    Number,
    /// Texts.
    Text,
    /// Bytes.
    Bytes,
}

/// What a value refers to, in the space of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowReference {
    /// An artifact, by the key of its row.
    ArtifactKey,
    /// An artifact, by its digest.
    ArtifactDigest,
    /// The artifact that another column of the row refers to by its key, once more by its digest.
    SameArtifact,
    /// A commit, by its id.
    Commit,
    /// Any number of commits, by their ids one after the other.
    Commits,
    /// A commit, by its line; the column that follows holds its position.
    CommitPlace,
    /// A line, by its key.
    Line,
    /// An envelope, by its id.
    Envelope,
    /// An envelope, by the record of the journal that describes its creation.
    EnvelopeRecord,
    /// A record of the journal, by its sequence number.
    JournalRecord,
}

/// All tables, each after those that its rows refer to by key.
///
/// What an engine keeps for itself is not among them: the words of passages and, on a server, the version of the store.
pub static TABLES: &[&Table] = &[
    &space::SPACES,
    &journal::JOURNAL,
    &artifact::ARTIFACTS,
    &artifact::PARTS,
    &finding::FINDINGS,
    &artifact::SEALED_ORIGINALS,
    &artifact::WITHHELD,
    &commit::LINES,
    &commit::COMMITS,
    &annotation::ANNOTATIONS,
    &head::HEADS,
    &head::REFLOG,
    &request::REQUESTS,
    &source::SOURCES,
    &source::SEGMENTS,
    &envelope::ENVELOPES,
    &envelope::ENVELOPE_ARTIFACTS,
    &injection::INJECTIONS,
    &missing::MISSING,
    &event::EVENTS,
    &channel::CHANNELS,
    &channel::MESSAGES,
    &channel::MENTIONS,
    &channel::PARTICIPANTS,
    &channel::CURSORS,
    &channel::TURNS,
    &channel::SESSION_BINDINGS,
    &secret_policy::SECRET_POLICIES,
    &secret_policy::SECRET_SCANS,
    &search::SEARCH_CURSORS,
    &search::PASSAGES,
    &rendering::RENDERINGS,
    &token_count::TOKEN_COUNTS,
];

/// A row as the module of its table reads it.
///
/// Each module implements it for what it makes of a row; it and the checker call it. An implementation must never read
/// a column that it does not list.
pub(crate) trait TableRow: Sized {
    /// The table.
    const TABLE: &'static Table;
    /// The columns that [`decode`](Self::decode) reads, in its order. Left out are those that only joins use.
    const COLUMNS: &'static [&'static str];

    /// Reads the columns.
    fn decode(row: &mut RowReader<'_>) -> Result<Self>;

    /// Reads a row that begins with the columns.
    fn of(row: &mut Row) -> Result<Self> {
        Self::decode(&mut row.reader(0))
    }

    /// Returns the columns as a statement lists them.
    fn columns() -> String {
        Self::COLUMNS.join(", ")
    }

    /// Returns the columns as a statement lists them that calls the table by another name.
    fn columns_of(alias: &str) -> String {
        let columns: Vec<String> = Self::COLUMNS.iter().map(|column| format!("{alias}.{column}")).collect();
        columns.join(", ")
    }

    /// Returns the beginning of a statement that reads rows of one space, whose key is its first parameter.
    fn select() -> String {
        format!("SELECT {} FROM {} WHERE space = ?1", Self::columns(), Self::TABLE.name)
    }
}

impl Table {
    /// Returns the statement that goes over the rows of a space in the order of their keys, page by page.
    ///
    /// A row begins with [`page_key`](Self::page_key), after which come `columns`. The table is called `t` in them and in
    /// `joined`, which is what stands between the table and the conditions. Parameters are the space, the key after which
    /// the page begins, and how many rows it has.
    pub(crate) fn page_statement(&self, columns: &str, joined: &str) -> String {
        let name = self.name;
        let keys: Vec<String> = self.page_key().map(|column| format!("t.{column}")).collect();
        let after: Vec<String> = (2..keys.len() + 2).map(|number| format!("?{number}")).collect();
        let (keys, after, limit) = (keys.join(", "), after.join(", "), after.len() + 2);
        let (owner, condition) = match self.owner {
            RowOwner::Store => (String::new(), "?1 = ?1"),
            RowOwner::Space if self.key.first() == Some(&SPACE) => (String::new(), "t.space = ?1"),
            // Sums keep SQLite from choosing an index that starts with the space and sorting all of it for each page.
            RowOwner::Space => (String::new(), "t.space + 0 = ?1"),
            RowOwner::Row { table, column } => {
                (format!("JOIN {} o ON o.key = t.{column}", table.name), "o.space + 0 = ?1")
            }
        };
        format!(
            "SELECT {keys}, {columns} FROM {name} t {owner} {joined} \
             WHERE {condition} AND ({keys}) > ({after}) ORDER BY {keys} LIMIT ?{limit}"
        )
    }

    /// Returns the columns by which the rows of a space are told apart.
    pub(crate) fn page_key(&self) -> impl Iterator<Item = &'static str> {
        self.key.iter().copied().filter(|column| *column != SPACE)
    }

    /// Returns the statements that go over the artifacts that rows of a space refer to, each by its key, or 0 for none.
    pub(crate) fn artifact_statements(&self) -> impl Iterator<Item = String> {
        self.reference_statements("")
    }

    /// Returns the same statements with the artifact that each row belongs to before the one that it refers to.
    pub(crate) fn belonging_statements(&self, owner: &str) -> impl Iterator<Item = String> {
        self.reference_statements(format!("t.{owner}, "))
    }

    fn reference_statements(&self, before: impl Into<String>) -> impl Iterator<Item = String> {
        let before = before.into();
        self.columns.iter().filter_map(move |Column { name, reference, is_optional, .. }| match (*reference)? {
            RowReference::ArtifactKey if *is_optional => {
                Some(self.page_statement(&format!("{before}coalesce(t.{name}, 0)"), ""))
            }
            RowReference::ArtifactKey => Some(self.page_statement(&format!("{before}t.{name}"), "")),
            RowReference::ArtifactDigest => {
                let joined = format!("JOIN artifacts a ON a.space = t.space AND a.digest = t.{name}");
                Some(self.page_statement(&format!("{before}a.key"), &joined))
            }
            RowReference::SameArtifact
            | RowReference::Commit
            | RowReference::Commits
            | RowReference::CommitPlace
            | RowReference::Line
            | RowReference::Envelope
            | RowReference::EnvelopeRecord
            | RowReference::JournalRecord => None,
        })
    }
}

/// The column that says of which space a row is.
const SPACE: &str = "space";

impl Column {
    /// Describes a column of whole numbers.
    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Number, is_optional: false, reference: None }
    }

    /// Describes a column of texts.
    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Text, is_optional: false, reference: None }
    }

    /// Describes a column of bytes.
    pub(crate) const fn bytes(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Bytes, is_optional: false, reference: None }
    }

    /// Says that a row may have no value.
    pub(crate) const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Says what its values refer to.
    pub(crate) const fn to(self, reference: RowReference) -> Self {
        Self { reference: Some(reference), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn what_is_described_exists() {
        let mut names = HashSet::new();
        for table in TABLES {
            assert!(names.insert(table.name), "{} is described twice", table.name);
            let has = |wanted: &str| table.columns.iter().any(|column| column.name == wanted);
            assert!(table.key.iter().all(|column| has(column)), "{} has its key", table.name);
            match table.owner {
                RowOwner::Store => assert!(!has(SPACE), "{} is of spaces", table.name),
                RowOwner::Space => assert!(has(SPACE), "{} is of no space", table.name),
                RowOwner::Row { table: owner, column } => {
                    assert!(has(column) && matches!(owner.owner, RowOwner::Space) && owner.key == ["key"]);
                }
            }
        }
    }

    #[test]
    fn each_table_has_a_reader_of_columns_that_are_there() {
        fn check<R: TableRow>() -> &'static str {
            let has = |wanted: &&str| R::TABLE.columns.iter().any(|column| column.name == *wanted);
            assert!(R::COLUMNS.iter().all(has), "{}", R::TABLE.name);
            R::TABLE.name
        }
        let read = [
            check::<space::Space>(),
            check::<contexture_core::JournalRecord>(),
            check::<artifact::LocatedArtifact>(),
            check::<artifact::PartRow>(),
            check::<contexture_core::SecretFinding>(),
            check::<artifact::SealedPatch>(),
            check::<artifact::Withheld>(),
            check::<commit::LineRow>(),
            check::<commit::StoredCommit>(),
            check::<annotation::AnnotationRow>(),
            check::<head::Head>(),
            check::<head::HeadMove>(),
            check::<request::RequestRow>(),
            check::<source::TranscriptSource>(),
            check::<source::SegmentRow>(),
            check::<envelope::StoredEnvelope>(),
            check::<envelope::EnvelopeArtifactRow>(),
            check::<injection::StoredInjection>(),
            check::<missing::StoredMissing>(),
            check::<event::EventRow>(),
            check::<channel::StoredChannel>(),
            check::<channel::MessageRow>(),
            check::<channel::MentionRow>(),
            check::<channel::ParticipantRow>(),
            check::<channel::CursorRow>(),
            check::<channel::TurnRow>(),
            check::<channel::BindingRow>(),
            check::<secret_policy::StoredPolicy>(),
            check::<secret_policy::SecretScan>(),
            check::<search::Cursor>(),
            check::<search::PassageRow>(),
            check::<rendering::Rendering>(),
            check::<token_count::TokenCountRow>(),
        ];
        assert_eq!(read.to_vec(), TABLES.iter().map(|table| table.name).collect::<Vec<_>>());
    }

    #[test]
    fn all_that_refers_to_artifacts_is_gone_over() {
        let used: Vec<(&str, usize)> = TABLES
            .iter()
            .map(|table| (table.name, table.artifact_statements().count()))
            .filter(|(_, statements)| *statements > 0)
            .collect();
        let expected = [
            ("parts", 1),
            ("withheld", 1),
            ("commits", 1),
            ("segments", 1),
            ("envelopes", 1),
            ("envelope_artifacts", 1),
            ("messages", 1),
        ];
        assert_eq!(used, expected);
        assert_eq!(
            artifact::PARTS.artifact_statements().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" "),
            "SELECT t.artifact, t.start, t.part FROM parts t JOIN artifacts o ON o.key = t.artifact \
             WHERE o.space + 0 = ?1 AND (t.artifact, t.start) > (?2, ?3) ORDER BY t.artifact, t.start LIMIT ?4"
        );
    }
}
