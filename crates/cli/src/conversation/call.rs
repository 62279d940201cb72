//! What a tool call is about, in one line.

use contexture::core::ToolInput;
use serde_json::Value;

/// What says most about a call, best first.
const TELLING: [&str; 16] = [
    "command",
    "cmd",
    "file_path",
    "absolute_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "path",
    "description",
    "prompt",
    "skill",
    "name",
    "title",
    "text",
    "input",
];

/// Returns the argument that tells what a call is about, on one line.
pub(super) fn telling(input: &ToolInput) -> String {
    let text = match input {
        ToolInput::Text(text) => patched_file(text).map_or_else(|| text.clone(), str::to_owned),
        ToolInput::Json(Value::Object(object)) => {
            let argument = TELLING.iter().find_map(|key| words(object.get(*key)?));
            let argument = argument.or_else(|| object.values().find_map(words));
            argument.unwrap_or_else(|| {
                if object.is_empty() { String::new() } else { Value::from(object.clone()).to_string() }
            })
        }
        ToolInput::Json(Value::Null) => String::new(),
        ToolInput::Json(value) => value.to_string(),
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { first + " …" } else { first }
}

/// Returns all that a tool is given, one name after the other.
pub(super) fn all(input: &ToolInput) -> String {
    let object = match input {
        ToolInput::Text(text) => return text.clone(),
        ToolInput::Json(Value::Object(object)) => object,
        ToolInput::Json(value) => return value.to_string(),
    };
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.contains('\n') => {
            let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
            format!("{name}:\n{}", lines.join("\n"))
        }
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    };
    object.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn words(value: &Value) -> Option<String> {
    let words = match value {
        Value::String(text) => text.clone(),
        Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join(" "),
        _ => return None,
    };
    let words = patched_file(&words).map_or(words.clone(), str::to_owned);
    (!words.trim().is_empty()).then_some(words)
}

/// Returns the first file that a patch names.
fn patched_file(text: &str) -> Option<&str> {
    let (_, patch) = text.split_once("*** Begin Patch")?;
    patch.lines().find_map(|line| {
        ["*** Update File: ", "*** Add File: ", "*** Delete File: "].iter().find_map(|start| line.strip_prefix(start))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_of_a_call_is_shown_name_by_name() {
        let input = json!({"command": "a\nb", "n": [1], "why": "so"});
        assert_eq!(all(&ToolInput::Json(input)), "command:\n  a\n  b\nn: [1]\nwhy: so");
    }

    #[test]
    fn a_call_is_shown_by_its_telling_argument() {
        for (input, expected) in [
            (json!({"description": "Lists", "command": "ls -la"}), "ls -la"),
            (json!({"command": ["bash", "-lc", "ls"]}), "bash -lc ls"),
            (json!({"old_string": "a", "file_path": "/src/a.rs"}), "/src/a.rs"),
            (json!({"path": "/src", "pattern": "fn main"}), "fn main"),
            (json!({"command": "\n first\nsecond"}), "first …"),
            (json!({"todos": [{"content": "x"}], "note": "n"}), "n"),
            (json!({"n": 1}), "{\"n\":1}"),
            (json!({}), ""),
            (json!({"input": "*** Begin Patch\n*** Add File: a.rs\n+x"}), "a.rs"),
        ] {
            assert_eq!(telling(&ToolInput::Json(input)), expected);
        }
        assert_eq!(telling(&ToolInput::Text("*** Begin Patch\n*** Update File: b\n".into())), "b");
    }
}
