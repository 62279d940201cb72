//! Crush, whose sessions are rows of a database in each project. They are only read.

use std::path::Path;

use contexture_core::GivenSessionId;
use contexture_formats::codec::{MAX_VALUES, count_values};
use rusqlite::{Row, types::ValueRef};
use serde_json::{Map, Value, json};

use super::{
    Runtime,
    descriptor::{HomeDirectory, RuntimeDescriptor, SessionStorage, UsualHome},
};
use crate::{
    database::{self, DatabaseError, DatabaseSession, SessionDatabase},
    detect::{DocumentFields, FormatSigns, is_list, is_object},
    held_document::MAX_DOCUMENT_BYTES,
};

/// Counts of milliseconds are larger than any of seconds that a session has.
const MIN_MILLIS: i64 = 100_000_000_000;

impl Runtime {
    /// Crush.
    pub const CRUSH: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "crush",
    title: "Crush",
    formats: &[FormatSigns { is_document: Some(is_export), ..FormatSigns::of("crush-v1") }],
    home: HomeDirectory { variable: "CRUSH_GLOBAL_DATA", usual: UsualHome::Data("crush") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Database(SessionDatabase { is_named, sessions, export }),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

fn is_export(document: &DocumentFields<'_>) -> bool {
    is_object(document.session) && is_list(document.messages)
}

fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "crush.db")
}

fn sessions(database: &Path) -> Result<Vec<DatabaseSession>, DatabaseError> {
    database::read(database, |connection| {
        let mut statement = connection.prepare(
            "SELECT s.id, s.updated_at, (SELECT coalesce(sum(length(m.parts)), 0) FROM messages m \
             WHERE m.session_id = s.id) FROM sessions s ORDER BY s.id",
        )?;
        let session = |row: &Row<'_>| {
            let (updated, bytes): (i64, i64) = (row.get(1)?, row.get(2)?);
            let updated = if updated < MIN_MILLIS { updated.saturating_mul(1000) } else { updated };
            Ok(DatabaseSession {
                id: GivenSessionId::new(row.get::<_, String>(0)?),
                updated,
                bytes: bytes.cast_unsigned(),
            })
        };
        statement.query_map([], session)?.collect()
    })
}

/// Writes a session as one document, column by column.
fn export(database: &Path, session: &str) -> Result<Vec<u8>, DatabaseError> {
    let document = database::read(database, |connection| {
        let (mut bytes, mut values) = (0, 0);
        let mut texts = connection.prepare("SELECT parts FROM messages WHERE session_id = ?1")?;
        let mut rows = texts.query([session])?;
        while let Some(row) = rows.next()? {
            let text = match row.get_ref(0)? {
                ValueRef::Text(text) | ValueRef::Blob(text) => text,
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => continue,
            };
            bytes += text.len() as u64;
            values += count_values(text);
            if bytes > MAX_DOCUMENT_BYTES || values > MAX_VALUES {
                return Ok(None);
            }
        }
        drop(rows);
        let described =
            connection.query_row("SELECT * FROM sessions WHERE id = ?1", [session], |row| Ok(columns(row)))??;
        let mut statement =
            connection.prepare("SELECT * FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid")?;
        let rows = statement.query_map([session], |row| Ok(columns(row)))?;
        let messages: Vec<Value> = rows.map(|row| row?).collect::<Result<_, _>>()?;
        Ok(Some(json!({"session": described, "messages": messages})))
    })?;
    let document = document.ok_or(DatabaseError::TooLong)?;
    let mut bytes = document.to_string().into_bytes();
    bytes.push(b'\n');
    Ok(bytes)
}

/// Returns what the columns of a row say; parts are JSON.
fn columns(row: &Row<'_>) -> rusqlite::Result<Value> {
    let mut fields = Map::new();
    for (column, name) in row.as_ref().column_names().enumerate() {
        let value = match row.get_ref(column)? {
            ValueRef::Null => continue,
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(text) | ValueRef::Blob(text) => {
                let text = String::from_utf8_lossy(text);
                serde_json::from_str(&text).ok().filter(|_| name == "parts").unwrap_or_else(|| json!(text))
            }
        };
        fields.insert(name.to_owned(), value);
    }
    Ok(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_session_in_a_database_is_written_as_one_document() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("crush.db");
        let parts = r#"[{"type":"text","data":{"text":"Why?"}}]"#;
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!(
                "CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, updated_at INTEGER, created_at INTEGER);
                 CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts BLOB, model TEXT,
                     created_at INTEGER);
                 INSERT INTO sessions VALUES ('s1', 'Fix', 1794736800, 1794736700), ('s2', 'Empty', 1, 1);
                 INSERT INTO messages VALUES ('m2', 's1', 'assistant', '[]', 'm', 2), ('m1', 's1', 'user', '{parts}', NULL, 1);"
            ))
            .unwrap();
        drop(connection);
        let listed = sessions(&path).unwrap();
        let first = DatabaseSession {
            id: GivenSessionId::new("s1"),
            updated: 1_794_736_800_000,
            bytes: parts.len() as u64 + 2,
        };
        assert_eq!((listed.len(), &listed[0]), (2, &first));
        let document: Value = serde_json::from_slice(&export(&path, "s1").unwrap()).unwrap();
        assert_eq!(document["session"]["title"], "Fix");
        assert_eq!(
            document["messages"][0],
            json!({"id": "m1", "session_id": "s1", "role": "user", "created_at": 1,
            "parts": serde_json::from_str::<Value>(parts).unwrap()})
        );
        assert_eq!(document["messages"][1]["id"], "m2");
        assert!(export(&path, "another").is_err());
        assert!(sessions(&directory.path().join("none.db")).is_err());
    }
}
