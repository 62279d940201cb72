//! Where a command's words go: data to standard output, everything else to standard error.

mod clean;
mod pager;
mod palette;
mod passwords;
mod progress;
mod screen;
mod text;

use std::{
    fmt,
    io::{self, BufRead as _, BufWriter, IsTerminal as _, Read as _, Write},
    process::Child,
};

use contexture::wire::Versioned;
use serde::Serialize;

pub(crate) use clean::{CleanWriter, Passing, clean};
pub(crate) use palette::Palette;
pub(crate) use passwords::without_passwords;
pub(crate) use progress::Progress;
pub(crate) use screen::{Key, Screen};
pub(crate) use text::{about, age, bar, count, counted, first_line, headline, printable, relative, size, span};

use crate::{
    args::Globals,
    environment::Pager,
    error::{Error, Result, Unprepared},
    input::Input,
};

/// Longer lines than this are hard to read.
const READABLE_COLUMNS: usize = 100;
/// Wider than this no table is made.
const WIDEST_TABLE: usize = 200;
/// Most bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 1024;
/// Narrower than this no terminal is taken to be.
const FEWEST_COLUMNS: usize = 40;

/// The two streams of a command and how to write on them.
pub(crate) struct Output {
    /// Cleans what is written through it; what is clean already goes past.
    data: CleanWriter<Box<dyn Write + Send>>,
    status: Box<dyn Write + Send>,
    /// The colours of the data.
    pub(crate) palette: Palette,
    status_palette: Palette,
    shape: Shape,
    quiet: bool,
    terminals: Terminals,
    pager: Option<Child>,
}

/// How data is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// For people.
    Text,
    /// For programs: a JSON document per record, one a line.
    Json,
}

/// Which streams a person looks at.
#[derive(Debug, Clone, Copy, Default)]
struct Terminals {
    data: bool,
    status: bool,
}

impl Output {
    /// Writes to the streams of the process.
    pub(crate) fn standard(globals: &Globals) -> Self {
        Self {
            palette: Palette::for_stream(globals.color, &io::stdout()),
            status_palette: Palette::for_stream(globals.color, &io::stderr()),
            data: cleaned(BufWriter::with_capacity(64 * 1024, io::stdout())),
            status: Box::new(io::stderr()),
            shape: if globals.json { Shape::Json } else { Shape::Text },
            quiet: globals.quiet,
            terminals: Terminals { data: io::stdout().is_terminal(), status: io::stderr().is_terminal() },
            pager: None,
        }
    }

    /// Writes text to two given streams, in the colours of another output.
    pub(crate) fn to_writers(data: Box<dyn Write + Send>, status: Box<dyn Write + Send>, palette: Palette) -> Self {
        Self {
            data: cleaned(data),
            status,
            palette,
            status_palette: palette,
            shape: Shape::Text,
            quiet: false,
            terminals: Terminals::default(),
            pager: None,
        }
    }

    /// Returns how data is to be written.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Writes one line of data for people. A line feed in it is none of ours, and is not shown as one.
    pub(crate) fn line(&mut self, line: impl fmt::Display) -> Result<()> {
        self.write(&line.to_string(), false)
    }

    /// Says how many secrets are masked in what is handed out, or are not.
    pub(crate) fn tell_masked(&mut self, secrets: u64, reveals: bool) {
        if secrets > 0 {
            let found = text::counted(secrets, "secret");
            let is = if secrets == 1 { "is" } else { "are" };
            let how = if reveals { "shown; the journal says so" } else { "masked; `--reveal` shows what came" };
            self.status(format_args!("{found} {is} {how}."));
        }
    }

    /// Writes lines of data for people, of texts that were each made one line.
    pub(crate) fn lines(&mut self, lines: impl fmt::Display) -> Result<()> {
        self.write(&lines.to_string(), true)
    }

    /// Writes one record for programs. Where a person looks, letters that could steer the terminal are escaped in it.
    pub(crate) fn document<T: Serialize>(&mut self, body: T) -> Result<()> {
        let sink = self.data.sink();
        let written = if self.terminals.data {
            let json = serde_json::to_string(&Versioned::new(body)).map_err(io::Error::from);
            json.and_then(|json| sink.write_all(clean::escape_json(&json).as_bytes()))
        } else {
            serde_json::to_writer(&mut *sink, &Versioned::new(body)).map_err(io::Error::from)
        };
        written.and_then(|()| sink.write_all(b"\n")).map_err(Error::Stdout)
    }

    /// Borrows the stream for data that is neither text nor a record. It is exact unless a person looks at it.
    pub(crate) fn data(&mut self) -> &mut (dyn Write + Send) {
        if self.terminals.data { &mut self.data } else { self.data.sink() }
    }

    /// Hands on what was written so far.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.data.flush().map_err(Error::Stdout)
    }

    /// Tells a person in a line what was done, unless that is not wanted.
    pub(crate) fn status(&mut self, line: impl fmt::Display) {
        if !self.quiet {
            self.say(&line.to_string(), false);
        }
    }

    /// Tells a person who watches standard error what was done; a log file is spared of it.
    pub(crate) fn remark(&mut self, line: impl fmt::Display) {
        if self.terminals.status {
            self.status(line);
        }
    }

    /// Tells what failed.
    pub(crate) fn failure(&mut self, error: &Error) {
        match self.shape {
            Shape::Text => self.say(&error.to_text(&self.status_palette), true),
            Shape::Json => {
                let json = serde_json::to_string(&error.to_document()).expect("texts have a JSON form");
                let json = if self.terminals.status { clean::escape_json(&json) } else { json.into() };
                self.tell(&json);
            }
        }
    }

    /// Tells whether a person can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.shape == Shape::Text && io::stdin().is_terminal()
    }

    /// Asks a person something, on the line on which the answer is typed. Fails where nobody can be asked.
    pub(crate) fn ask(&mut self, question: &str) -> Result<String> {
        if !self.can_ask() {
            return Err(Unprepared::Unconfirmed.into());
        }
        self.flush()?;
        // Who cannot see the question will not say yes.
        let _shown =
            self.status.write_all(clean(question, Passing::LINE).as_bytes()).and_then(|()| self.status.flush());
        let mut answer = String::new();
        let reading = io::stdin().lock().take(MAX_ANSWER_BYTES).read_line(&mut answer);
        reading.map_err(|source| Error::Read { input: Input::Stdin, source })?;
        Ok(answer.trim().to_owned())
    }

    /// Takes the whole terminal, so that somebody can choose something. Standard output stays what it is.
    pub(crate) fn screen(&mut self) -> io::Result<Screen> {
        Screen::open(self.status_palette)
    }

    /// Tells whether somebody is there who sees what is asked on standard error, and can press keys.
    pub(crate) fn can_choose(&self) -> bool {
        self.shape == Shape::Text && self.terminals.status && io::stdin().is_terminal()
    }

    /// Asks a person a question whose answer is no unless they say yes.
    pub(crate) fn confirms(&mut self, question: &str) -> Result<bool> {
        let answer = self.ask(&format!("{question} [y/N] "))?;
        Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows a bar for work of a known or unknown size, where a person watches.
    pub(crate) fn progress(&self, action: &'static str, total: Option<u64>) -> Progress {
        if self.terminals.status && !self.quiet { Progress::shown(action, total) } else { Progress::hidden() }
    }

    /// Shows the data page by page, where a person watches and has a pager.
    pub(crate) fn page(&mut self, pager: Option<&Pager>) {
        if !self.terminals.data || self.shape == Shape::Json {
            return;
        }
        if let Some((child, input)) = pager.and_then(pager::start) {
            self.data = cleaned(BufWriter::with_capacity(64 * 1024, input));
            self.pager = Some(child);
        }
    }

    /// Returns how many columns prose may take: those of the terminal, within what is good to read.
    pub(crate) fn columns(&self) -> usize {
        let terminal = if self.terminals.data { terminal_size::terminal_size() } else { None };
        terminal.map_or(READABLE_COLUMNS, |(terminal_size::Width(columns), _)| {
            usize::from(columns).clamp(FEWEST_COLUMNS, READABLE_COLUMNS)
        })
    }

    /// Returns how many columns a line of a table may take: those of the terminal.
    pub(crate) fn table_columns(&self) -> usize {
        let terminal = if self.terminals.data { terminal_size::terminal_size() } else { None };
        terminal.map_or(READABLE_COLUMNS, |(terminal_size::Width(columns), _)| {
            usize::from(columns).clamp(FEWEST_COLUMNS, WIDEST_TABLE)
        })
    }

    /// Hands on the last of the data and waits until it was looked at.
    pub(crate) fn finish(&mut self) -> Result<()> {
        let flushed = self.data.end().map_err(Error::Stdout).and_then(|()| self.flush());
        if self.data.has_replaced() {
            self.status("What could steer the terminal was replaced; in a file or a pipe the bytes are exact.");
        }
        if let Some(mut pager) = self.pager.take() {
            // The pager waits for the end of its input, so that is closed first.
            self.data = cleaned(io::stdout());
            // How a pager ends says nothing about the command.
            let _ended = pager.wait();
        }
        flushed
    }

    fn write(&mut self, text: &str, line_feeds: bool) -> Result<()> {
        let passing = Passing { styles: self.palette.is_coloured(), line_feeds };
        writeln!(self.data.sink(), "{}", clean(text, passing)).map_err(Error::Stdout)
    }

    fn say(&mut self, text: &str, line_feeds: bool) {
        let passing = Passing { styles: self.status_palette.is_coloured(), line_feeds };
        self.tell(&clean(text, passing));
    }

    fn tell(&mut self, cleaned: &str) {
        // Data comes first where both streams are one terminal; its failure is noticed when it is flushed last.
        let _flushed = self.data.flush();
        // Nobody is left to tell when standard error is closed.
        let _said = writeln!(self.status, "{cleaned}");
    }
}

fn cleaned(sink: impl Write + Send + 'static) -> CleanWriter<Box<dyn Write + Send>> {
    CleanWriter::new(Box::new(sink), Passing::LINES)
}
