//! Tool traffic: the viewer's own calls with their results. That of others is never told.

use std::collections::HashSet;

use contexture_core::{ChannelMessage, Entry, EntryPart, MessageSequence, Role, ToolInput};
use serde_json::Value;

/// The topic of a message that a tool was called: `call`, `name` and `input` are in its data.
pub const TOOL_CALL_TOPIC: &str = "TOOL_CALL";
/// The topic of a message with what a tool answered: `call` and `content` are in its data, and `is_error` where it failed.
pub const TOOL_RESULT_TOPIC: &str = "TOOL_RESULT";

const NO_RESULT: &str = "[No result of this call is known. Do not repeat it without looking whether it was done.]";

pub(super) fn is_traffic(message: &ChannelMessage) -> bool {
    is_call(message) || is_result(message)
}

pub(super) fn is_call(message: &ChannelMessage) -> bool {
    message.record.header.topic.as_str() == TOOL_CALL_TOPIC
}

pub(super) fn is_result(message: &ChannelMessage) -> bool {
    message.record.header.topic.as_str() == TOOL_RESULT_TOPIC
}

/// Returns the id of what is called, or answered.
fn call_id(message: &ChannelMessage) -> Option<&str> {
    message.body.as_ref()?.data.as_ref()?.get("call")?.as_str()
}

/// Returns the id of what a message calls.
pub(super) fn called(message: &ChannelMessage) -> Option<String> {
    call_id(message).filter(|_| is_call(message)).map(str::to_owned)
}

/// Tells whether a message answers something that was called before it.
pub(super) fn answers(message: &ChannelMessage, called: &HashSet<String>) -> bool {
    is_result(message) && call_id(message).is_some_and(|id| called.contains(id))
}

/// Returns a call and what it was answered, which stay together whatever was said between them.
pub(super) fn call_with_result(
    message: &ChannelMessage,
    results: &[&ChannelMessage],
    with: &mut Vec<MessageSequence>,
) -> Vec<Entry> {
    let data = message.body.as_ref().and_then(|body| body.data.as_ref());
    let field = |name: &str| data.and_then(|data| data.get(name));
    let id = call_id(message).unwrap_or(message.record.id.as_str()).to_owned();
    let name = field("name").and_then(Value::as_str).unwrap_or("tool").to_owned();
    let input = match field("input") {
        Some(Value::String(text)) => ToolInput::Text(text.clone()),
        Some(value) => ToolInput::Json(value.clone()),
        None => ToolInput::Json(Value::Object(serde_json::Map::new())),
    };
    let words = message.text().filter(|text| !text.trim().is_empty()).map(EntryPart::text);
    let call = EntryPart::ToolCall { id: id.clone(), name, input };
    let result = results.iter().find(|result| call_id(result) == Some(&id));
    let (content, is_error) = match result {
        Some(result) => {
            with.push(result.record.sequence);
            answer(result)
        }
        None => (NO_RESULT.to_owned(), None),
    };
    let result = EntryPart::ToolResult { call: id, content: vec![EntryPart::text(content)], is_error };
    vec![Entry::new(Role::Assistant, words.into_iter().chain([call]).collect()), Entry::new(Role::Tool, vec![result])]
}

fn answer(message: &ChannelMessage) -> (String, Option<bool>) {
    let data = message.body.as_ref().and_then(|body| body.data.as_ref());
    let field = |name: &str| data.and_then(|data| data.get(name));
    let content = match field("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => message.text().unwrap_or_default().to_owned(),
        Some(value) => value.to_string(),
    };
    (content, field("is_error").and_then(Value::as_bool))
}
