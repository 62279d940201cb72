//! One JSON array and what lies between its brackets.

use std::ops::Range;

use crate::{
    error::{ContentPosition, FormatError},
    json::Scanner,
    scan,
};

/// Follows content that is exactly one JSON array, with white space around it.
#[derive(Debug)]
pub(crate) struct JsonArray {
    scanner: Scanner,
    phase: ArrayPhase,
    has_elements: bool,
    offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrayPhase {
    Before,
    Opened,
    InElements,
    After,
}

impl JsonArray {
    pub(crate) const fn new() -> Self {
        Self { scanner: Scanner::new(), phase: ArrayPhase::Before, has_elements: false, offset: 0 }
    }

    /// Takes a slice and returns its share of the elements: from the first one to the closing bracket, exclusive.
    ///
    /// An empty range still tells the place: it ends at the closing bracket if the slice has it, at 0 if an earlier
    /// slice had it, and at the slice's length otherwise.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Range<usize>, FormatError> {
        let start = self.offset;
        self.offset += bytes.len() as u64;
        let place = |at: usize| ContentPosition::Byte { offset: start + at as u64 };
        let mut at = 0;
        if self.phase == ArrayPhase::Before {
            at = scan::space(bytes);
            match bytes.get(at) {
                None => return Ok(at..at),
                Some(b'[') => self.phase = ArrayPhase::Opened,
                Some(_) => return Err(FormatError::NotAnArray { place: place(at) }),
            }
            self.scanner.push(b"[").expect("an opening bracket is a value's beginning");
            at += 1;
        }
        if self.phase == ArrayPhase::Opened {
            at += scan::space(&bytes[at..]);
            match bytes.get(at) {
                None => return Ok(at..at),
                Some(b']') => {}
                Some(_) => self.has_elements = true,
            }
            self.phase = ArrayPhase::InElements;
        }
        let mut elements = at..at;
        if self.phase == ArrayPhase::InElements {
            at += self.scanner.push(&bytes[at..]).map_err(|fault| fault.kind.at(place(at + fault.at)))?;
            elements.end = at;
            if self.scanner.is_complete() {
                self.phase = ArrayPhase::After;
                elements.end -= 1;
            }
        }
        if self.phase == ArrayPhase::After {
            at += scan::space(&bytes[at..]);
            if at < bytes.len() {
                return Err(FormatError::TrailingBytes { place: place(at), after: "the array" });
            }
        }
        Ok(elements)
    }

    /// Returns how many elements the array has.
    pub(crate) fn finish(&self) -> Result<u64, FormatError> {
        let ended = match self.phase {
            ArrayPhase::After => return Ok(self.scanner.commas() + u64::from(self.has_elements)),
            ArrayPhase::Before => "before the array",
            ArrayPhase::Opened | ArrayPhase::InElements => self.scanner.unfinished().unwrap_or("inside an array"),
        };
        Err(FormatError::Truncated { place: ContentPosition::Byte { offset: self.offset }, ended })
    }
}
