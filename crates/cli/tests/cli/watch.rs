//! `ctx watch`.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read, Write as _},
    os::unix::fs::symlink,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::harness::User;

/// Where Claude Code keeps the sessions of a directory.
const PROJECT: &str = ".claude/projects/-home-ada-project";
/// How long anything may take on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A program that goes on, and the lines it writes.
struct Watching {
    child: Child,
    stdout: mpsc::Receiver<String>,
    stderr: mpsc::Receiver<String>,
}

impl Watching {
    fn start(user: &User, arguments: &[&str]) -> Self {
        let mut child = user.command(arguments).stdin(Stdio::null()).spawn().unwrap();
        let (stdout, stderr) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, stdout, stderr }
    }

    /// Returns the next line of data.
    fn line(&self) -> String {
        self.stdout.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no line: {:?}", self.stderr.try_recv()))
    }

    /// Asks the program to end and returns its exit code.
    fn end(mut self) -> Option<i32> {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It has ended already unless a test failed.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Reads lines on a thread of its own.
fn lines(stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn turn(number: u32) -> String {
    let line = |kind: &str, uuid: String, parent: String, text: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"5e55","timestamp":"2026-11-15T19:00:00Z","cwd":"/home/ada/project","version":"2.1.0","message":{{"role":"{kind}","content":"{text}"}}}}"#
        ) + "\n"
    };
    let parent = if number == 1 { "null".to_owned() } else { format!("\"a{}\"", number - 1) };
    let asked = line("user", format!("u{number}"), parent, "And then?");
    asked + &line("assistant", format!("a{number}"), format!("\"u{number}\""), "Then this.")
}

/// A user who has run an agent for a turn.
fn with_session() -> User {
    let user = User::new();
    fs::create_dir_all(user.path(PROJECT)).unwrap();
    user.file(format!("{PROJECT}/5e55.jsonl"), turn(1));
    user
}

fn append(user: &User, text: &str) {
    let mut file = File::options().append(true).open(user.path(PROJECT).join("5e55.jsonl")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn what_is_there_is_taken_in_once() {
    let user = with_session();
    let printed = user.done(&["watch", "--once"]);
    assert!(printed.starts_with("claude-code 5e55 +1 turn ctx-"), "{printed}");
    assert_eq!(user.done(&["watch", "--once"]), "");
    append(&user, &(turn(2) + &turn(3)));
    let printed: serde_json::Value = serde_json::from_str(&user.done(&["watch", "--once", "--json"])).unwrap();
    assert_eq!((&printed["runtime"], &printed["new_commits"]), (&"claude-code".into(), &2.into()));
    assert_eq!(user.done(&["watch", "--once", "--runtime", "codex"]), "");
    assert_eq!(user.run(&["import", "--verify"]).code, 0);
}

#[test]
fn a_session_is_taken_in_as_it_grows_and_new_ones_as_they_appear() {
    let user = with_session();
    // Only what the system tells counts: the next look at everything is far away.
    let watching = Watching::start(&user, &["watch", "--every", "1h"]);
    assert!(watching.line().starts_with("claude-code 5e55 +1 turn ctx-"));
    append(&user, &turn(2));
    assert!(watching.line().starts_with("claude-code 5e55 +1 turn ctx-"));
    // In a directory that was not there.
    fs::create_dir_all(user.path(".claude/projects/-home-ada-other")).unwrap();
    user.file(".claude/projects/-home-ada-other/0ff5.jsonl", turn(1).replace("5e55", "0ff5"));
    assert!(watching.line().starts_with("claude-code 0ff5 +1 turn ctx-"));
    assert_eq!(watching.end(), Some(0));
    assert_eq!(user.run(&["import", "--verify"]).code, 0);
}

#[test]
fn a_store_that_goes_away_and_comes_back_misses_nothing() {
    let user = with_session();
    // The store is what a link leads to, so it can be exchanged in one moment.
    let lead_to = |target: &str| {
        symlink(target, user.path("link")).unwrap();
        fs::rename(user.path("link"), user.path("place")).unwrap();
    };
    fs::create_dir(user.path("directory")).unwrap();
    user.file("file", "");
    lead_to("directory");
    let watching = Watching::start(&user, &["--store", "place", "watch", "--every", "200ms"]);
    assert!(watching.line().starts_with("claude-code 5e55 +1 turn ctx-"));
    lead_to("file");
    append(&user, &turn(2));
    let printed = watching.stderr.recv_timeout(PATIENCE).unwrap();
    assert!(printed.starts_with("The store cannot be used now"), "{printed}");
    append(&user, &turn(3));
    lead_to("directory");
    assert_eq!(watching.stderr.recv_timeout(PATIENCE).unwrap(), "The store can be used again.");
    assert!(watching.line().starts_with("claude-code 5e55 +2 turns ctx-"));
    assert_eq!(watching.end(), Some(0));
}

#[test]
fn a_store_that_cannot_be_used_from_the_start_is_an_error() {
    let user = with_session();
    user.file("place", "");
    assert_eq!(user.run(&["--store", "place", "watch"]).code, 1);
    assert_eq!(user.run(&["watch", "--every", "soon"]).code, 2);
}
