//! `ctx run`.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Command, Output, Stdio},
    time::{Duration, SystemTime},
};

use insta::assert_snapshot;
use serde_json::Value;

use super::harness::User;

/// The head that tells what the user does now.
const LIVE: &str = "principal/ada@laptop";
/// The program, for scripts.
const CTX: &str = env!("CARGO_BIN_EXE_ctx");

/// Runs a script as an agent and returns all there is to know of that.
fn run(user: &User, flags: &[&str], script: &str) -> Output {
    let mut command = user.command(&[&["run"], flags, &["--", "sh", "-c", script]].concat());
    // A wrapper that is killed leaves its socket behind.
    command.env("TMPDIR", user.path("")).output().unwrap()
}

fn shown(user: &User, commit: &str) -> Value {
    serde_json::from_str(&user.done(&["--json", "show", commit])).unwrap()
}

/// Returns how the session ended that was captured last.
fn ending(user: &User, commit: &str) -> String {
    shown(user, commit)["labels"]["session-end"].as_str().unwrap_or_default().to_owned()
}

fn text(user: &User, commit: &str) -> String {
    user.done(&["materialize", commit, "--format", "text"])
}

/// Returns the files that hold what programs have printed.
fn kept(user: &User) -> usize {
    fs::read_dir(user.path(".local/state/contexture/runs")).map_or(0, Iterator::count)
}

#[test]
fn output_and_exit_code_are_the_programs_own() {
    let user = User::new();
    let ran = run(&user, &[], r"printf 'a\0\377b\n'; echo aside >&2; exit 3");
    assert_eq!((ran.status.code(), &*ran.stdout, &*ran.stderr), (Some(3), &b"a\0\xffb\n"[..], &b"aside\n"[..]));
    assert_eq!(ending(&user, LIVE), "exit 3");
    let text = text(&user, LIVE);
    assert!(text.contains("printf") && text.contains('b'), "{text}");
    assert_eq!(kept(&user), 0);
}

#[test]
fn a_program_that_was_killed_is_captured_to_its_end() {
    let user = User::new();
    let ran = run(&user, &[], "echo hello; kill -9 $$");
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(137), &b"hello\n"[..]));
    assert_eq!(ending(&user, LIVE), "signal 9");
    assert!(text(&user, LIVE).contains("hello"));
}

#[test]
fn the_current_context_holds_all_that_was_printed_before() {
    let user = User::new();
    let script = format!("cd /; echo hello; printf wor; {CTX} --json current >&2; echo ld");
    let ran = run(&user, &["--ticket", "ENG-42", "--thread", "t-1"], &script);
    assert_eq!(&*ran.stdout, b"hello\nworld\n");
    let printed: Value = serde_json::from_slice(&ran.stderr).unwrap();
    assert_eq!(printed["by"], "socket");
    let commit = printed["commit"].as_str().unwrap();
    let before = text(&user, commit);
    assert!(before.contains("  hello\n  wor"), "{before}");
    assert!(!before.contains("\n  ld"), "{before}");
    assert!(text(&user, LIVE).contains("\n  ld"));
    let shown = shown(&user, commit);
    assert_eq!(
        (&shown["ticket"], &shown["thread"], &shown["trigger"]),
        (&"ENG-42".into(), &"t-1".into(), &"explicit".into())
    );
    assert_eq!(shown["session"], printed["session"]);
}

#[test]
fn the_current_context_is_known_without_the_socket_too() {
    let user = User::new();
    let ran = run(&user, &[], &format!("{CTX} current >&2; unset CTX_SOCKET; {CTX} --json current >&2"));
    let printed = String::from_utf8(ran.stderr).unwrap();
    let (first, second) = printed.trim_end().split_once('\n').unwrap();
    let second: Value = serde_json::from_str(second).unwrap();
    assert_eq!((&second["commit"], &second["by"]), (&first.into(), &"variable".into()));
}

#[test]
fn a_program_that_is_used_at_a_terminal_finds_one() {
    let user = User::new();
    user.file(
        "agent.sh",
        "test -t 0 && test -t 1 && test -t 2 && echo seen; read name; echo \"Hello $name\"; exit 3\n",
    );
    let run = user.command(&[]);
    // It gives the wrapper a terminal, and passes on how the wrapper ends.
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &format!("{CTX} run -- sh agent.sh"), "/dev/null"]).current_dir(user.path("")).env_clear();
    terminal.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", "/usr/bin:/bin");
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    terminal.stdin.as_mut().unwrap().write_all(b"Ada\n").unwrap();
    let ran = terminal.wait_with_output().unwrap();
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(3), "{shown}");
    assert!(shown.contains("seen\r\n") && shown.contains("Hello Ada\r\n"), "{shown}");
    let kept = text(&user, LIVE);
    assert!(kept.contains("  seen\n") && kept.ends_with("  Hello Ada") && !kept.contains('\r'), "{kept}");
    assert_eq!(ending(&user, LIVE), "exit 3");
}

#[test]
fn a_git_commit_made_in_a_run_names_what_was_printed_before() {
    let user = User::new();
    user.file("message", "Fix the test\n");
    let ran = run(&user, &[], &format!("echo hello; {CTX} git-hook prepare-commit-msg message"));
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), &b"hello\n"[..]));
    let message = user.read("message");
    let commit = message.strip_prefix("Fix the test\n\nContext-Id: ").unwrap();
    assert!(text(&user, commit.trim_end()).contains("  hello"));
}

#[test]
fn the_sessions_of_an_agent_that_prints_text_are_captured_from_its_files() {
    let user = User::new();
    let place = fs::canonicalize(user.path("")).unwrap();
    let slug = place.to_str().unwrap().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let begin = |id: &str, text: &str| {
        let line = format!(
            r#"{{"type":"user","uuid":"{id}-1","parentUuid":null,"sessionId":"{id}","timestamp":"2026-11-15T19:00:00Z","cwd":"/w","version":"2.1.0","message":{{"role":"user","content":"{text}"}}}}"#
        );
        format!("echo '{line}' > .claude/projects/{slug}/{id}.jsonl")
    };
    fs::create_dir_all(user.path(format!(".claude/projects/{slug}"))).unwrap();
    let old = fs::File::create(user.path(format!(".claude/projects/{slug}/01d.jsonl"))).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_hours(1)).unwrap();
    // An agent can be told to leave a session for a new one.
    let script = [begin("5e55", "First"), format!("{CTX} current >&2"), begin("5e56", "Second"), "exit 5".to_owned()];
    let ran = run(&user, &["--in", "claude-code"], &script.join("\n"));
    assert_eq!(ran.status.code(), Some(5), "{}", String::from_utf8_lossy(&ran.stderr));
    let asked = String::from_utf8(ran.stderr).unwrap();
    assert!(text(&user, asked.trim_end()).contains("First"));
    assert_eq!(ending(&user, "session/5e55"), "exit 5");
    assert!(text(&user, "session/5e56").contains("Second"));
    assert_eq!((user.run(&["show", "session/01d"]).code, kept(&user)), (1, 0));
}

#[test]
fn an_agent_that_has_said_nothing_has_no_context_yet() {
    let user = User::new();
    fs::create_dir(user.path("bin")).unwrap();
    user.file("bin/claude", format!("#!/bin/sh\n{CTX} current\n"));
    let ran = user.ran(
        user.command(&["run", "--in", "claude-code", "--", "sh", "bin/claude", "--output-format=stream-json"]).output(),
    );
    assert_eq!((ran.code, &*ran.stdout), (1, ""));
    assert!(ran.stderr.contains("is written down yet\n  hint: ask again after the first answer"), "{ran}");
}

#[test]
fn events_that_are_printed_are_the_session_where_there_is_no_other() {
    let user = User::new();
    let events = [
        r#"{"type":"system","subtype":"init","session_id":"5e55","uuid":"u0","cwd":"/w","model":"m"}"#,
        r#"{"type":"user","session_id":"5e55","uuid":"u1","message":{"role":"user","content":"Find the test"}}"#,
        r#"{"type":"assistant","session_id":"5e55","uuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#,
        r#"{"type":"user","session_id":"5e55","uuid":"u3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#,
        r#"{"type":"assistant","session_id":"5e55","uuid":"u4","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"It races."}]}}"#,
        r#"{"type":"result","subtype":"success","session_id":"5e55","uuid":"u5","result":"It races."}"#,
    ];
    let events = events.join("\n") + "\n";
    user.file("events.jsonl", &events);
    let ran = run(&user, &[], "cat events.jsonl");
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), events);
    assert_eq!(user.done(&["materialize", "session/5e55"]) + "\n", events);
    let shown = shown(&user, "session/5e55");
    assert_eq!((&shown["format"], &shown["template"]), (&"claude-stream-v1".into(), &"claude-code".into()));
    assert_eq!((ending(&user, "session/5e55"), kept(&user)), ("exit 0".to_owned(), 0));
}

#[test]
fn a_run_whose_wrapper_was_killed_is_closed_by_the_next() {
    let user = User::new();
    let ran = run(&user, &[], &format!("echo hello; {CTX} current >&2; echo again; {CTX} current >&2; kill -9 $PPID"));
    assert_eq!((ran.status.code(), &*ran.stdout), (None, &b"hello\nagain\n"[..]));
    let commit = String::from_utf8(ran.stderr).unwrap().lines().last().unwrap().to_owned();
    assert_eq!((ending(&user, &commit), kept(&user)), (String::new(), 1));
    assert_eq!(run(&user, &[], "true").status.code(), Some(0));
    assert_eq!((ending(&user, &commit), kept(&user)), ("crash".to_owned(), 0));
}

#[test]
fn a_signal_reaches_the_program_and_the_end_is_captured() {
    let user = User::new();
    let script = "trap 'kill $!; echo bye; exit 7' TERM; sleep 60 >/dev/null & echo ready; wait";
    let mut child = user.command(&["run", "--", "sh", "-c", script]).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    stdout.read_line(&mut said).unwrap();
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    stdout.read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), &*said), (Some(7), "ready\nbye\n"));
    assert_eq!(ending(&user, LIVE), "exit 7");
    assert!(text(&user, LIVE).contains("bye"));
}

#[test]
fn what_cannot_be_started_says_so() {
    let user = User::with_history();
    let journal = user.journal();
    assert_snapshot!(user.run(&["run", "--", "./absent"]), @"
    [exit 1]
    [stderr]
    error: cannot start absent
      because: No such file or directory (os error 2)
      hint: `command -v absent` says where it is, if it is on the PATH
    ");
    assert_snapshot!(user.run(&["run", "--from", "main", "--", "sh", "-c", "true"]), @"
    [exit 2]
    [stderr]
    error: sh is no agent that is known, so it cannot go on from a commit
      hint: name the agent that it starts: `--in claude-code`, codex, gemini or pi
    ");
    assert_eq!(user.run(&["run", "--every", "often", "--", "true"]).code, 2);
    assert_eq!(user.journal(), journal);
}
