//! What is acknowledged exists, whatever happens to the store's directory meanwhile.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::harness::{Ran, User};

/// How long anything may take on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn database(user: &User) -> rusqlite::Connection {
    rusqlite::Connection::open(user.path("store/contexture.db")).unwrap()
}

fn checkpoint(user: &User, text: &str) {
    user.file("notes.txt", format!("{text}\n"));
    user.done(&["checkpoint", "--format", "notes-v1", "--head", "main", "notes.txt"]);
}

/// Waits for the end of a program, and ends it if that does not come.
fn end(user: &User, mut child: Child) -> Ran {
    let give_up = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > give_up {
            child.kill().unwrap();
            panic!("it goes on for ever: {:?}", child.wait_with_output());
        }
        thread::yield_now();
    }
    user.ran(child.wait_with_output())
}

/// Runs the program, which must end.
fn run(user: &User, arguments: &[&str]) -> Ran {
    end(user, user.command(arguments).spawn().unwrap())
}

#[test]
fn an_import_into_a_store_that_is_deleted_meanwhile_fails() {
    let user = User::new();
    checkpoint(&user, "before");
    let mut session = String::new();
    for number in 0..30_000 {
        let text = format!("{number} {}", "word ".repeat(20));
        writeln!(
            session,
            r#"{{"type":"user","parentUuid":null,"uuid":"u{number}","timestamp":"2026-11-15T20:00:00.000Z","sessionId":"s","message":{{"role":"user","content":"{text}"}}}}"#
        )
        .unwrap();
    }
    user.file("session.jsonl", session);
    let import = user.command(&["import", "session.jsonl"]).spawn().unwrap();
    let log = user.path("store/contexture.db-wal");
    let size = || fs::metadata(&log).map_or(0, |log| log.len());
    let before = size();
    let give_up = Instant::now() + PATIENCE;
    while size() <= before {
        assert!(Instant::now() < give_up, "it has written something");
        thread::yield_now();
    }
    fs::remove_dir_all(user.path("store")).unwrap();
    let ran = end(&user, import);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("was removed or replaced while the store was open"), "{ran}");
    assert!(!user.path("store").exists(), "nothing is made behind the deletion");
}

#[test]
fn content_that_comes_while_the_store_is_replaced_is_not_acknowledged() {
    let user = User::new();
    checkpoint(&user, "before");
    let arguments = ["checkpoint", "--format", "notes-v1", "--head", "main", "-"];
    let mut writing = user.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = writing.stdin.take().unwrap();
    // More than is taken in before pieces of it are stored.
    let random: Vec<u8> = (0u32..4 << 20).map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    input.write_all(&random).unwrap();
    fs::rename(user.path("store"), user.path("elsewhere")).unwrap();
    input.write_all(b"the end").unwrap();
    drop(input);
    let ran = end(&user, writing);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("was removed or replaced while the store was open"), "{ran}");
}

#[test]
fn who_follows_a_store_that_is_replaced_is_told() {
    let user = User::new();
    checkpoint(&user, "before");
    let mut following = user.command(&["journal", "--follow"]).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    fs::rename(user.path("store"), user.path("elsewhere")).unwrap();
    // Another store where that one was.
    checkpoint(&user, "after");
    let ran = end(&user, following);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("was removed or replaced while the store was open"), "{ran}");
    assert!(ran.stderr.contains("ctx store check"), "{ran}");
}

/// What somebody does to the index, and whether it can only be told of.
const DAMAGES: &[(&str, bool)] = &[
    ("UPDATE search_cursors SET seq = 1000", false),
    ("UPDATE search_cursors SET seq = 9223372036854775807", false),
    ("UPDATE search_cursors SET seq = -5", true),
    ("UPDATE search_cursors SET inside = 9223372036854775807", true),
    ("UPDATE search_cursors SET inside = -1", true),
    ("UPDATE search_cursors SET rules = -7", true),
    ("UPDATE search_cursors SET passages = 9223372036854775807", true),
    ("UPDATE search_cursors SET passages = -3", true),
    ("UPDATE search_cursors SET bytes = -3", true),
    ("DELETE FROM search_cursors", false),
    ("DELETE FROM passage_words_data", true),
    ("DELETE FROM passage_words_data WHERE id > 10", true),
    ("DELETE FROM passage_words_docsize", true),
    ("UPDATE passage_words_data SET block = x'00ff00ff00ff'", true),
    ("UPDATE passages SET kind = 'nonsense'", true),
];

#[test]
fn a_damaged_index_is_made_anew_or_named_and_never_a_loop() {
    for (damage, is_declared) in DAMAGES {
        let user = User::new();
        (0..6).for_each(|number| checkpoint(&user, &format!("needle {number}")));
        user.done(&["search", "needle"]);
        checkpoint(&user, "late needle");
        database(&user).execute_batch(damage).unwrap();
        let ran = run(&user, &["search", "needle", "-n", "20"]);
        if *is_declared {
            assert_eq!(ran.code, 4, "{damage}\n{ran}");
            assert!(ran.stderr.contains("the search index is damaged"), "{damage}\n{ran}");
            assert!(ran.stderr.contains("ctx search --rebuild"), "{damage}\n{ran}");
        } else {
            assert_eq!((ran.code, ran.stdout.matches("needle").count()), (0, 7), "{damage}\n{ran}");
        }
        let rebuilt = run(&user, &["search", "--rebuild", "needle", "-n", "20"]);
        assert_eq!((rebuilt.code, rebuilt.stdout.matches("needle").count()), (0, 7), "{damage}\n{rebuilt}");
    }
}

#[test]
fn an_index_that_cannot_move_is_an_error() {
    let user = User::new();
    checkpoint(&user, "needle");
    user.done(&["search", "needle"]);
    checkpoint(&user, "late needle");
    // Whatever the reason, a step that changes nothing is not taken for ever.
    let stuck = "CREATE TRIGGER stuck BEFORE UPDATE ON search_cursors BEGIN SELECT RAISE(IGNORE); END";
    database(&user).execute_batch(stuck).unwrap();
    let ran = run(&user, &["search", "needle"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("the search index is damaged"), "{ran}");
}

#[test]
fn a_named_file_that_is_no_session_is_refused() {
    let user = User::new();
    fs::create_dir(user.path("directory")).unwrap();
    user.file("directory/novel.jsonl", "It was a dark and stormy night.\n");
    user.file("directory/empty.jsonl", "");
    for arguments in [&["import"][..], &["import", "--dry-run"], &["import", "--verify"], &["import", "--json"]] {
        for file in ["directory/novel.jsonl", "directory/empty.jsonl"] {
            let ran = user.run(&[arguments, &[file]].concat());
            assert_eq!(ran.code, 1, "{arguments:?} {file}\n{ran}");
            let reason = if file.contains("novel") { "it does not look like a session" } else { "it is empty" };
            assert!(ran.stderr.contains(reason) && ran.stderr.contains(file), "{arguments:?} {file}\n{ran}");
        }
        let ran = user.run(&[arguments, &["directory"]].concat());
        assert_eq!(ran.code, 0, "a directory may hold anything\n{ran}");
    }
    let session = r#"{"type":"user","parentUuid":null,"uuid":"u","timestamp":"2026-11-15T20:00:00.000Z","sessionId":"s","message":{"role":"user","content":"x"}}"#;
    user.file("session.jsonl", format!("{session}\n"));
    let ran = user.run(&["import", "session.jsonl", "directory/novel.jsonl"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(user.done(&["list", "--json"]).lines().count() == 1, "what is a session was taken in all the same");
}

/// Starts a run whose program says where its socket is and goes on, and returns the wrapper and that place.
fn started_run(user: &User, runtime_directory: Option<&Path>) -> (Child, PathBuf) {
    let mut command = user.command(&["run", "--", "sh", "-c", "echo $CTX_SOCKET; cat"]);
    command.stdin(Stdio::piped()).env("PATH", std::env::var_os("PATH").unwrap());
    if let Some(directory) = runtime_directory {
        command.env("XDG_RUNTIME_DIR", directory);
    }
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, PathBuf::from(line.trim()))
}

#[test]
fn a_run_that_is_killed_leaves_nothing_to_the_next_one() {
    for place in ["runtime", "state"] {
        let user = User::new();
        let runtime = user.path("runtime");
        fs::create_dir(&runtime).unwrap();
        let runtime = (place == "runtime").then_some(runtime);
        let below = runtime.as_ref().map_or(user.path(".local/state/contexture/run"), |it| it.join("contexture"));
        let (mut killed, socket) = started_run(&user, runtime.as_deref());
        let directory = socket.parent().unwrap().to_owned();
        assert_eq!(directory.parent(), Some(&*below), "{place}");
        for private in [&below, &directory] {
            assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o777, 0o700, "{place}: {private:?}");
        }
        let (mut living, other) = started_run(&user, runtime.as_deref());
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert!(directory.exists() && other.exists(), "{place}");
        let mut command = user.command(&["run", "--", "true"]);
        command.env("PATH", std::env::var_os("PATH").unwrap()).envs(runtime.iter().map(|it| ("XDG_RUNTIME_DIR", it)));
        assert_eq!(user.ran(command.output()).code, 0);
        assert!(!directory.exists() && other.exists(), "{place}: of those that are gone, and of no others");
        drop(living.stdin.take());
        living.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
        living.wait().unwrap();
        assert_eq!(fs::read_dir(&below).unwrap().count(), 0, "{place}");
    }
}

#[test]
fn a_run_can_be_asked_however_long_the_way_to_its_home_is() {
    let user = User::new();
    let home = user.path("long".repeat(50));
    fs::create_dir(&home).unwrap();
    let program = format!("echo hello; {} current", env!("CARGO_BIN_EXE_ctx"));
    let mut command = user.command(&["run", "--", "sh", "-c", &program]);
    let ran = user.ran(command.env("HOME", &home).env("PATH", std::env::var_os("PATH").unwrap()).output());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.lines().nth(1).is_some_and(|line| line.starts_with("ctx-")), "{ran}");
    let left = Command::new("find").arg(&home).args(["-name", "socket"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}
