//! Which runtime wrote a file.

use std::{
    io::{self, Read as _},
    path::Path,
};

use contexture_core::{EntryPart, Format};
use contexture_formats::{Framing, Splitter, codec};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{document::MAX_DOCUMENT_BYTES, input::Input};

/// Records that are looked at before a file is taken for something else.
const MAX_RECORDS: usize = 64;
/// Bytes that are looked at, unless it is a document.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Why a file is not taken for a session.
#[derive(Debug, thiserror::Error)]
pub enum NotASession {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unreadable(#[source] io::Error),
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
    let mut input = Input::open(path).map_err(NotASession::Unreadable)?;
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
    // A document that is written over many lines tells only as a whole.
    if head.trim_ascii_start().first() == Some(&b'{') {
        let left = MAX_DOCUMENT_BYTES.saturating_sub(head.len() as u64);
        input.take(left).read_to_end(&mut head).map_err(NotASession::Unreadable)?;
        if let Some(name) = serde_json::from_slice::<Around<'_>>(&head).ok().and_then(|around| around.format()) {
            return Ok(named(name));
        }
    }
    Err(NotASession::Unknown)
}

fn named(name: &str) -> Format {
    Format::new(name).expect("the names of formats are legal")
}

/// Tells the format by the first bytes of a file, unless only the whole tells it.
pub fn by_start(head: &[u8]) -> Option<&'static str> {
    match head.trim_ascii_start().first()? {
        b'[' => of_elements(head),
        0x80..=0x9F => is_bureau(head).then_some("bureau-agent-v1"),
        _ => head
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .take(MAX_RECORDS)
            .find_map(of_line),
    }
}

/// A document around messages, in the fields that tell it.
#[derive(Deserialize)]
struct Around<'d> {
    #[serde(borrow)]
    info: Option<&'d RawValue>,
    #[serde(borrow)]
    messages: Option<&'d RawValue>,
    #[serde(borrow)]
    input: Option<&'d RawValue>,
    #[serde(borrow)]
    steps: Option<&'d RawValue>,
    #[serde(borrow)]
    schema_version: Option<&'d RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session_id: Option<&'d RawValue>,
    #[serde(borrow, rename = "startTime")]
    start_time: Option<&'d RawValue>,
}

impl Around<'_> {
    fn format(&self) -> Option<&'static str> {
        let is_list = |value: Option<&RawValue>| value.is_some_and(|value| value.get().starts_with('['));
        let is_object = |value: Option<&RawValue>| value.is_some_and(|value| value.get().starts_with('{'));
        if is_list(self.steps) && self.schema_version.is_some_and(|version| version.get().starts_with("\"ATIF-")) {
            return Some("atif-v1");
        }
        if is_object(self.info) && is_list(self.messages) {
            return Some("opencode-v1");
        }
        if is_list(self.messages) && self.session_id.is_some() && self.start_time.is_some() {
            return Some("gemini-v1");
        }
        let list = self.messages.or(self.input).filter(|list| is_list(Some(list)))?;
        of_elements(list.get().as_bytes())
    }
}

fn of_line(line: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    if !text.starts_with('{') {
        return None;
    }
    // Lines may be large, and all but one field of a document is in its messages.
    if let Some(format) = serde_json::from_str::<Around<'_>>(text).ok().and_then(|around| around.format()) {
        return Some(format);
    }
    of_record(&serde_json::from_str(text).ok()?)
}

fn of_record(record: &Value) -> Option<&'static str> {
    let is_text = |name: &str| record[name].is_string();
    let kind = record["type"].as_str();
    // Codex wraps each record.
    if record["payload"].is_object() && is_text("timestamp") && kind.is_some() {
        return Some("codex-v1");
    }
    // Before that it wrote a bare head.
    if is_text("id") && is_text("timestamp") && record.get("instructions").is_some() && kind.is_none() {
        return Some("codex-v1");
    }
    if kind == Some("session") && is_text("id") && is_text("timestamp") && is_text("cwd") {
        return Some("pi-v1");
    }
    if is_text("sessionId") && is_text("projectHash") && kind.is_none() {
        return Some("gemini-v1");
    }
    of_stream(record).or_else(|| of_claude(record))
}

fn of_claude(record: &Value) -> Option<&'static str> {
    let is_text = |name: &str| record[name].is_string();
    let kind = record["type"].as_str();
    let is_message = matches!(kind, Some("user" | "assistant"))
        && record["message"].is_object()
        && is_text("uuid")
        && record.get("parentUuid").is_some();
    let is_chained =
        matches!(kind, Some("system" | "progress" | "attachment")) && is_text("uuid") && is_text("sessionId");
    let is_known = matches!(kind, Some("summary")) && is_text("leafUuid")
        || matches!(kind, Some("file-history-snapshot")) && is_text("messageId")
        || matches!(kind, Some("queue-operation")) && is_text("operation") && is_text("sessionId");
    (is_message || is_chained || is_known).then_some("claude-code-v1")
}

/// Tells what programs write to standard output, and our own capture.
fn of_stream(record: &Value) -> Option<&'static str> {
    let is_text = |name: &str| record[name].is_string();
    let Some(kind) = record["type"].as_str() else {
        let is_entry = record["parts"].is_array() && record["role"].is_string();
        return is_entry.then_some("events-v1");
    };
    let is_claude = match kind {
        "system" => record["subtype"] == "init" && is_text("session_id") && record["tools"].is_array(),
        "user" | "assistant" => record["message"].is_object() && record.get("parent_tool_use_id").is_some(),
        _ => false,
    };
    let is_codex = kind == "thread.started" && is_text("thread_id")
        || matches!(kind, "item.started" | "item.completed") && record["item"].is_object();
    let is_gemini = kind == "init" && is_text("session_id") && is_text("timestamp") && is_text("model");
    match (is_claude, is_codex, is_gemini) {
        (true, ..) => Some("claude-stream-v1"),
        (_, true, _) => Some("codex-exec-v1"),
        (_, _, true) => Some("gemini-stream-v1"),
        _ => None,
    }
}

/// Tells whose messages the elements of an array are. Those that every API would take are taken for Anthropic's,
/// unless the system speaks among them.
fn of_elements(array: &[u8]) -> Option<&'static str> {
    let mut splitter = Splitter::new(Framing::JsonArray, MAX_BYTES);
    let mut elements: Vec<Value> = Vec::new();
    let mut take = |record: contexture_formats::RawRecord<'_>| {
        if elements.len() < MAX_RECORDS {
            elements.extend(serde_json::from_slice::<Value>(record.bytes));
        }
    };
    // The end of a long array is not here; what was cut off before is enough.
    let _problem = splitter.push(array, &mut take);
    let is_message = |element: &Value| element["role"].is_string() && element.get("content").is_some();
    let known = elements.iter().find_map(of_element);
    known.or_else(|| {
        let is_system = elements.iter().any(|element| matches!(element["role"].as_str(), Some("system")));
        let is_list = !elements.is_empty() && elements.iter().all(is_message);
        is_list.then_some(if is_system { "openai-chat-v1" } else { "anthropic-messages-v1" })
    })
}

fn of_element(element: &Value) -> Option<&'static str> {
    let kinds = |list: &Value| -> Vec<String> {
        let blocks = list.as_array().map(Vec::as_slice).unwrap_or_default();
        blocks.iter().filter_map(|block| block["type"].as_str().map(str::to_owned)).collect()
    };
    let blocks = kinds(&element["content"]);
    let holds = |wanted: &[&str]| blocks.iter().any(|kind| wanted.contains(&kind.as_str()));
    let is_item = matches!(
        element["type"].as_str(),
        Some("function_call" | "function_call_output" | "reasoning" | "custom_tool_call" | "custom_tool_call_output")
    );
    if is_item || holds(&["input_text", "output_text", "input_image"]) {
        return Some("openai-responses-v1");
    }
    element["role"].as_str()?;
    if element["role"] == "tool" || element["tool_calls"].is_array() || holds(&["image_url", "input_audio"]) {
        return Some("openai-chat-v1");
    }
    if holds(&["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"]) {
        return Some("anthropic-messages-v1");
    }
    None
}

/// Tells whether the first element of a CBOR array is a message of Bureau's.
fn is_bureau(head: &[u8]) -> bool {
    let bureau = codec(&named("bureau-agent-v1")).expect("there is a codec for it");
    let mut is_message = None;
    let mut splitter = Splitter::new(Framing::CborArray, MAX_BYTES);
    let _problem = splitter.push(head, &mut |record| {
        is_message.get_or_insert_with(|| {
            let entry = bureau.step(record.bytes).ok().and_then(|step| step.entries.into_iter().next());
            entry.is_some_and(|entry| !matches!(entry.parts[..], [EntryPart::Native { .. }]))
        });
    });
    is_message.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_records_tell_the_format() {
        let cases: &[(&str, &str)] = &[
            (r#"{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"m"}"#, "claude-stream-v1"),
            (r#"{"type":"user","message":{},"parent_tool_use_id":null,"session_id":"s"}"#, "claude-stream-v1"),
            (r#"{"type":"thread.started","thread_id":"t"}"#, "codex-exec-v1"),
            (r#"{"type":"init","timestamp":"t","session_id":"s","model":"m"}"#, "gemini-stream-v1"),
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
        ];
        for (start, format) in cases {
            assert_eq!(by_start(start.as_bytes()), Some(*format), "{start}");
        }
        for other in [r#"{"a":1}"#, "[]", "[1,2]", "[{\"name\":1}]", "text", "\u{80}", "{", "[", r#"{"messages":[1]}"#]
        {
            assert_eq!(by_start(other.as_bytes()), None, "{other}");
        }
    }
}
