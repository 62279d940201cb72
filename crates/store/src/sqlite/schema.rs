//! Versioned, forward-only migrations.

use std::path::Path;

use super::connection::SqliteConnection;
use crate::{Error, Result};

/// Marks the file as ours: "CTXR".
const APPLICATION_ID: i64 = 0x4354_5852;

/// The migrations in order; the schema's version is how many have run.
const MIGRATIONS: &[&str] = &[include_str!("0001.sql")];

/// Brings a database to the newest schema; refuses one that is newer or not ours.
pub(super) fn migrate(connection: &mut SqliteConnection, directory: &Path, file: &Path) -> Result<()> {
    let found = version(connection, directory, file)?;
    // Not before: it changes the file, which may be somebody else's.
    connection.keep_log()?;
    if found == MIGRATIONS.len() {
        return Ok(());
    }
    connection.begin_write()?;
    // Another program may have migrated while this one waited for the lock.
    let done = version(connection, directory, file)?;
    for migration in &MIGRATIONS[done..] {
        connection.batch("prepare its tables", migration)?;
    }
    let marks = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};", MIGRATIONS.len());
    connection.batch("mark its version", &marks)?;
    connection.commit()
}

fn version(connection: &SqliteConnection, directory: &Path, file: &Path) -> Result<usize> {
    let found = connection.pragma("user_version")?;
    let foreign = || Error::Foreign { path: file.to_owned() };
    match (connection.pragma("application_id")?, found) {
        (0, 0) if connection.pragma("schema_version")? == 0 => Ok(0),
        (APPLICATION_ID, _) => match usize::try_from(found) {
            Ok(version) if version <= MIGRATIONS.len() => Ok(version),
            Ok(_) => Err(Error::Newer { path: directory.to_owned(), found, known: MIGRATIONS.len() }),
            Err(_) => Err(foreign()),
        },
        _ => Err(foreign()),
    }
}
