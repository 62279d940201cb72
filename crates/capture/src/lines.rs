//! The lines of a session, with where they are.

use std::io::{self, BufRead as _};

use contexture_formats::codec::MAX_RECORD_BYTES;

use crate::{
    input::{BUFFER_BYTES, SessionInput},
    reading_budget::{LARGE_BYTES, LargeReadTurn},
};

/// A line of a session.
pub(crate) struct Line<'l> {
    /// Its bytes, the line feed included; of one that goes on, those that it begins with.
    pub(crate) bytes: &'l [u8],
    /// Where it starts in the session.
    pub(crate) start: u64,
    /// Whether it ends with a line feed.
    pub(crate) is_whole: bool,
    /// Whether it is longer than what is read; [`Lines::follow`] gives the rest.
    pub(crate) goes_on: bool,
}

/// The rest of a line that is longer than what is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineRest {
    /// How many bytes it has.
    pub(crate) bytes: u64,
    /// Whether it ends with a line feed.
    pub(crate) is_whole: bool,
}

/// Reads line by line from where the input stands. Memory holds one line, as far as lines are read.
pub(crate) struct Lines {
    input: SessionInput,
    line: Vec<u8>,
    start: u64,
    /// Whether the last line goes on where the input stands.
    goes_on: bool,
    /// Whether large lines wait for a turn, and the turn once there was one.
    takes_turns: bool,
    turn: Option<LargeReadTurn>,
}

impl Lines {
    pub(crate) fn new(input: SessionInput, start: u64) -> Self {
        Self { input, line: Vec::new(), start, goes_on: false, takes_turns: false, turn: None }
    }

    /// Does the same on a thread of its own, which waits for a turn before it reads a large line.
    pub(crate) fn in_turns(input: SessionInput, start: u64) -> Self {
        Self { takes_turns: true, ..Self::new(input, start) }
    }

    /// Returns the next line; nothing at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.follow(&mut |_| Ok(()))?;
        self.start += self.line.len() as u64;
        self.line.clear();
        // A line of unusual length must not keep its memory for the rest of the file.
        self.line.shrink_to(BUFFER_BYTES);
        let mut is_whole = false;
        while !is_whole && self.line.len() < MAX_RECORD_BYTES {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            let feed = memchr::memchr(b'\n', bytes);
            let end = feed.map_or(bytes.len(), |feed| feed + 1).min(MAX_RECORD_BYTES - self.line.len());
            is_whole = feed.is_some_and(|feed| feed < end);
            self.line.extend_from_slice(&bytes[..end]);
            self.input.consume(end);
            if self.takes_turns && self.line.len() > LARGE_BYTES && self.turn.is_none() {
                self.turn = Some(LargeReadTurn::wait());
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.goes_on = !is_whole && self.line.len() == MAX_RECORD_BYTES && !self.input.fill_buf()?.is_empty();
        Ok(Some(Line { bytes: &self.line, start: self.start, is_whole, goes_on: self.goes_on }))
    }

    /// Returns the turn that large lines have taken, for whoever holds what was read of them.
    pub(crate) fn into_turn(self) -> Option<LargeReadTurn> {
        self.turn
    }

    /// Returns the beginning of the last line and where it starts.
    pub(crate) fn begun(&self) -> (&[u8], u64) {
        (&self.line, self.start)
    }

    /// Hands on the rest of the last line, if it goes on, piece by piece.
    pub(crate) fn follow(&mut self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<LineRest> {
        let mut rest = LineRest { bytes: 0, is_whole: false };
        while std::mem::take(&mut self.goes_on) {
            let bytes = self.input.fill_buf()?;
            let feed = memchr::memchr(b'\n', bytes);
            let end = feed.map_or(bytes.len(), |feed| feed + 1);
            take(&bytes[..end])?;
            rest.bytes += end as u64;
            self.start += end as u64;
            rest.is_whole = feed.is_some();
            self.goes_on = !rest.is_whole && end > 0;
            self.input.consume(end);
        }
        Ok(rest)
    }
}
