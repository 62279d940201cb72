//! A writing process and what it says.

use std::{
    ffi::OsStr,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use contexture_core::CommitId;

/// A process that writes to a store. Dropping it kills it.
pub(crate) struct Writer {
    process: Child,
    output: BufReader<ChildStdout>,
}

/// A line that a writer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The commit is durable.
    Ack(CommitId),
    /// So many commits were read.
    Done(u64),
    /// What was asked for failed in this way.
    Failed(String),
}

impl Answer {
    pub(crate) fn failed(kind: &str) -> Self {
        Self::Failed(kind.to_owned())
    }

    pub(crate) fn ack(&self) -> Option<CommitId> {
        match self {
            Self::Ack(id) => Some(*id),
            Self::Done(_) | Self::Failed(_) => None,
        }
    }
}

/// Returns the command that writes to a store.
pub(crate) fn command(store: &Path, head: &str, mode: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx-test-writer"));
    command.arg(store).arg(head).args(mode).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl Writer {
    pub(crate) fn start(store: &Path, head: &str, mode: &[&str]) -> Self {
        Self::spawn(command(store, head, mode))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut process = command.spawn().expect("the writer starts");
        let output = BufReader::new(process.stdout.take().expect("its output is piped"));
        Self { process, output }
    }

    /// Says a line to it.
    pub(crate) fn tell(&mut self, line: impl AsRef<OsStr>) {
        let mut input = self.process.stdin.as_ref().expect("its input is piped");
        let line = [line.as_ref().as_encoded_bytes(), b"\n"].concat();
        input.write_all(&line).expect("it listens");
    }

    /// Returns its next line; nothing when it has ended.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output can be read");
        // A line that was cut off by a kill was not said.
        let line = line.strip_suffix('\n')?;
        let (word, rest) = line.split_once(' ').expect("every line has a first word");
        Some(match word {
            "ack" => Answer::Ack(rest.parse().unwrap()),
            "done" => Answer::Done(rest.parse().unwrap()),
            "failed" => Answer::failed(rest.split_once(':').expect("a failure has a kind").0),
            other => panic!("the writer says {other}"),
        })
    }

    pub(crate) fn ask(&mut self, line: impl AsRef<OsStr>) -> Answer {
        self.tell(line);
        self.answer().expect("it answers")
    }

    /// Returns what else it says until it ends.
    pub(crate) fn rest(&mut self) -> Vec<Answer> {
        std::iter::from_fn(|| self.answer()).collect()
    }

    /// Waits until it ends and tells whether it ended well.
    pub(crate) fn ends_well(mut self) -> bool {
        drop(self.process.stdin.take());
        self.process.wait().expect("it can be waited for").success()
    }

    /// Kills it with SIGKILL and returns what it had said.
    pub(crate) fn kill(mut self) -> Vec<Answer> {
        self.process.kill().expect("it is our child");
        self.rest()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
