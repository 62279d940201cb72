//! Which heads a session gets, and where they point.

use std::{collections::BTreeMap, path::Path};

use contexture::{Contexture, Stop};
use contexture_capture::{Capture, CaptureReason, SessionFile};
use contexture_core::{Format, Trigger};

use super::import::{ImportedTranscript, settings, texts};
use crate::{Backend, Harness, head, materialized};

const CLAUDE: &str = "claude-code-v1";
const STREAM: &str = "claude-stream-v1";

async fn import(store: &Contexture, path: &Path) {
    let format = Format::new(CLAUDE).unwrap();
    Capture::new(store).import_session(path, format, &settings(), &mut |_| {}).await.unwrap();
}

/// Returns the heads of sessions, each with the records that it leads to.
async fn heads(store: &Contexture) -> BTreeMap<String, String> {
    let mut heads = BTreeMap::new();
    for found in store.heads("session/", None, 100).await.unwrap() {
        heads.insert(found.name.to_string(), texts(store, found.name.as_str()).await.join(" "));
    }
    heads
}

fn named<const N: usize>(heads: [(&str, &str); N]) -> BTreeMap<String, String> {
    heads.into_iter().map(|(name, records)| (name.to_owned(), records.to_owned())).collect()
}

pub async fn an_older_copy_never_moves_a_head_back<B: Backend>() {
    let states = ["newest", "older", "cut", "diverged"].map(ImportedTranscript::new);
    for state in &states {
        state.user("u1", "", "one").assistant("a1", "u1", "two");
    }
    let [newest, older, cut, diverged] = &states;
    newest.user("u2", "a1", "three").assistant("a2", "u2", "four").assistant("a3", "a2", "five");
    older.user("u2", "a1", "three");
    cut.user("u2", "a1", "three").assistant("a2", "u2", "four");
    diverged.assistant("a9", "a1", "alone");
    let mut seen = Vec::new();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
        let harness = Harness::<B>::new().await;
        let store = harness.open().await;
        for state in order {
            import(&store, &states[state].path()).await;
        }
        let found = heads(&store).await;
        assert_eq!(found["session/s-1"], "u1 a1 u2 a2 a3", "{order:?}");
        let mut all: Vec<String> = found.into_iter().map(|(name, records)| format!("{name}: {records}")).collect();
        all.sort();
        seen.push(all);
    }
    assert_eq!((&seen[0], seen[0].len()), (&seen[1], 4), "each state that is not part of another has a head");
    assert_eq!(seen[0], seen[2]);
}

pub async fn a_session_is_named_by_the_first_record_that_names_one<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("full");
    transcript.append("{\"type\":\"file-history-snapshot\",\"messageId\":\"m\",\"snapshot\":{}}\n");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    import(&store, &transcript.path()).await;
    assert_eq!(heads(&store).await, named([("session/s-1", "u1 a1")]));
}

pub async fn a_session_is_at_the_leaf_that_its_runtime_names<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    let leaf = |id: &str| format!("{{\"type\":\"last-prompt\",\"leafUuid\":\"{id}\",\"sessionId\":\"s-1\"}}\n");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    transcript.user("u2", "a1", "this").user("u3", "a1", "or").user("u4", "a1", "that").append(&leaf("u3"));
    import(&store, &transcript.path()).await;
    let branches = [("session/s-1/branch-1", "u1 a1 u2"), ("session/s-1/branch-2", "u1 a1 u4")];
    let expected = named([branches[0], branches[1], ("session/s-1", "u1 a1 u3")]);
    assert_eq!(heads(&store).await, expected);
    // It says something else the next time.
    transcript.append(&leaf("u2"));
    import(&store, &transcript.path()).await;
    let found = heads(&store).await;
    assert_eq!(found["session/s-1"], "u1 a1 u2");
    assert_eq!(found.len(), 3);
}

pub async fn a_session_goes_on_where_somebody_asked_last<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    transcript.user("u2", "a1", "this").user("u3", "a1", "or").user("u4", "a1", "that");
    import(&store, &transcript.path()).await;
    assert_eq!(heads(&store).await["session/s-1"], "u1 a1 u4");
    transcript.user("u5", "", "from the start");
    import(&store, &transcript.path()).await;
    let found = heads(&store).await;
    assert_eq!((found["session/s-1"].as_str(), found.len()), ("u5", 4));
}

pub async fn two_sessions_in_one_file_are_two<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (first, second) = (ImportedTranscript::new("both"), ImportedTranscript::new("s-2"));
    first.user("u1", "", "one").assistant("a1", "u1", "two");
    second.user("v1", "", "three").assistant("b1", "v1", "four").user("v2", "b1", "five");
    let lines = std::fs::read_to_string(second.path()).unwrap().replace("\"s-1\"", "\"s-2\"");
    first.append(&lines);
    import(&store, &first.path()).await;
    assert_eq!(heads(&store).await, named([("session/s-1", "u1 a1"), ("session/s-2", "v1 b1 v2")]));
    let tip = store.head(&head("session/s-2")).await.unwrap().unwrap();
    let session = store.show(tip).await.unwrap().commit.provenance.session;
    assert_eq!(session.as_ref().map(ToString::to_string).as_deref(), Some("s-2"));
}

fn event(id: &str, kind: &str, rest: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"session_id\":\"s-1\",\"uuid\":\"{id}\",{rest}}}\n")
}

fn said(id: &str, role: &str, text: &str) -> String {
    let content = format!("{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}");
    event(id, role, &format!("\"message\":{content}"))
}

async fn capture(store: &Contexture, transcript: &ImportedTranscript) {
    let file = SessionFile::new(&transcript.path(), Format::new(STREAM).unwrap(), settings());
    Capture::new(store).capture(&file, &CaptureReason::live(Trigger::ToolCall)).await.unwrap();
}

pub async fn what_follows_a_compaction_in_a_stream_is_commits_of_its_own<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("stream");
    let boundary = |id: &str| event(id, "system", "\"subtype\":\"compact_boundary\",\"compact_metadata\":{}");
    let summary = "This session is being continued from a previous conversation.";
    let summary = said("s1", "user", summary).replace("\"message\"", "\"isSynthetic\":true,\"message\"");
    transcript.append(&said("u1", "user", "one")).append(&said("a1", "assistant", "two")).append(&boundary("c1"));
    transcript.append(&summary).append(&said("a2", "assistant", "three")).append(&boundary("c2"));
    transcript.append(&said("a3", "assistant", "four"));
    capture(&store, &transcript).await;
    let tip = store.head(&head("session/s-1")).await.unwrap().unwrap();
    let (all, _) = materialized(&store, tip, Stop::Root).await;
    let all = String::from_utf8(all).unwrap();
    for id in ["u1", "a1", "a2", "a3"] {
        assert!(all.contains(&format!("\"uuid\":\"{id}\"")), "{id} is missing in {all}");
    }
    let (since, _) = materialized(&store, tip, Stop::Compaction).await;
    assert_eq!(String::from_utf8(since).unwrap(), boundary("c2") + &said("a3", "assistant", "four"));
}

pub async fn a_stream_without_prompts_moves_its_head_with_every_capture<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("stream");
    let init = event("i1", "system", "\"subtype\":\"init\",\"model\":\"model-1\",\"cwd\":\"/w\"");
    transcript.append(&init).append(&said("a1", "assistant", "one"));
    capture(&store, &transcript).await;
    transcript.append(&said("a2", "assistant", "two"));
    capture(&store, &transcript).await;
    assert_eq!(texts(&store, "session/s-1").await, ["i1", "a1", "a2"]);
    let tip = store.head(&head("session/s-1")).await.unwrap().unwrap();
    assert_eq!(store.show(tip).await.unwrap().annotations.labels.len(), 0, "nothing has changed");
}
