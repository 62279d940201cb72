//! One SQLite connection with the settings that durability and sharing need.

use std::{path::Path, sync::Arc, thread, time::Duration};

use futures_util::{
    TryFutureExt as _,
    future::{self, BoxFuture, FutureExt as _},
};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use rusqlite::{ErrorCode, OpenFlags, config::DbConfig, types::ValueRef};

use super::log_file;
use crate::{
    Erasure, Error, Result,
    job::GroupConnection,
    sql::{Connection, Dialect, Entrance, Param, Row, Value},
};

/// How long a writer waits for other programs before it gives up.
const BUSY_LIMIT: Duration = Duration::from_mins(1);
/// Longest sleep between two tries. Short, so that many programs take turns quickly.
pub(super) const BUSY_SLEEP: Duration = Duration::from_millis(2);
/// Pages of write-ahead log after which a commit folds them in. Short, because overwriting the log costs half as much
/// to sync as extending it, and because whoever opens the store after a crash reads all of it.
const LOG_PAGES: i64 = 1000;
/// The same while several callers wait. Each of their groups dirties much of what the one before did, so what is folded in
/// less often is folded in once for more of them.
const LOG_PAGES_OF_GROUPS: i64 = 4 * LOG_PAGES;
/// Bytes of a page. Three compressed messages of 4 KiB share one, so that many writers dirty fewer; a single writer, who
/// dirties a dozen pages whatever they hold, has more to sync. Of the sizes this serves both best.
const PAGE_BYTES: i64 = 8192;
/// How long the removal of what is left waits for others.
const ERASE_PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a database beyond which its copy is made in a file and not in memory.
const MAX_COPY_IN_MEMORY: u64 = 64 * 1024 * 1024;
/// Statements kept prepared per connection: more than the table modules have.
const STATEMENT_CACHE: usize = 128;

/// Who makes durable what is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogSync {
    /// The commit.
    WithCommit,
    /// Somebody else, before anybody is told of it.
    Apart,
}

pub(crate) struct SqliteConnection {
    inner: rusqlite::Connection,
    log_sync: LogSync,
    /// Set by the first failure of the disk. After a failed fsync the page cache may hold what the disk lost,
    /// so a later success proves nothing.
    failure: Option<Arc<Error>>,
    /// What the last transaction knew of its space, and the version of the database that it left.
    remembered: Option<(i64, Entrance)>,
}

impl SqliteConnection {
    /// Opens or creates a database file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opening = rusqlite::Connection::open_with_flags(path, flags);
        let inner = opening.and_then(configured).map_err(|error| classify("open the store", error))?;
        Ok(Self { inner, log_sync: LogSync::WithCommit, failure: None, remembered: None })
    }

    /// Opens a database file that is there, to look at it without leaving a trace.
    pub(super) fn open_to_look(path: &Path) -> Result<Self> {
        let is_logged = log_file(path).metadata().is_ok_and(|log| log.len() > 0);
        // SQLite makes a log for whoever reads, unless it is told that nobody writes; without a log, nobody does.
        let uri = format!(
            "file:{}?immutable={}",
            percent_encode(path.as_os_str().as_encoded_bytes(), NON_ALPHANUMERIC),
            u8::from(!is_logged)
        );
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opening = rusqlite::Connection::open_with_flags(uri, flags);
        let inner = opening.and_then(configured).map_err(|error| classify("open the store", error))?;
        Ok(Self { inner, log_sync: LogSync::WithCommit, failure: None, remembered: None })
    }

    /// Chooses the size of the pages of a file in which nothing is yet.
    pub(super) fn choose_page_size(&mut self) -> Result<()> {
        let chosen = self.inner.pragma_update(None, "page_size", PAGE_BYTES);
        chosen.map_err(|error| classify("choose the size of its pages", error))
    }

    /// Makes the file keep a write-ahead log, so that readers and the writer go on beside each other.
    pub(super) fn keep_log(&mut self) -> Result<()> {
        // Of several programs that do this at once SQLite refuses some without asking them to wait.
        let mut tries = 0;
        loop {
            match self.inner.pragma_update(None, "journal_mode", "WAL") {
                Err(error) if is_busy(&error) && wait_for_turn(tries) => tries += 1,
                kept => return kept.map_err(|error| classify("begin its log", error)),
            }
        }
    }

    /// Says who syncs the log from the next transaction on.
    pub(super) fn sync_log(&mut self, sync: LogSync) -> Result<()> {
        if self.log_sync == sync {
            return Ok(());
        }
        let (level, pages) = match sync {
            LogSync::WithCommit => ("FULL", LOG_PAGES),
            LogSync::Apart => ("NORMAL", LOG_PAGES_OF_GROUPS),
        };
        let set = || {
            self.inner.pragma_update(None, "synchronous", level)?;
            self.inner.pragma_update(None, "wal_autocheckpoint", pages)
        };
        set().map_err(|error| self.note("choose when to sync", error))?;
        self.log_sync = sync;
        Ok(())
    }

    pub(super) fn begin_read(&mut self) -> Result<()> {
        self.control("begin reading", "BEGIN")
    }

    pub(super) fn end_read(&mut self) -> Result<()> {
        self.control("end reading", "ROLLBACK")
    }

    /// Returns what the last transaction of this connection knew, if nobody else has written since. A transaction is open.
    pub(super) fn recall(&mut self) -> Result<Option<Entrance>> {
        let Some((version, entrance)) = self.remembered.take() else {
            return Ok(None);
        };
        Ok((self.data_version()? == version).then_some(entrance))
    }

    /// Keeps what the open transaction knows, which is about to be committed.
    pub(super) fn remember(&mut self, entrance: Option<Entrance>) -> Result<()> {
        if let Some(mut entrance) = entrance {
            entrance.known.keep_journaled();
            self.remembered = Some((self.data_version()?, entrance));
        }
        Ok(())
    }

    /// Forgets what a transaction knew that was not kept.
    pub(super) fn forget(&mut self) {
        self.remembered = None;
    }

    /// Returns a number that changes when another connection has written.
    fn data_version(&mut self) -> Result<i64> {
        let version = self
            .inner
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut version| version.query_row([], |row| row.get(0)));
        version.map_err(|error| self.note("read its version", error))
    }

    /// Leaves the transaction, if one is open, and forgets what it knew.
    pub(super) fn leave_transaction(&mut self) -> Result<()> {
        if self.inner.is_autocommit() {
            return Ok(());
        }
        self.forget();
        self.control("roll back", "ROLLBACK")
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.control("commit", "COMMIT")
    }

    /// Runs statements that take no parameters and return nothing.
    pub(super) fn batch(&mut self, attempt: &'static str, sql: &str) -> Result<()> {
        self.inner.execute_batch(sql).map_err(|error| classify(attempt, error))
    }

    /// Copies the write-ahead log into the database and empties it. Readers elsewhere may make it do less.
    pub(super) fn fold_log(&mut self) -> Result<()> {
        let folded = self.inner.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        folded.map_err(|error| classify("fold its log", error))
    }

    /// Returns how many bytes of the file hold nothing.
    pub(super) fn spare_bytes(&mut self) -> Result<u64> {
        Ok(self.pragma("freelist_count")?.cast_unsigned() * self.pragma("page_size")?.cast_unsigned())
    }

    /// Writes the file anew without what holds nothing.
    pub(super) fn shrink(&mut self) -> Result<()> {
        // The copy may be large, so it is made in a file and not in memory.
        self.batch("shrink its file", "PRAGMA temp_store = FILE; VACUUM;")?;
        self.fold_log()
    }

    /// Writes the database, of so many bytes, anew: nothing that was removed is left in it, in its log or in its index of
    /// words. Who reads an older state elsewhere keeps the log from being emptied.
    pub(super) fn erase(&mut self, size: u64) -> Result<Erasure> {
        let copy = if size > MAX_COPY_IN_MEMORY { "FILE" } else { "MEMORY" };
        let erase = || {
            self.inner.busy_timeout(ERASE_PATIENCE)?;
            self.inner.pragma_update(None, "temp_store", copy)?;
            self.inner.pragma_update(None, "secure_delete", true)?;
            // Words of passages that are gone stay in the index until its parts are merged into one.
            self.inner.execute_batch("INSERT INTO passage_words (passage_words) VALUES ('optimize'); VACUUM")?;
            self.inner.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        };
        let is_blocked = erase().map_err(|error| classify("overwrite what was removed", error))?;
        Ok(if is_blocked == 0 { Erasure::Complete } else { Erasure::InUse })
    }

    pub(super) fn pragma(&self, name: &str) -> Result<i64> {
        self.inner.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| classify("read a setting", error))
    }

    /// Runs a query whose answer is one number of things.
    pub(super) fn count(&mut self, sql: &str) -> Result<u64> {
        let count = self.inner.query_row(sql, [], |row| row.get::<_, i64>(0));
        count.map(i64::cast_unsigned).map_err(|error| self.note("answer a query", error))
    }

    pub(super) fn integrity_problems(&mut self) -> Result<Vec<String>> {
        let check = || {
            let mut statement = self.inner.prepare("PRAGMA integrity_check(100)")?;
            let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
            lines.filter(|line| !matches!(line, Ok(line) if line == "ok")).collect::<rusqlite::Result<Vec<_>>>()
        };
        check().map_err(|error| classify("check itself", error))
    }

    /// Returns the failure of the disk after which this connection must not write again.
    pub(super) fn poison(&self) -> Option<Arc<Error>> {
        self.failure.clone()
    }

    fn control(&mut self, attempt: &'static str, sql: &str) -> Result<()> {
        let run = || self.inner.prepare_cached(sql)?.execute([]);
        run().map(drop).map_err(|error| self.note(attempt, error))
    }

    fn note(&mut self, attempt: &'static str, error: rusqlite::Error) -> Error {
        self.keep_failure(classify(attempt, error))
    }

    /// Takes in that what was written may not be kept.
    pub(super) fn fail(&mut self, error: Error) -> Error {
        self.keep_failure(error)
    }

    fn keep_failure(&mut self, error: Error) -> Error {
        if error.poisons() && self.failure.is_none() {
            self.failure = Some(Arc::new(error.again()));
        }
        error
    }

    fn rows(&self, sql: &str, params: &[Param<'_>]) -> rusqlite::Result<Vec<Row>> {
        let mut statement = self.inner.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(rusqlite::params_from_iter(params))?;
        let mut answer = Vec::new();
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| Ok(owned(row.get_ref(column)?)));
            answer.push(Row::new(values.collect::<rusqlite::Result<_>>()?));
        }
        Ok(answer)
    }
}

impl GroupConnection for SqliteConnection {
    async fn begin_write(&mut self) -> Result<()> {
        self.control("begin writing", "BEGIN IMMEDIATE")
    }

    async fn roll_back(&mut self) -> Result<()> {
        self.control("roll back", "ROLLBACK")
    }

    async fn begin_job(&mut self) -> Result<()> {
        self.control("begin a job", "SAVEPOINT job")
    }

    async fn keep_job(&mut self) -> Result<()> {
        self.control("keep a job", "RELEASE job")
    }

    async fn drop_job(&mut self) -> Result<()> {
        self.control("undo a job", "ROLLBACK TO job")?;
        self.keep_job().await
    }

    async fn make_sure(&mut self) -> Result<()> {
        // Whatever was remembered was compared with the database when the transaction began.
        Ok(())
    }

    fn changes(&self) -> u64 {
        self.inner.total_changes()
    }

    fn failure(&self) -> Option<Error> {
        self.failure.as_deref().map(Error::again)
    }
}

impl Connection for SqliteConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn post<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<()>> {
        self.execute(sql, params).map_ok(drop).boxed()
    }

    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<u64>> {
        let run = || self.inner.prepare_cached(sql)?.execute(rusqlite::params_from_iter(params));
        let changed = run().map(|rows| rows as u64).map_err(|error| self.note("change a row", error));
        future::ready(changed).boxed()
    }

    fn query<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<Vec<Row>>> {
        let rows = self.rows(sql, params).map_err(|error| self.note("answer a query", error));
        future::ready(rows).boxed()
    }
}

fn configured(mut connection: rusqlite::Connection) -> rusqlite::Result<rusqlite::Connection> {
    connection.busy_handler(Some(wait_for_turn))?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    // The log is folded in by `fold_log` when it has grown, not by whoever happens to close last.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Plans do not depend on bound values, so that a statement is not compiled again whenever they change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What a nested transaction would undo is kept in memory, not in a temporary file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Kibibytes, as the minus says.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    Ok(connection)
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        // No column is REAL; the tables are STRICT.
        ValueRef::Null | ValueRef::Real(_) => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Sorts what SQLite says by what the caller can do about it.
fn classify(attempt: &'static str, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(_) if is_busy(&error) => Error::Busy(BUSY_LIMIT),
        Some(ErrorCode::DiskFull) => Error::DiskFull,
        Some(ErrorCode::ReadOnly) => Error::ReadOnly,
        Some(ErrorCode::SystemIoFailure) => Error::Disk { source: Arc::new(error) },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::damaged(format!("the database could not {attempt}: {error}"))
        }
        Some(_) | None => Error::Database { attempt, source: Arc::new(error) },
    }
}

/// Sleeps a little before the next try for the lock; gives up after the limit.
fn wait_for_turn(tries: i32) -> bool {
    let tries = u32::try_from(tries).unwrap_or(u32::MAX);
    let sleep = Duration::from_micros(100).saturating_mul(tries.saturating_add(1)).min(BUSY_SLEEP);
    if BUSY_SLEEP.saturating_mul(tries) > BUSY_LIMIT {
        return false;
    }
    thread::sleep(sleep);
    true
}
