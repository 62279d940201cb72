//! The chats in Cursor's databases: those of its editor, many in one, and those of its command line, one in each. They are
//! only read.

mod nodes;

use std::path::Path;

use contexture_core::GivenSessionId;
use contexture_formats::codec::{MAX_VALUES, count_values};
use rusqlite::{Connection, OptionalExtension as _, Row, types::ValueRef};
use serde_json::{Value, json};

use super::{
    Runtime,
    descriptor::{HomeDirectory, RuntimeDescriptor, SessionStorage, UsualHome},
};
use crate::{
    database::{self, DatabaseError, DatabaseSession, SessionDatabase},
    detect::{DocumentFields, FormatSigns, is_list, is_object},
    held_document::MAX_DOCUMENT_BYTES,
};

/// What the keys of chats and of their messages begin with in the editor's database.
const CHAT: &str = "composerData:";
const BUBBLE: &str = "bubbleId:";

impl Runtime {
    /// Cursor's databases.
    pub const CURSOR_CHAT: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "cursor-chat",
    title: "Cursor's chats",
    formats: &[FormatSigns { is_document: Some(is_export), ..FormatSigns::of("cursor-chat-v1") }],
    home: HomeDirectory {
        variable: "CURSOR_GLOBAL_STORAGE",
        usual: UsualHome::User(".config/Cursor/User/globalStorage"),
    },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Database(SessionDatabase { is_named, sessions, export }),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

fn is_export(document: &DocumentFields<'_>) -> bool {
    is_object(document.cursor) && is_list(document.messages)
}

fn is_named(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "state.vscdb" || name == "store.db")
}

fn sessions(database: &Path) -> Result<Vec<DatabaseSession>, DatabaseError> {
    database::read(database, |connection| if has_nodes(connection)? { one_chat(connection) } else { chats(connection) })
}

/// Tells whether a database is that of one chat.
fn has_nodes(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('meta', 'blobs')";
    connection.query_row(sql, [], |row| Ok(row.get::<_, i64>(0)? == 2))
}

fn one_chat(connection: &Connection) -> rusqlite::Result<Vec<DatabaseSession>> {
    let Some(about) = about(connection)? else { return Err(rusqlite::Error::QueryReturnedNoRows) };
    let bytes =
        connection.query_row("SELECT coalesce(sum(length(data)), 0) FROM blobs", [], |row| row.get::<_, i64>(0))?;
    let id = about["agentId"].as_str().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let updated = about["createdAt"].as_i64().unwrap_or_default();
    Ok(vec![DatabaseSession { id: GivenSessionId::new(id), updated, bytes: bytes.cast_unsigned() }])
}

/// Reads what describes the chat of a database: JSON, written as hexadecimal digits.
fn about(connection: &Connection) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> =
        connection.query_row("SELECT value FROM meta WHERE key = '0'", [], |row| row.get(0)).optional()?;
    let about = text.and_then(|text| serde_json::from_slice::<Value>(&nodes::bytes_of(&text)?).ok());
    Ok(about.filter(|about| about["agentId"].is_string()))
}

fn chats(connection: &Connection) -> rusqlite::Result<Vec<DatabaseSession>> {
    let mut statement = connection.prepare(
        "SELECT key, value, (SELECT coalesce(sum(length(b.value)), 0) FROM cursorDiskKV b \
         WHERE b.key >= 'bubbleId:' || substr(c.key, 14) || ':' AND b.key < 'bubbleId:' || substr(c.key, 14) || ';') \
         FROM cursorDiskKV c WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key",
    )?;
    let mut rows = statement.query([])?;
    let mut chats = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, bytes): (String, i64) = (row.get(0)?, row.get(2)?);
        // A chat in which nobody has said anything is a window that was opened.
        let Some(chat) = json_in(row, 1)?.filter(|chat| !order(chat).is_empty()) else { continue };
        let id = GivenSessionId::new(key.get(CHAT.len()..).unwrap_or_default());
        let updated = chat["lastUpdatedAt"].as_i64().or(chat["createdAt"].as_i64()).unwrap_or_default();
        chats.push(DatabaseSession { id, updated, bytes: bytes.cast_unsigned() });
    }
    Ok(chats)
}

/// Returns the messages of a chat in their order: their ids, or, in older versions, themselves.
fn order(chat: &Value) -> Vec<&Value> {
    let lists = [&chat["fullConversationHeadersOnly"], &chat["conversation"]];
    lists.into_iter().filter_map(Value::as_array).find(|list| !list.is_empty()).into_iter().flatten().collect()
}

fn export(database: &Path, session: &str) -> Result<Vec<u8>, DatabaseError> {
    let document = database::read(database, |connection| {
        if has_nodes(connection)? { export_nodes(connection, session) } else { export_chat(connection, session) }
    })?;
    let (about, messages) = document.ok_or(DatabaseError::TooLong)?;
    let mut bytes = json!({"cursor": about, "messages": messages}).to_string().into_bytes();
    bytes.push(b'\n');
    Ok(bytes)
}

/// What describes a chat, and its messages; nothing when they are too many.
type Chat = Option<(Value, Vec<Value>)>;

fn export_chat(connection: &Connection, session: &str) -> rusqlite::Result<Chat> {
    let value = "SELECT value FROM cursorDiskKV WHERE key = ?1";
    let found = connection.query_row(value, [format!("{CHAT}{session}")], |row| json_in(row, 0))?;
    let mut chat = found.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let mut room = Room::default();
    let mut messages = Vec::new();
    let mut statement = connection.prepare(value)?;
    for message in order(&chat) {
        let Some(id) = message["bubbleId"].as_str() else { continue };
        let key = format!("{BUBBLE}{session}:{id}");
        let found = statement.query_row([key], |row| Ok((room.takes(row.get_ref(0)?), json_in(row, 0)?))).optional()?;
        match found {
            Some((false, _)) => return Ok(None),
            Some((true, Some(bubble))) => messages.push(bubble),
            // Older versions keep messages in the chat itself.
            Some((true, None)) | None if message.get("text").is_some() => messages.push(message.clone()),
            Some((true, None)) | None => {}
        }
    }
    if let Some(fields) = chat.as_object_mut() {
        fields.retain(|name, _| matches!(name.as_str(), "name" | "createdAt" | "lastUpdatedAt" | "modelConfig"));
        fields.insert("composerId".to_owned(), json!(session));
    }
    Ok(Some((chat, messages)))
}

fn export_nodes(connection: &Connection, session: &str) -> rusqlite::Result<Chat> {
    let about = about(connection)?.filter(|about| about["agentId"] == session);
    let about = about.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let mut room = Room::default();
    let mut messages = Vec::new();
    let root = about["latestRootBlobId"].as_str().unwrap_or_default();
    let mut statement = connection.prepare("SELECT data FROM blobs WHERE id = ?1")?;
    let root: Option<Vec<u8>> = statement.query_row([root], |row| row.get(0)).optional()?;
    for id in root.map(|root| nodes::children(&root)).unwrap_or_default() {
        let found = statement.query_row([id], |row| Ok((room.takes(row.get_ref(0)?), json_in(row, 0)?))).optional()?;
        match found {
            Some((false, _)) => return Ok(None),
            Some((true, Some(message))) if message["role"].is_string() => messages.push(message),
            Some((true, _)) | None => {}
        }
    }
    Ok(Some((about, messages)))
}

/// Reads a column that holds JSON; nothing when it does not.
fn json_in(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Value>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(text) | ValueRef::Blob(text) => serde_json::from_slice(text).ok().filter(Value::is_object),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    })
}

/// What was read of a chat so far.
#[derive(Default)]
struct Room {
    bytes: u64,
    values: usize,
}

impl Room {
    /// Tells whether there is room for one more message.
    fn takes(&mut self, message: ValueRef<'_>) -> bool {
        if let ValueRef::Text(text) | ValueRef::Blob(text) = message {
            self.bytes += text.len() as u64;
            self.values += count_values(text);
        }
        self.bytes <= MAX_DOCUMENT_BYTES && self.values <= MAX_VALUES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(sql: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        (directory, path)
    }

    fn exported(path: &Path, session: &str) -> Value {
        serde_json::from_slice(&export(path, session).unwrap()).unwrap()
    }

    #[test]
    fn a_chat_of_the_editor_is_written_in_the_order_that_it_names() {
        let (_directory, path) = database(
            r#"CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB);
            INSERT INTO cursorDiskKV VALUES
                ('composerData:c1', '{"name":"Fix","lastUpdatedAt":7,"secret":1,"fullConversationHeadersOnly":[{"bubbleId":"z"},{"bubbleId":"a"},{"bubbleId":"gone"}]}'),
                ('composerData:c2', '{"fullConversationHeadersOnly":[]}'),
                ('composerData:c3', '{"conversation":[{"bubbleId":"o","type":1,"text":"Old?"}]}'),
                ('composerData:c4', 'no JSON'),
                ('bubbleId:c1:a', '{"type":2,"text":"So."}'),
                ('bubbleId:c1:z', '{"type":1,"text":"Why?"}');"#,
        );
        let ids: Vec<(String, i64)> =
            sessions(&path).unwrap().into_iter().map(|chat| (chat.id.to_string(), chat.updated)).collect();
        assert_eq!(ids, [("c1".to_owned(), 7), ("c3".to_owned(), 0)]);
        let about = json!({"name": "Fix", "lastUpdatedAt": 7, "composerId": "c1"});
        let messages = json!([{"type": 1, "text": "Why?"}, {"type": 2, "text": "So."}]);
        assert_eq!(exported(&path, "c1"), json!({"cursor": about, "messages": messages}));
        assert_eq!(exported(&path, "c3")["messages"][0]["text"], "Old?");
        assert!(export(&path, "c9").is_err());
    }

    #[test]
    fn a_chat_of_the_command_line_is_what_its_newest_node_holds() {
        let (asked, answered) = ("11".repeat(32), "22".repeat(32));
        let root = format!("0a20{answered}0a20{asked}0a20{}4a0464697272", "33".repeat(32));
        let about = hex::encode(br#"{"agentId":"a1","latestRootBlobId":"ff","name":"Fix","createdAt":5}"#);
        let (_directory, path) = database(&format!(
            r#"CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
            INSERT INTO meta VALUES ('0', '{about}');
            INSERT INTO blobs VALUES ('{asked}', '{{"role":"assistant","content":"So."}}'),
                ('{answered}', '{{"role":"user","content":"Why?"}}'), ('44', '{{"role":"user","content":"left"}}'), ('ff', x'{root}');"#
        ));
        let listed = sessions(&path).unwrap();
        assert_eq!((listed.len(), listed[0].id.as_str(), listed[0].updated), (1, "a1", 5));
        let document = exported(&path, "a1");
        assert_eq!(
            document["messages"],
            json!([{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}])
        );
        assert!(export(&path, "another").is_err());
    }

    #[test]
    fn another_database_holds_no_chats() {
        let (_directory, path) = database("CREATE TABLE session (id TEXT)");
        assert!(sessions(&path).is_err() && export(&path, "a").is_err());
    }
}
