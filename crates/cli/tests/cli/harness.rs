//! Runs the program in a directory, a home and a store of its own, at a fixed time.

use std::{
    fmt, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use contexture::wire::DocumentKind;
use contexture_testkit::schema_violation;

use crate::Place;

/// When every test happens, unless it says otherwise.
pub(crate) const NOW: &str = "2026-11-15T20:10:00Z";

/// A user with an empty store.
pub(crate) struct User {
    directory: tempfile::TempDir,
    /// Where the store is.
    pub(crate) place: Place,
}

/// How the program ended and what it said.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl User {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::beside(directory.path());
        Self { directory, place }
    }

    /// Returns a user whose store has a history: three turns on `main`, a fork `review` from the second with a turn of
    /// its own, a compaction on `main`, and a turn after it that brings back the review.
    pub(crate) fn with_history() -> Self {
        let user = Self::new();
        let at = |clock: &str, command: &[&str]| {
            let time = format!("2026-11-15T{clock}:00Z");
            let ran = user.ran(user.command(command).env("CTX_TIME", time).output());
            assert_eq!(ran.code, 0, "{command:?}\n{ran}");
        };
        let turn = |clock: &str, flags: &[&str]| {
            user.file("turn.jsonl", format!("{{\"turn\":\"{clock}\"}}\n"));
            at(clock, &[&["checkpoint"], flags, &["turn.jsonl"]].concat());
        };
        turn("19:20", &["--format", "claude-code-v1", "--head", "main", "--summary", "Found the failing test"]);
        turn("19:30", &["--head", "main", "--summary", "Found the race", "--session", "s-1"]);
        turn("19:40", &["--head", "main", "--ticket", "ENG-42"]);
        at("19:45", &["fork", "main~1", "--head", "review"]);
        turn("19:50", &["--head", "review", "--principal", "grace@desk", "--summary", "Another fix"]);
        user.file("summary.txt", "The test races with the server.\nIt should wait.\n");
        at("20:00", &["compact", "main", "--summary", "summary.txt", "--loss", "the stack traces"]);
        turn("20:05", &["--head", "main", "--merge", "review"]);
        user
    }

    /// Returns the path of a file of the user.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Prepares the program without a terminal and with nothing of the real environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.other_program(env!("CARGO_BIN_EXE_ctx"));
        command.args(arguments);
        command
    }

    /// Prepares another program in the same way.
    pub(crate) fn other_program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.directory.path())
            .env_clear()
            .env("HOME", self.directory.path())
            .env("CTX_STORE", self.place.url())
            .env("CTX_TIME", NOW)
            .env("CTX_PRINCIPAL", "ada@laptop")
            .env("CTX_MACHINE", "laptop")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.ran(self.command(arguments).output())
    }

    /// Runs the program with bytes on standard input.
    pub(crate) fn pipe(&self, input: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // The program may refuse its arguments before it reads.
        let _written = child.stdin.take().unwrap().write_all(input.as_ref());
        self.ran(child.wait_with_output())
    }

    /// Returns how the program ended and what it said, with `store` for the place of the user's store.
    pub(crate) fn ran(&self, ended: io::Result<Output>) -> Ran {
        let Output { status, stdout, stderr } = ended.unwrap();
        check_documents(&stdout);
        check_documents(&stderr);
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(&self.place.shown(), "store");
        Ran { code: status.code().expect("it was not killed"), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs a command that must succeed and returns what it printed, without the line's end.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{ran}");
        ran.stdout.trim_end().to_owned()
    }

    /// Returns what the journal holds, to show that a command changed nothing.
    pub(crate) fn journal(&self) -> String {
        self.done(&["journal", "--json"])
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr } = self;
        if *code != 0 {
            writeln!(f, "[exit {code}]")?;
        }
        f.write_str(stdout)?;
        if !stderr.is_empty() {
            write!(f, "[stderr]\n{stderr}")?;
        }
        Ok(())
    }
}

/// Checks every document that was printed: it keeps to the schema of its kind, and whoever reads it can write it again.
fn check_documents(printed: &[u8]) {
    let printed = String::from_utf8_lossy(printed);
    for line in printed.lines().filter(|line| line.starts_with("{\"schema\":\"contexture/")) {
        let is_known = |kind: &&DocumentKind| kind.rewrite(line).is_ok_and(|again| again == line);
        let kind = DocumentKind::all().iter().find(is_known);
        let kind = kind.unwrap_or_else(|| panic!("no document of the library: {line}"));
        let schema = serde_json::to_value(kind.schema()).unwrap();
        let violation = schema_violation(&schema, &serde_json::from_str(line).unwrap());
        assert_eq!(violation, None, "{} is not what its schema says: {line}", kind.name);
    }
}
