//! OpenCode's own store: a database whose sessions are read as its export would write them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags, Row, types::ValueRef};
use serde_json::{Map, Value, json};

/// Why a database was not read.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite cannot read it.
    #[error("the database cannot be read")]
    Unreadable(#[from] rusqlite::Error),
    /// Somebody writes to it without end.
    #[error("the database changed while it was read")]
    Busy,
}

/// A session in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseSession {
    /// The session's id.
    pub id: String,
    /// When it was last changed, in milliseconds since 1970.
    pub updated: i64,
    /// About how many bytes it has.
    pub bytes: u64,
}

/// Returns the path under which a session in a database is known.
pub fn path_in(database: &Path, session: &str) -> PathBuf {
    PathBuf::from(format!("{}#{session}", database.display()))
}

/// Takes such a path apart.
pub fn in_database(path: &Path) -> Option<(PathBuf, String)> {
    let (database, session) = path.to_str()?.rsplit_once('#')?;
    let is_session = !session.is_empty() && !session.contains('/') && !path.exists();
    (is_session && Path::new(database).is_file()).then(|| (database.into(), session.to_owned()))
}

/// Tells whether a file is a database of OpenCode's.
pub fn is_database(path: &Path) -> bool {
    use io::Read as _;
    let mut magic = [0; 16];
    let is_sqlite = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok();
    is_sqlite && magic == *b"SQLite format 3\0" && sessions(path).is_ok()
}

/// Lists the sessions of a database, by id.
pub fn sessions(database: &Path) -> Result<Vec<DatabaseSession>, DatabaseError> {
    read(database, |connection| {
        let mut statement = connection.prepare(
            "SELECT s.id, s.time_updated, (SELECT coalesce(sum(length(p.data)), 0) FROM part p WHERE p.session_id = s.id) \
             FROM session s ORDER BY s.id",
        )?;
        let session = |row: &Row<'_>| {
            let bytes: i64 = row.get(2)?;
            Ok(DatabaseSession { id: row.get(0)?, updated: row.get(1)?, bytes: bytes.cast_unsigned() })
        };
        statement.query_map([], session)?.collect()
    })
}

/// Writes a session as `opencode export` does: the same rows always give the same bytes.
pub fn export(database: &Path, session: &str) -> Result<Vec<u8>, DatabaseError> {
    let document = read(database, |connection| {
        let info = connection.query_row("SELECT * FROM session WHERE id = ?1", [session], |row| Ok(info(row)))??;
        let mut statement =
            connection.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
        let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let messages: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
        let mut parts = connection.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
        let mut exported = Vec::with_capacity(messages.len());
        for (id, data) in messages {
            let of_message = [("id", id.as_str()), ("sessionID", session)];
            let rows = parts.query_map([&id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
            let part = |(part, data): &(String, String)| {
                with(data, &[("id", part.as_str()), ("sessionID", session), ("messageID", id.as_str())])
            };
            let parts: Vec<Value> = rows.iter().map(part).collect();
            exported.push(json!({"info": with(&data, &of_message), "parts": parts}));
        }
        Ok(json!({"info": info, "messages": exported}))
    })?;
    let mut bytes = document.to_string().into_bytes();
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads from one state of a database. Neither the database nor its log is changed.
fn read<T>(database: &Path, look: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
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

/// Returns a row's JSON with the ids that its columns hold.
fn with(data: &str, ids: &[(&str, &str)]) -> Value {
    let mut fields: Map<String, Value> = ids.iter().map(|(name, id)| ((*name).to_owned(), json!(id))).collect();
    match serde_json::from_str(data) {
        Ok(Value::Object(stored)) => fields.extend(stored),
        // What is not understood stays.
        _ => drop(fields.insert("data".to_owned(), json!(data))),
    }
    Value::Object(fields)
}

/// Returns what the columns of a session say, with the names of the export.
fn info(row: &Row<'_>) -> rusqlite::Result<Value> {
    let mut info = Map::new();
    let mut time = Map::new();
    let mut summary = Map::new();
    let mut tokens = Map::new();
    for (column, name) in row.as_ref().column_names().enumerate() {
        let value = match row.get_ref(column)? {
            ValueRef::Null | ValueRef::Blob(_) => continue,
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(text) => {
                let text = String::from_utf8_lossy(text);
                let nested = matches!(name, "revert" | "permission" | "model" | "metadata" | "summary_diffs");
                serde_json::from_str(&text).ok().filter(|_| nested).unwrap_or_else(|| json!(text))
            }
        };
        let (object, key) = match name {
            "project_id" => (&mut info, "projectID".to_owned()),
            "workspace_id" => (&mut info, "workspaceID".to_owned()),
            "parent_id" => (&mut info, "parentID".to_owned()),
            "share_url" => (&mut info, "share".to_owned()),
            _ => match name.split_once('_') {
                Some(("time", rest)) => (&mut time, rest.to_owned()),
                Some(("summary", rest)) => (&mut summary, rest.to_owned()),
                Some(("tokens", rest)) => (&mut tokens, rest.to_owned()),
                _ => (&mut info, name.to_owned()),
            },
        };
        object.insert(key, value);
    }
    for (name, object) in [("time", time), ("summary", summary), ("tokens", tokens)] {
        if !object.is_empty() {
            info.insert(name.to_owned(), Value::Object(object));
        }
    }
    Ok(Value::Object(info))
}
