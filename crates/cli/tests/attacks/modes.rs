//! Files that somebody else could read.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::harness::{Ran, User};

const SESSION: &str = "0c3f0000-0000-4000-8000-000000000000";

/// A user whose mask takes nothing away, with a home, a directory to work in, and one for temporary files.
struct Careless {
    user: User,
}

impl Careless {
    fn new() -> Self {
        let user = User::new();
        for directory in ["home/.claude", "work", "tmp"] {
            fs::create_dir_all(user.path(directory)).unwrap();
        }
        let careless = Self { user };
        careless.user.file("work/turn.jsonl", "{\"turn\":1}\n");
        careless.user.file("event.json", "");
        careless
    }

    /// Prepares the program, or whatever a script does with it as `$0`, under a mask that takes nothing away.
    fn command(&self, arguments: &[&str]) -> Command {
        let ctx = env!("CARGO_BIN_EXE_ctx");
        let mut command = self.user.command(&[]);
        let mut masked = Command::new("sh");
        masked.args(["-c", "umask 000; exec \"$0\" \"$@\"", ctx]).args(arguments).env_clear();
        let kept = command.env("PATH", "/usr/bin:/bin").get_envs();
        masked.envs(kept.filter_map(|(name, value)| Some((name, value?))));
        masked.env_remove("CTX_STORE").env("HOME", self.user.path("home")).env("TMPDIR", self.user.path("tmp"));
        masked.current_dir(self.user.path("work")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        masked
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.user.ran(self.command(arguments).output())
    }

    fn done(&self, arguments: &[&str]) {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{ran}");
    }

    /// Tells the hook of an event, with these options before it.
    fn hear(&self, options: &[&str], event: &str) {
        let said = json!({
            "hook_event_name": event, "session_id": SESSION, "transcript_path": self.transcript(), "cwd": "/",
        });
        self.user.file("event.json", said.to_string());
        let arguments = [options, &["hook", "claude-code"]].concat();
        let event = fs::File::open(self.user.path("event.json")).unwrap();
        let ran = self.user.ran(self.command(&arguments).stdin(event).output());
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""));
    }

    fn transcript(&self) -> PathBuf {
        self.user.path("home/.claude/projects/-work").join(format!("{SESSION}.jsonl"))
    }

    /// Adds a prompt to a session of Claude Code.
    fn prompt(&self, uuid: &str, text: &str) {
        let line = json!({
            "type": "user", "uuid": uuid, "parentUuid": null, "sessionId": SESSION, "cwd": self.user.path("work"),
            "message": {"role": "user", "content": text}, "timestamp": "2026-11-15T20:00:00.000Z",
        });
        let path = self.transcript();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{before}{line}\n")).unwrap();
    }

    /// Returns everything that is there.
    fn everything(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(&self.user.path(""), &mut found);
        found
    }
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            walk(&path, found);
        }
        found.push(path);
    }
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn whatever_the_mask_nobody_else_can_read_what_is_made() {
    let careless = Careless::new();
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(careless.user.path("work")).status();
    assert!(git.unwrap().success());
    careless.prompt("u1", "Find the race");
    let theirs = careless.everything();
    careless.done(&["checkpoint", "--format", "jsonl", "--head", "main", "turn.jsonl"]);
    careless.done(&["init", "--yes", "--runtime", "claude-code", "--git"]);
    careless.done(&["init", "--yes", "--runtime", "pi", "--project"]);
    careless.hear(&[], "Stop");
    careless.prompt("u2", "Mend it");
    // What stands where the store would be is no directory, so the session waits in the spool.
    careless.hear(&["--store", "turn.jsonl"], "Stop");
    careless.done(&["import"]);
    careless.done(&["run", "--", "sh", "-c", "find . >/dev/null; ls -lR \"$(dirname \"$CTX_SOCKET\")\"; echo done"]);
    careless.done(&["materialize", "main", "-o", "materialized.jsonl"]);
    let held = careless.user.ran(careless.command(&["artifact", "put", "turn.jsonl"]).output()).stdout;
    careless.done(&["artifact", "get", held.trim_end(), "-o", "artifact"]);
    careless.done(&["export", "--all", "-o", "all.bundle"]);
    careless.done(&[
        "assemble",
        "resume",
        "--head",
        "main",
        "--max-tokens",
        "4000",
        "--trigger",
        "Go on.",
        "-o",
        "request.json",
    ]);
    careless.done(&["envelope", "export", "last", "-o", "context.json"]);
    careless.done(&["resume", &format!("session/{SESSION}"), "--print", "--in", "claude-code", "--cwd", "."]);
    careless.done(&["resume", &format!("session/{SESSION}"), "--print", "--in", "codex", "--cwd", "."]);
    careless.done(&["resume", &format!("session/{SESSION}"), "--print", "--in", "gemini", "--cwd", "."]);
    careless.done(&["search", "race"]);
    careless.done(&["demo", "--keep", "demo/of/it"]);
    let _unwell = careless.run(&["doctor", "--fix"]);
    let made = careless.everything().into_iter().filter(|path| !theirs.contains(path));
    // What git makes in the repository of the walk is git's.
    let made = made.filter(|path| path.components().all(|part| part.as_os_str() != ".git"));
    // Whether a socket can be reached is up to its directory, too.
    let open: Vec<_> = made.filter(|path| mode(path) & 0o077 != 0).collect();
    let shown: Vec<_> = open.iter().map(|path| format!("{:o} {}", mode(path), path.display())).collect();
    assert_eq!(shown, [""; 0]);
    for expected in [
        "home/.local/share/contexture/contexture.db",
        "home/.local/state/contexture/capture.log",
        "home/.local/state/contexture/spool",
        "home/.claude/settings.json",
        "home/.codex/sessions",
        "work/request.json",
        "work/demo/of/it/store",
    ] {
        assert!(careless.user.path(expected).exists(), "{expected}");
    }
    assert_eq!(mode(careless.user.path("work/.git/hooks/post-commit")), 0o700);
}

#[test]
fn the_socket_of_a_run_is_its_owners() {
    let careless = Careless::new();
    let ran = careless.run(&["run", "--", "sh", "-c", "stat -c %a \"$CTX_SOCKET\" \"$(dirname \"$CTX_SOCKET\")\""]);
    assert_eq!(ran.stdout, "600\n700\n", "{ran}");
}

#[test]
fn the_log_of_the_database_is_private_while_a_program_is_at_work() {
    let careless = Careless::new();
    careless.done(&["checkpoint", "--format", "jsonl", "--head", "main", "turn.jsonl"]);
    // Somebody else has it open, so its log stays.
    let database = careless.user.path("home/.local/share/contexture/contexture.db");
    let reader = rusqlite::Connection::open(&database).unwrap();
    reader.query_row("SELECT count(*) FROM commits", [], |_| Ok(())).unwrap();
    careless.done(&["checkpoint", "--head", "main", "turn.jsonl"]);
    for file in ["contexture.db", "contexture.db-wal", "contexture.db-shm"] {
        assert_eq!(mode(database.with_file_name(file)), 0o600, "{file}");
    }
}

#[test]
fn settings_that_were_there_keep_their_mode() {
    let careless = Careless::new();
    let settings = careless.user.path("home/.claude/settings.json");
    fs::write(&settings, "{}\n").unwrap();
    set_mode(&settings, 0o644);
    careless.done(&["init", "--yes", "--runtime", "claude-code"]);
    assert_eq!(mode(&settings), 0o644);
}

#[test]
fn a_file_that_others_could_read_is_replaced_by_one_that_they_cannot() {
    let careless = Careless::new();
    careless.done(&["checkpoint", "--format", "jsonl", "--head", "main", "turn.jsonl"]);
    let file = careless.user.path("work/out.jsonl");
    fs::write(&file, "").unwrap();
    set_mode(&file, 0o666);
    careless.done(&["materialize", "main", "-o", "out.jsonl"]);
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn a_store_that_others_can_read_is_reported_and_mended() {
    let careless = Careless::new();
    careless.done(&["checkpoint", "--format", "jsonl", "--head", "main", "turn.jsonl"]);
    careless.prompt("u1", "Find the race");
    careless.hear(&[], "Stop");
    let (store, state) =
        (careless.user.path("home/.local/share/contexture"), careless.user.path("home/.local/state/contexture"));
    let database = store.join("contexture.db");
    let listed = state.join("sessions");
    set_mode(&store, 0o755);
    set_mode(&database, 0o644);
    set_mode(&state, 0o750);
    set_mode(&listed, 0o770);
    let checked = careless.run(&["store", "check"]);
    assert_eq!(checked.code, 0, "{checked}");
    let mut warnings = checked.stdout.lines().filter(|line| line.starts_with("warning"));
    assert!(warnings.any(|line| line.contains("contexture.db (644)") && line.contains("everybody")), "{checked}");
    let document: Value = serde_json::from_str(&careless.run(&["store", "check", "--json"]).stdout).unwrap();
    assert_eq!(document["exposed"][0]["mode"], "755", "{document}");
    assert_eq!(document["exposed"][1]["readers"], "everybody", "{document}");
    let report = careless.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(report.stdout.lines().next().unwrap()).unwrap();
    let problems: Vec<_> = report["problems"].as_array().unwrap().iter().map(|it| it["what"].to_string()).collect();
    let problems = problems.join("\n");
    for (path, mode) in [(&store, "755"), (&database, "644"), (&state, "750"), (&listed, "770")] {
        let named = format!("{} ({mode})", path.canonicalize().unwrap().display());
        let shown = format!("{} ({mode})", path.display());
        assert!(problems.contains(&named) || problems.contains(&shown), "{named}\n{problems}");
    }
    let _fixed = careless.run(&["doctor", "--fix"]);
    assert_eq!([&store, &database, &state, &listed].map(mode), [0o700, 0o600, 0o700, 0o700]);
    let checked = careless.run(&["store", "check"]);
    assert!(!checked.stdout.contains("warning"), "{checked}");
}
