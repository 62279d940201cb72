//! Calls and results as both of OpenAI's APIs write them.

use contexture_core::{EntryPart, ToolInput};
use serde_json::Value;

use super::content_blocks;

/// What stands before the result of a tool that failed. The APIs have no flag for it, and the model should know.
pub(crate) const FAILED: &str = "[the tool failed]\n";

/// Reads arguments, which are JSON in a string; some servers leave out the string, and some models write no JSON.
pub(super) fn input(arguments: Value) -> ToolInput {
    match arguments {
        Value::Null => ToolInput::Json(content_blocks::empty_object()),
        Value::String(text) if text.trim().is_empty() => ToolInput::Json(content_blocks::empty_object()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(value) => ToolInput::Json(value),
            Err(_) => ToolInput::Text(text),
        },
        other => ToolInput::Json(other),
    }
}

/// Returns a result, which has failed if its text says so in our words.
pub(super) fn result(call: String, mut content: Vec<EntryPart>) -> EntryPart {
    let mut is_error = None;
    if let Some(EntryPart::Text { text }) = content.first_mut()
        && let Some(rest) = text.strip_prefix(FAILED)
    {
        is_error = Some(true);
        *text = rest.to_owned();
        if text.is_empty() {
            content.remove(0);
        }
    }
    EntryPart::ToolResult { call, content, is_error }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_json_in_a_string_and_more() {
        assert_eq!(input(json!("{\"a\":1}")), ToolInput::Json(json!({"a": 1})));
        assert_eq!(input(json!({"a": 1})), ToolInput::Json(json!({"a": 1})));
        assert_eq!(input(json!(" ")), ToolInput::Json(json!({})));
        assert_eq!(input(Value::Null), ToolInput::Json(json!({})));
        assert_eq!(input(json!("{\"a\":")), ToolInput::Text("{\"a\":".into()));
    }

    #[test]
    fn a_failure_is_named_in_the_text() {
        let read = |text: &str| result("c".into(), vec![EntryPart::text(text)]);
        let expected = |content, is_error| EntryPart::ToolResult { call: "c".into(), content, is_error };
        assert_eq!(read("fine"), expected(vec![EntryPart::text("fine")], None));
        assert_eq!(
            read("[the tool failed]\nno such file"),
            expected(vec![EntryPart::text("no such file")], Some(true))
        );
        assert_eq!(read("[the tool failed]\n"), expected(vec![], Some(true)));
    }
}
