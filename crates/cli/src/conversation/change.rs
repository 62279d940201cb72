//! What a tool call changes in files, where it can be told from what the tool is given.

use contexture::core::ToolInput;
use serde_json::{Map, Value};

/// Lines that stay the same and are shown around a change.
const CONTEXT_LINES: usize = 2;

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Added(String),
    Removed(String),
    Same(String),
    /// What tells where the change is.
    Place(String),
}

/// Returns the change that a tool is asked to make.
pub(super) fn of(input: &ToolInput) -> Option<Vec<Line>> {
    let object = match input {
        ToolInput::Text(text) => return patch(text),
        ToolInput::Json(Value::Object(object)) => object,
        ToolInput::Json(_) => return None,
    };
    if let Some(change) = replacement(object) {
        return Some(change);
    }
    if let Some(Value::Array(edits)) = object.get("edits") {
        let edits: Vec<_> = edits.iter().filter_map(|edit| replacement(edit.as_object()?)).collect();
        return (!edits.is_empty()).then(|| edits.join(&Line::Place("…".to_owned())));
    }
    let has_path = ["file_path", "path", "absolute_path"].iter().any(|key| object.contains_key(*key));
    match object.get("content") {
        Some(Value::String(content)) if has_path => {
            Some(content.lines().map(|line| Line::Added(line.into())).collect())
        }
        _ => object.values().find_map(|value| match value {
            Value::String(text) => patch(text),
            Value::Array(words) => words.iter().find_map(|word| patch(word.as_str()?)),
            _ => None,
        }),
    }
}

/// Returns the lines of a text that is a change written out, as `diff` or a patch tool does.
pub(super) fn written_out(text: &str) -> Option<Vec<Line>> {
    let is_diff = text.starts_with("diff --git ") || (text.starts_with("--- ") && text.contains("\n+++ "));
    is_diff.then(|| text.lines().map(patch_line).collect())
}

fn replacement(object: &Map<String, Value>) -> Option<Vec<Line>> {
    let text = |keys: [&str; 2]| keys.into_iter().find_map(|key| object.get(key)?.as_str());
    let (old, new) = (text(["old_string", "oldText"])?, text(["new_string", "newText"])?);
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let after = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(|(old, new)| old == new).count();
    let same = |lines: &[&str]| lines.iter().map(|line| Line::Same((*line).to_owned())).collect::<Vec<_>>();
    let mut lines = same(&old[before.saturating_sub(CONTEXT_LINES)..before]);
    lines.extend(old[before..old.len() - after].iter().map(|line| Line::Removed((*line).to_owned())));
    lines.extend(new[before..new.len() - after].iter().map(|line| Line::Added((*line).to_owned())));
    let rest = &old[old.len() - after..];
    lines.extend(same(&rest[..rest.len().min(CONTEXT_LINES)]));
    Some(lines)
}

fn patch(text: &str) -> Option<Vec<Line>> {
    let start = text.find("*** Begin Patch")?;
    let is_frame = |line: &&str| line.starts_with("*** Begin Patch") || line.starts_with("*** End Patch");
    let body = text[start..].lines().skip_while(is_frame).take_while(|line| !line.starts_with("*** End Patch"));
    Some(body.map(patch_line).collect())
}

fn patch_line(line: &str) -> Line {
    let is_place = ["***", "@@", "+++", "---", "diff ", "index "].iter().any(|start| line.starts_with(start));
    match (is_place, line.split_at_checked(1)) {
        (true, _) => Line::Place(line.to_owned()),
        (false, Some(("+", rest))) => Line::Added(rest.to_owned()),
        (false, Some(("-", rest))) => Line::Removed(rest.to_owned()),
        (false, Some((" ", rest))) => Line::Same(rest.to_owned()),
        (false, _) => Line::Same(line.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Writes a change in one line.
    fn told(input: &ToolInput) -> String {
        let line = |line: &Line| match line {
            Line::Added(line) => format!("+{line}"),
            Line::Removed(line) => format!("-{line}"),
            Line::Same(line) => format!(" {line}"),
            Line::Place(line) => format!("@{line}"),
        };
        of(input).map_or("none".to_owned(), |lines| lines.iter().map(line).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn changes_are_found_in_what_tools_are_given() {
        let json = ToolInput::Json;
        let edit = json!({"file_path": "/a", "old_string": "1\n2\n3\n4\n5", "new_string": "1\n2\n3\nx\ny\n5"});
        assert_eq!(told(&json(edit)), " 2| 3|-4|+x|+y| 5");
        let edits = json!({"path": "a", "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": ""}]});
        assert_eq!(told(&json(edits)), "-a|+b|@…|-c");
        assert_eq!(told(&json(json!({"file_path": "/a", "content": "1\n2\n"}))), "+1|+2");
        let patch = "*** Begin Patch\n*** Update File: a\n@@ fn\n-old\n+new\n same\n*** End Patch\n";
        let expected = "@*** Update File: a|@@@ fn|-old|+new| same";
        assert_eq!(told(&ToolInput::Text(patch.into())), expected);
        assert_eq!(told(&json(json!({"input": patch}))), expected);
        assert_eq!(told(&json(json!({"command": ["apply_patch", patch]}))), expected);
        for other in [json!({"command": "ls"}), json!({"content": "words"}), json!([1])] {
            assert_eq!(told(&json(other)), "none");
        }
    }

    #[test]
    fn a_diff_is_recognised_and_a_list_is_not() {
        assert_eq!(written_out("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y").unwrap().len(), 5);
        assert_eq!(written_out("--- not a diff\n- item"), None);
    }
}
