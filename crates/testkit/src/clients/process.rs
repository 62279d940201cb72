//! A client's process.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Clients take seconds; one that takes this long waits for something that will not come.
const LIMIT: Duration = Duration::from_mins(2);

/// What became of a client.
#[derive(Debug)]
pub struct Run {
    /// The id of the session that the client says it had.
    pub session: Option<String>,
    /// The session's transcripts: its own first, then those of its sub-agents.
    pub transcripts: Vec<PathBuf>,
    /// What the client wrote to standard output.
    pub stdout: String,
    /// What the client wrote to standard error.
    pub stderr: String,
    /// How the client ended.
    pub status: ExitStatus,
}

impl Run {
    /// Returns the session's id; panics unless the client ended well and said one.
    pub fn session(&self) -> &str {
        match &self.session {
            Some(session) if self.status.success() => session,
            _ => panic!("the client ended with {}\n{}\n{}", self.status, self.stdout, self.stderr),
        }
    }

    /// Returns the session's own transcript; panics if there is none.
    pub fn transcript(&self) -> &PathBuf {
        self.transcripts.first().unwrap_or_else(|| panic!("no transcript\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Runs a command to its end, without input.
pub(super) fn run(command: &mut Command) -> Run {
    // Files, not pipes: a process that the client leaves behind would keep a pipe open.
    let said = TempDir::new().expect("a temporary directory can be made");
    let (out, err) = (said.path().join("out"), said.path().join("err"));
    let file = |path| File::create(path).expect("the directory can be written");
    command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err)).process_group(0);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let start = Instant::now();
    let mut pause = Duration::from_millis(5);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if start.elapsed() > LIMIT {
            end_group(child.id());
            break child.wait().expect("a child can be waited for");
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    };
    let text = |path| String::from_utf8_lossy(&fs::read(path).expect("it was made")).into_owned();
    Run { session: None, transcripts: Vec::new(), stdout: text(out), stderr: text(err), status }
}

/// Ends a process and all that it started.
fn end_group(leader: u32) {
    let status = Command::new("kill").args(["-s", "KILL", "--", &format!("-{leader}")]).status();
    assert!(status.is_ok_and(|status| status.success()), "process group {leader} cannot be ended");
}
