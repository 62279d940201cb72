//! Hooks and wrappers that are killed at any moment: in the end every line of every session is there, and once.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use contexture_testkit::Numbers;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Events of agents, about a third of which end badly.
const ROUNDS: usize = 300;
const SESSIONS: usize = 3;
/// Runs of a program, nearly all of whose wrappers are killed.
const RUNS: usize = 100;
/// Lines that each of them prints, one every few milliseconds.
const EVENTS: usize = 24;

#[test]
fn every_line_is_taken_in_once_whatever_is_killed() {
    let home = Home::new();
    let mut sessions: Vec<HookedSession> = (0..SESSIONS).map(|number| home.session(number)).collect();
    let mut numbers = Numbers(0x5eed);
    let mut killed = 0;
    for round in 0..ROUNDS {
        let session = &mut sessions[numbers.below(SESSIONS)];
        let event = match numbers.below(8) {
            0 => "SessionStart",
            1 => "UserPromptSubmit",
            2 | 3 => "PreToolUse",
            4 | 5 => "PostToolUse",
            6 => "Stop",
            _ => "SessionEnd",
        };
        session.go_on(&mut numbers, round);
        // Now and then somebody is in the way of the store.
        let is_away = numbers.below(10) == 0;
        if is_away {
            fs::rename(home.store(), home.aside()).or_else(|_| fs::create_dir(home.aside())).unwrap();
            fs::write(home.store(), "in the way").unwrap();
        }
        let mut hook = home.hook(session, event);
        // Tools that run at the same time have hooks that do.
        let beside = (numbers.below(4) == 0).then(|| home.hook(session, "PostToolUse"));
        if numbers.below(3) == 0 {
            thread::sleep(Duration::from_micros(numbers.below(30_000) as u64));
            // It may be done already.
            _ = hook.kill();
            killed += 1;
        }
        let ended = hook.wait().unwrap();
        assert!(ended.success() || ended.code().is_none(), "a hook ended with {ended}");
        let beside = beside.map(|mut beside| beside.wait().unwrap());
        assert!(beside.is_none_or(|ended| ended.success()), "a hook ended with {beside:?}");
        if is_away {
            fs::remove_file(home.store()).unwrap();
            fs::rename(home.aside(), home.store()).unwrap();
        }
    }
    assert!(killed > ROUNDS / 5, "only {killed} were killed");
    for session in &mut sessions {
        session.end_line();
        assert!(home.hook(session, "SessionEnd").wait().unwrap().success());
    }
    for session in &sessions {
        let stored = home.ctx(&["materialize", &format!("session/{}", session.id), "--stop", "root"]);
        assert_eq!(stored, fs::read_to_string(&session.path).unwrap(), "session {}", session.id);
        let verified = home.ctx(&["--json", "import", "--verify", session.path.to_str().unwrap()]);
        let verified: Value = serde_json::from_str(verified.lines().next().unwrap()).unwrap();
        assert_eq!((&verified["result"], &verified["left"]), (&json!("same"), &json!(0)));
        // No commit beside the chain holds anything of it a second time.
        assert_eq!(home.messages(&session.id), session.lines, "session {}", session.id);
    }
    let spools = fs::read_dir(home.path().join(".local/state/contexture/spool")).into_iter().flatten();
    let entries = spools.flat_map(|spool| fs::read_dir(spool.unwrap().path()).unwrap());
    let left: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(!left.iter().any(|path| path.extension().is_some_and(|extension| extension == "entry")), "{left:?}");
    home.ctx(&["fsck"]);
}

#[test]
fn what_somebody_saw_of_a_run_is_kept_once_whenever_its_wrapper_is_killed() {
    let home = Home::new();
    let mut numbers = Numbers(0xacc0);
    let runs: Vec<(String, String, usize)> = (0..RUNS).map(|number| home.broken_run(number, &mut numbers)).collect();
    home.ctx(&["run", "--", "true"]);
    // One that has only begun says nothing that a head could lead to.
    for (session, printed, seen) in runs.iter().filter(|(_, _, seen)| *seen > 1) {
        let stored = home.ctx(&["materialize", &format!("session/{session}"), "--stop", "root"]);
        assert!(printed.starts_with(&stored), "run {session}: {stored}");
        let lines = stored.lines().count();
        assert!(lines >= *seen, "run {session}: {seen} lines were seen and {lines} kept");
        assert_eq!(home.messages(session), lines as u64, "run {session}");
    }
    let listed = |path: &PathBuf| path.extension().is_some_and(|extension| extension != "lock");
    for place in ["runs", "sessions"] {
        let entries = fs::read_dir(home.path().join(".local/state/contexture").join(place)).unwrap();
        let left: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(listed).collect();
        assert_eq!(left, [] as [PathBuf; 0]);
    }
    home.ctx(&["fsck"]);
}

/// A home of its own.
struct Home(TempDir);

/// A session that an agent writes.
struct HookedSession {
    id: String,
    path: PathBuf,
    lines: u64,
    /// Whether the last line has no end yet.
    is_open: bool,
    parent: Option<String>,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join(".local/share")).unwrap();
        Self(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn store(&self) -> PathBuf {
        self.path().join(".local/share/contexture")
    }

    fn aside(&self) -> PathBuf {
        self.path().join(".local/share/aside")
    }

    fn session(&self, number: usize) -> HookedSession {
        let place = self.path().join(".claude/projects/project");
        fs::create_dir_all(&place).unwrap();
        let id = format!("0000000{number}-0000-4000-8000-000000000000");
        HookedSession { path: place.join(format!("{id}.jsonl")), id, lines: 0, is_open: false, parent: None }
    }

    fn program(&self) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ctx"));
        program.env_clear().env("HOME", self.path()).envs([("USER", "ada"), ("CTX_MACHINE", "laptop")]);
        program
    }

    fn hook(&self, session: &HookedSession, event: &str) -> Child {
        let mut hook = self.program().args(["hook", "claude-code"]).stdin(Stdio::piped()).spawn().unwrap();
        let event = json!({
            "hook_event_name": event, "session_id": session.id, "transcript_path": session.path, "cwd": self.path(),
        });
        // It may be gone already.
        _ = hook.stdin.take().unwrap().write_all(event.to_string().as_bytes());
        hook
    }

    /// Runs a program that tells what it does, and kills the wrapper at some moment. Returns its session, all that it would
    /// have printed, and how many lines of that came through.
    fn broken_run(&self, number: usize, numbers: &mut Numbers) -> (String, String, usize) {
        let session = format!("{number:08}-0000-4000-8000-000000000000");
        let event = |line: usize| {
            let uuid = format!("{number}-{line}");
            let part = match line % 4 {
                // At each call a checkpoint is made.
                0 => json!({"type": "tool_use", "id": uuid, "name": "Bash", "input": {}}),
                _ => json!({"type": "text", "text": "."}),
            };
            let event = match line {
                0 => json!({"type": "system", "subtype": "init", "session_id": session, "uuid": uuid}),
                1 => {
                    json!({"type": "user", "session_id": session, "uuid": uuid, "message": {"role": "user", "content": "?"}})
                }
                _ => json!({"type": "assistant", "session_id": session, "uuid": uuid,
                            "message": {"id": uuid, "role": "assistant", "content": [part]}}),
            };
            event.to_string() + "\n"
        };
        let printed: String = (0..EVENTS).map(event).collect();
        let file = self.path().join("printed");
        fs::write(&file, &printed).unwrap();
        let script = format!("while read -r line; do echo \"$line\"; sleep 0.002; done < '{}'", file.display());
        let mut run = self.program();
        run.args(["run", "--", "sh", "-c", &script]).env("TMPDIR", self.path());
        let mut run = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut seen = BufReader::new(run.stdout.take().unwrap()).lines();
        // Somewhere between the start and the end, however fast this machine is.
        let first = seen.by_ref().take(numbers.below(EVENTS + 1)).count();
        thread::sleep(Duration::from_micros(numbers.below(5000) as u64));
        // It may be done already.
        _ = run.kill();
        run.wait().unwrap();
        (session, printed, first + seen.count())
    }

    /// Returns how many messages the commits of a session hold, be they on its chain or not.
    fn messages(&self, session: &str) -> u64 {
        let commits = self.ctx(&["--json", "list", "--session", session, "-n", "10000"]);
        let count = |line: &str| serde_json::from_str::<Value>(line).unwrap()["message_count"].as_u64().unwrap();
        commits.lines().map(count).sum()
    }

    fn ctx(&self, arguments: &[&str]) -> String {
        let output = self.program().args(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ctx {arguments:?} ended with {}: {stderr}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }
}

impl HookedSession {
    /// Writes some lines; the last one may be cut off in the middle, as by an agent that was killed or is still writing.
    fn go_on(&mut self, numbers: &mut Numbers, round: usize) {
        self.end_line();
        for number in 0..=numbers.below(4) {
            let uuid = format!("{round}-{number}");
            let is_question = numbers.below(3) == 0;
            let text = "and so on ".repeat(numbers.below(200));
            let message = if is_question {
                json!({"role": "user", "content": text + "?"})
            } else {
                json!({"role": "assistant", "model": "m", "id": uuid, "content": [{"type": "text", "text": text + "."}]})
            };
            let line = json!({
                "type": if is_question { "user" } else { "assistant" }, "uuid": uuid, "parentUuid": self.parent,
                "sessionId": self.id, "timestamp": "2026-01-02T03:04:05.000Z", "message": message,
            });
            self.parent = Some(uuid);
            self.write(&(line.to_string() + "\n"));
            self.lines += 1;
        }
        if numbers.below(4) == 0 {
            self.write("{\"type\":\"mode\",\"sess");
            self.is_open = true;
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.write(&format!("ionId\":\"{}\"}}\n", self.id));
            self.lines += 1;
        }
    }

    fn write(&self, text: &str) {
        let mut file = File::options().create(true).append(true).open(&self.path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}
