//! The lines of a session, with where they are.

use std::io::{self, BufRead as _};

use crate::input::{BUFFER_BYTES, SessionInput};

/// A line of a session.
pub(crate) struct Line<'l> {
    /// Its bytes, the line feed included.
    pub(crate) bytes: &'l [u8],
    /// Where it starts in the session.
    pub(crate) start: u64,
    /// Whether it ends with a line feed.
    pub(crate) is_whole: bool,
}

/// Reads line by line from where the input stands. Memory holds one line.
pub(crate) struct Lines {
    input: SessionInput,
    line: Vec<u8>,
    start: u64,
}

impl Lines {
    pub(crate) fn new(input: SessionInput, start: u64) -> Self {
        Self { input, line: Vec::new(), start }
    }

    /// Returns the next line; nothing at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.start += self.line.len() as u64;
        self.line.clear();
        // A line of unusual length must not keep its memory for the rest of the file.
        self.line.shrink_to(BUFFER_BYTES);
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let is_whole = self.line.last() == Some(&b'\n');
        Ok(Some(Line { bytes: &self.line, start: self.start, is_whole }))
    }
}
