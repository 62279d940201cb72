//! What the recorded transcripts must be, whoever recorded them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");

#[test]
fn every_line_of_a_recorded_transcript_is_json() {
    let mut lines = 0;
    for file in recorded().into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.ends_with('\n'), "{} ends in the middle of a line", file.display());
        for line in text.lines() {
            let parsed = serde_json::from_str::<Value>(line);
            assert!(parsed.is_ok_and(|value| value.is_object()), "{}: {line}", file.display());
            lines += 1;
        }
    }
    assert!(lines > 0);
}

#[test]
fn recorded_transcripts_tell_nothing_of_the_machine() {
    for file in recorded() {
        let text = file.display().to_string().replace(FIXTURES, "") + &fs::read_to_string(&file).unwrap();
        for trace in ["/tmp/ctx-", "-tmp-ctx-", "/root/", "/Users/", "/target/", "127.0.0.1"] {
            assert!(!text.contains(trace), "{} has {trace}", file.display());
        }
        let homes = text.split("/home/").skip(1);
        assert!(homes.clone().all(|rest| rest.starts_with("ada")), "{} has another home", file.display());
    }
}

fn recorded() -> Vec<PathBuf> {
    let runtimes = ["claude-code", "codex", "gemini", "pi"];
    runtimes.iter().flat_map(|runtime| files(&Path::new(FIXTURES).join(runtime))).collect()
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    fs::read_dir(path).unwrap().flat_map(|entry| files(&entry.unwrap().path())).collect()
}
