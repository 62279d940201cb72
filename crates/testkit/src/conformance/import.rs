//! Session files become chains, and come back as they were.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use contexture::{Contexture, LogStart, Stop};
use contexture_capture::{Capture, FileOutcome, ImportSettings, ImportedFile, Verified};
use contexture_core::{CommitKind, Format, Machine, Principal, SpaceName};
use tempfile::TempDir;

use crate::{Backend, Harness, assert_whole, head, materialized, walked};

/// A session file of Claude Code under way.
pub(super) struct ImportedTranscript {
    directory: TempDir,
    name: &'static str,
}

impl ImportedTranscript {
    pub(super) fn new(name: &'static str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), name }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join(format!("{}.jsonl", self.name))
    }

    pub(super) fn append(&self, bytes: &str) -> &Self {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.path()).unwrap();
        file.write_all(bytes.as_bytes()).unwrap();
        self
    }

    pub(super) fn user(&self, uuid: &str, parent: &str, text: &str) -> &Self {
        self.append(&line("user", uuid, parent, &format!(r#""message":{{"role":"user","content":"{text}"}}"#)))
    }

    pub(super) fn assistant(&self, uuid: &str, parent: &str, text: &str) -> &Self {
        let message = format!(
            r#""message":{{"id":"m-{uuid}","role":"assistant","model":"model-1","content":[{{"type":"text","text":"{text}"}}]}}"#
        );
        self.append(&line("assistant", uuid, parent, &message))
    }

    pub(super) fn compacted(&self, uuid: &str, after: &str) -> &Self {
        let boundary = format!(r#""subtype":"compact_boundary","logicalParentUuid":"{after}""#);
        self.append(&line("system", uuid, "", &boundary));
        let summary = r#""isCompactSummary":true,"message":{"role":"user","content":"so far"}"#;
        self.append(&line("user", &format!("{uuid}-s"), uuid, summary))
    }
}

pub(super) fn line(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s-1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/home/ada/project","gitBranch":"main","version":"2.1.0",{rest}}}"#
    ) + "\n"
}

pub(super) fn settings() -> ImportSettings {
    ImportSettings {
        principal: Principal::new("ada@laptop").ok(),
        ..ImportSettings::new(Machine::new("laptop").unwrap(), "claude-code")
    }
}

pub(super) async fn import(store: &Contexture, transcript: &ImportedTranscript) -> ImportedFile {
    let format = Format::new("claude-code-v1").unwrap();
    Capture::new(store).import_session(&transcript.path(), format, &settings(), &mut |_| {}).await.unwrap()
}

/// Asserts that the store gives the file back, but for so many bytes at its end.
async fn assert_reproduced(store: &Contexture, transcript: &ImportedTranscript, left: u64) {
    let length = fs::metadata(transcript.path()).unwrap().len();
    let verified = Capture::new(store).verify_source(&settings().machine, &transcript.path()).await.unwrap();
    assert_eq!(verified, Verified::Same { bytes: length - left, left });
}

pub(super) async fn texts(store: &Contexture, name: &str) -> Vec<String> {
    let tip = store.head(&head(name)).await.unwrap().unwrap();
    let (bytes, _) = materialized(store, tip, Stop::Root).await;
    let text = String::from_utf8(bytes).unwrap();
    let uuid = |line: &str| line.split(r#""uuid":""#).nth(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    text.lines().filter_map(uuid).collect()
}

pub async fn each_turn_of_a_session_is_a_commit<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.append("{\"type\":\"mode\",\"sessionId\":\"s-1\"}\n");
    transcript.user("u1", "", "Find the race").assistant("a1", "u1", "Looking").assistant("a2", "a1", "Found it");
    transcript.user("u2", "a2", "Fix it").assistant("a3", "u2", "Done");
    let imported = import(&store, &transcript).await;
    assert_eq!((imported.outcome, imported.new_commits, imported.lines), (FileOutcome::New, 2, 6));
    let tip = store.head(&head("session/s-1")).await.unwrap().unwrap();
    let chain = walked(&store, LogStart::Commits(vec![tip])).await;
    assert_eq!(chain.len(), 2);
    let first = store.show(chain[1]).await.unwrap();
    let provenance = &first.commit.provenance;
    assert_eq!(provenance.template.as_ref().unwrap().as_str(), "claude-code/2.1.0");
    assert_eq!(provenance.session.as_ref().unwrap().as_str(), "s-1");
    assert_eq!(first.commit.created_at.to_string(), "2026-01-02T03:04:05.000000Z");
    assert_eq!(first.annotations.summary.as_ref().unwrap().as_str(), "Find the race");
    let labels: Vec<_> =
        first.annotations.labels.iter().map(|(key, value)| format!("{key}={}", value.as_str())).collect();
    assert_eq!(labels, ["branch=main", "cwd=/home/ada/project", "model=model-1"]);
    let (bytes, _) = materialized(&store, tip, Stop::Root).await;
    assert_eq!(bytes, fs::read(transcript.path()).unwrap());
    assert_reproduced(&store, &transcript, 0).await;
    assert_whole(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn taking_in_a_session_again_adds_only_what_is_new<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    import(&store, &transcript).await;
    let again = import(&store, &transcript).await;
    assert_eq!((again.outcome, again.new_commits, again.bytes), (FileOutcome::Unchanged, 0, 0));
    // The line that is being written is left for the next time.
    transcript.user("u2", "a1", "three").append(r#"{"type":"assistant","uuid":"a2","par"#);
    let grown = import(&store, &transcript).await;
    assert_eq!((grown.outcome, grown.new_commits, grown.lines), (FileOutcome::Grown, 1, 2));
    assert_reproduced(&store, &transcript, 36).await;
    transcript.append("entUuid\":\"u2\",\"sessionId\":\"s-1\"}\n");
    import(&store, &transcript).await;
    assert_reproduced(&store, &transcript, 0).await;
    assert_eq!(texts(&store, "session/s-1").await, ["u1", "a1", "u2", "a2"]);
}

pub async fn what_was_taken_back_becomes_a_branch<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    transcript.user("u2", "a1", "wrong").assistant("a2", "u2", "oh");
    transcript.user("u3", "a1", "right");
    // Two at once, also over several imports.
    import(&store, &transcript).await;
    transcript.assistant("a4", "a2", "late").assistant("a3", "u3", "yes");
    import(&store, &transcript).await;
    assert_eq!(texts(&store, "session/s-1").await, ["u1", "a1", "u3", "a3"]);
    assert_eq!(texts(&store, "session/s-1/branch-1").await, ["u1", "a1", "u2", "a2", "a4"]);
    assert_reproduced(&store, &transcript, 0).await;
}

pub async fn a_prompt_that_replaces_an_unfinished_one_shares_what_came_before<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    transcript.user("u2", "a1", "slow").assistant("a2", "u2", "thinking").user("u3", "u2", "and also");
    import(&store, &transcript).await;
    assert_eq!(texts(&store, "session/s-1").await, ["u1", "a1", "u2", "u3"]);
    assert_eq!(texts(&store, "session/s-1/branch-1").await, ["u1", "a1", "u2", "a2"]);
    assert_reproduced(&store, &transcript, 0).await;
}

pub async fn a_compaction_of_the_runtime_is_one_here<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two").compacted("c1", "a1");
    transcript.assistant("a2", "c1-s", "going on").user("u2", "a2", "three");
    import(&store, &transcript).await;
    let tip = store.head(&head("session/s-1")).await.unwrap().unwrap();
    let mut kinds = Vec::new();
    for id in walked(&store, LogStart::Commits(vec![tip])).await {
        kinds.push(store.show(id).await.unwrap().commit.kind);
    }
    assert_eq!(kinds, [CommitKind::Delta, CommitKind::Delta, CommitKind::Compaction, CommitKind::Delta]);
    let (since, _) = materialized(&store, tip, Stop::Compaction).await;
    assert_eq!(String::from_utf8(since).unwrap().lines().count(), 4);
    assert_reproduced(&store, &transcript, 0).await;
}

pub async fn a_copy_of_a_session_joins_the_chain_that_it_continues<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (original, copy) = (ImportedTranscript::new("s-1"), ImportedTranscript::new("s-2"));
    for transcript in [&original, &copy] {
        transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    }
    original.user("u2", "a1", "three");
    copy.user("u3", "a1", "four");
    assert_eq!(import(&store, &original).await.new_commits, 2);
    let joined = import(&store, &copy).await;
    assert_eq!((joined.new_commits, joined.known_commits), (1, 1));
    assert_reproduced(&store, &original, 0).await;
    assert_reproduced(&store, &copy, 0).await;
}

pub async fn garbage_in_a_session_is_named_and_kept<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").append("garbage\n\n\u{0}\u{1}\n").assistant("a1", "u1", "two");
    let imported = import(&store, &transcript).await;
    assert_eq!(imported.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(texts(&store, "session/s-1").await, ["u1", "a1"]);
    assert_reproduced(&store, &transcript, 0).await;
}

pub async fn a_session_is_read_in_whatever_encoding_it_was_written<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let plain = ImportedTranscript::new("s-1");
    plain.user("u1", "", "é").assistant("a1", "u1", "two").user("u2", "a1", "three");
    let text = fs::read_to_string(plain.path()).unwrap();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let marked = format!("\u{feff}{text}");
    let lists = |text: &str| {
        let turns = r#"[{"role":"user","content":"é"},{"role":"assistant","content":"two"}]"#;
        text.replace("LIST", turns).into_bytes()
    };
    let written = [
        ("marked.jsonl", marked.clone().into_bytes(), text.len() + 3),
        ("wide.jsonl", wide(&marked), text.len()),
        ("unmarked.jsonl", wide(&text), text.len()),
        ("list.json", lists("\u{feff}LIST"), lists("LIST").len() + 3),
        ("request.json", lists("\u{feff}{\"messages\":LIST}"), lists("{\"messages\":LIST}").len() + 3),
    ];
    for (name, bytes, length) in written {
        let path = plain.path().with_file_name(name);
        fs::write(&path, bytes).unwrap();
        let format = contexture_capture::detect(&path).unwrap();
        let imported = Capture::new(&store).import_session(&path, format, &settings(), &mut |_| {}).await.unwrap();
        assert_eq!((imported.bad_lines.as_slice(), imported.damage), (&[][..], None), "{name}");
        let verified = Capture::new(&store).verify_source(&settings().machine, &path).await.unwrap();
        assert_eq!(verified, Verified::Same { bytes: length as u64, left: 0 }, "{name}");
    }
    assert_eq!(texts(&store, "session/s-1").await, ["u1", "a1", "u2"]);
    assert!(store.head(&head("session/list")).await.unwrap().is_some());
}

pub async fn a_session_that_was_rewritten_is_taken_in_anew<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    import(&store, &transcript).await;
    fs::remove_file(transcript.path()).unwrap();
    assert!(Capture::new(&store).verify_source(&settings().machine, &transcript.path()).await.is_err());
    transcript.user("u1", "", "one").assistant("a9", "u1", "other");
    let imported = import(&store, &transcript).await;
    assert_eq!((imported.outcome, imported.new_commits), (FileOutcome::Rewritten, 1));
    assert_eq!(texts(&store, "session/s-1").await, ["u1", "a9"]);
    assert_reproduced(&store, &transcript, 0).await;
}

pub async fn what_belongs_to_no_conversation_is_kept_whatever_its_size<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    let record = |kind: &str, payload: &str| {
        format!("{{\"timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    let asked =
        record("response_item", r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}"#);
    let padding = "x".repeat(5_000_000);
    let taken_back = format!(r#"{{"type":"thread_rolled_back","num_turns":1,"padding":"{padding}"}}"#);
    transcript.append(&asked).append(&record("event_msg", &taken_back)).append(&asked);
    let format = Format::new("codex-v1").unwrap();
    Capture::new(&store).import_session(&transcript.path(), format, &settings(), &mut |_| {}).await.unwrap();
    assert_reproduced(&store, &transcript, 0).await;
}

pub async fn sessions_that_real_clients_wrote_come_back_byte_for_byte<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let mut formats = std::collections::BTreeSet::new();
    for path in contexture_capture::session_files(&fixtures) {
        let Ok(format) = contexture_capture::detect(&path) else {
            continue;
        };
        formats.insert(format.to_string());
        let imported = Capture::new(&store).import_session(&path, format, &settings(), &mut |_| {}).await.unwrap();
        assert_eq!(imported.bad_lines, [], "{}", path.display());
        let again =
            Capture::new(&store).import_session(&path, imported.format, &settings(), &mut |_| {}).await.unwrap();
        assert_eq!((again.outcome, again.new_commits), (FileOutcome::Unchanged, 0), "{}", path.display());
        let verified = Capture::new(&store).verify_source(&settings().machine, &path).await.unwrap();
        let bytes = fs::metadata(&path).unwrap().len();
        assert_eq!(verified, Verified::Same { bytes, left: 0 }, "{}", path.display());
    }
    let expected = ["claude-code-v1", "codex-v1", "gemini-v1", "pi-v1"];
    assert_eq!(formats.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    assert_whole(&store, &SpaceName::new("default").unwrap()).await;
}

/// A rollout of Codex with so many turns, each with some text that is not repeated.
fn rollout(turns: usize) -> String {
    let record = |kind: &str, payload: serde_json::Value| {
        serde_json::json!({"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload}).to_string()
            + "\n"
    };
    let message = |role: &str, kind: &str, text: String| {
        record(
            "response_item",
            serde_json::json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        )
    };
    let meta = serde_json::json!({"id": "01a1", "cwd": "/home/ada/project", "cli_version": "0.166.0"});
    let turn = |n: usize| {
        let words = (0..400).map(|word| (n * 400 + word) * 2_654_435_761 % 1_000_003);
        let noise = words.fold(String::new(), |text, word| text + &word.to_string() + " ");
        message("user", "input_text", format!("question {n}")) + &message("assistant", "output_text", noise)
    };
    record("session_meta", meta) + &(0..turns).map(turn).collect::<String>()
}

async fn import_codex(store: &Contexture, path: &Path) -> ImportedFile {
    let settings = ImportSettings { runtime: "codex".to_owned(), ..settings() };
    let format = contexture_capture::detect(path).unwrap();
    Capture::new(store).import_session(path, format, &settings, &mut |_| {}).await.unwrap()
}

pub async fn a_rollout_that_was_compressed_is_the_same_session<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let directory = tempfile::tempdir().unwrap();
    let (plain, compressed) = (directory.path().join("rollout-1.jsonl"), directory.path().join("rollout-1.jsonl.zst"));
    let lines = rollout(3);
    fs::write(&plain, &lines).unwrap();
    import_codex(&store, &plain).await;
    fs::write(&compressed, zstd::encode_all(lines.as_bytes(), 3).unwrap()).unwrap();
    fs::remove_file(&plain).unwrap();
    let again = import_codex(&store, &compressed).await;
    assert_eq!((again.outcome, again.new_commits, again.bytes), (FileOutcome::Unchanged, 0, 0));
    let same = Verified::Same { bytes: lines.len() as u64, left: 0 };
    assert_eq!(Capture::new(&store).verify_source(&settings().machine, &compressed).await.unwrap(), same);
    // Somewhere else, too.
    let elsewhere = directory.path().join("elsewhere.jsonl.zst");
    fs::rename(&compressed, &elsewhere).unwrap();
    let copied = import_codex(&store, &elsewhere).await;
    assert_eq!((copied.outcome, copied.new_commits, copied.known_commits), (FileOutcome::New, 0, 3));
    fs::write(&elsewhere, zstd::encode_all((lines + &rollout(1)).as_bytes(), 3).unwrap()).unwrap();
    assert_eq!(import_codex(&store, &elsewhere).await.outcome, FileOutcome::Grown);
}

pub async fn damage_in_a_compressed_rollout_spares_what_comes_before<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rollout-1.jsonl.zst");
    let lines = rollout(400);
    let whole = zstd::encode_all(lines.as_bytes(), 3).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let imported = import_codex(&store, &path).await;
    assert!(imported.damage.is_some(), "{imported:?}");
    assert!((1..400).contains(&imported.new_commits), "{imported:?}");
    let verified = Capture::new(&store).verify_source(&settings().machine, &path).await.unwrap();
    assert!(matches!(verified, Verified::Same { bytes, .. } if bytes == imported.bytes), "{verified:?}");
    let again = import_codex(&store, &path).await;
    assert_eq!((again.outcome, again.new_commits, again.damage.is_some()), (FileOutcome::Unchanged, 0, true));
    // The rest comes when the file is whole again.
    fs::write(&path, &whole).unwrap();
    let healed = import_codex(&store, &path).await;
    assert_eq!((healed.outcome, healed.damage.as_deref()), (FileOutcome::Grown, None));
    // The turn that was cut in two is two commits.
    assert!((400..=401).contains(&(imported.new_commits + healed.new_commits)), "{healed:?}");
}

/// Codex repeats what is left of the conversation in every compaction.
pub async fn a_history_that_compactions_repeat_is_stored_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("rollout-1");
    transcript.append(&rollout(1));
    let words = |n: u64| {
        (0..300).fold(String::new(), |text, word| text + &((n * 300 + word) * 2_654_435_761 % 999_983).to_string())
    };
    let item = |n: u64| serde_json::json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": words(n)}]});
    let mut written = 0;
    for length in (50..=400).step_by(25) {
        let history: Vec<_> = (0..length).map(item).collect();
        let payload = serde_json::json!({"message": "", "replacement_history": history});
        let record = serde_json::json!({"timestamp": "2026-01-02T03:04:05Z", "type": "compacted", "payload": payload});
        let record = record.to_string() + "\n";
        written += record.len() as u64;
        transcript.append(&record);
    }
    import_codex(&store, &transcript.path()).await;
    assert_reproduced(&store, &transcript, 0).await;
    let longest: u64 = (0..400).map(|n| item(n).to_string().len() as u64).sum();
    let stored = store.stats().await.unwrap().artifacts.stored_bytes;
    assert!(written > 8 * longest && stored < 2 * longest, "{stored} bytes for {written}, the longest {longest}");
}
