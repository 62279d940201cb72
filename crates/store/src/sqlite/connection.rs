//! One SQLite connection with the settings that durability and sharing need.

use std::{path::Path, sync::Arc, thread, time::Duration};

use futures_util::future::{self, BoxFuture, FutureExt as _};
use rusqlite::{ErrorCode, OpenFlags, config::DbConfig, types::ValueRef};

use crate::{
    Error, Result,
    sql::{Connection, Param, Row, Value},
};

/// How long a writer waits for other programs before it gives up.
const BUSY_LIMIT: Duration = Duration::from_mins(1);
/// Longest sleep between two tries. Short, so that many programs take turns quickly.
const BUSY_SLEEP: Duration = Duration::from_millis(2);
/// Pages of write-ahead log after which a commit folds them in. Short, because overwriting the log costs half as much
/// to sync as extending it, and because whoever opens the store after a crash reads all of it.
const LOG_PAGES: i64 = 1000;
/// Statements kept prepared per connection: more than the table modules have.
const STATEMENT_CACHE: usize = 128;

pub(crate) struct SqliteConnection {
    inner: rusqlite::Connection,
    /// Set by the first failure of the disk. After a failed fsync the page cache may hold what the disk lost,
    /// so a later success proves nothing.
    failure: Option<Arc<Error>>,
}

impl SqliteConnection {
    /// Opens or creates a database file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opening = rusqlite::Connection::open_with_flags(path, flags);
        let inner = opening.and_then(configured).map_err(|error| classify("open the store", error))?;
        Ok(Self { inner, failure: None })
    }

    /// Makes the file keep a write-ahead log, so that readers and the writer go on beside each other.
    pub(super) fn keep_log(&mut self) -> Result<()> {
        let kept = self.inner.pragma_update(None, "journal_mode", "WAL");
        kept.map_err(|error| classify("begin its log", error))
    }

    pub(super) fn begin_read(&mut self) -> Result<()> {
        self.control("begin reading", "BEGIN")
    }

    pub(super) fn begin_write(&mut self) -> Result<()> {
        self.control("begin writing", "BEGIN IMMEDIATE")
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.control("commit", "COMMIT")
    }

    pub(super) fn roll_back(&mut self) -> Result<()> {
        self.control("roll back", "ROLLBACK")
    }

    /// Opens a transaction inside the transaction.
    pub(super) fn begin_job(&mut self) -> Result<()> {
        self.control("begin a job", "SAVEPOINT job")
    }

    /// Keeps what the inner transaction did.
    pub(super) fn keep_job(&mut self) -> Result<()> {
        self.control("keep a job", "RELEASE job")
    }

    /// Forgets what the inner transaction did.
    pub(super) fn drop_job(&mut self) -> Result<()> {
        self.control("undo a job", "ROLLBACK TO job")?;
        self.keep_job()
    }

    /// Returns how many rows were changed since the connection was opened.
    pub(super) fn changes(&self) -> u64 {
        self.inner.total_changes()
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

    pub(super) fn pragma(&self, name: &str) -> Result<i64> {
        self.inner.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| classify("read a setting", error))
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
    pub(super) fn failure(&self) -> Option<Arc<Error>> {
        self.failure.clone()
    }

    fn control(&mut self, attempt: &'static str, sql: &str) -> Result<()> {
        let run = || self.inner.prepare_cached(sql)?.execute([]);
        run().map(drop).map_err(|error| self.note(attempt, error))
    }

    fn note(&mut self, attempt: &'static str, error: rusqlite::Error) -> Error {
        let error = classify(attempt, error);
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

impl Connection for SqliteConnection {
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

/// Sorts what SQLite says by what the caller can do about it.
fn classify(attempt: &'static str, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy(BUSY_LIMIT),
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
