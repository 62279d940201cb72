//! `bureau-agent-v1`: messages of Bureau's agents, the elements of a CBOR array.
//!
//! Keys are the names of Go's fields. Every block has a key for every kind of content; those of other kinds are null.

use contexture_core::{Entry, EntryPart, Role, Seal, SealScheme, ToolInput};
use serde::Deserialize;
use serde_json::Value;

use super::{Codec, Framing, Outline, RecordMark, RecordStep, content_blocks, tolerant_json};
use crate::{RecordProblem, cbor::value};

pub(crate) struct Bureau;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Message {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    role: Option<String>,
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
#[serde(tag = "Type", rename_all = "snake_case")]
enum Block {
    #[serde(rename_all = "PascalCase")]
    Text { text: String },
    #[serde(rename_all = "PascalCase")]
    ToolUse { tool_use: ToolUse },
    #[serde(rename_all = "PascalCase")]
    ToolResult { tool_result: ToolResult },
    #[serde(rename_all = "PascalCase")]
    Thinking { thinking: Thinking },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct ToolUse {
    #[serde(rename = "ID")]
    id: String,
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Input", default = "content_blocks::empty_object")]
    input: Value,
}

#[derive(Deserialize)]
struct ToolResult {
    #[serde(rename = "ToolUseID")]
    call: String,
    #[serde(rename = "Content", default)]
    content: String,
    #[serde(rename = "IsError", default)]
    is_error: bool,
}

/// No public source shows this one, so every likely name of the text is taken.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Thinking {
    #[serde(alias = "Thinking", alias = "Text")]
    content: String,
    #[serde(default)]
    signature: String,
}

impl Codec for Bureau {
    fn framing(&self) -> Framing {
        Framing::CborArray
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let entry = entry(record)?;
        let words = Some(entry.text()).filter(|words| entry.role == Role::User && !words.trim().is_empty());
        Ok(Outline {
            mark: words.map_or(RecordMark::None, |words| RecordMark::Turn(Some(words))),
            ..Outline::default()
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        entry(record).map(RecordStep::append)
    }
}

fn entry(record: &[u8]) -> Result<Entry, RecordProblem> {
    let value = value::to_json(record)?;
    if !value.is_object() {
        return Err(RecordProblem::new("it is no CBOR map"));
    }
    let message = Message::deserialize(&value).map_err(|error| RecordProblem::json(&error))?;
    let role = match message.role.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Ok(Entry::new(Role::User, vec![EntryPart::Native { kind: "message".to_owned(), value }])),
    };
    Ok(Entry::new(role, content_blocks::parts(message.content, part)))
}

fn part(block: Value) -> EntryPart {
    match Block::deserialize(&block) {
        Ok(Block::Text { text }) => EntryPart::Text { text },
        Ok(Block::ToolUse { tool_use: ToolUse { id, name, input } }) => {
            EntryPart::ToolCall { id, name, input: ToolInput::Json(input) }
        }
        Ok(Block::ToolResult { tool_result: ToolResult { call, content, is_error } }) => {
            let content = if content.is_empty() { Vec::new() } else { vec![EntryPart::Text { text: content }] };
            EntryPart::ToolResult { call, content, is_error: Some(is_error) }
        }
        Ok(Block::Thinking { thinking: Thinking { content, signature } }) => {
            let seal =
                (!signature.is_empty()).then_some(Seal { scheme: SealScheme::AnthropicSignature, data: signature });
            EntryPart::Thinking { text: content, seal }
        }
        Ok(Block::Other) | Err(_) => {
            let kind = block.get("Type").and_then(Value::as_str).unwrap_or("unknown").to_owned();
            EntryPart::Native { kind, value: block }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        cbor::{Major, head},
        summary_entry,
    };

    /// Writes a value in CBOR, with inputs as byte strings, as Go writes raw JSON.
    fn cbor(value: &Value, key: &str) -> Vec<u8> {
        let string = |major, bytes: &[u8]| [&head(major, bytes.len() as u64)[..], bytes].concat();
        match value {
            _ if key == "Input" => string(Major::Bytes, value.to_string().as_bytes()),
            Value::Null => vec![0xF6],
            Value::Bool(yes) => vec![0xF4 + u8::from(*yes)],
            Value::Number(number) => head(Major::Unsigned, number.as_u64().unwrap()).to_vec(),
            Value::String(text) => string(Major::Text, text.as_bytes()),
            Value::Array(elements) => {
                let elements = elements.iter().flat_map(|element| cbor(element, ""));
                head(Major::Array, value.as_array().unwrap().len() as u64).iter().copied().chain(elements).collect()
            }
            Value::Object(fields) => {
                let pairs = fields
                    .iter()
                    .flat_map(|(key, value)| [string(Major::Text, key.as_bytes()), cbor(value, key)].concat());
                head(Major::Map, fields.len() as u64).iter().copied().chain(pairs).collect()
            }
        }
    }

    fn message(value: &Value) -> Entry {
        let step = Bureau.step(&cbor(value, "")).unwrap();
        assert_eq!(step, RecordStep::append(step.entries[0].clone()));
        step.entries.into_iter().next().unwrap()
    }

    #[test]
    fn blocks_carry_one_kind_of_content_each() {
        let entry = message(&json!({"Role": "assistant", "Content": [
            {"Type": "text", "Text": "I look.", "ToolUse": null, "ToolResult": null},
            {"Type": "tool_use", "Text": "", "ToolUse": {"ID": "t", "Name": "ls", "Input": {"dir": "/"}}},
            {"Type": "thinking", "Thinking": {"Content": "hm", "Signature": "sig"}}]}));
        let seal = Some(Seal { scheme: SealScheme::AnthropicSignature, data: "sig".into() });
        let parts = vec![
            EntryPart::text("I look."),
            EntryPart::ToolCall { id: "t".into(), name: "ls".into(), input: ToolInput::Json(json!({"dir": "/"})) },
            EntryPart::Thinking { text: "hm".into(), seal },
        ];
        assert_eq!(entry, Entry::new(Role::Assistant, parts));

        let entry = message(&json!({"Role": "user", "Content": [
            {"Type": "tool_result", "ToolResult": {"ToolUseID": "t", "Content": "no", "IsError": true}}]}));
        let result =
            EntryPart::ToolResult { call: "t".into(), content: vec![EntryPart::text("no")], is_error: Some(true) };
        assert_eq!(entry, Entry::new(Role::User, vec![result]));
    }

    #[test]
    fn what_is_not_understood_is_handed_on() {
        let server = json!({"Type": "server_tool_use", "ServerToolUse": {"ID": "s", "Name": "search"}});
        let entry = message(&json!({"Role": "assistant", "Content": [server]}));
        assert_eq!(entry.parts, [EntryPart::Native { kind: "server_tool_use".into(), value: server }]);
        let nobody = json!({"Role": "nobody", "Content": []});
        assert_eq!(message(&nobody).parts, [EntryPart::Native { kind: "message".into(), value: nobody }]);
        for bytes in [&[][..], &[0x80], &[0x01], b"{}"] {
            assert!(Bureau.step(bytes).is_err() && Bureau.outline(bytes).is_err(), "{bytes:02x?}");
        }
    }

    #[test]
    fn a_summary_of_ours_is_a_users_turn() {
        let summary = summary_entry(&"bureau-agent-v1".parse().unwrap(), "so far").unwrap();
        assert_eq!(
            Bureau.step(&summary[1..]),
            Ok(RecordStep::append(Entry::new(Role::User, vec![EntryPart::text("so far")])))
        );
        assert_eq!(Bureau.outline(&summary[1..]).unwrap().mark, RecordMark::Turn(Some("so far".into())));
    }
}
