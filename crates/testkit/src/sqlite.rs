//! Stores on SQLite.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use contexture::{Contexture, Location, Options, Result};
use contexture_core::ArtifactId;
use contexture_store::table::ColumnKind;
use tempfile::TempDir;

use crate::{Backend, EngineColumn};

/// Lies in memory, so that thousands of stores do not wait for a disk whose promises are not in question.
pub(crate) const MEMORY: &str = "/dev/shm";

/// A store in a temporary directory.
pub struct SqliteBackend {
    directory: TempDir,
}

impl SqliteBackend {
    /// Makes a directory for a store, in memory where the system has a place for that.
    pub fn new() -> Self {
        let made = if Path::new(MEMORY).is_dir() { TempDir::new_in(MEMORY) } else { TempDir::new() };
        Self { directory: made.expect("a temporary directory can be made") }
    }

    /// Returns the store's directory.
    pub fn directory(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    /// Returns what a crash at this moment would leave: the files as they are, whoever has them open.
    ///
    /// Nobody may be writing. What a writer would have left half done is stood for by `torn`, bytes that end up behind
    /// the last whole frame of the write-ahead log.
    #[must_use]
    pub fn crash_image(&self, torn: &[u8]) -> Self {
        let image = Self::new();
        // Another process copies: if this one closed the files, it would lose its locks on them.
        let copied = Command::new("cp").arg("-R").args([self.directory(), image.directory()]).status();
        assert!(copied.expect("there is a cp").success());
        let log = fs::OpenOptions::new().append(true).open(image.directory().join("contexture.db-wal"));
        log.and_then(|mut log| log.write_all(torn)).expect("the store has a log");
        image
    }

    fn change_rows(&self, sql: &str, id: ArtifactId) {
        let database = rusqlite::Connection::open(self.directory().join("contexture.db")).expect("there is a store");
        let changed = database.execute(sql, [id.as_bytes()]).expect("the store has artifacts");
        assert_ne!(changed, 0, "{id} is not stored as such");
    }
}

/// The same store, opened for one caller each time.
pub struct LoneSqliteBackend(SqliteBackend);

impl Backend for LoneSqliteBackend {
    async fn create() -> Self {
        Self(SqliteBackend::new())
    }

    fn location(&self) -> Location {
        self.0.location()
    }

    fn open(options: Options) -> impl Future<Output = Result<Contexture>> {
        Contexture::open_alone(options)
    }

    async fn crash(&mut self, torn: &[u8]) {
        self.0.crash(torn).await;
    }

    async fn lose_artifact(&self, id: ArtifactId) {
        self.0.lose_artifact(id).await;
    }

    async fn damage_artifact(&self, id: ArtifactId) {
        self.0.damage_artifact(id).await;
    }

    async fn columns(&self) -> Vec<EngineColumn> {
        self.0.columns().await
    }
}

impl Default for SqliteBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for SqliteBackend {
    async fn create() -> Self {
        Self::new()
    }

    fn location(&self) -> Location {
        Location::Directory(self.directory())
    }

    async fn crash(&mut self, torn: &[u8]) {
        *self = self.crash_image(torn);
    }

    async fn lose_artifact(&self, id: ArtifactId) {
        self.change_rows("DELETE FROM artifacts WHERE digest = ?1", id);
    }

    async fn damage_artifact(&self, id: ArtifactId) {
        let sql = "UPDATE artifacts SET encoding = 'raw', body = zeroblob(size) WHERE key = coalesce( \
                   (SELECT p.part FROM parts p JOIN artifacts a ON a.key = p.artifact WHERE a.digest = ?1 LIMIT 1), \
                   (SELECT key FROM artifacts WHERE digest = ?1))";
        self.change_rows(sql, id);
    }

    async fn columns(&self) -> Vec<EngineColumn> {
        // A key that stands for the row has no need to be declared as never absent.
        let sql = "SELECT t.name, c.name, c.type, c.\"notnull\" = 0 AND c.pk = 0, c.pk \
                   FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'passage_words%' \
                   ORDER BY t.name, c.cid";
        let database = rusqlite::Connection::open(self.directory().join("contexture.db")).expect("there is a store");
        let mut statement = database.prepare(sql).expect("SQLite describes its tables");
        let columns = statement.query_map([], |row| {
            let kind = match row.get::<_, String>(2)?.as_str() {
                "INTEGER" => ColumnKind::Number,
                "TEXT" => ColumnKind::Text,
                "BLOB" => ColumnKind::Bytes,
                other => panic!("no column is of type {other}"),
            };
            let (table, name) = (row.get(0)?, row.get(1)?);
            Ok(EngineColumn { table, name, kind, is_optional: row.get(3)?, key_place: row.get(4)? })
        });
        columns.and_then(Iterator::collect).expect("SQLite describes its columns")
    }
}
