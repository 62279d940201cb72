//! Contents of messages, as far as formats have them in common: a text or an array of blocks.

use contexture_core::EntryPart;
use serde_json::{Map, Value};

/// Reads the content of a message, which is a text or an array of blocks.
pub(super) fn parts(content: Value, part: fn(Value) -> EntryPart) -> Vec<EntryPart> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![EntryPart::Text { text }],
        Value::Array(blocks) => blocks.into_iter().map(part).collect(),
        block => vec![part(block)],
    }
}

/// Hands on what is not understood.
pub(super) fn native(value: Value) -> EntryPart {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("unknown").to_owned();
    EntryPart::Native { kind, value }
}

/// Returns an object without fields.
pub(super) fn empty_object() -> Value {
    Value::Object(Map::new())
}
