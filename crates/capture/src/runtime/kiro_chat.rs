//! The database in which Kiro's command line kept conversations before its second version, and Amazon Q's before that. It
//! is only read.

use std::path::Path;

use contexture_core::GivenSessionId;
use contexture_formats::codec::{MAX_VALUES, count_values};
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    Runtime,
    descriptor::{HomeDirectory, RuntimeDescriptor, SessionStorage, UsualHome},
};
use crate::{
    database::{self, DatabaseError, DatabaseSession, SessionDatabase},
    detect::{DocumentFields, FormatSigns, is_list},
    held_document::MAX_DOCUMENT_BYTES,
};

/// Counts of milliseconds are larger than any of seconds that a conversation has.
const MIN_MILLIS: i64 = 100_000_000_000;

impl Runtime {
    /// The database of Kiro's command line.
    pub const KIRO_CHAT: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "kiro-chat",
    title: "Kiro CLI's older chats",
    formats: &[FormatSigns { is_document: Some(is_conversation), ..FormatSigns::of("kiro-chat-v1") }],
    home: HomeDirectory { variable: "KIRO_CLI_DATA", usual: UsualHome::Data("kiro-cli") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Database(SessionDatabase { is_named, sessions, export }),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

fn is_conversation(document: &DocumentFields<'_>) -> bool {
    is_list(document.history) && document.conversation_id.is_some()
}

fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "data.sqlite3")
}

/// Returns where conversations are: newer versions keep several for a directory, older ones the last.
fn table(connection: &Connection) -> rusqlite::Result<&'static str> {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'conversations_v2'";
    let is_newer = connection.query_row(sql, [], |_| Ok(())).optional()?.is_some();
    Ok(if is_newer { "(SELECT conversation_id, value, updated_at FROM conversations_v2)" } else { OLDER })
}

const OLDER: &str = "(SELECT json_extract(value, '$.conversation_id') AS conversation_id, value, 0 AS updated_at \
                     FROM conversations WHERE json_valid(value))";

fn sessions(database: &Path) -> Result<Vec<DatabaseSession>, DatabaseError> {
    database::read(database, |connection| {
        let table = table(connection)?;
        let sql = format!(
            "SELECT conversation_id, max(updated_at), sum(length(value)) FROM {table} \
             WHERE conversation_id IS NOT NULL GROUP BY conversation_id ORDER BY conversation_id"
        );
        let session = |row: &Row<'_>| {
            let (updated, bytes): (i64, i64) = (row.get(1)?, row.get(2)?);
            let updated = if updated < MIN_MILLIS { updated.saturating_mul(1000) } else { updated };
            Ok(DatabaseSession {
                id: GivenSessionId::new(row.get::<_, String>(0)?),
                updated,
                bytes: bytes.cast_unsigned(),
            })
        };
        connection.prepare(&sql)?.query_map([], session)?.collect()
    })
}

/// Returns a conversation as the database holds it: it is a document.
fn export(database: &Path, session: &str) -> Result<Vec<u8>, DatabaseError> {
    let value = database::read(database, |connection| {
        let sql = format!(
            "SELECT value FROM {} WHERE conversation_id = ?1 ORDER BY updated_at DESC LIMIT 1",
            table(connection)?
        );
        connection.query_row(&sql, [session], |row| row.get::<_, String>(0))
    })?;
    if value.len() as u64 > MAX_DOCUMENT_BYTES || count_values(value.as_bytes()) > MAX_VALUES {
        return Err(DatabaseError::TooLong);
    }
    Ok((value + "\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TALK: &str = r#"{"conversation_id":"k1","history":[]}"#;

    /// Makes a database of one version and returns the ids that are listed, when they changed, and what one of them is.
    fn read(tables: &str) -> (Vec<(String, i64)>, String) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data.sqlite3");
        Connection::open(&path).unwrap().execute_batch(tables).unwrap();
        assert!(export(&path, "another").is_err());
        let listed = sessions(&path).unwrap().into_iter().map(|it| (it.id.to_string(), it.updated)).collect();
        (listed, String::from_utf8(export(&path, "k1").unwrap()).unwrap())
    }

    #[test]
    fn conversations_of_both_versions_are_what_the_database_holds() {
        let older = format!(
            "CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
             INSERT INTO conversations VALUES ('/w', '{TALK}'), ('/x', 'no JSON');"
        );
        let newer = format!(
            "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER,
                 updated_at INTEGER, PRIMARY KEY (key, conversation_id));
             INSERT INTO conversations_v2 VALUES ('/w', 'k1', '{TALK}', 1, 1794736800), ('/w', 'k2', '{{}}', 1, 1794736800123);"
        );
        assert_eq!(read(&older), (vec![("k1".to_owned(), 0)], format!("{TALK}\n")));
        let listed = vec![("k1".to_owned(), 1_794_736_800_000), ("k2".to_owned(), 1_794_736_800_123)];
        assert_eq!(read(&newer), (listed, format!("{TALK}\n")));
        assert!(sessions(&std::env::temp_dir().join("none.sqlite3")).is_err());
    }
}
