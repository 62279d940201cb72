//! Sessions that are one document become chains too, and come back as they were.

use std::{fs, path::PathBuf};

use contexture::{
    Contexture, LogStart, Stop,
    capture::{self, FileOutcome, ImportSettings, ImportedFile, Verified},
};
use contexture_core::{CommitKind, Machine, SpaceName};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Backend, Harness, assert_whole, head, materialized, walked};

/// A file that is written anew with every change.
struct Document {
    directory: TempDir,
    name: &'static str,
}

impl Document {
    fn new(name: &'static str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), name }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(self.name)
    }

    async fn import(&self, store: &Contexture, bytes: impl AsRef<[u8]>) -> ImportedFile {
        fs::write(self.path(), &bytes).unwrap();
        let format = capture::detect(&self.path()).unwrap();
        let imported = store.import_session(&self.path(), format, &settings(), &mut |_| {}).await.unwrap();
        let verified = store.verify_source(&settings().machine, &self.path()).await.unwrap();
        assert_eq!(verified, Verified::Same { bytes: bytes.as_ref().len() as u64, left: 0 });
        imported
    }
}

fn settings() -> ImportSettings {
    ImportSettings {
        principal: None,
        machine: Machine::new("laptop").unwrap(),
        runtime: "runtime".to_owned(),
        agent: None,
    }
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
    let file = Document::new("talk.json");
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
    let file = Document::new("request.json");
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
    let file = Document::new("agent.cbor");
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
    let file = Document::new("session-2025-01-02T03-04-9e1f.json");
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
    let file = Document::new("export.json");
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
    let file = Document::new("talk.json");
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
    let file = Document::new("export.json");
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
