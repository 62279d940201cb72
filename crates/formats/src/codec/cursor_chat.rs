//! `cursor-chat-v1`: a chat in one of Cursor's databases, one document with what describes it and its messages, which are
//! those of the command line or the bubbles of the editor.

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Codec, Facts, Framing, Outline, RecordMark, RecordStep, cursor, loose_blocks,
    tolerant_json::{self, Field, Object, Shape},
};
use crate::RecordProblem;

pub(crate) struct CursorChat;

/// What Cursor tells a model of the machine, in the place of a question.
const MACHINE: &str = "<user_info>";

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatDocument<'a> {
    #[serde(borrow)]
    cursor: Object<Chat<'a>>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Chat<'a> {
    #[serde(borrow)]
    agent_id: Field<'a>,
    #[serde(borrow)]
    composer_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
    #[serde(borrow)]
    last_updated_at: Field<'a>,
    #[serde(borrow)]
    last_used_model: Field<'a>,
    #[serde(borrow)]
    model_config: Object<ModelConfig<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ModelConfig<'a> {
    #[serde(borrow)]
    model_name: Field<'a>,
}

/// A message of the command line, or a bubble of the editor.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatMessage<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    /// 1 is the user's, 2 the model's.
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    thinking: Object<Thought<'a>>,
    #[serde(borrow)]
    tool_former_data: Object<ToolUse<'a>>,
    #[serde(borrow)]
    created_at: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    model_type: Field<'a>,
    #[serde(borrow)]
    model_info: Object<ModelConfig<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Thought<'a> {
    #[serde(borrow)]
    text: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolUse<'a> {
    #[serde(borrow)]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    raw_args: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Field<'a>,
}

impl Codec for CursorChat {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        tolerant_json::decode(record, outline)
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        tolerant_json::decode(record, |record| {
            let document: ChatDocument<'_> = tolerant_json::object(record)?;
            let entries = entries(document.messages)?;
            Ok(RecordStep::whole(entries))
        })
    }
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let document: ChatDocument<'_> = tolerant_json::object(record)?;
    let chat = document.cursor.0.unwrap_or_default();
    let entries = entries(document.messages)?;
    let asked = entries.iter().find(|entry| entry.role == Role::User && !entry.flags.meta);
    let mark = asked.map_or(RecordMark::None, |entry| {
        let text = entry.text();
        RecordMark::Turn(Some(cursor::query(&text).to_owned()))
    });
    let configured = chat.model_config.0.and_then(|config| config.model_name.into_text());
    let facts = Facts {
        session: chat.agent_id.into_text().or(chat.composer_id.into_text()),
        title: chat.name.into_text(),
        model: chat.last_used_model.into_text().or(configured),
        ..Facts::default()
    };
    let at = time(&chat.last_updated_at).or_else(|| time(&chat.created_at));
    Ok(Outline { at, mark, facts, ..Outline::default() })
}

fn entries(messages: Option<&RawValue>) -> serde_json::Result<Vec<Entry>> {
    let Shape::List(list) = tolerant_json::shape(messages)? else { return Ok(Vec::new()) };
    let mut entries = Vec::with_capacity(list.len());
    for raw in list {
        let message: ChatMessage<'_> = tolerant_json::object_or_default(raw)?;
        if message.role.text().is_empty() {
            bubble(raw, message, &mut entries)?;
        } else {
            entries.extend(said(&message)?);
        }
    }
    Ok(entries)
}

/// Reads a message of the command line.
fn said(message: &ChatMessage<'_>) -> serde_json::Result<Option<Entry>> {
    let role = match message.role.text() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "tool" => Role::Tool,
        _ => Role::User,
    };
    let parts: Vec<EntryPart> =
        loose_blocks::parts(message.content)?.into_iter().filter_map(|part| cursor::said(role, part)).collect();
    let entry = Entry::new(role, parts);
    let meta =
        role == Role::User && entry.text().trim_start().starts_with(MACHINE) && !entry.text().contains("<user_query>");
    let flags = Flags { meta, ..Flags::default() };
    Ok((!entry.parts.is_empty()).then_some(Entry { flags, ..entry }))
}

/// Reads a bubble of the editor, which may hold a call with its answer.
fn bubble(raw: &RawValue, bubble: ChatMessage<'_>, entries: &mut Vec<Entry>) -> serde_json::Result<()> {
    let role = match bubble.kind {
        Field::Count(1) => Role::User,
        Field::Count(2) => Role::Assistant,
        _ => return Ok(()),
    };
    let at = time(&bubble.created_at).or_else(|| time(&bubble.timestamp));
    let named = bubble.model_info.0.and_then(|info| info.model_name.into_text());
    let model = bubble.model_type.into_text().or(named).filter(|_| role == Role::Assistant);
    let thought = bubble.thinking.0.and_then(|thought| thought.text.into_text());
    let mut parts: Vec<EntryPart> = thought.map(|text| EntryPart::Thinking { text, seal: None }).into_iter().collect();
    parts.extend(bubble.text.into_text().map(EntryPart::text));
    let mut answer = None;
    if let Some(tool) = bubble.tool_former_data.0.filter(|tool| !tool.name.text().is_empty()) {
        let id = tool.tool_call_id.into_text().unwrap_or_else(|| loose_blocks::id_of(raw));
        let name = tool.name.into_text().unwrap_or_default();
        parts.push(EntryPart::ToolCall {
            id: id.clone(),
            name,
            input: loose_blocks::input(tool.raw_args.or(tool.params))?,
        });
        if tool.result.is_some() {
            let is_error = match tool.status.text() {
                "completed" => Some(false),
                "error" => Some(true),
                _ => None,
            };
            answer = Some(EntryPart::ToolResult { call: id, content: loose_blocks::answer(tool.result)?, is_error });
        }
    }
    if !parts.is_empty() {
        entries.push(Entry { at, model, ..Entry::new(role, parts) });
    }
    entries.extend(answer.map(|answer| Entry { at, ..Entry::new(Role::Tool, vec![answer]) }));
    Ok(())
}

/// Reads a time, which is a text or counts milliseconds.
fn time(field: &Field<'_>) -> Option<Timestamp> {
    let millis = || Timestamp::from_micros(i64::try_from(field.count()?.checked_mul(1000)?).ok()?);
    field.instant().or_else(millis)
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;

    fn entries_of(document: &Value) -> Vec<Entry> {
        CursorChat.step(document.to_string().as_bytes()).unwrap().entries
    }

    fn call(id: &str, name: &str, input: Value) -> EntryPart {
        EntryPart::ToolCall { id: id.into(), name: name.into(), input: ToolInput::Json(input) }
    }

    fn result(call: &str, text: &str, is_error: Option<bool>) -> EntryPart {
        EntryPart::ToolResult { call: call.into(), content: vec![EntryPart::text(text)], is_error }
    }

    #[test]
    fn messages_of_the_command_line_are_read() {
        let document = json!({
            "cursor": {"agentId": "a", "name": "Fix", "createdAt": 1_794_736_800_000_u64, "lastUsedModel": "m"},
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "<user_info>Linux</user_info>"},
                {"role": "user", "content": [{"type": "text", "text": "<user_query>Why?</user_query>"}]},
                {"role": "assistant", "content": [{"type": "reasoning", "text": "hm", "signature": "s"},
                    {"type": "tool-call", "toolCallId": "c1", "toolName": "Shell", "args": {"command": "ls"}}]},
                {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "Shell", "result": "a.rs"}]},
            ],
        });
        let entries = entries_of(&document);
        let spoken: Vec<_> = entries.iter().map(|entry| (entry.role, entry.flags.meta, entry.text())).collect();
        assert_eq!(spoken[1], (Role::User, true, "<user_info>Linux</user_info>".to_owned()));
        assert_eq!(spoken[2], (Role::User, false, "Why?".to_owned()));
        assert_eq!(entries[3].parts[1], call("c1", "Shell", json!({"command": "ls"})));
        assert_eq!(entries[4].parts, [result("c1", "a.rs", None)]);
        let outline = CursorChat.outline(document.to_string().as_bytes()).unwrap();
        assert_eq!(
            (outline.mark, outline.at),
            (RecordMark::Turn(Some("Why?".into())), "2026-11-15T10:00:00Z".parse().ok())
        );
        assert_eq!((outline.facts.session.as_deref(), outline.facts.model.as_deref()), (Some("a"), Some("m")));
    }

    #[test]
    fn bubbles_of_the_editor_are_read() {
        let document = json!({
            "cursor": {"composerId": "c", "modelConfig": {"modelName": "m"}},
            "messages": [
                {"type": 1, "text": "Why?", "createdAt": "2026-11-15T10:00:00.000Z"},
                {"type": 2, "thinking": {"text": "hm"}, "text": ""},
                {"type": 2, "text": "", "toolFormerData": {"toolCallId": "t1", "name": "run_terminal_cmd",
                    "rawArgs": "{\"command\":\"ls\"}", "result": "{\"output\":\"a.rs\"}", "status": "completed"}},
                {"type": 2, "text": "So.", "modelType": "m2", "timestamp": 1_794_736_800_000_u64},
                {"type": 3, "text": "?"},
            ],
        });
        let entries = entries_of(&document);
        assert_eq!(entries.len(), 5);
        assert_eq!((entries[0].text(), entries[0].at), ("Why?".to_owned(), "2026-11-15T10:00:00Z".parse().ok()));
        assert_eq!(entries[2].parts, [call("t1", "run_terminal_cmd", json!({"command": "ls"}))]);
        assert_eq!(entries[3].parts, [result("t1", "{\"output\":\"a.rs\"}", Some(false))]);
        assert_eq!((entries[4].model.as_deref(), entries[4].at), (Some("m2"), entries[0].at));
    }
}
