//! Whole directories of sessions: they come in, nothing comes twice, and each file comes back byte for byte.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;

#[test]
fn our_own_sessions_come_back_as_they_are() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let files = comes_back_as_it_is(&sessions);
    assert!(files >= 20, "{files} files are fewer than there are scenes");
}

#[test]
fn real_sessions_come_back_as_they_are() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !sessions.is_dir() {
        let told = writeln!(io::stderr(), "SKIPPED real_sessions_come_back_as_they_are: there are no transcripts here");
        told.expect("standard error can be written");
        return;
    }
    let files = comes_back_as_it_is(&sessions);
    writeln!(io::stderr(), "REPRODUCED {files} real sessions byte for byte").expect("standard error can be written");
    assert!(files > 300, "{files} files are fewer than there are");
}

/// Takes in a directory twice and compares. Returns how many files came in.
fn comes_back_as_it_is(sessions: &Path) -> u64 {
    let store = TempDir::new().unwrap();
    let sessions = sessions.canonicalize().unwrap();
    let before = contents(&sessions);
    let first = import(&store, &sessions);
    let second = import(&store, &sessions);
    assert_eq!(sum(&second, "files"), sum(&first, "files"));
    assert_eq!(sum(&second, "new_commits"), 0);
    assert!(sum(&first, "new_commits") > 0);
    let compared = ctx(&store, &["--json", "import", "--verify", sessions.to_str().unwrap()]);
    let same = compared.lines().filter(|line| line.contains(r#""result":"same""#)).count() as u64;
    assert_eq!(same, sum(&first, "files"));
    assert!(contents(&sessions) == before, "an import has changed a file");
    same
}

fn import(store: &TempDir, sessions: &Path) -> Value {
    let told = ctx(store, &["--json", "import", sessions.to_str().unwrap()]);
    serde_json::from_str(told.lines().last().expect("an import ends with a sum")).unwrap()
}

/// Adds up a count over all runtimes.
fn sum(closing: &Value, name: &str) -> u64 {
    closing["runtimes"].as_object().unwrap().values().map(|runtime| runtime[name].as_u64().unwrap()).sum()
}

fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

fn ctx(store: &TempDir, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    let variables = [("CTX_PRINCIPAL", "ada@laptop"), ("CTX_MACHINE", "laptop")];
    command.env_clear().env("HOME", store.path()).env("CTX_STORE", store.path().join("store")).envs(variables);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "ctx {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
