//! `crush-v1`: a session of Crush, one document with a session and its messages, as the rows of its database hold them.

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, Seal, SealScheme, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Codec, Facts, Framing, OriginKind, Outline, RecordMark, RecordStep, SessionOrigin, content_blocks, loose_blocks,
    tolerant_json::{self, Field, Object},
};
use crate::{RecordProblem, media};

pub(crate) struct Crush;

/// Counts of milliseconds are larger than any of seconds until the year 5138.
const MIN_MILLIS: u64 = 100_000_000_000;

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushDocument<'a> {
    #[serde(borrow)]
    session: Object<CrushSession<'a>>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushSession<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    parent_session_id: Field<'a>,
    #[serde(borrow)]
    title: Field<'a>,
    #[serde(borrow)]
    updated_at: Field<'a>,
    #[serde(borrow)]
    summary_message_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushMessage<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
}

/// A part, whose content is of another shape for each type.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    data: Object<CrushContent<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushContent<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    thinking: Field<'a>,
    #[serde(borrow)]
    signature: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow)]
    url: Field<'a>,
    #[serde(borrow, rename = "MIMEType")]
    media_type: Field<'a>,
    #[serde(borrow, rename = "Data")]
    bytes: Field<'a>,
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
}

impl Codec for Crush {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        tolerant_json::decode(record, outline)
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        tolerant_json::decode(record, |record| {
            let document: CrushDocument<'_> = tolerant_json::object(record)?;
            let summary = document.session.0.unwrap_or_default().summary_message_id.into_text();
            let entries = since_summary(entries(document.messages)?, summary.as_deref());
            Ok(RecordStep::whole(entries))
        })
    }
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let document: CrushDocument<'_> = tolerant_json::object(record)?;
    let session = document.session.0.unwrap_or_default();
    let entries = entries(document.messages)?;
    let asked = entries.iter().find(|entry| entry.role == Role::User && !entry.text().is_empty());
    let origin = session.parent_session_id.into_text();
    let facts = Facts {
        session: session.id.into_text(),
        title: session.title.into_text(),
        model: entries.iter().rev().find_map(|entry| entry.model.clone()),
        origin: origin.map(|session| SessionOrigin { session, kind: OriginKind::Parent, at: None }),
        ..Facts::default()
    };
    let mark = asked.map_or(RecordMark::None, |entry| RecordMark::Turn(Some(entry.text())));
    Ok(Outline { at: time(&session.updated_at), mark, facts, ..Outline::default() })
}

fn entries(messages: Option<&RawValue>) -> serde_json::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for raw in tolerant_json::list(messages)? {
        let message: CrushMessage<'_> = tolerant_json::object_or_default(raw)?;
        let mut parts = Vec::new();
        for raw in tolerant_json::list(message.parts)? {
            parts.extend(part(raw)?);
        }
        let role = match message.role.text() {
            "assistant" => Role::Assistant,
            "system" => Role::System,
            "tool" => Role::Tool,
            _ => Role::User,
        };
        if !parts.is_empty() {
            let model = message.model.into_text().filter(|_| role == Role::Assistant);
            let (id, at) = (message.id.into_text(), time(&message.created_at));
            entries.push(Entry { id, at, model, ..Entry::new(role, parts) });
        }
    }
    Ok(entries)
}

/// Returns what a model still sees: a summary stands for all before it.
fn since_summary(mut entries: Vec<Entry>, summary: Option<&str>) -> Vec<Entry> {
    let at = entries.iter().position(|entry| summary.is_some() && entry.id.as_deref() == summary);
    let Some(at) = at else { return entries };
    let mut left = entries.split_off(at);
    let text = left[0].text();
    left[0].role = Role::User;
    left[0].flags = Flags { compact_summary: true, ..Flags::default() };
    left[0].parts = vec![EntryPart::Summary { text }];
    left
}

fn part(raw: &RawValue) -> serde_json::Result<Option<EntryPart>> {
    let part: CrushPart<'_> = tolerant_json::object_or_default(raw)?;
    let content = part.data.0.unwrap_or_default();
    Ok(Some(match part.kind.text() {
        "text" if content.text.text().is_empty() => return Ok(None),
        "text" => EntryPart::text(content.text.text()),
        "reasoning" => {
            let signature = content.signature.into_text();
            let seal = signature.map(|data| Seal { scheme: SealScheme::AnthropicSignature, data });
            EntryPart::Thinking { text: content.thinking.into_text().unwrap_or_default(), seal }
        }
        "tool_call" => EntryPart::ToolCall {
            id: content.id.into_text().unwrap_or_else(|| loose_blocks::id_of(raw)),
            name: content.name.into_text().unwrap_or_default(),
            input: loose_blocks::input(content.input)?,
        },
        "tool_result" => EntryPart::ToolResult {
            call: content.tool_call_id.into_text().unwrap_or_default(),
            content: content.content.into_text().map(EntryPart::text).into_iter().collect(),
            is_error: match content.is_error {
                Field::Bool(is_error) => Some(is_error),
                _ => None,
            },
        },
        "image_url" => media::at_url(content.url.text(), media::SOME_IMAGE),
        "binary" => EntryPart::Blob {
            media_type: content.media_type.into_text().unwrap_or_else(|| media::SOME_BYTES.to_owned()),
            source: BlobSource::Base64(content.bytes.into_text().unwrap_or_default()),
        },
        "shell_command" => EntryPart::text(format!("$ {}\n{}", content.command.text(), content.output.text())),
        // Why an answer ended is no part of it.
        "finish" => return Ok(None),
        _ => content_blocks::native(tolerant_json::value(raw)),
    }))
}

/// Reads a time, which some versions count in seconds and others in milliseconds.
fn time(field: &Field<'_>) -> Option<Timestamp> {
    let count = field.count()?;
    let micros = if count < MIN_MILLIS { count.checked_mul(1_000_000) } else { count.checked_mul(1000) };
    Timestamp::from_micros(i64::try_from(micros?).ok()?)
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;

    fn message(id: &str, role: &str, parts: &Value) -> Value {
        json!({"id": id, "role": role, "parts": parts, "model": "m", "created_at": 1_794_736_800})
    }

    fn text(text: &str) -> Value {
        json!([{"type": "text", "data": {"text": text}}])
    }

    fn document(summary: &Value, messages: &[Value]) -> String {
        json!({"session": {"id": "s", "title": "Fix", "parent_session_id": "p", "summary_message_id": summary,
            "updated_at": 1_794_736_800_000_u64}, "messages": messages})
        .to_string()
    }

    fn entries_of(document: &str) -> Vec<Entry> {
        Crush.step(document.as_bytes()).unwrap().entries
    }

    #[test]
    fn a_session_says_what_its_rows_say() {
        let answer = json!([
            {"type": "reasoning", "data": {"thinking": "hm", "signature": ""}},
            {"type": "tool_call", "data": {"id": "c1", "name": "bash", "input": "{\"command\":\"ls\"}", "finished": true}},
            {"type": "finish", "data": {"reason": "tool_use", "time": 1}},
        ]);
        let result =
            json!([{"type": "tool_result", "data": {"tool_call_id": "c1", "content": "a.rs", "is_error": false}}]);
        let messages =
            [message("1", "user", &text("Why?")), message("2", "assistant", &answer), message("3", "tool", &result)];
        let document = document(&Value::Null, &messages);
        let [asked, answered, tool] = entries_of(&document).try_into().unwrap();
        let at = "2026-11-15T10:00:00Z".parse().ok();
        assert_eq!((asked.text(), asked.at, answered.model.as_deref()), ("Why?".to_owned(), at, Some("m")));
        let input = ToolInput::Json(json!({"command": "ls"}));
        let call = EntryPart::ToolCall { id: "c1".into(), name: "bash".into(), input };
        assert_eq!(answered.parts, [EntryPart::Thinking { text: "hm".into(), seal: None }, call]);
        let content = vec![EntryPart::text("a.rs")];
        assert_eq!(tool.parts, [EntryPart::ToolResult { call: "c1".into(), content, is_error: Some(false) }]);
        let Outline { at: updated, mark, facts, .. } = Crush.outline(document.as_bytes()).unwrap();
        assert_eq!((updated, mark), (at, RecordMark::Turn(Some("Why?".into()))));
        assert_eq!((facts.session.as_deref(), facts.title.as_deref()), (Some("s"), Some("Fix")));
        assert_eq!(facts.origin.map(|origin| origin.session).as_deref(), Some("p"));
    }

    #[test]
    fn a_summary_stands_for_what_came_before() {
        let messages = [
            message("1", "user", &text("Why?")),
            message("2", "assistant", &text("so far")),
            message("3", "user", &text("And?")),
        ];
        let said: Vec<String> = entries_of(&document(&json!("2"), &messages)).iter().map(Entry::text).collect();
        assert_eq!(said, ["so far", "And?"]);
    }
}
