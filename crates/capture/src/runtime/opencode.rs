//! OpenCode, whose sessions are rows of a database. They are only read.

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

impl Runtime {
    /// OpenCode.
    pub const OPENCODE: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "opencode",
    title: "OpenCode",
    formats: &[FormatSigns { is_document: Some(is_export), ..FormatSigns::of("opencode-v1") }],
    home: HomeDirectory { variable: "OPENCODE_DB", usual: UsualHome::Data("opencode") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Database(SessionDatabase { is_named, sessions, export }),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

fn is_export(document: &DocumentFields<'_>) -> bool {
    is_object(document.info) && is_list(document.messages)
}

fn is_named(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("opencode") && path.extension().is_some_and(|extension| extension == "db")
}

fn sessions(database: &Path) -> Result<Vec<DatabaseSession>, DatabaseError> {
    database::read(database, |connection| {
        let mut statement = connection.prepare(
            "SELECT s.id, s.time_updated, (SELECT coalesce(sum(length(p.data)), 0) FROM part p WHERE p.session_id = s.id) \
             FROM session s ORDER BY s.id",
        )?;
        let session = |row: &Row<'_>| {
            let bytes: i64 = row.get(2)?;
            Ok(DatabaseSession {
                id: GivenSessionId::new(row.get::<_, String>(0)?),
                updated: row.get(1)?,
                bytes: bytes.cast_unsigned(),
            })
        };
        statement.query_map([], session)?.collect()
    })
}

/// All that a session says, row by row.
const TEXTS_OF_SESSION: &str = "SELECT data FROM message WHERE session_id = ?1 \
    UNION ALL SELECT p.data FROM part p JOIN message m ON p.message_id = m.id WHERE m.session_id = ?1";

/// Writes a session as `opencode export` does.
fn export(database: &Path, session: &str) -> Result<Vec<u8>, DatabaseError> {
    let document = database::read(database, |connection| {
        let (mut bytes, mut values) = (0, 0);
        let mut texts = connection.prepare(TEXTS_OF_SESSION)?;
        let mut rows = texts.query([session])?;
        while let Some(row) = rows.next()? {
            let text = row.get_ref(0)?.as_bytes().unwrap_or_default();
            bytes += text.len() as u64;
            values += count_values(text);
            if bytes > MAX_DOCUMENT_BYTES || values > MAX_VALUES {
                return Ok(None);
            }
        }
        drop(rows);
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
        Ok(Some(json!({"info": info, "messages": exported})))
    })?;
    let document = document.ok_or(DatabaseError::TooLong)?;
    let mut bytes = document.to_string().into_bytes();
    bytes.push(b'\n');
    Ok(bytes)
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
