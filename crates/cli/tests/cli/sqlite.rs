//! What only a store in a directory can show.

use std::{fs, path::Path};

use insta::assert_snapshot;

use crate::cli::harness::User;

/// Returns the files of a store and their bytes, without the one that SQLite uses as memory.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut files: Vec<_> = names
        .filter(|name| !name.ends_with("-shm"))
        .map(|name| (name.clone(), fs::read(directory.join(name)).unwrap()))
        .collect();
    files.sort();
    files
}

/// Replaces sizes, which depend on the version of SQLite.
fn sizeless(text: &str) -> String {
    let line = |line: &str| if line.starts_with("files") { "files        …".to_owned() } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_check_tells_what_is_there_and_changes_nothing() {
    let user = User::with_history();
    let before = files(&user.path("store"));
    assert_snapshot!(sizeless(&user.done(&["store", "check"])), @"
    directory    store
    store        1 space, schema version 9
    access       reading and writing
    files        …
    ");
    assert_eq!(files(&user.path("store")), before);
    let mut document: serde_json::Value = serde_json::from_str(&user.done(&["store", "check", "--json"])).unwrap();
    let sizes = ["database_bytes", "log_bytes"].map(|name| document["store"][name].take().as_u64().unwrap());
    assert_eq!(sizes, [before[0].1.len() as u64, before[1].1.len() as u64]);
    assert_snapshot!(document, @r#"{"access":{"mode":"read-write"},"engine":"sqlite","path":"store","schema":"contexture/1","store":{"database_bytes":null,"known_version":9,"log_bytes":null,"spaces":1,"state":"present","version":9}}"#);
}

#[test]
fn a_check_of_a_store_without_a_log_makes_none() {
    let user = User::with_history();
    let database = rusqlite::Connection::open(user.path("store/contexture.db")).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(database);
    let names =
        || fs::read_dir(user.path("store")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names(), ["contexture.db"]);
    assert_snapshot!(sizeless(&user.done(&["store", "check"])), @"
    directory    store
    store        1 space, schema version 9
    access       reading and writing
    files        …
    ");
    assert_eq!(names(), ["contexture.db"]);
}

#[test]
fn a_check_of_nothing_makes_nothing() {
    let user = User::new();
    assert_snapshot!(user.run(&["store", "check", "a/b"]), @"
    directory    a/b
    store        none yet; the first command makes it
    ");
    assert_snapshot!(user.run(&["store", "check", "a/b", "--json"]), @r#"{"schema":"contexture/1","path":"a/b","engine":"sqlite","store":{"state":"absent"},"access":{"mode":"read-write"}}"#);
    assert!(!user.path("a").exists());
}

#[test]
fn a_check_refuses_what_no_command_could_use() {
    let user = User::with_history();
    user.file("a-file", "");
    assert_snapshot!(user.run(&["store", "check", "a-file"]), @"
    [exit 1]
    [stderr]
    error: cannot open the store at a-file
      because: not a directory
      hint: a store is a directory: `--store DIR`
    ");
    assert_snapshot!(user.run(&["store", "check", "a-file/below"]), @"
    [exit 1]
    [stderr]
    error: cannot open the store at a-file/below
      because: Not a directory (os error 20)
      hint: a store is a directory: `--store DIR`
    ");
    fs::create_dir(user.path("odd")).unwrap();
    user.file("odd/contexture.db", "this is not a database, though it has its name".repeat(30));
    assert_snapshot!(user.run(&["store", "check", "odd"]), @"
    [exit 4]
    [stderr]
    error: the store is damaged: the database could not open the store: file is not a database
      hint: `ctx fsck` says what else is damaged
    ");
    user.place.set_version(99);
    assert_snapshot!(user.run(&["store", "check"]), @"
    [exit 1]
    [stderr]
    error: the store at store has schema version 99; this program knows versions up to 9
      hint: upgrade ctx
    ");
    assert_eq!(user.run(&["store", "check", "/proc/contexture"]).code, 1);
}

#[test]
fn what_a_program_says_while_the_store_is_away_is_taken_in_by_the_next_run() {
    let user = User::new();
    // No store can be made where a file is.
    user.file("store", "");
    let ran = user.run(&["run", "--", "sh", "-c", "echo hello; exit 3"]);
    assert_eq!((ran.code, &*ran.stdout), (3, "hello\n"));
    assert!(ran.stderr.starts_with("What sh said is kept in the spool, because it cannot be stored now: "), "{ran}");
    fs::remove_file(user.path("store")).unwrap();
    user.done(&["run", "--", "true"]);
    let found = user.done(&["search", "hello", "--json"]);
    let found: serde_json::Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    let shown = user.done(&["show", found["commit"].as_str().unwrap()]);
    assert!(shown.contains("label      session-end=exit 3"), "{shown}");
    let runs = fs::read_dir(user.path(".local/state/contexture/runs")).unwrap();
    assert_eq!(runs.count(), 0);
}
