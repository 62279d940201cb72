//! Blocks of content that resemble Anthropic's, as other runtimes write them: names differ, and ids may be missing.

use contexture_core::{ArtifactId, EntryPart, ToolInput};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    anthropic_content, content_blocks,
    tolerant_json::{self, Field, Shape},
};

/// A block of any type, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LooseBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    thinking: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    tool_use_id: Field<'a>,
    #[serde(borrow, rename = "toolCallId")]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow, rename = "toolName")]
    tool_name: Field<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow, rename = "isError")]
    has_failed: Field<'a>,
}

/// Returns what content says, be it a text or blocks. A call without an id is given one that follows from its bytes.
pub(super) fn parts(content: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    Ok(match tolerant_json::shape(content)? {
        Shape::Text(text) if text.is_empty() => Vec::new(),
        Shape::Text(text) => vec![EntryPart::text(text)],
        Shape::List(blocks) => blocks.into_iter().map(part).collect::<serde_json::Result<_>>()?,
        Shape::Object(block) => vec![part(block)?],
        Shape::Other => Vec::new(),
    })
}

/// Returns what one block says.
pub(super) fn part(raw: &RawValue) -> serde_json::Result<EntryPart> {
    let block: LooseBlock<'_> = tolerant_json::object_or_default(raw)?;
    Ok(match block.kind.text() {
        "text" => EntryPart::text(block.text.text()),
        "thinking" | "reasoning" => {
            let text = if block.thinking.text().is_empty() { block.text } else { block.thinking };
            EntryPart::Thinking { text: text.into_text().unwrap_or_default(), seal: None }
        }
        "tool_use" | "tool_call" | "tool-call" => {
            let id = block.id.into_text().or(block.tool_call_id.into_text()).unwrap_or_else(|| id_of(raw));
            let name = block.name.into_text().or(block.tool_name.into_text()).unwrap_or_default();
            EntryPart::ToolCall { id, name, input: input(block.input.or(block.args).or(block.arguments))? }
        }
        "tool_result" | "tool-result" => {
            let call = block.tool_use_id.into_text().or(block.tool_call_id.into_text()).unwrap_or_default();
            let is_error = match (block.is_error, block.has_failed) {
                (Field::Bool(is_error), _) | (_, Field::Bool(is_error)) => Some(is_error),
                _ => None,
            };
            EntryPart::ToolResult { call, content: answer(block.content.or(block.result))?, is_error }
        }
        _ => anthropic_content::part(tolerant_json::value(raw)),
    })
}

/// Returns what a tool answered, which may be any value.
pub(super) fn answer(raw: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    Ok(match tolerant_json::shape(raw)? {
        Shape::Text(_) | Shape::List(_) => parts(raw)?,
        Shape::Object(_) | Shape::Other => {
            let json = raw.map(RawValue::get).filter(|json| *json != "null");
            json.map(EntryPart::text).into_iter().collect()
        }
    })
}

/// Returns what a tool is given.
pub(super) fn input(raw: Option<&RawValue>) -> serde_json::Result<ToolInput> {
    Ok(match tolerant_json::shape(raw)? {
        Shape::Text(text) => match serde_json::from_str::<Value>(&text) {
            // Some runtimes write the arguments as the text of their JSON.
            Ok(value @ Value::Object(_)) => ToolInput::Json(value),
            _ => ToolInput::Text(text.into_owned()),
        },
        Shape::List(_) | Shape::Object(_) | Shape::Other => {
            let value = raw.map(tolerant_json::value).filter(|value| !value.is_null());
            ToolInput::Json(value.unwrap_or_else(content_blocks::empty_object))
        }
    })
}

/// Makes an id of what a call is, which is the same whenever it is read.
pub(super) fn id_of(raw: &RawValue) -> String {
    let digest = ArtifactId::of(raw.get().as_bytes()).to_string();
    let letters: String = digest.chars().filter(char::is_ascii_alphanumeric).rev().take(ID_LETTERS).collect();
    format!("call_{letters}")
}

/// Letters of a made id.
const ID_LETTERS: usize = 16;

/// Tells whether parts are answers of tools and nothing else.
pub(super) fn is_results(parts: &[EntryPart]) -> bool {
    !parts.is_empty() && parts.iter().all(|part| matches!(part, EntryPart::ToolResult { .. }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(content: &Value) -> Vec<EntryPart> {
        parts(Some(&RawValue::from_string(content.to_string()).unwrap())).unwrap()
    }

    #[test]
    fn blocks_of_any_spelling_say_the_same() {
        let call = |id: &str| EntryPart::ToolCall {
            id: id.into(),
            name: "Read".into(),
            input: ToolInput::Json(json!({"path": "a"})),
        };
        let result = EntryPart::ToolResult { call: "c".into(), content: vec![EntryPart::text("text")], is_error: None };
        assert_eq!(
            read(&json!([
                {"type": "tool_use", "id": "c", "name": "Read", "input": {"path": "a"}},
                {"type": "tool-call", "toolCallId": "c", "toolName": "Read", "args": "{\"path\":\"a\"}"},
                {"type": "tool-call", "id": "c", "name": "Read", "arguments": "{\"path\":\"a\"}"},
                {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "text"}]},
                {"type": "tool-result", "toolCallId": "c", "result": "text"},
                {"type": "reasoning", "text": "hm"},
            ])),
            [
                call("c"),
                call("c"),
                call("c"),
                result.clone(),
                result,
                EntryPart::Thinking { text: "hm".into(), seal: None }
            ]
        );
        assert_eq!(read(&json!("text")), [EntryPart::text("text")]);
        assert_eq!(read(&json!("")), []);
    }

    #[test]
    fn a_call_without_an_id_gets_the_same_one_each_time() {
        let id = |path: &str| match read(&json!([{"type": "tool_use", "name": "Read", "input": {"path": path}}]))
            .remove(0)
        {
            EntryPart::ToolCall { id, .. } => id,
            other => panic!("{other:?}"),
        };
        assert_eq!(id("a"), id("a"));
        assert_ne!(id("a"), id("b"));
    }
}
