//! Sessions that lie in a database of their runtime, many in one, and how such a database is read.
//!
//! What is in it, the rows of runtimes say ([`SessionDatabase`]).

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use contexture_core::GivenSessionId;
use rusqlite::{Connection, OpenFlags};

use crate::Runtime;

/// Why a database was not read.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite cannot read it.
    #[error("the database cannot be read")]
    Unreadable(#[from] rusqlite::Error),
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
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).ok()?;
    if magic != *b"SQLite format 3\0" {
        return None;
    }
    Runtime::ALL.iter().find_map(|runtime| Some((*runtime, (runtime.database()?.sessions)(path).ok()?)))
}

/// Reads from one state of a database. Neither the database nor its log is changed.
pub(crate) fn read<T>(database: &Path, look: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
    let log = PathBuf::from(format!("{}-wal", database.display()));
    for _ in 0..3 {
        let is_logged = |log: &Path| fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let before = fs::metadata(database).and_then(|database| database.modified()).ok();
        // Without a log there is nobody to agree with, and SQLite would make files beside the database to do so.
        let mode = if is_logged(&log) { "mode=ro" } else { "immutable=1" };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("file:{}?{mode}", escaped(database)), flags)?;
        let transaction = connection.unchecked_transaction()?;
        let seen = look(&transaction);
        let after = fs::metadata(database).and_then(|database| database.modified()).ok();
        if mode == "mode=ro" || before == after && !is_logged(&log) {
            return Ok(seen?);
        }
    }
    Err(DatabaseError::Busy)
}

/// Writes a path as part of a URI.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}
