//! From the bytes of a session to its records.

use crate::{
    Framing, RecordProblem,
    cbor::CborArray,
    codec::MAX_RECORD_BYTES,
    error::{ContentPosition, FormatError},
    json::Scanner,
    scan,
    sections::SectionCutter,
};

/// Cuts a session into its records as its bytes arrive, in slices of any size.
///
/// How the bytes are cut into slices changes nothing. What a slice holds whole is handed on where it lies; only a record
/// that goes on in the next slice is kept, so memory is bounded by the longest record. Every byte is looked at once.
///
/// Lines are not looked into, and a broken one is handed on like any other. Arrays are parsed as far as their ends must
/// be found: after a byte that cannot be there, every call returns that problem.
#[derive(Debug)]
pub struct Splitter {
    rule: SplitRule,
    /// What is there of a record that is not whole yet.
    open: Vec<u8>,
    /// Where the open record begins.
    open_at: u64,
    /// How many records were handed on.
    records: u64,
    /// How many bytes came.
    taken: u64,
    /// Longest record that is kept.
    max_record_bytes: u64,
    /// Bytes of the open record that were let go, because it is longer than that.
    let_go: u64,
    failure: Option<RecordProblem>,
}

/// The bytes of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRecord<'b> {
    /// The bytes; a line's with its line feed. None of a record that is too long.
    pub bytes: &'b [u8],
    /// How many bytes it has.
    pub size: u64,
    /// How many bytes of the session come before it.
    pub offset: u64,
    /// Which record it is, so the number of a line; the first is 1.
    pub number: u64,
    /// Whether it is a last line without a line feed, which its runtime may still be writing.
    pub is_unfinished: bool,
}

#[derive(Debug)]
enum SplitRule {
    Lines,
    JsonArray { scanner: Box<Scanner>, phase: SplitPhase },
    CborArray(CborArray),
    Document { max_bytes: u64 },
    Sections(SectionCutter),
}

/// Where in a JSON array the bytes so far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitPhase {
    Before,
    /// An element or the closing bracket comes next.
    Opened,
    /// After a comma: an element comes next.
    Next,
    Element,
    /// A comma or the closing bracket comes next.
    Ended,
    After,
}

impl RawRecord<'_> {
    /// Tells whether it holds nothing but white space, as lines between records do.
    pub fn is_blank(&self) -> bool {
        !self.is_too_long() && scan::space(self.bytes) == self.bytes.len()
    }

    /// Tells whether it is longer than what is kept, so that its bytes are not here.
    pub const fn is_too_long(&self) -> bool {
        self.bytes.is_empty() && self.size > 0
    }
}

impl Splitter {
    /// Expects a session whose records are told apart like this.
    ///
    /// A session that is one document must be held whole to be read, hence the bound; the others have none here.
    pub fn new(framing: Framing, max_document_bytes: u64) -> Self {
        let rule = match framing {
            Framing::Lines => SplitRule::Lines,
            Framing::JsonArray => SplitRule::JsonArray { scanner: Box::new(Scanner::new()), phase: SplitPhase::Before },
            Framing::CborArray => SplitRule::CborArray(CborArray::new()),
            Framing::Document => SplitRule::Document { max_bytes: max_document_bytes },
            Framing::Sections(rule) => SplitRule::Sections(SectionCutter::new(rule, MAX_RECORD_BYTES as u64)),
        };
        let (max_record_bytes, let_go) = (u64::MAX, 0);
        Self { rule, open: Vec::new(), open_at: 0, records: 0, taken: 0, max_record_bytes, let_go, failure: None }
    }

    /// Expects a session of which no record is kept that is longer than a bound: such a one is handed on without its bytes.
    pub fn bounded(framing: Framing, max_record_bytes: usize) -> Self {
        Self { max_record_bytes: max_record_bytes as u64, ..Self::new(framing, u64::MAX) }
    }

    /// Takes the next bytes and hands on the records that end in them.
    pub fn push(&mut self, bytes: &[u8], sink: &mut impl FnMut(RawRecord<'_>)) -> Result<(), RecordProblem> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let mut rule = std::mem::replace(&mut self.rule, SplitRule::Lines);
        let pushed = match &mut rule {
            SplitRule::Lines => {
                self.push_lines(bytes, sink);
                Ok(())
            }
            SplitRule::JsonArray { scanner, phase } => self.push_json(scanner, phase, bytes, sink),
            SplitRule::CborArray(array) => self.push_cbor(array, bytes, sink),
            SplitRule::Document { max_bytes } => self.push_document(bytes, *max_bytes),
            SplitRule::Sections(cutter) => {
                cutter.push(bytes, &mut |section| self.emit(section, false, sink));
                Ok(())
            }
        };
        self.rule = rule;
        self.taken += bytes.len() as u64;
        pushed.inspect_err(|problem| {
            self.failure = Some(problem.clone());
            self.open = Vec::new();
        })
    }

    /// Ends the session and hands on what is left: a last line without a line feed, or the document.
    pub fn finish(mut self, sink: &mut impl FnMut(RawRecord<'_>)) -> Result<(), RecordProblem> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        match std::mem::replace(&mut self.rule, SplitRule::Lines) {
            SplitRule::Lines if self.open.is_empty() && self.let_go == 0 => {}
            SplitRule::Lines => self.emit(&[], true, sink),
            SplitRule::JsonArray { phase: SplitPhase::After, .. } => {}
            SplitRule::JsonArray { scanner, phase } => {
                let ended = match phase {
                    SplitPhase::Before => "before the array",
                    SplitPhase::Element => scanner.unfinished().unwrap_or("inside an array"),
                    SplitPhase::Opened | SplitPhase::Next | SplitPhase::Ended | SplitPhase::After => "inside an array",
                };
                let place = ContentPosition::Byte { offset: self.taken };
                return Err(RecordProblem::format(&FormatError::Truncated { place, ended }));
            }
            SplitRule::CborArray(array) => {
                array.finish().map_err(|error| RecordProblem::format(&error))?;
            }
            SplitRule::Document { .. } => self.emit(&[], false, sink),
            SplitRule::Sections(cutter) => cutter.finish(&mut |section| self.emit(section, false, sink)),
        }
        Ok(())
    }

    fn push_lines(&mut self, bytes: &[u8], sink: &mut impl FnMut(RawRecord<'_>)) {
        let mut rest = bytes;
        while let Some(feed) = scan::newline(rest) {
            let (line, after) = rest.split_at(feed + 1);
            self.emit(line, false, sink);
            rest = after;
        }
        self.keep(rest);
    }

    /// Keeps bytes of a record that goes on, unless it is too long.
    fn keep(&mut self, bytes: &[u8]) {
        let held = (self.open.len() + bytes.len()) as u64;
        if self.let_go > 0 || held > self.max_record_bytes {
            self.let_go += held;
            self.open = Vec::new();
        } else {
            self.open.extend_from_slice(bytes);
        }
    }

    fn push_json(
        &mut self,
        scanner: &mut Scanner,
        phase: &mut SplitPhase,
        bytes: &[u8],
        sink: &mut impl FnMut(RawRecord<'_>),
    ) -> Result<(), RecordProblem> {
        let start = self.taken;
        let place = |at: usize| ContentPosition::Byte { offset: start + at as u64 };
        let mut at = 0;
        while at < bytes.len() {
            if *phase == SplitPhase::Element {
                let begin = at;
                let scanned = scanner.push(&bytes[at..]);
                at += scanned.map_err(|fault| RecordProblem::format(&fault.kind.at(place(at + fault.at))))?;
                if scanner.is_complete() {
                    *phase = SplitPhase::Ended;
                    self.emit(&bytes[begin..at], false, sink);
                } else {
                    self.keep(&bytes[begin..]);
                }
                continue;
            }
            at += scan::space(&bytes[at..]);
            let Some(&byte) = bytes.get(at) else { break };
            *phase = match (*phase, byte) {
                (SplitPhase::Before, b'[') => SplitPhase::Opened,
                (SplitPhase::Ended, b',') => SplitPhase::Next,
                (SplitPhase::Opened | SplitPhase::Ended, b']') => SplitPhase::After,
                (SplitPhase::Opened | SplitPhase::Next | SplitPhase::Element, _) => {
                    scanner.restart();
                    self.open_at = start + at as u64;
                    *phase = SplitPhase::Element;
                    continue;
                }
                (SplitPhase::Before | SplitPhase::Ended | SplitPhase::After, _) => {
                    return Err(RecordProblem::format(&misplaced(*phase, place(at))));
                }
            };
            at += 1;
        }
        Ok(())
    }

    fn push_cbor(
        &mut self,
        array: &mut CborArray,
        bytes: &[u8],
        sink: &mut impl FnMut(RawRecord<'_>),
    ) -> Result<(), RecordProblem> {
        let mut open_from = None;
        let share = array.push_elements(bytes, |element| {
            if self.open.is_empty() && self.let_go == 0 {
                self.open_at = self.taken + element.start as u64;
            }
            open_from = Some(element.end);
            self.emit(&bytes[element], false, sink);
        });
        let share = share.map_err(|error| RecordProblem::format(&error))?;
        let rest = open_from.unwrap_or(share.start)..share.end;
        if self.open.is_empty() && self.let_go == 0 {
            self.open_at = self.taken + rest.start as u64;
        }
        self.keep(&bytes[rest]);
        Ok(())
    }

    fn push_document(&mut self, bytes: &[u8], max_bytes: u64) -> Result<(), RecordProblem> {
        if self.taken + bytes.len() as u64 > max_bytes {
            return Err(RecordProblem::new(format!("the document has more than {max_bytes} bytes")));
        }
        self.keep(bytes);
        Ok(())
    }

    /// Hands on the open record, completed by these bytes.
    fn emit(&mut self, bytes: &[u8], is_unfinished: bool, sink: &mut impl FnMut(RawRecord<'_>)) {
        self.records += 1;
        let (offset, number) = (self.open_at, self.records);
        let size = self.let_go + (self.open.len() + bytes.len()) as u64;
        self.open_at = offset + size;
        if size > self.max_record_bytes {
            (self.open, self.let_go) = (Vec::new(), 0);
            sink(RawRecord { bytes: &[], size, offset, number, is_unfinished });
        } else if self.open.is_empty() {
            sink(RawRecord { bytes, size, offset, number, is_unfinished });
        } else {
            self.open.extend_from_slice(bytes);
            sink(RawRecord { bytes: &self.open, size, offset, number, is_unfinished });
            self.open.clear();
        }
    }
}

const fn misplaced(phase: SplitPhase, place: ContentPosition) -> FormatError {
    match phase {
        SplitPhase::Before => FormatError::NotAnArray { place },
        SplitPhase::After => FormatError::TrailingBytes { place, after: "the array" },
        SplitPhase::Opened | SplitPhase::Next | SplitPhase::Element | SplitPhase::Ended => {
            FormatError::NotJson { place, reason: "expected ',' or ']'" }
        }
    }
}
