//! What an older version has taken in stays what it is.

use std::{fs, path::PathBuf, sync::Arc};

use contexture::{
    Contexture, Location, Options,
    core::{Actor, SpaceName, Timestamp},
};
use serde_json::json;

use super::*;

struct Stage {
    directory: tempfile::TempDir,
    engine: Contexture,
}

impl Stage {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Options {
            location: Location::Directory(directory.path().join("store")),
            space: SpaceName::new("default").unwrap(),
            actor: Actor::new("ada").unwrap(),
            clock: Arc::new(|| at("12:00:00")),
            secrets: contexture::SecretMeans::without_keys(|bytes| bytes.fill(7)),
        };
        let engine = Contexture::open(store).await.unwrap();
        Self { directory, engine }
    }

    /// Writes a session of some turns, each of a question and an answer a minute later.
    fn session(&self, name: &str, turns: u32) -> PathBuf {
        let line = |kind: &str, number: u32, second: u32| {
            let parent = (number > 0).then(|| format!("u{}", number - 1));
            let content = if kind == "user" { json!("why?") } else { json!([{"type": "text", "text": "so."}]) };
            let message = json!({"role": kind, "id": format!("m{number}"), "content": content});
            json!({
                "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "0c3f",
                "timestamp": format!("2026-11-15T10:{:02}:{second:02}.000Z", number / 2), "message": message,
            })
        };
        let lines = (0..turns).flat_map(|turn| [line("user", 2 * turn, 1), line("assistant", 2 * turn + 1, 59)]);
        let text = lines.fold(String::new(), |text, line| text + &line.to_string() + "\n");
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn file(path: PathBuf) -> SessionFile {
        let settings = ImportSettings::new(Machine::new("laptop").unwrap(), "claude-code");
        SessionFile { path, format: Format::new("claude-code-v1").unwrap(), settings }
    }

    /// Takes a session in as an older version did.
    async fn take_in_earlier(&self, path: PathBuf) -> ImportedFile {
        let (file, reason) = (Self::file(path), CaptureReason::default());
        let taken = Capture::new(&self.engine).capture_once(&file, &reason, None, StepTiming::First, &mut |_| {}).await;
        taken.unwrap().unwrap()
    }

    async fn take_in(&self, path: PathBuf) -> ImportedFile {
        Capture::new(&self.engine).capture(&Self::file(path), &CaptureReason::default()).await.unwrap()
    }

    async fn time_of(&self, commit: Option<CommitId>) -> Timestamp {
        self.engine.show(commit.unwrap()).await.unwrap().commit.created_at
    }
}

fn at(clock: &str) -> Timestamp {
    format!("2026-11-15T{clock}Z").parse().unwrap()
}

#[tokio::test]
async fn a_commit_is_made_when_its_last_record_is() {
    let stage = Stage::new().await;
    let taken = stage.take_in(stage.session("0c3f.jsonl", 2)).await;
    assert_eq!((taken.new_commits, stage.time_of(taken.tip).await), (2, at("10:01:59")));
    let again = stage.take_in(stage.session("copy.jsonl", 2)).await;
    assert_eq!((again.new_commits, again.known_commits, again.tip), (0, 2, taken.tip));
}

#[tokio::test]
async fn what_an_older_version_has_stored_is_not_stored_again() {
    let stage = Stage::new().await;
    let earlier = stage.take_in_earlier(stage.session("0c3f.jsonl", 2)).await;
    assert_eq!((earlier.new_commits, stage.time_of(earlier.tip).await), (2, at("10:01:01")));
    let same = stage.take_in(stage.session("0c3f.jsonl", 2)).await;
    assert_eq!((same.outcome, same.new_commits, same.tip), (FileOutcome::Unchanged, 0, earlier.tip));
    let copy = stage.take_in(stage.session("copy.jsonl", 2)).await;
    assert_eq!((copy.new_commits, copy.known_commits, copy.tip), (0, 2, earlier.tip));
    // What the session has come to hold since goes on in the same way, wherever it is read from.
    let grown = stage.take_in(stage.session("0c3f.jsonl", 3)).await;
    assert_eq!((grown.new_commits, stage.time_of(grown.tip).await), (1, at("10:02:01")));
    for name in ["copy.jsonl", "another.jsonl"] {
        let copy = stage.take_in(stage.session(name, 3)).await;
        assert_eq!((copy.new_commits, copy.tip), (0, grown.tip), "{name}");
    }
}
