//! Sessions that are one document become chains too, and come back as they were.

use std::{fs, path::PathBuf};

use contexture::{Contexture, LogStart, Stop};
use contexture_capture::{self as capture, Capture, FileOutcome, ImportSettings, ImportedFile, Verified};
use contexture_core::{CommitKind, GivenSessionId, Machine, SpaceName};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Backend, Harness, assert_whole, head, materialized, walked};

/// A file that is written anew with every change.
struct SessionDocument {
    directory: TempDir,
    name: &'static str,
}

impl SessionDocument {
    fn new(name: &'static str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), name }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(self.name)
    }

    async fn import(&self, store: &Contexture, bytes: impl AsRef<[u8]>) -> ImportedFile {
        fs::write(self.path(), &bytes).unwrap();
        let format = capture::detect(&self.path()).unwrap();
        let imported =
            Capture::new(store).import_session(&self.path(), format, &settings(), &mut |_| {}).await.unwrap();
        let verified = Capture::new(store).verify_source(&settings().machine, &self.path()).await.unwrap();
        assert_eq!(verified, Verified::Same { bytes: bytes.as_ref().len() as u64, left: 0 });
        imported
    }
}

fn settings() -> ImportSettings {
    ImportSettings::new(Machine::new("laptop").unwrap(), "runtime")
}

async fn tip(store: &Contexture, name: &str) -> contexture_core::CommitId {
    store.head(&head(name)).await.unwrap().unwrap()
}

async fn whole(store: &Contexture, name: &str) -> Vec<u8> {
    materialized(store, tip(store, name).await, Stop::Root).await.0
}

async fn depth(store: &Contexture, name: &str) -> usize {
    walked(store, LogStart::Commits(vec![tip(store, name).await])).await.len()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": text, "name": "run", "input": {}}]})
}

pub async fn each_turn_of_an_array_is_a_commit<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("talk.json");
    let mut messages = vec![user("one"), assistant("t1"), user("two"), assistant("t2")];
    let pretty = |messages: &[Value]| serde_json::to_string_pretty(messages).unwrap() + "\n";
    let imported = file.import(&store, pretty(&messages)).await;
    assert_eq!((imported.format.as_str(), imported.outcome), ("anthropic-messages-v1", FileOutcome::New));
    assert_eq!((imported.new_commits, imported.lines), (2, 4));
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&whole(&store, "session/talk").await).unwrap(), messages);
    let again = file.import(&store, pretty(&messages)).await;
    assert_eq!((again.outcome, again.new_commits, again.bytes), (FileOutcome::Unchanged, 0, 0));
    // In the middle of a turn, too.
    messages.extend([assistant("t3"), user("three")]);
    let grown = file.import(&store, pretty(&messages)).await;
    assert_eq!((grown.outcome, grown.new_commits, grown.lines), (FileOutcome::Grown, 2, 2));
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&whole(&store, "session/talk").await).unwrap(), messages);
    assert_eq!(depth(&store, "session/talk").await, 4);
    messages[0] = user("other");
    let rewritten = file.import(&store, pretty(&messages)).await;
    assert_eq!(rewritten.outcome, FileOutcome::Rewritten);
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&whole(&store, "session/talk").await).unwrap(), messages);
    assert_whole(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn messages_inside_a_request_are_found_and_the_rest_is_kept<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("request.json");
    let messages = [json!({"role": "system", "content": "Be brief."}), json!({"role": "user", "content": "one"})];
    let request = |messages: &[Value]| json!({"model": "m", "messages": messages, "tools": []}).to_string();
    let imported = file.import(&store, request(&messages)).await;
    assert_eq!((imported.format.as_str(), imported.new_commits), ("openai-chat-v1", 1));
    let more =
        [&messages[..], &[json!({"role": "assistant", "content": "two"}), json!({"role": "user", "content": "three"})]]
            .concat();
    assert_eq!(file.import(&store, request(&more)).await.new_commits, 2);
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&whole(&store, "session/request").await).unwrap(), more);
}

pub async fn each_turn_of_a_cbor_array_is_a_commit<B: Backend>() {
    fn text(text: &str) -> Vec<u8> {
        [&[0x60 + u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
    }
    fn message(role: &str, words: &str) -> Vec<u8> {
        let block = [&[0xA2][..], &text("Type"), &text("text"), &text("Text"), &text(words)].concat();
        [&[0xA2][..], &text("Role"), &text(role), &text("Content"), &[0x81], &block].concat()
    }
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("agent.cbor");
    let elements = [message("user", "one"), message("assistant", "two"), message("user", "three")];
    let imported = file.import(&store, [&[0x83], &elements.concat()[..]].concat()).await;
    assert_eq!((imported.format.as_str(), imported.new_commits), ("bureau-agent-v1", 2));
    assert_eq!(whole(&store, "session/agent").await, [&[0x83], &elements.concat()[..]].concat());
    // The same in an array of unknown length, and one more.
    let more = [&[0x9F], &elements.concat()[..], &message("assistant", "four"), &[0xFF]].concat();
    file.import(&store, &more).await;
    assert_eq!(whole(&store, "session/agent").await, [&[0x84], &more[1..more.len() - 1]].concat());
}

pub async fn an_older_gemini_document_becomes_the_lines_of_a_newer_session<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("session-2025-01-02T03-04-9e1f.json");
    let message = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "content": text});
    let document = |messages: &[Value], updated: &str| {
        let session = json!({"sessionId": "9e1f", "projectHash": "ab", "startTime": "2026-01-02T03:04:05.000Z",
            "lastUpdated": updated, "messages": messages});
        serde_json::to_string_pretty(&session).unwrap()
    };
    let mut messages =
        vec![message("m1", "user", "say \"hi\"\n"), message("m2", "gemini", "hi"), message("m3", "user", "and?")];
    let imported = file.import(&store, document(&messages, "2026-01-02T03:05:00.000Z")).await;
    assert_eq!((imported.format.as_str(), imported.new_commits), ("gemini-v1", 2));
    messages.extend([message("m4", "gemini", "so"), message("m5", "user", "bye")]);
    let grown = file.import(&store, document(&messages, "2026-01-02T03:06:00.000Z")).await;
    assert_eq!((grown.outcome, grown.new_commits), (FileOutcome::Grown, 2));
    let lines = String::from_utf8(whole(&store, "session/9e1f").await).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["sessionId"], "9e1f");
    assert_eq!(lines[1..], messages);
    assert_eq!(
        file.import(&store, document(&messages, "2026-01-02T03:06:00.000Z")).await.outcome,
        FileOutcome::Unchanged
    );
}

pub async fn a_newer_version_of_a_document_takes_the_place_of_the_older<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("export.json");
    let export = |texts: &[&str]| {
        let message =
            |text: &&str| json!({"info": {"id": text, "role": "user"}, "parts": [{"type": "text", "text": text}]});
        let messages: Vec<Value> = texts.iter().map(message).collect();
        json!({"info": {"id": "ses_1", "version": "1.4", "time": {"created": 1000, "updated": 1000 + texts.len()}},
            "messages": messages})
        .to_string()
    };
    let imported = file.import(&store, export(&["one"])).await;
    assert_eq!((imported.format.as_str(), imported.new_commits), ("opencode-v1", 1));
    let grown = file.import(&store, export(&["one", "two"])).await;
    assert_eq!((grown.outcome, grown.new_commits), (FileOutcome::Grown, 1));
    assert_eq!(file.import(&store, export(&["one", "two"])).await.outcome, FileOutcome::Unchanged);
    let tip = tip(&store, "session/ses_1").await;
    assert_eq!(store.show(tip).await.unwrap().commit.kind, CommitKind::Snapshot);
    let (newest, _) = materialized(&store, tip, Stop::Compaction).await;
    assert_eq!(String::from_utf8(newest).unwrap(), export(&["one", "two"]));
    assert_eq!(depth(&store, "session/ses_1").await, 2);
}

pub async fn damage_in_a_document_spares_what_comes_before<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("talk.json");
    let broken = format!("[{}, {}, 7, {}, nonsense]", user("one"), assistant("t1"), user("two"));
    let imported = file.import(&store, broken).await;
    assert_eq!(imported.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [3]);
    assert!(imported.damage.unwrap().contains("byte"), "the place is named");
    assert_eq!(imported.new_commits, 2);
    // It is taken in when it is whole again.
    let whole = json!([user("one"), assistant("t1"), user("two")]).to_string();
    assert_eq!(file.import(&store, whole).await.damage, None);
}

pub async fn a_grown_document_adds_little<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let file = SessionDocument::new("export.json");
    let noise = |seed: usize| {
        (0..300).fold(String::new(), |text, n| text + &((seed * 300 + n) * 2_654_435_761 % 999_983).to_string())
    };
    let part = |n: usize| json!({"info": {"id": n, "role": "user"}, "parts": [{"type": "text", "text": noise(n)}]});
    for messages in (100..=300).step_by(10) {
        let messages: Vec<Value> = (0..messages).map(part).collect();
        file.import(&store, json!({"info": {"id": "ses_1"}, "messages": messages}).to_string()).await;
    }
    let length = fs::metadata(file.path()).unwrap().len();
    let stored = store.stats().await.unwrap().artifacts.stored_bytes;
    assert!(stored < 2 * length, "{stored} bytes for 21 versions of up to {length}");
}

/// OpenCode's tables, in the columns that every version has.
const OPENCODE: &str = "
    PRAGMA journal_mode = wal;
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL,
        directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
        time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    INSERT INTO session VALUES ('ses_1', 'p', NULL, 's', '/home/ada', 'Fix', '1.4', NULL, 1000, 2000);
";

fn say(connection: &rusqlite::Connection, n: i64, role: &str, text: &str) {
    let message = json!({"role": role, "time": {"created": n}, "modelID": "m"}).to_string();
    let part = json!({"type": "text", "text": text}).to_string();
    let (id, part_id) = (format!("msg_{n}"), format!("prt_{n}"));
    connection.execute("INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)", (&id, n, message)).unwrap();
    connection.execute("INSERT INTO part VALUES (?1, ?2, 'ses_1', ?3, ?3, ?4)", (part_id, &id, n, part)).unwrap();
}

pub async fn a_session_in_a_database_is_read_as_its_export<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("opencode.db");
    let files = || {
        let mut names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch(OPENCODE).unwrap();
    say(&connection, 1, "user", "why?");
    // What lies in the log counts, and nothing is written.
    let (before, beside) = (fs::read(&database).unwrap(), files());
    let (runtime, sessions) = capture::database_sessions(&database).unwrap();
    assert_eq!(runtime, capture::Runtime::OPENCODE);
    assert_eq!(sessions.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["ses_1"]);
    let path = capture::DatabaseEntry { database: database.clone(), session: GivenSessionId::new("ses_1") }.path();
    let format = contexture_core::Format::new("opencode-v1").unwrap();
    let import =
        async || Capture::new(&store).import_session(&path, format.clone(), &settings(), &mut |_| {}).await.unwrap();
    assert_eq!(import().await.new_commits, 1);
    assert_eq!(import().await.outcome, FileOutcome::Unchanged);
    assert_eq!((fs::read(&database).unwrap(), files()), (before, beside));
    say(&connection, 2, "assistant", "so");
    drop(connection);
    let (before, beside) = (fs::read(&database).unwrap(), files());
    let grown = import().await;
    assert_eq!((grown.outcome, grown.new_commits), (FileOutcome::Grown, 1));
    assert_eq!((fs::read(&database).unwrap(), files()), (before, beside));
    let verified = Capture::new(&store).verify_source(&settings().machine, &path).await.unwrap();
    assert!(matches!(verified, Verified::Same { left: 0, .. }), "{verified:?}");
    let (newest, _) = materialized(&store, tip(&store, "session/ses_1").await, Stop::Compaction).await;
    let newest: Value = serde_json::from_slice(&newest).unwrap();
    assert_eq!(newest["info"]["time"], json!({"created": 1000, "updated": 2000}));
    assert_eq!(newest["messages"][1]["parts"][0]["text"], "so");
    assert_eq!(newest["messages"][1]["info"]["sessionID"], "ses_1");
}
