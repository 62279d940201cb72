//! What an event, a transcript or a crowd could do to the turn of the agent that waits for a hook, and does not.

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::{Ran, User};

const SESSION: &str = "0c3f0000-0000-4000-8000-000000000000";
/// How long a hook may take by itself.
const LIMIT: Duration = Duration::from_secs(2);
/// What a busy machine may add to it: starting the program and giving it a processor.
const MARGIN: Duration = Duration::from_millis(1500);

impl User {
    fn event_about(&self, transcript: &Path) -> String {
        let event = json!({
            "hook_event_name": "Stop", "session_id": SESSION, "transcript_path": transcript, "cwd": self.path("."),
        });
        event.to_string()
    }

    /// Calls the hook about a file, and checks that the agent goes on in time and hears nothing.
    fn stop_about(&self, transcript: &Path) {
        let start = Instant::now();
        let ran = self.pipe(self.event_about(transcript), &["hook", "claude-code"]);
        let taken = start.elapsed();
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""), "{}", transcript.display());
        assert!(taken < LIMIT + MARGIN, "{taken:?} for {}", transcript.display());
    }

    /// Writes lines of a session of Claude Code, those of some turns.
    fn turns(&self, turns: std::ops::Range<usize>) {
        let mut session = File::options().create(true).append(true).open(self.path("session.jsonl")).unwrap();
        for turn in turns {
            let parent = turn.checked_sub(1).map(|before| format!("u{before}"));
            let line = json!({
                "type": "user", "uuid": format!("u{turn}"), "parentUuid": parent, "sessionId": SESSION,
                "timestamp": "2026-11-15T20:00:00.000Z", "message": {"role": "user", "content": format!("turn {turn}")},
            });
            writeln!(session, "{line}").unwrap();
        }
    }

    fn log_of_troubles(&self) -> String {
        fs::read_to_string(self.path(".local/state/contexture/capture.log")).unwrap_or_default()
    }

    /// Counts the bytes that wait in the spool.
    fn spooled(&self) -> u64 {
        let spools = fs::read_dir(self.path(".local/state/contexture/spool")).into_iter().flatten().flatten();
        let entries = spools.flat_map(|spool| fs::read_dir(spool.path()).unwrap().flatten());
        entries.map(|entry| entry.metadata().unwrap().len()).sum()
    }

    fn commits(&self) -> usize {
        let ran = self.run(&["--json", "list"]);
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout.lines().count()
    }

    fn make_fifo(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }
}

/// Waits for a program for a bounded time; nothing is returned when it goes on.
fn ended(child: &mut Child, limit: Duration) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn a_pipe_or_a_device_is_no_transcript_and_keeps_nobody_waiting() {
    let user = User::new();
    user.make_fifo("session.jsonl");
    for transcript in [user.path("session.jsonl"), "/dev/zero".into(), "/dev/random".into(), "/dev/tty".into()] {
        user.stop_about(&transcript);
    }
    assert_eq!((user.commits(), user.spooled()), (0, 0));
    assert!(user.log_of_troubles().contains("it is a named pipe"), "{}", user.log_of_troubles());
}

#[test]
fn a_file_that_is_no_transcript_of_the_runtime_is_not_taken_in() {
    let user = User::new();
    user.file("passwd", "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/sh\n");
    user.file("codex.jsonl", "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n");
    user.file("settings.json", "{\"api_key\":\"none\"}");
    for name in ["passwd", "codex.jsonl", "settings.json"] {
        user.stop_about(&user.path(name));
        assert_eq!((user.commits(), user.spooled()), (0, 0), "{name}");
    }
    assert!(user.log_of_troubles().contains("passwd"), "{}", user.log_of_troubles());
    // Neither is what is said to be the file of an agent.
    user.turns(0..1);
    let mut event: Value = serde_json::from_str(&user.event_about(&user.path("session.jsonl"))).unwrap();
    event["agent_id"] = json!("a1");
    event["agent_transcript_path"] = json!(user.path("passwd"));
    let ran = user.pipe(event.to_string(), &["hook", "claude-code"]);
    assert_eq!((ran.code, user.commits()), (0, 1));
}

#[test]
fn standard_input_that_stays_open_ends_with_the_limit() {
    let user = User::new();
    for (limit, most) in [(None, LIMIT), (Some("300ms"), Duration::from_millis(300))] {
        let mut command = user.command(&["hook", "claude-code"]);
        limit.map(|limit| command.env("CTX_HOOK_LIMIT", limit));
        let start = Instant::now();
        let mut hook = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = hook.stdin.take().unwrap();
        input.write_all(b"{\"hook_event_name\":").unwrap();
        assert_eq!(ended(&mut hook, Duration::from_secs(20)), Some(0));
        assert!(start.elapsed() < most + MARGIN, "{:?}", start.elapsed());
        drop(input);
    }
    assert!(user.log_of_troubles().contains("standard input"), "{}", user.log_of_troubles());
}

#[test]
fn an_event_without_end_is_not_read_to_its_end() {
    let user = User::new();
    let start = Instant::now();
    let zero = File::open("/dev/zero").unwrap();
    let mut hook = user.command(&["hook", "claude-code"]).stdin(zero).spawn().unwrap();
    assert_eq!(ended(&mut hook, Duration::from_secs(20)), Some(0));
    assert!(start.elapsed() < LIMIT + MARGIN, "{:?}", start.elapsed());
}

#[test]
fn somebody_who_keeps_a_lock_keeps_no_agent_waiting() {
    let user = User::new();
    user.turns(0..1);
    user.stop_about(&user.path("session.jsonl"));
    assert_eq!(user.commits(), 1);
    let sessions = user.path(".local/state/contexture/sessions");
    let locks: Vec<File> = fs::read_dir(sessions)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "lock"))
        .map(|path| File::create(path).unwrap())
        .collect();
    assert_eq!(locks.len(), 1);
    for lock in &locks {
        lock.lock().unwrap();
    }
    user.turns(1..2);
    user.stop_about(&user.path("session.jsonl"));
    drop(locks);
    user.turns(2..3);
    user.stop_about(&user.path("session.jsonl"));
    assert_eq!(user.done(&["materialize", &format!("session/{SESSION}")]), user.read("session.jsonl").trim_end());
}

#[test]
fn a_store_that_somebody_writes_to_without_end_keeps_no_agent_waiting_and_nothing_is_lost() {
    let user = User::new();
    user.turns(0..1);
    user.stop_about(&user.path("session.jsonl"));
    let database = rusqlite::Connection::open(user.path("store").join("contexture.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    user.turns(1..3);
    user.stop_about(&user.path("session.jsonl"));
    user.turns(3..4);
    user.stop_about(&user.path("session.jsonl"));
    database.execute_batch("ROLLBACK").unwrap();
    user.done(&["import", "--runtime", "claude-code", user.path("session.jsonl").to_str().unwrap()]);
    assert_eq!(user.done(&["materialize", &format!("session/{SESSION}")]), user.read("session.jsonl").trim_end());
}

#[test]
fn a_spool_that_is_full_takes_no_more_and_nothing_is_lost() {
    let user = User::new();
    user.turns(0..1);
    user.stop_about(&user.path("session.jsonl"));
    let database = rusqlite::Connection::open(user.path("store").join("contexture.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    user.turns(1..2);
    user.stop_about(&user.path("session.jsonl"));
    let held = user.spooled();
    assert!(held > 0);
    let spool = fs::read_dir(user.path(".local/state/contexture/spool")).unwrap().next().unwrap().unwrap().path();
    // It takes no room on the disk, but counts.
    File::create(spool.join("other")).unwrap().set_len(512 << 20).unwrap();
    user.turns(2..3);
    user.stop_about(&user.path("session.jsonl"));
    assert!(user.log_of_troubles().contains("the spool is full"), "{}", user.log_of_troubles());
    assert_eq!(user.spooled(), held + (512 << 20));
    fs::remove_file(spool.join("other")).unwrap();
    database.execute_batch("ROLLBACK").unwrap();
    user.turns(3..4);
    user.stop_about(&user.path("session.jsonl"));
    user.done(&["import", "--runtime", "claude-code", user.path("session.jsonl").to_str().unwrap()]);
    assert_eq!(user.done(&["materialize", &format!("session/{SESSION}")]), user.read("session.jsonl").trim_end());
}

#[test]
fn a_crowd_of_hooks_ends_in_time_and_every_line_is_there_once() {
    const CROWD: usize = 48;
    let user = User::new();
    user.turns(0..1);
    user.stop_about(&user.path("session.jsonl"));
    let event = user.event_about(&user.path("session.jsonl"));
    let start = Instant::now();
    let mut crowd: Vec<Child> = (0..CROWD)
        .map(|turn| {
            user.turns(turn + 1..turn + 2);
            let mut hook = user.command(&["hook", "claude-code"]).stdin(Stdio::piped()).spawn().unwrap();
            hook.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
            hook
        })
        .collect();
    for hook in &mut crowd {
        assert_eq!(ended(hook, Duration::from_secs(30)), Some(0));
    }
    // Starting all of them takes a while too.
    assert!(start.elapsed() < LIMIT + 4 * MARGIN, "{:?}", start.elapsed());
    user.done(&["import", "--runtime", "claude-code", user.path("session.jsonl").to_str().unwrap()]);
    assert_eq!(user.done(&["materialize", &format!("session/{SESSION}")]), user.read("session.jsonl").trim_end());
}

#[test]
fn directories_full_of_pipes_and_loops_are_looked_through() {
    let user = User::new();
    let project = user.path(".claude/projects/p");
    fs::create_dir_all(&project).unwrap();
    user.make_fifo(".claude/projects/p/0c3f.jsonl");
    user.make_fifo(&format!(".claude/projects/p/{SESSION}.jsonl"));
    user.make_fifo(".claude/settings.json");
    std::os::unix::fs::symlink(&project, project.join("loop")).unwrap();
    std::os::unix::fs::symlink(&project, project.join("again")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.join("zero.jsonl")).unwrap();
    let fifo = user.path(".claude/projects/p/0c3f.jsonl");
    let commands: [&[&str]; 4] = [
        &["import"],
        &["doctor"],
        &["import", fifo.to_str().unwrap()],
        &["import", "--runtime", "claude-code", "/dev/zero"],
    ];
    for command in commands {
        let mut running = user.command(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(ended(&mut running, Duration::from_secs(20)).is_some(), "{command:?} goes on");
    }
    let mut event: Value = serde_json::from_str(&user.event_about(Path::new(""))).unwrap();
    event["session_id"] = json!("no-such-session");
    let ran: Ran = user.pipe(event.to_string(), &["hook", "claude-code"]);
    assert_eq!(ran.code, 0);
    assert_eq!(user.commits(), 0);
}

#[test]
fn the_hooks_of_git_end_in_time_too() {
    let user = User::new();
    user.make_fifo("message");
    for command in [&["git-hook", "prepare-commit-msg", "message"][..], &["git-hook", "post-commit"]] {
        let mut hook = user.command(command).env("PATH", "/usr/bin:/bin").spawn().unwrap();
        assert_eq!(ended(&mut hook, Duration::from_secs(12)), Some(0), "{command:?}");
    }
    // A git that never answers.
    fs::create_dir(user.path("bin")).unwrap();
    user.file("bin/git", "#!/bin/sh\nexec sleep 60\n");
    fs::set_permissions(user.path("bin/git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", user.path("bin").display());
    let mut hook = user.command(&["git-hook", "post-commit"]).env("PATH", path).spawn().unwrap();
    assert_eq!(ended(&mut hook, Duration::from_secs(12)), Some(0));
}
