//! A session that a test holds open beside the store.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
};

/// A `psql` that does what it is told, one line at a time. Dropping it ends the session and its transaction.
pub(crate) struct Psql {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Psql {
    pub(crate) fn connect(url: &str) -> Self {
        let mut command = Command::new("psql");
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", url]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("there is a psql");
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    /// Runs statements and returns once they have run.
    pub(crate) fn run(&mut self, sql: &str) {
        let mut input = self.process.stdin.as_ref().unwrap();
        input.write_all(format!("{sql}; SELECT 'done';\n").as_bytes()).unwrap();
        let mut line = String::new();
        while line.trim() != "done" {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the session ended");
        }
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
