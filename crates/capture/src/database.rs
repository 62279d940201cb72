//! Sessions that lie in a database of their runtime, many in one, and how such a database is read.
//!
//! What is in it, the rows of runtimes say ([`SessionDatabase`]).

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use contexture::open_found;
use contexture_core::GivenSessionId;
use rusqlite::{Connection, OpenFlags, config::DbConfig, limits::Limit};

use crate::Runtime;

/// Longest value that is read.
const MAX_VALUE_BYTES: i32 = 32 * 1024 * 1024;
/// Steps of SQLite's machine that one look may take: some seconds.
const MAX_STEPS: u64 = 1_000_000_000;
/// Steps between two looks at how many there were.
const STEPS_PER_CALL: i32 = 100_000;

/// Why a database was not read.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite cannot read it.
    #[error("the database cannot be read")]
    Unreadable(#[from] rusqlite::Error),
    /// Something beside it has its name and is no file.
    #[error("the database or its log is no regular file")]
    NotRegular,
    /// A session in it is too long to be read, or holds too many values.
    #[error("the session is too long to be read")]
    TooLong,
    /// Somebody writes to it without end.
    #[error("the database changed while it was read")]
    Busy,
    /// It is of no runtime.
    #[error("the database is of no runtime that is known")]
    Unknown,
}

/// A session that a database lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseSession {
    /// The session's id.
    pub id: GivenSessionId,
    /// When it was last changed, in milliseconds since 1970.
    pub updated: i64,
    /// About how many bytes it has.
    pub bytes: u64,
}

/// Where a session in a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseEntry {
    /// The database.
    pub database: PathBuf,
    /// The session's id.
    pub session: GivenSessionId,
}

/// What the databases of a runtime are like.
pub(crate) struct SessionDatabase {
    /// Tells by its name whether a file in the runtime's home is one.
    pub(crate) is_named: fn(path: &Path) -> bool,
    /// Lists the sessions of one, by id. What is no such database cannot be listed.
    pub(crate) sessions: fn(database: &Path) -> Result<Vec<DatabaseSession>, DatabaseError>,
    /// Writes a session as a file of the runtime's format: the same rows always give the same bytes.
    pub(crate) export: fn(database: &Path, session: &str) -> Result<Vec<u8>, DatabaseError>,
}

impl DatabaseEntry {
    /// Takes a path apart by which a session in a database is known.
    pub fn at(path: &Path) -> Option<Self> {
        let (database, session) = path.to_str()?.rsplit_once('#')?;
        let is_session = !session.is_empty() && !session.contains('/') && !path.exists();
        (is_session && Path::new(database).is_file())
            .then(|| Self { database: database.into(), session: GivenSessionId::new(session) })
    }

    /// Returns the path by which it is known.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("{}#{}", self.database.display(), self.session))
    }

    /// Writes the session as the runtime would whose database it is.
    pub(crate) fn export(&self) -> Result<Vec<u8>, DatabaseError> {
        let databases = Runtime::ALL.iter().filter_map(|runtime| runtime.database());
        let mut failed = None;
        for database in databases {
            match (database.export)(&self.database, self.session.as_str()) {
                Ok(bytes) => return Ok(bytes),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or(DatabaseError::Unknown))
    }
}

/// Lists the sessions of a database, by id, and says whose it is; nothing when a file is no database of a runtime.
pub fn sessions_in(path: &Path) -> Option<(Runtime, Vec<DatabaseSession>)> {
    let mut magic = [0; 16];
    open_found(path).and_then(|mut file| file.read_exact(&mut magic)).ok()?;
    if magic != *b"SQLite format 3\0" {
        return None;
    }
    Runtime::ALL.iter().find_map(|runtime| Some((*runtime, (runtime.database()?.sessions)(path).ok()?)))
}

/// Reads from one state of a database. Neither the database nor its log is changed.
pub(crate) fn read<T>(database: &Path, look: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
    let log = PathBuf::from(format!("{}-wal", database.display()));
    // SQLite opens what lies beside a database under these names, whatever it is.
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let beside = PathBuf::from(format!("{}{suffix}", database.display()));
        if fs::metadata(&beside).is_ok_and(|file| !file.is_file()) {
            return Err(DatabaseError::NotRegular);
        }
    }
    for _ in 0..3 {
        let is_logged = |log: &Path| fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let before = fs::metadata(database).and_then(|database| database.modified()).ok();
        // Without a log there is nobody to agree with, and SQLite would make files beside the database to do so.
        let mode = if is_logged(&log) { "mode=ro" } else { "immutable=1" };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(format!("file:{}?{mode}", escaped(database)), flags)?;
        bound(&mut connection)?;
        let transaction = connection.unchecked_transaction()?;
        let seen = look(&transaction);
        let after = fs::metadata(database).and_then(|database| database.modified()).ok();
        if mode == "mode=ro" || before == after && !is_logged(&log) {
            return Ok(seen?);
        }
    }
    Err(DatabaseError::Busy)
}

/// Keeps a database of others from taking memory or time without end: its tables may be views.
fn bound(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let mut calls = 0_u64;
    let is_too_long = move || {
        calls += 1;
        calls > MAX_STEPS / u64::from(STEPS_PER_CALL.unsigned_abs())
    };
    connection.progress_handler(STEPS_PER_CALL, Some(is_too_long))
}

/// Writes a path as part of a URI.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}
