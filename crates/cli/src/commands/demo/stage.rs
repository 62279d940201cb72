//! Where the demonstration plays: it shows a command, runs exactly that, and shows what it printed.

use std::{
    ffi::OsString,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use clap::Parser as _;
use contexture::{Contexture, Location, core::Timestamp};
use contexture_capture::Homes;

use crate::{
    args::{Args, Globals},
    environment::Environment,
    error::Result,
    invocation::Invocation,
    output::Output,
    postgres_variables::PostgresVariables,
};

/// Runs commands in a store of its own, at times of its own.
pub(super) struct Stage<'o> {
    output: &'o mut Output,
    environment: Environment,
    now: Timestamp,
}

/// Where the commands find their store, when they do not say.
#[derive(Clone)]
pub(super) struct Setting {
    pub(super) store: OsString,
    pub(super) postgres: PostgresVariables,
    /// Where agents keep their sessions.
    pub(super) homes: Homes,
}

/// What a command printed, both streams as they came.
#[derive(Clone, Default)]
struct DemoTranscript(Arc<Mutex<Vec<u8>>>);

impl<'o> Stage<'o> {
    /// Prepares a stage in the current directory. Every command runs as one agent's, unless it says otherwise.
    pub(super) fn new(output: &'o mut Output, now: Timestamp, setting: Setting) -> Self {
        let environment = Environment {
            store: Some(setting.store),
            postgres: setting.postgres,
            homes: setting.homes,
            principal: Some("ada@laptop".into()),
            machine: Some("laptop".into()),
            ..Environment::default()
        };
        Self { output, environment, now }
    }

    /// Returns where the store is.
    pub(super) fn location(&self) -> Result<Location> {
        self.invocation().location()
    }

    /// Opens the store.
    pub(super) async fn open(&self) -> Result<Contexture> {
        self.invocation().open().await
    }

    fn invocation(&self) -> Invocation {
        Invocation { environment: self.environment.clone(), globals: Globals::default() }
    }

    /// Says something to the audience.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        self.output.line(line)
    }

    /// Opens a scene with one sentence.
    pub(super) fn scene(&mut self, sentence: &str) -> Result<()> {
        let strong = self.output.palette.strong;
        self.output.line("")?;
        self.output.line(format_args!("{strong}{sentence}{strong:#}"))
    }

    /// Shows a command, runs it as if so many minutes ago, and shows and returns what it printed.
    pub(super) async fn run(&mut self, minutes_ago: i64, words: &[&str]) -> Result<String> {
        let text = self.perform(minutes_ago, words).await?;
        self.show(&text)?;
        Ok(text)
    }

    /// Shows some lines that belong to the command above, moved in.
    pub(super) fn show(&mut self, text: &str) -> Result<()> {
        text.lines().try_for_each(|line| self.output.line(format_args!("    {line}")))
    }

    /// Shows a command line.
    pub(super) fn prompt(&mut self, command_line: &str) -> Result<()> {
        let hint = self.output.palette.hint;
        self.output.line(format_args!("  {hint}$ {command_line}{hint:#}"))
    }

    async fn perform(&mut self, minutes_ago: i64, words: &[&str]) -> Result<String> {
        let quoted: Vec<_> = words.iter().map(|word| quote(word)).collect();
        self.prompt(&format!("ctx {}", quoted.join(" ")))?;
        self.output.flush()?;
        let Args { globals, command } = Args::try_parse_from(std::iter::once(&"ctx").chain(words))
            .expect("the script is a constant that a test runs");
        let invocation = Invocation { environment: self.environment_at(minutes_ago), globals };
        let transcript = DemoTranscript::default();
        let mut output =
            Output::to_writers(Box::new(transcript.clone()), Box::new(transcript.clone()), self.output.palette);
        // A demonstration could show itself, so the future has no size of its own.
        Box::pin(command.run(&invocation, &mut output)).await?;
        output.finish()?;
        Ok(transcript.into_text())
    }

    /// Returns a moment some minutes before now.
    pub(super) fn ago(&self, minutes: i64) -> Timestamp {
        super::ago(self.now, minutes)
    }

    fn environment_at(&self, minutes_ago: i64) -> Environment {
        Environment { time: Some(self.ago(minutes_ago).to_string().into()), ..self.environment.clone() }
    }
}

impl DemoTranscript {
    fn into_text(self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for DemoTranscript {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a word as a shell wants it.
fn quote(word: &str) -> String {
    if word.contains(|c: char| c.is_whitespace() || c == '\'') {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.to_owned()
    }
}
