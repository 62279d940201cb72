//! A session that is one document, and its records.

use std::{
    borrow::Cow,
    io::{self, BufRead as _, Read as _},
    ops::Range,
};

use contexture_core::Format;
use contexture_formats::{Framing, RecordProblem, SectionRule, Splitter, codec, codec::without_byte_order_mark};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    Runtime,
    input::SessionInput,
    reading_budget::{LARGE_BYTES, LargeReadTurn},
    steps::Taken,
};

/// Largest document that is read, because it must be held whole. Larger ones are kept as they are.
pub const MAX_DOCUMENT_BYTES: u64 = contexture_formats::codec::MAX_DOCUMENT_BYTES as u64;

/// A document that is held whole.
pub(crate) struct HeldDocument {
    pub(crate) bytes: Vec<u8>,
    layout: RecordLayout,
    /// Where it is large.
    pub(crate) turn: Option<LargeReadTurn>,
}

/// Where the records of a document are.
enum RecordLayout {
    /// It is one.
    Whole,
    /// They are the elements of an array in it.
    Elements { framing: Framing, array: Range<usize> },
    /// They are the sections of its text.
    Sections(SectionRule),
    /// They are the elements of an array in it, and each becomes a line.
    Lines { head: Vec<u8>, array: Range<usize> },
}

/// A record of a document.
pub(crate) struct DocumentRecord<'d> {
    /// What goes into a commit.
    pub(crate) bytes: Cow<'d, [u8]>,
    /// Where it starts in the document, if it is there as it is.
    pub(crate) start: Option<u64>,
    /// Where it ends in the document.
    end: usize,
}

/// The records of a document, and why there may be more that cannot be told apart.
pub(crate) struct DocumentRecords<'d> {
    pub(crate) records: Vec<DocumentRecord<'d>>,
    pub(crate) damage: Option<RecordProblem>,
}

/// A document around a list of messages, in the fields that may hold it.
#[derive(Deserialize)]
struct MessageFields<'d> {
    #[serde(borrow)]
    messages: Option<&'d RawValue>,
    #[serde(borrow)]
    input: Option<&'d RawValue>,
}

/// How a runtime that writes lines wrote sessions before, a document each.
pub(crate) struct OldDocument {
    /// Tells by its first line that is not blank whether a file is such a document.
    pub(crate) begins: fn(line: &[u8]) -> bool,
    /// Reads what would be its lines.
    pub(crate) read: fn(document: &[u8]) -> serde_json::Result<DocumentLines<'_>>,
}

/// What the lines of a document would be.
pub(crate) struct DocumentLines<'d> {
    /// The first line, with any white space.
    pub(crate) first: String,
    /// The list of the others.
    pub(crate) messages: Option<&'d RawValue>,
}

/// What a session is that may be a document.
pub(crate) enum DocumentInput {
    /// It is lines.
    Lines,
    /// It is a document.
    Held(HeldDocument),
    /// It is a document that is too long to be read.
    TooLong,
}

impl HeldDocument {
    /// Reads a document, if the session is one.
    pub(crate) fn read(input: &mut SessionInput, format: &Format) -> io::Result<DocumentInput> {
        let framing = codec(format).map_or(Framing::Lines, contexture_formats::Codec::framing);
        let old = Runtime::files_in(format).and_then(|files| files.old_document.as_ref());
        let mut bytes = Vec::new();
        let is_document = match old {
            Some(old) => read_first_line(input, &mut bytes)? && (old.begins)(without_byte_order_mark(&bytes)),
            None => framing != Framing::Lines,
        };
        if !is_document {
            return Ok(DocumentInput::Lines);
        }
        input.take(LARGE_BYTES as u64).read_to_end(&mut bytes)?;
        let turn = (bytes.len() >= LARGE_BYTES).then(LargeReadTurn::wait);
        let left = (MAX_DOCUMENT_BYTES + 1).saturating_sub(bytes.len() as u64);
        input.take(left).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
            return Ok(DocumentInput::TooLong);
        }
        let layout = match old {
            Some(old) => RecordLayout::of_lines(&bytes, old),
            None => RecordLayout::of(&bytes, framing),
        };
        let layout = layout.map_err(io::Error::other)?;
        Ok(DocumentInput::Held(Self { bytes, layout, turn }))
    }

    /// Tells whether the document is one record, so that a newer version takes the place of an older one.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.layout, RecordLayout::Whole)
    }

    /// Returns how the records make up the content of a commit.
    pub(crate) fn framing(&self) -> Framing {
        match self.layout {
            RecordLayout::Whole => Framing::Document,
            RecordLayout::Elements { framing, .. } => framing,
            RecordLayout::Sections(rule) => Framing::Sections(rule),
            RecordLayout::Lines { .. } => Framing::Lines,
        }
    }

    /// Returns its records. A text is cut anew after so many bytes that are known: what has come since goes on with them.
    pub(crate) fn records(&self, known: Option<&Taken>) -> DocumentRecords<'_> {
        let mut records = Vec::new();
        let (framing, array, is_line) = match &self.layout {
            RecordLayout::Whole => {
                let record =
                    DocumentRecord { bytes: Cow::Borrowed(&self.bytes), start: Some(0), end: self.bytes.len() };
                return DocumentRecords { records: vec![record], damage: None };
            }
            RecordLayout::Elements { framing, array } => (*framing, array.clone(), false),
            RecordLayout::Sections(rule) => {
                let known = known.map_or(0, |known| usize::try_from(known.end).unwrap_or(usize::MAX));
                let known = known.min(self.bytes.len());
                for stretch in [0..known, known..self.bytes.len()] {
                    self.push_sections(*rule, stretch, &mut records);
                }
                return DocumentRecords { records, damage: None };
            }
            RecordLayout::Lines { head, array } => {
                records.push(DocumentRecord { bytes: Cow::Borrowed(head), start: None, end: array.start });
                (Framing::JsonArray, array.clone(), true)
            }
        };
        let base = array.start as u64;
        let mut splitter = Splitter::new(framing, MAX_DOCUMENT_BYTES);
        let mut take = |record: contexture_formats::RawRecord<'_>| {
            let start = array.start + usize::try_from(record.offset).unwrap_or(usize::MAX);
            let end = start + record.bytes.len();
            let Some(bytes) = self.bytes.get(start..end) else { return };
            records.push(if is_line {
                DocumentRecord { bytes: Cow::Owned(one_line(bytes)), start: None, end }
            } else {
                DocumentRecord { bytes: Cow::Borrowed(bytes), start: Some(base + record.offset), end }
            });
        };
        let pushed = splitter.push(&self.bytes[array.clone()], &mut take);
        let damage = pushed.and_then(|()| splitter.finish(&mut take)).err();
        DocumentRecords { records, damage }
    }

    fn push_sections<'d>(&'d self, rule: SectionRule, stretch: Range<usize>, records: &mut Vec<DocumentRecord<'d>>) {
        let mut splitter = Splitter::new(Framing::Sections(rule), MAX_DOCUMENT_BYTES);
        let base = stretch.start;
        let mut take = |record: contexture_formats::RawRecord<'_>| {
            let start = base + usize::try_from(record.offset).unwrap_or(usize::MAX);
            let end = start + record.bytes.len();
            if let Some(bytes) = self.bytes.get(start..end) {
                records.push(DocumentRecord { bytes: Cow::Borrowed(bytes), start: Some(start as u64), end });
            }
        };
        // Every text has sections, so nothing can be wrong with them.
        let _problem = splitter.push(&self.bytes[stretch], &mut take);
        let _problem = splitter.finish(&mut take);
    }

    /// Says what must be there again for records that follow the first ones to be new.
    pub(crate) fn taken(&self, records: &[DocumentRecord<'_>], count: usize) -> Option<Taken> {
        let first = records.get(..count)?;
        let end = first.last()?.end;
        let mut digest = blake3::Hasher::new();
        if first.iter().all(|record| record.start.is_some()) {
            digest.update(&self.bytes[..end]);
        } else {
            for record in first {
                digest.update(&record.bytes);
            }
        }
        Some(Taken { records: count as u64, end: end as u64, digest: *digest.finalize().as_bytes() })
    }
}

impl RecordLayout {
    fn of(bytes: &[u8], framing: Framing) -> Result<Self, RecordProblem> {
        let text = without_byte_order_mark(bytes);
        let whole = bytes.len() - text.len()..bytes.len();
        let is_object = text.trim_ascii_start().first() == Some(&b'{');
        Ok(match framing {
            Framing::JsonArray if is_object => {
                let fields: MessageFields<'_> = serde_json::from_slice(text).map_err(|error| no_document(&error))?;
                let list = fields.messages.or(fields.input).ok_or_else(no_messages)?;
                Self::Elements { framing, array: place(bytes, list) }
            }
            Framing::Sections(rule) => Self::Sections(rule),
            Framing::JsonArray | Framing::CborArray => Self::Elements { framing, array: whole },
            // Lines are read as they come unless a runtime says that they lie in a document.
            Framing::Document | Framing::Lines => Self::Whole,
        })
    }

    fn of_lines(bytes: &[u8], old: &OldDocument) -> Result<Self, RecordProblem> {
        let lines = (old.read)(without_byte_order_mark(bytes)).map_err(|error| no_document(&error))?;
        let list = lines.messages.ok_or_else(no_messages)?;
        Ok(Self::Lines { head: one_line(lines.first.as_bytes()), array: place(bytes, list) })
    }
}

fn no_document(error: &serde_json::Error) -> RecordProblem {
    RecordProblem::new(format!("it is no JSON document: {error}"))
}

fn no_messages() -> RecordProblem {
    RecordProblem::new("it holds no messages")
}

/// Returns where a part of a document is.
fn place(bytes: &[u8], part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr().addr() - bytes.as_ptr().addr();
    start..start + part.get().len()
}

/// Takes out the white space between tokens, so that a value fits on a line.
fn one_line(json: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(json.len() + 1);
    let (mut in_string, mut is_escaped) = (false, false);
    for &byte in json {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            continue;
        } else {
            in_string = byte == b'"';
        }
        line.push(byte);
    }
    line.push(b'\n');
    line
}

/// Reads the first line that is not blank, with what comes before it; tells whether there is one.
fn read_first_line(input: &mut SessionInput, head: &mut Vec<u8>) -> io::Result<bool> {
    while head.trim_ascii().is_empty() {
        if input.take(MAX_DOCUMENT_BYTES).read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_one_line_is_the_same_value() {
        let json = b"{ \"a\\\" b\" :\n [ 1.0 , \"c\\\\\" , \" \\n \" ] }";
        assert_eq!(one_line(json), b"{\"a\\\" b\":[1.0,\"c\\\\\",\" \\n \"]}\n");
    }
}
