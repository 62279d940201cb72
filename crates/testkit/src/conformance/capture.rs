//! Sessions are taken in while they go on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use contexture::{
    Contexture, LogStart, Stop,
    formats::{self, codec::Effect},
};
use contexture_capture::{
    self as capture, Capture, CaptureReason, Drained, FileOutcome, ImportSettings, SessionFile, Spool, Verified,
};
use contexture_core::{CommitId, Format, GivenSessionId, SpaceName, Timestamp, Trigger};
use futures_util::future;

use super::import::{ImportedTranscript, line, settings};
use crate::{Backend, Harness, Numbers, assert_whole, head, heads, materialized, walked};

fn file(path: &Path) -> SessionFile {
    SessionFile { path: path.to_owned(), format: Format::new("claude-code-v1").unwrap(), settings: settings() }
}

fn reason(trigger: Trigger) -> CaptureReason {
    CaptureReason { trigger, ..CaptureReason::default() }
}

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

async fn tip(store: &Contexture, name: &str) -> CommitId {
    store.head(&head(name)).await.unwrap().unwrap()
}

async fn assert_reproduced(store: &Contexture, path: &Path, bytes: u64) {
    let verified = Capture::new(store).verify_source(&settings().machine, path).await.unwrap();
    assert_eq!(verified, Verified::Same { bytes, left: 0 }, "{}", path.display());
}

/// Returns which lines of a file, of those that say something, the heads of a store lead to, by the head's name.
async fn conversations(store: &Contexture, format: &Format, file: &str) -> Vec<(String, Vec<usize>)> {
    let codec = formats::codec(format).unwrap();
    let says_something = |line: &&str| codec.step(line.as_bytes()).unwrap().effect != Effect::Nothing;
    let mut found = Vec::new();
    for head in heads(store).await {
        let (bytes, _) = materialized(store, head.commit, Stop::Root).await;
        let text = String::from_utf8(bytes).unwrap();
        let number = |line: &str| file.lines().position(|other| other == line).unwrap();
        if head.name.as_str().starts_with("principal/") {
            continue;
        }
        found.push((head.name.to_string(), text.lines().filter(says_something).map(number).collect()));
    }
    found
}

pub async fn a_session_that_is_taken_in_as_it_grows_is_the_one_that_is_imported<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let triggers = [Trigger::ToolCall, Trigger::TurnBoundary, Trigger::Compaction, Trigger::Explicit];
    let directory = tempfile::tempdir().unwrap();
    for (number, fixture) in capture::session_files(&fixtures).into_iter().enumerate() {
        let Ok(format) = capture::detect(&fixture) else { continue };
        let text = fs::read_to_string(&fixture).unwrap();
        let bytes = text.as_bytes();
        let settings = ImportSettings { agent: capture::agent_of(&fixture), ..settings() };
        let whole = harness.open_as("tester", &format!("whole-{number}")).await;
        Capture::new(&whole).import_session(&fixture, format.clone(), &settings, &mut |_| {}).await.unwrap();
        let expected = conversations(&whole, &format, &text).await;
        for round in 0..3 {
            let space = format!("live-{number}-{round}");
            let store = harness.open_as("tester", &space).await;
            let path = directory.path().join(&space).join(fixture.file_name().unwrap());
            fs::create_dir(path.parent().unwrap()).unwrap();
            let file = SessionFile { path: path.clone(), format: format.clone(), settings: settings.clone() };
            let mut numbers = Numbers(number as u64 * 31 + round);
            let mut written = 0;
            while written < bytes.len() {
                written = (written + 1 + numbers.below(1 + bytes.len() / 8)).min(bytes.len());
                fs::write(&path, &bytes[..written]).unwrap();
                let trigger = triggers[numbers.below(triggers.len())];
                Capture::new(&store).capture(&file, &CaptureReason::live(trigger)).await.unwrap();
            }
            Capture::new(&store).capture(&file, &CaptureReason::ended("exit")).await.unwrap();
            assert_reproduced(&store, &path, bytes.len() as u64).await;
            assert_eq!(conversations(&store, &format, &text).await, expected, "{} {round}", fixture.display());
            assert_whole(&store, &SpaceName::new(space).unwrap()).await;
        }
    }
}

pub async fn programs_that_take_in_a_session_at_once_take_in_each_line_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let stores = future::join_all((0..4).map(|_| harness.open())).await;
    let transcript = ImportedTranscript::new("s-1");
    let mut parent = String::new();
    for turn in 0..12 {
        let (user, assistant) = (format!("u{turn}"), format!("a{turn}"));
        transcript.user(&user, &parent, "ask").assistant(&assistant, &user, "answer");
        parent = assistant;
        let (file, reason) = (file(&transcript.path()), reason(Trigger::ToolCall));
        let captures = stores.iter().map(|store| Capture::new(store).capture(&file, &reason));
        let captured = future::join_all(captures).await;
        let commits: Vec<_> = captured.into_iter().map(|captured| captured.unwrap()).collect();
        assert_eq!(commits.iter().map(|file| file.new_commits).sum::<u64>(), 1, "{commits:?}");
        assert!(commits.iter().all(|file| file.tip == commits[0].tip));
    }
    let bytes = fs::read(transcript.path()).unwrap();
    let (stored, _) = materialized(&stores[0], tip(&stores[0], "session/s-1").await, Stop::Root).await;
    assert_eq!(String::from_utf8(stored), String::from_utf8(bytes.clone()));
    assert_reproduced(&stores[0], &transcript.path(), bytes.len() as u64).await;
}

pub async fn who_goes_back_over_a_turn_of_many_calls_finds_the_turn_before<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "Find the race").assistant("a1", "u1", "It is in resume");
    let first = Capture::new(&store)
        .capture(&file(&transcript.path()), &CaptureReason::live(Trigger::TurnBoundary))
        .await
        .unwrap();
    transcript.user("u2", "a1", "Mend it");
    // More than the commits that are kept in mind between two captures.
    for call in 0..300 {
        let parent = if call == 0 { "u2".to_owned() } else { format!("c{}", call - 1) };
        transcript.assistant(&format!("c{call}"), &parent, "Trying");
        Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::live(Trigger::ToolCall)).await.unwrap();
    }
    transcript.user("u3", "a1", "Explain it instead").assistant("a3", "u3", "Well");
    let last = Capture::new(&store)
        .capture(&file(&transcript.path()), &CaptureReason::live(Trigger::TurnBoundary))
        .await
        .unwrap();
    assert_eq!(store.show(last.tip.unwrap()).await.unwrap().commit.parent, first.tip);
}

pub async fn an_occasion_tells_the_trigger_the_ending_and_what_the_principal_does<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "Find the race").assistant("a1", "u1", "Looking");
    let first =
        Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::live(Trigger::ToolCall)).await.unwrap();
    transcript.assistant("a2", "a1", "Found it");
    let end = CaptureReason { is_live: true, ..CaptureReason::ended("exit 0") };
    let last = Capture::new(&store).capture(&file(&transcript.path()), &end).await.unwrap();
    let again = Capture::new(&store).capture(&file(&transcript.path()), &end).await.unwrap();
    assert_eq!((again.outcome, again.tip), (FileOutcome::Unchanged, last.tip));
    let last = store.show(last.tip.unwrap()).await.unwrap();
    assert_eq!((last.commit.trigger, last.commit.parent), (Trigger::SessionEnd, first.tip));
    let labels: Vec<String> = last.annotations.labels.iter().map(|(key, said)| format!("{key}={said}")).collect();
    assert_eq!(labels, ["session-end=exit 0"]);
    assert_eq!(store.show(first.tip.unwrap()).await.unwrap().commit.trigger, Trigger::ToolCall);
    assert_eq!(tip(&store, "principal/ada@laptop").await, last.id);
    // What somebody takes in later is not what the principal does now.
    let other = ImportedTranscript::new("s-2");
    other.user("u1", "", "Something else");
    Capture::new(&store).capture(&file(&other.path()), &CaptureReason::default()).await.unwrap();
    assert_eq!(tip(&store, "principal/ada@laptop").await, last.id);
}

pub async fn what_a_runtime_notes_after_an_answer_belongs_to_the_turn_that_follows<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::default()).await.unwrap();
    transcript.append(&line("system", "n1", "a1", r#""subtype":"turn_duration""#));
    transcript.user("u2", "n1", "three").assistant("a2", "u2", "four");
    let captured = Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::default()).await.unwrap();
    assert_eq!(captured.new_commits, 1);
    let commit = store.show(captured.tip.unwrap()).await.unwrap();
    assert_eq!(commit.annotations.summary.unwrap().as_str(), "three");
    // What was said before the next question is a step of its own all the same.
    transcript.assistant("a3", "a2", "five").user("u3", "a3", "six");
    let captured = Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::default()).await.unwrap();
    assert_eq!(captured.new_commits, 2);
}

pub async fn who_goes_back_to_a_prompt_that_was_taken_in_shares_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let transcript = ImportedTranscript::new("s-1");
    transcript
        .user("u1", "", "one")
        .assistant("a1", "u1", "two")
        .user("u2", "a1", "three")
        .assistant("a2", "u2", "four");
    Capture::new(&store).capture(&file(&transcript.path()), &reason(Trigger::ToolCall)).await.unwrap();
    transcript.assistant("a3", "a2", "five");
    Capture::new(&store).capture(&file(&transcript.path()), &reason(Trigger::ToolCall)).await.unwrap();
    transcript.user("u3", "u2", "and more").assistant("a4", "u3", "six");
    let captured = Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::default()).await.unwrap();
    let (bytes, _) = materialized(&store, captured.tip.unwrap(), Stop::Root).await;
    let text = String::from_utf8(bytes).unwrap();
    let said: Vec<&str> = text.lines().map(|line| &line[line.find("uuid").unwrap() + 7..][..2]).collect();
    assert_eq!(said, ["u1", "a1", "u2", "u3", "a4"]);
}

pub async fn what_waits_in_a_spool_is_taken_in_though_its_file_is_gone<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (transcript, place) = (ImportedTranscript::new("s-1"), tempfile::tempdir().unwrap());
    let spool = Spool::at(place.path());
    transcript.user("u1", "", "one").assistant("a1", "u1", "two");
    let known = Capture::new(&store).capture(&file(&transcript.path()), &CaptureReason::default()).await.unwrap();
    // The store is away from here on; the last line of each piece is not whole.
    transcript.append(r#"{"type":"user","uuid":"u2","parentUuid":"a1","#);
    let kept = spool.add(&file(&transcript.path()), &reason(Trigger::ToolCall), known.size, now()).unwrap();
    transcript.append(r#""sessionId":"s-1","message":{"role":"user","content":"three"}}"#).append("\n");
    transcript.assistant("a2", "u2", "four");
    spool.add(&file(&transcript.path()), &reason(Trigger::TurnBoundary), kept, now()).unwrap();
    let bytes = fs::read(transcript.path()).unwrap();
    fs::remove_file(transcript.path()).unwrap();
    assert_eq!(Capture::new(&store).drain(&spool).await.unwrap(), Drained { taken: 2, kept: 0 });
    assert_eq!(spool.waiting(), 0);
    let (stored, _) = materialized(&store, tip(&store, "session/s-1").await, Stop::Root).await;
    assert_eq!(String::from_utf8(stored), String::from_utf8(bytes.clone()));
    fs::write(transcript.path(), &bytes).unwrap();
    assert_reproduced(&store, &transcript.path(), bytes.len() as u64).await;
}

pub async fn a_spool_is_taken_in_once_however_often_it_is_drained<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let stores = future::join_all((0..3).map(|_| harness.open())).await;
    let (transcript, place) = (ImportedTranscript::new("s-1"), tempfile::tempdir().unwrap());
    let spool = Spool::at(place.path());
    let (mut kept, mut parent) = (0, String::new());
    for turn in 0..6 {
        let (user, assistant) = (format!("u{turn}"), format!("a{turn}"));
        transcript.user(&user, &parent, "ask").assistant(&assistant, &user, "answer");
        parent = assistant;
        kept = spool.add(&file(&transcript.path()), &CaptureReason::default(), kept, now()).unwrap();
    }
    // A copy of the entries is what a program leaves that was killed before it could remove them.
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(place.path()).unwrap() {
        let entry = entry.unwrap().path();
        fs::copy(&entry, copy.path().join(entry.file_name().unwrap())).unwrap();
    }
    let drained = future::join_all(stores.iter().map(|store| Capture::new(store).drain(&spool))).await;
    assert!(drained.iter().all(|drained| drained.as_ref().unwrap().kept == 0), "{drained:?}");
    assert_eq!(Capture::new(&stores[0]).drain(&Spool::at(copy.path())).await.unwrap(), Drained { taken: 6, kept: 0 });
    Capture::new(&stores[1]).capture(&file(&transcript.path()), &CaptureReason::default()).await.unwrap();
    let chain = walked(&stores[0], LogStart::Everything).await;
    assert_eq!(chain.len(), 6);
    let (stored, _) = materialized(&stores[0], tip(&stores[0], "session/s-1").await, Stop::Root).await;
    assert_eq!(stored, fs::read(transcript.path()).unwrap());
}

pub async fn what_continues_nothing_is_kept_aside<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (transcript, place) = (ImportedTranscript::new("s-1"), tempfile::tempdir().unwrap());
    let spool = Spool::at(place.path());
    for turn in 0..400 {
        transcript.user(&format!("u{turn}"), "", &"long ".repeat(100));
    }
    // Far into a session of which the store knows nothing, and which is gone.
    let size = fs::metadata(transcript.path()).unwrap().len();
    spool.add(&file(&transcript.path()), &CaptureReason::default(), size - 100, now()).unwrap();
    fs::remove_file(transcript.path()).unwrap();
    assert_eq!(Capture::new(&store).drain(&spool).await.unwrap(), Drained { taken: 0, kept: 1 });
    assert_eq!((spool.waiting(), spool.kept().len()), (0, 1));
}

pub async fn a_spool_that_was_damaged_loses_nothing_else<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (transcript, place) = (ImportedTranscript::new("s-1"), tempfile::tempdir().unwrap());
    let spool = Spool::at(place.path());
    fs::write(place.path().join("00000000000000000001-1.entry"), "no JSON\nat all\n").unwrap();
    fs::write(place.path().join("00000000000000000002-1.entry"), "").unwrap();
    transcript.user("u1", "", "one");
    spool.add(&file(&transcript.path()), &CaptureReason::default(), 0, now()).unwrap();
    assert_eq!(Capture::new(&store).drain(&spool).await.unwrap(), Drained { taken: 1, kept: 2 });
    assert_reproduced(&store, &transcript.path(), fs::metadata(transcript.path()).unwrap().len()).await;
}

pub async fn agents_are_linked_when_their_session_ends<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures/claude-code/subagent");
    let files = capture::session_files(&fixtures).into_iter().filter(|path| !capture::is_document(path));
    let (agents, sessions): (Vec<PathBuf>, Vec<PathBuf>) = files.partition(|path| capture::agent_of(path).is_some());
    let session = sessions[0].file_stem().unwrap().to_string_lossy().into_owned();
    assert_eq!(capture::agent_transcripts(&sessions[0], &GivenSessionId::new(session)), agents);
    for path in sessions.iter().chain(&agents) {
        let settings = ImportSettings { agent: capture::agent_of(path), ..settings() };
        Capture::new(&store).capture(&SessionFile { settings, ..file(path) }, &CaptureReason::default()).await.unwrap();
    }
    let linked =
        Capture::new(&store).link_files(&settings().machine, agents.iter().map(PathBuf::as_path)).await.unwrap();
    assert_eq!((linked.linked, linked.without_parent), (agents.len() as u64, 0));
}
