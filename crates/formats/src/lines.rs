//! Lines that hold one JSON object each.

use crate::{
    error::{ContentPosition, FormatError},
    json::Scanner,
    scan,
};

/// Follows lines of JSON objects. Blank lines are fine, and the last line needs no line feed.
#[derive(Debug)]
pub(crate) struct ObjectLines {
    scanner: Scanner,
    /// Whether the line has more than white space so far.
    begun: bool,
    line: u64,
    line_start: u64,
    offset: u64,
    objects: u64,
}

impl ObjectLines {
    pub(crate) const fn new() -> Self {
        Self { scanner: Scanner::new(), begun: false, line: 1, line_start: 0, offset: 0, objects: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        let mut rest = bytes;
        while let Some(end) = scan::newline(rest) {
            self.piece(&rest[..end])?;
            self.end_line()?;
            rest = &rest[end + 1..];
        }
        self.piece(rest)
    }

    /// Returns how many objects there are.
    pub(crate) fn finish(&self) -> Result<u64, FormatError> {
        match self.open() {
            Some(ended) => Err(FormatError::Truncated { place: self.place(self.offset), ended }),
            None => Ok(self.objects),
        }
    }

    /// Names a place in the line that the bytes so far end in.
    pub(crate) const fn place(&self, offset: u64) -> ContentPosition {
        ContentPosition::Line { line: self.line, column: offset - self.line_start + 1, offset }
    }

    /// Takes bytes of one line.
    fn piece(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        let start = self.offset;
        self.offset += bytes.len() as u64;
        let mut at = 0;
        if !self.begun {
            at = scan::space(bytes);
            match bytes.get(at) {
                None => return Ok(()),
                Some(b'{') => self.begun = true,
                Some(_) => return Err(FormatError::NotAnObject { place: self.place(start + at as u64) }),
            }
            self.objects += 1;
        }
        match self.scanner.push(&bytes[at..]) {
            Ok(taken) => at += taken,
            Err(fault) => return Err(fault.kind.at(self.place(start + (at + fault.at) as u64))),
        }
        at += scan::space(&bytes[at..]);
        if at < bytes.len() {
            let place = self.place(start + at as u64);
            return Err(FormatError::TrailingBytes { place, after: "the line's object" });
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), FormatError> {
        if let Some(ended) = self.open() {
            return Err(FormatError::UnfinishedLine { place: self.place(self.offset), ended });
        }
        self.scanner.restart();
        self.begun = false;
        self.line += 1;
        self.offset += 1;
        self.line_start = self.offset;
        Ok(())
    }

    fn open(&self) -> Option<&'static str> {
        if self.begun { self.scanner.unfinished() } else { None }
    }
}
