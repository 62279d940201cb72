//! Which format a file is in, by the signs that the rows of runtimes and the table of other formats give.

mod conversations;
mod foreign;
mod signs;

use std::{
    io::{self, Read as _},
    path::Path,
};

use contexture_core::Format;
use contexture_formats::{
    Framing, Splitter,
    codec::{holds_too_much, without_byte_order_mark},
};
use serde_json::Value;

use self::conversations::CONVERSATIONS;
pub(crate) use self::signs::{DocumentFields, FormatSigns, has_texts, is_list, is_object};
use crate::{Runtime, held_document::MAX_DOCUMENT_BYTES, input::SessionInput};

/// Records that are looked at before a file is taken for something else.
const MAX_RECORDS: usize = 64;
/// Bytes that are looked at, unless it is a document.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes that tell nearly always.
const FIRST_BYTES: u64 = 16 * 1024;
/// Bytes of elements that are looked at. What is made of them takes many times as much.
const MAX_ELEMENT_BYTES: usize = 1024 * 1024;

/// Why a file is not taken for a session.
#[derive(Debug, thiserror::Error)]
pub enum NotASession {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unreadable(#[source] io::Error),
    /// It is one document, which would have to be read whole, and too long for that.
    #[error("it is one document of more than {} MiB, too long to be read", MAX_DOCUMENT_BYTES >> 20)]
    TooLong,
    /// It is one document, and its end is not there.
    #[error("it is a JSON document that breaks off after {bytes} bytes")]
    BrokenOff {
        /// How long it is.
        bytes: u64,
    },
    /// It is something else that can be told by how it begins.
    #[error("it is {0}, which is not read here")]
    Foreign(&'static str),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is no session of a runtime that is known.
    #[error("it does not look like a session of any runtime or a conversation in any format that is known")]
    Unknown,
}

/// Tells which format a file is in by what it holds, whatever its name.
pub fn detect(path: &Path) -> Result<Format, NotASession> {
    let mut head = Vec::new();
    let mut input = SessionInput::open(path).map_err(NotASession::Unreadable)?;
    input.by_ref().take(MAX_BYTES).read_to_end(&mut head).or_else(|error| {
        // What comes before the damage tells enough.
        if input.is_compressed() && !head.is_empty() { Ok(0) } else { Err(NotASession::Unreadable(error)) }
    })?;
    if head.trim_ascii().is_empty() {
        return Err(NotASession::Empty);
    }
    if let Some(name) = by_start(&head) {
        return Ok(named(name));
    }
    if let Some(foreign) = foreign::what(&head) {
        return Err(NotASession::Foreign(foreign));
    }
    // A document that is written over many lines tells only as a whole.
    if without_byte_order_mark(&head).trim_ascii_start().first() == Some(&b'{') {
        let left = (MAX_DOCUMENT_BYTES + 1).saturating_sub(head.len() as u64);
        input.take(left).read_to_end(&mut head).map_err(NotASession::Unreadable)?;
        if head.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(NotASession::TooLong);
        }
        match serde_json::from_slice(without_byte_order_mark(&head)) {
            Ok(fields) => {
                if let Some(name) = of_document(&fields) {
                    return Ok(named(name));
                }
                if let Some(foreign) = foreign::document(&fields) {
                    return Err(NotASession::Foreign(foreign));
                }
            }
            Err(error) if error.is_eof() => return Err(NotASession::BrokenOff { bytes: head.len() as u64 }),
            Err(_) => {}
        }
    }
    Err(NotASession::Unknown)
}

/// What a file looks like to whoever is told that it is a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recognition {
    /// Like one.
    Session,
    /// There is nothing in it yet, or the beginning of a first line.
    Nothing,
    /// Like something else.
    Other,
}

impl Recognition {
    pub(crate) fn is_session(self) -> bool {
        self == Self::Session
    }

    pub(crate) fn is_other(self) -> bool {
        self == Self::Other
    }
}

/// Tells whether a file is a session of a format, by as little of it as tells.
pub(crate) fn recognise(path: &Path, format: &Format) -> io::Result<Recognition> {
    let mut input = SessionInput::open(path)?;
    let mut head = Vec::new();
    for most in [FIRST_BYTES, MAX_BYTES] {
        input.by_ref().take(most - head.len() as u64).read_to_end(&mut head)?;
        match by_start(&head) {
            Some(name) if name == format.as_str() => return Ok(Recognition::Session),
            Some(_) => return Ok(Recognition::Other),
            None if (head.len() as u64) < most => break,
            None => {}
        }
    }
    if (head.len() as u64) < MAX_BYTES && !head.trim_ascii().contains(&b'\n') {
        return Ok(Recognition::Nothing);
    }
    Ok(match detect(path) {
        Ok(found) if found == *format => Recognition::Session,
        Ok(_)
        | Err(NotASession::Unknown | NotASession::TooLong | NotASession::BrokenOff { .. } | NotASession::Foreign(_)) => {
            Recognition::Other
        }
        Err(NotASession::Empty) => Recognition::Nothing,
        Err(NotASession::Unreadable(source)) => return Err(source),
    })
}

fn named(name: &str) -> Format {
    Format::new(name).expect("the names of formats are legal")
}

/// Tells the format by the first bytes of a file, unless only the whole tells it.
pub fn by_start(head: &[u8]) -> Option<&'static str> {
    let head = without_byte_order_mark(head);
    match head.trim_ascii_start().first()? {
        b'[' => of_elements(head),
        0x80..=0x9F => first_with(|signs| signs.is_cbor.is_some_and(|is_cbor| is_cbor(head))),
        b'{' => of_lines(head),
        _ => first_with(|signs| signs.is_text.is_some_and(|is_text| is_text(head))).or_else(|| of_lines(head)),
    }
}

fn of_lines(head: &[u8]) -> Option<&'static str> {
    let lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let mut lines = lines.take(MAX_RECORDS);
    let found = lines.find_map(of_line)?;
    Some(lines.find_map(|line| goes_on_as(found, line)).unwrap_or(found))
}

/// Returns the signs of every format that can be told from others.
fn all_signs() -> impl Iterator<Item = &'static FormatSigns> {
    CONVERSATIONS.iter().chain(Runtime::ALL.iter().flat_map(|runtime| runtime.signs()))
}

/// Returns the first format that shows a sign.
fn first_with(is_shown: impl Fn(&FormatSigns) -> bool) -> Option<&'static str> {
    all_signs().find(|signs| is_shown(signs)).map(|signs| signs.format)
}

/// Tells the format of a document that is not only a list.
fn of_document(fields: &DocumentFields<'_>) -> Option<&'static str> {
    first_with(|signs| signs.is_document.is_some_and(|is_document| is_document(fields))).or_else(|| {
        let list = fields.messages.or(fields.input).filter(|list| is_list(Some(list)))?;
        of_elements(list.get().as_bytes())
    })
}

/// Tells by a later line that a file which begins like one of a format is of another one.
fn goes_on_as(format: &str, line: &[u8]) -> Option<&'static str> {
    let mut others = all_signs().filter(|signs| signs.begins_like == Some(format)).peekable();
    others.peek()?;
    let record: Value = serde_json::from_slice(line).ok().filter(|_| !holds_too_much(line))?;
    others.find(|signs| signs.is_record.is_some_and(|is_record| is_record(&record))).map(|signs| signs.format)
}

fn of_line(line: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    if !text.starts_with('{') || holds_too_much(line) {
        return None;
    }
    // Lines may be large, and all but one field of a document is in its messages.
    if let Some(format) = serde_json::from_str(text).ok().and_then(|fields| of_document(&fields)) {
        return Some(format);
    }
    let record: Value = serde_json::from_str(text).ok()?;
    first_with(|signs| signs.is_head.is_some_and(|is_head| is_head(&record)))
        .or_else(|| first_with(|signs| signs.is_record.is_some_and(|is_record| is_record(&record))))
}

/// Tells whose messages the elements of an array are.
fn of_elements(array: &[u8]) -> Option<&'static str> {
    let mut splitter = Splitter::new(Framing::JsonArray, MAX_BYTES);
    let (mut elements, mut bytes): (Vec<Value>, usize) = (Vec::new(), 0);
    let mut take = |record: contexture_formats::RawRecord<'_>| {
        bytes += record.bytes.len();
        if elements.len() < MAX_RECORDS && bytes <= MAX_ELEMENT_BYTES {
            elements.extend(serde_json::from_slice::<Value>(record.bytes));
        }
    };
    // The end of a long array is not here; what was cut off before is enough.
    let _problem = splitter.push(array, &mut take);
    let of_element =
        |element: &Value| first_with(|signs| signs.is_element.is_some_and(|is_element| is_element(element)));
    elements.iter().find_map(of_element).or_else(|| conversations::of_plain_messages(&elements))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_format_that_is_understood_has_a_sign() {
        let mut seen = HashSet::new();
        for signs in all_signs() {
            let FormatSigns { format, is_document, is_head, is_record, is_element, is_cbor, is_text, begins_like: _ } =
                signs;
            assert!(seen.insert(*format), "{format} is there twice");
            let of_lines = is_document.is_some() || is_head.is_some() || is_record.is_some();
            assert!(of_lines || is_element.is_some() || is_cbor.is_some() || is_text.is_some(), "{format}");
        }
        let is_understood = |format: &str| contexture_formats::codec(&named(format)).is_some();
        for known in contexture_formats::known().iter().filter(|known| is_understood(known.name)) {
            assert!(seen.contains(known.name), "{}", known.name);
        }
    }

    #[test]
    fn what_is_no_session_is_named_as_what_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let reason = |bytes: &[u8]| {
            let path = directory.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            detect(&path).unwrap_err().to_string()
        };
        let cut = r#"{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1"#;
        assert_eq!(reason(cut.as_bytes()), "it is a JSON document that breaks off after 55 bytes");
        assert_eq!(reason(b"PK\x03\x04..."), "it is a ZIP archive, which is not read here");
        assert_eq!(reason(b"a\0b"), "it is no text, which is not read here");
        assert_eq!(reason(" \n".as_bytes()), "it is empty");
        assert!(reason(b"{\"a\":1}\n{\"b\":2}\n").starts_with("it does not look like a session"));
    }

    #[test]
    fn the_first_records_tell_the_format() {
        let cases: &[(&str, &str)] = &[
            (r#"{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"m"}"#, "claude-stream-v1"),
            (r#"{"type":"user","message":{},"parent_tool_use_id":null,"session_id":"s"}"#, "claude-stream-v1"),
            (r#"{"type":"thread.started","thread_id":"t"}"#, "codex-exec-v1"),
            (r#"{"type":"init","timestamp":"t","session_id":"s","model":"m"}"#, "gemini-stream-v1"),
            (r#"{"type":"session","id":"s","timestamp":"t","cwd":"/"}"#, "pi-v1"),
            (
                concat!(
                    r#"{"type":"session","id":"s","timestamp":"t","cwd":"/"}"#,
                    "\n{\"type\":\"agent_start\"}\n",
                    r#"{"type":"message_end","message":{"role":"user"}}"#
                ),
                "pi-stream-v1",
            ),
            ("\u{feff}{\"type\":\"thread.started\",\"thread_id\":\"t\"}", "codex-exec-v1"),
            (r#"{"role":"user","parts":[]}"#, "events-v1"),
            (r#"{"schema_version":"ATIF-v1.7","agent":{},"steps":[]}"#, "atif-v1"),
            (r#"{"info":{"id":"ses_1"},"messages":[]}"#, "opencode-v1"),
            (r#"{"sessionId":"s","startTime":"t","messages":[]}"#, "gemini-v1"),
            (
                r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}"#,
                "openai-responses-v1",
            ),
            (r#"[{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}]"#, "openai-responses-v1"),
            (r#"[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"c","content":"b"}]"#, "openai-chat-v1"),
            (
                r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"b"}]}]"#,
                "anthropic-messages-v1",
            ),
            (r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]"#, "anthropic-messages-v1"),
            (r#"[{"role":"system","content":"a"},{"role":"user","content":"b"}]"#, "openai-chat-v1"),
            (
                r#"{"type":"session.start","data":{"sessionId":"s","producer":"copilot-agent"},"id":"e","parentId":null}"#,
                "copilot-v1",
            ),
            (r#"{"role":"user","message":{"content":[{"type":"text","text":"a"}]}}"#, "cursor-v1"),
            (r#"{"type":"session_start","id":"s","title":"t"}"#, "droid-v1"),
            (r#"{"version":"v1","kind":"Prompt","data":{"message_id":"m","content":[]}}"#, "kiro-v1"),
            (r#"{"session":{"id":"s"},"messages":[]}"#, "crush-v1"),
            (r#"{"cursor":{"agentId":"a"},"messages":[]}"#, "cursor-chat-v1"),
            (r#"{"v":1,"agent":"a","cli_version":"0","type":"user","ts":"t","content":[]}"#, "entire-condensed-v1"),
            (r#"{"trajectory":[],"history":[],"info":{}}"#, "swe-agent-v1"),
            ("\n# aider chat started at 2026-11-15 10:00:00\n", "aider-v1"),
            ("<!-- Generated by SpecStory, Markdown v2.1.0 -->\n", "specstory-v1"),
            ("_**User**_\n\nWhy?\n", "specstory-v1"),
        ];
        for (start, format) in cases {
            assert_eq!(by_start(start.as_bytes()), Some(*format), "{start}");
        }
        let told = [
            r#"{"type":"user","role":"user","message":{"content":[]}}"#,
            r#"{"role":"user","message":"a"}"#,
            r#"{"type":"user.message","content":"a"}"#,
            r#"{"type":"session_start","session_id":"s"}"#,
            r#"{"kind":"Prompt","data":"a"}"#,
            "# Notes\n\n#### why  \n",
            "**User**\n",
        ];
        for other in told {
            assert_eq!(by_start(other.as_bytes()), None, "{other}");
        }
        for other in [r#"{"a":1}"#, "[]", "[1,2]", "[{\"name\":1}]", "text", "\u{80}", "{", "[", r#"{"messages":[1]}"#]
        {
            assert_eq!(by_start(other.as_bytes()), None, "{other}");
        }
    }
}
