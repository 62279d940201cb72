//! Versioned, forward-only migrations.

use std::path::Path;

use super::connection::SqliteConnection;
use crate::{Error, Result};

/// Marks the file as ours: "CTXR".
const APPLICATION_ID: i64 = 0x4354_5852;

/// The migrations in order; the schema's version is how many have run.
const MIGRATIONS: &[&str] = &[
    include_str!("0001.sql"),
    include_str!("0002.sql"),
    include_str!("0003.sql"),
    include_str!("0004.sql"),
    include_str!("0005.sql"),
    include_str!("0006.sql"),
    include_str!("0007.sql"),
    include_str!("0008.sql"),
    include_str!("0009.sql"),
];

/// The newest version.
pub(super) const NEWEST: usize = MIGRATIONS.len();

/// Brings a database to the newest schema; refuses one that is newer or not ours.
pub(super) fn migrate(connection: &mut SqliteConnection, directory: &Path, file: &Path) -> Result<()> {
    let found = version(connection, directory, file)?;
    if found == 0 {
        connection.choose_page_size()?;
    }
    // Not before: it changes the file, which may be somebody else's.
    connection.keep_log()?;
    if found == MIGRATIONS.len() {
        return Ok(());
    }
    // A migration may replace a table that others refer to.
    connection.batch("begin its preparation", "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")?;
    // Another program may have migrated while this one waited for the lock.
    let done = marked(connection, directory, file)?;
    for migration in &MIGRATIONS[done..] {
        connection.batch("prepare its tables", migration)?;
    }
    let marks = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};", MIGRATIONS.len());
    connection.batch("mark its version", &marks)?;
    connection.commit()?;
    connection.batch("end its preparation", "PRAGMA foreign_keys = ON")
}

/// Returns the version of a database, 0 when nothing is in it; refuses one that is newer or not ours.
pub(super) fn version(connection: &mut SqliteConnection, directory: &Path, file: &Path) -> Result<usize> {
    connection.begin_read()?;
    let version = marked(connection, directory, file);
    connection.end_read()?;
    version
}

/// Reads the version off its marks. They are several: a transaction keeps others from setting them in between.
fn marked(connection: &SqliteConnection, directory: &Path, file: &Path) -> Result<usize> {
    let found = connection.pragma("user_version")?;
    let foreign = || Error::Foreign { store: file.display().to_string() };
    match (connection.pragma("application_id")?, found) {
        (0, 0) if connection.pragma("schema_version")? == 0 => Ok(0),
        (APPLICATION_ID, _) => match usize::try_from(found) {
            Ok(version) if version <= MIGRATIONS.len() => Ok(version),
            Ok(_) => Err(Error::Newer { store: directory.display().to_string(), found, known: MIGRATIONS.len() }),
            Err(_) => Err(foreign()),
        },
        _ => Err(foreign()),
    }
}
