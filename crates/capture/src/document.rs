//! A session that is one document, and its records.

use std::{
    borrow::Cow,
    io::{self, Read as _},
    ops::Range,
};

use contexture_core::Format;
use contexture_formats::{Framing, RecordProblem, Splitter, codec};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{input::Input, steps::Taken};

/// Largest document that is taken in, because it must be held whole.
pub const MAX_DOCUMENT_BYTES: u64 = 256 * 1024 * 1024;

/// A document that is held whole.
pub(crate) struct Document {
    pub(crate) bytes: Vec<u8>,
    layout: Layout,
}

/// Where the records of a document are.
enum Layout {
    /// It is one.
    Whole,
    /// They are the elements of an array in it.
    Elements { framing: Framing, array: Range<usize> },
    /// They are the elements of an array in it, and each becomes a line.
    Lines { head: Vec<u8>, array: Range<usize> },
}

/// A record of a document.
pub(crate) struct Record<'d> {
    /// What goes into a commit.
    pub(crate) bytes: Cow<'d, [u8]>,
    /// Where it starts in the document, if it is there as it is.
    pub(crate) start: Option<u64>,
    /// Where it ends in the document.
    end: usize,
}

/// The records of a document, and why there may be more that cannot be told apart.
pub(crate) struct Records<'d> {
    pub(crate) records: Vec<Record<'d>>,
    pub(crate) damage: Option<RecordProblem>,
}

/// A document around a list of messages, in the fields that matter.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Around<'d> {
    #[serde(borrow)]
    messages: Option<&'d RawValue>,
    #[serde(borrow)]
    input: Option<&'d RawValue>,
    #[serde(borrow)]
    session_id: Option<&'d RawValue>,
    #[serde(borrow)]
    project_hash: Option<&'d RawValue>,
    #[serde(borrow)]
    start_time: Option<&'d RawValue>,
    #[serde(borrow)]
    kind: Option<&'d RawValue>,
    #[serde(borrow)]
    directories: Option<&'d RawValue>,
}

impl Document {
    /// Reads a document; nothing when the format's sessions are lines and this is one of them.
    pub(crate) fn read(input: &mut Input, format: &Format) -> io::Result<Option<Self>> {
        let framing = codec(format).map_or(Framing::Lines, contexture_formats::Codec::framing);
        let is_gemini = format.as_str() == "gemini-v1";
        if framing == Framing::Lines && !is_gemini {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        if is_gemini && !begins_a_document(input, &mut bytes)? {
            return Ok(None);
        }
        let left = (MAX_DOCUMENT_BYTES + 1).saturating_sub(bytes.len() as u64);
        input.take(left).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
            let mebibytes = MAX_DOCUMENT_BYTES / (1024 * 1024);
            return Err(io::Error::other(format!(
                "it is one document, which is held whole, of more than {mebibytes} MiB"
            )));
        }
        let layout = Layout::of(&bytes, framing).map_err(io::Error::other)?;
        Ok(Some(Self { bytes, layout }))
    }

    /// Tells whether the document is one record, so that a newer version takes the place of an older one.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.layout, Layout::Whole)
    }

    /// Returns how the records make up the content of a commit.
    pub(crate) fn framing(&self) -> Framing {
        match self.layout {
            Layout::Whole => Framing::Document,
            Layout::Elements { framing, .. } => framing,
            Layout::Lines { .. } => Framing::Lines,
        }
    }

    pub(crate) fn records(&self) -> Records<'_> {
        let mut records = Vec::new();
        let (framing, array, is_line) = match &self.layout {
            Layout::Whole => {
                let record = Record { bytes: Cow::Borrowed(&self.bytes), start: Some(0), end: self.bytes.len() };
                return Records { records: vec![record], damage: None };
            }
            Layout::Elements { framing, array } => (*framing, array.clone(), false),
            Layout::Lines { head, array } => {
                records.push(Record { bytes: Cow::Borrowed(head), start: None, end: array.start });
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
                Record { bytes: Cow::Owned(one_line(bytes)), start: None, end }
            } else {
                Record { bytes: Cow::Borrowed(bytes), start: Some(base + record.offset), end }
            });
        };
        let pushed = splitter.push(&self.bytes[array.clone()], &mut take);
        let damage = pushed.and_then(|()| splitter.finish(&mut take)).err();
        Records { records, damage }
    }

    /// Says what must be there again for records that follow the first ones to be new.
    pub(crate) fn taken(&self, records: &[Record<'_>], count: usize) -> Option<Taken> {
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

impl Layout {
    fn of(bytes: &[u8], framing: Framing) -> Result<Self, RecordProblem> {
        let whole = 0..bytes.len();
        let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
        Ok(match framing {
            Framing::Document => Self::Whole,
            Framing::JsonArray if is_object => {
                let around = around(bytes)?;
                let list =
                    around.messages.or(around.input).ok_or_else(|| RecordProblem::new("it holds no messages"))?;
                Self::Elements { framing, array: place(bytes, list) }
            }
            Framing::JsonArray | Framing::CborArray => Self::Elements { framing, array: whole },
            Framing::Lines => {
                let around = around(bytes)?;
                let list = around.messages.ok_or_else(|| RecordProblem::new("it holds no messages"))?;
                Self::Lines { head: session_line(&around), array: place(bytes, list) }
            }
        })
    }
}

fn around(bytes: &[u8]) -> Result<Around<'_>, RecordProblem> {
    serde_json::from_slice(bytes).map_err(|error| RecordProblem::new(format!("it is no JSON document: {error}")))
}

/// Returns where a part of a document is.
fn place(bytes: &[u8], part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr().addr() - bytes.as_ptr().addr();
    start..start + part.get().len()
}

/// Returns what newer versions of Gemini CLI write as the first line, with what does not change while a session goes on.
fn session_line(around: &Around<'_>) -> Vec<u8> {
    let fields = [
        ("sessionId", around.session_id),
        ("projectHash", around.project_hash),
        ("startTime", around.start_time),
        ("lastUpdated", around.start_time),
        ("kind", around.kind),
        ("directories", around.directories),
    ];
    let told = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let fields: Vec<String> = told.map(|(name, value)| format!("\"{name}\":{}", value.get())).collect();
    one_line(format!("{{{}}}", fields.join(",")).as_bytes())
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

/// Tells whether a Gemini session is a document: then its first line is no record, or holds all messages.
fn begins_a_document(input: &mut Input, head: &mut Vec<u8>) -> io::Result<bool> {
    use io::BufRead as _;

    #[derive(Deserialize)]
    struct First {
        messages: Option<serde::de::IgnoredAny>,
    }
    while head.trim_ascii().is_empty() {
        if input.take(MAX_DOCUMENT_BYTES).read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
    }
    Ok(serde_json::from_slice::<First>(head).map_or(true, |first| first.messages.is_some()))
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
