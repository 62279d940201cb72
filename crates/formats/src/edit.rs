//! Edits: what a tool call changes in files, where that can be told from what the tool is given.
//!
//! Runtimes name their tools and arguments differently, so an edit is known by the shape of its arguments: an old text
//! and a new one, a content with a path, a patch, or a command that writes a text into a file.

mod command;

use contexture_core::ToolInput;
use serde_json::{Map, Value};

pub use command::by_commands;

/// Lines that stay the same and are kept around a change.
const CONTEXT_LINES: usize = 2;
/// What the file of a call is called.
const PATHS: [&str; 5] = ["file_path", "path", "absolute_path", "notebook_path", "filePath"];
/// What the directory of a call is called.
const DIRECTORIES: [&str; 3] = ["workdir", "cwd", "dir_path"];

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file as the call names it: absolute, or relative to where the agent works.
    pub path: Option<String>,
    /// How much of the file the call is given.
    pub extent: Extent,
    /// The change, with some of what stays the same around it.
    pub lines: Vec<Line>,
}

/// How much of a file a call is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it, whether it was there before or not.
    Whole,
    /// What changes.
    Part,
}

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// It comes in.
    Added(String),
    /// It goes out.
    Removed(String),
    /// It stays.
    Same(String),
    /// What tells where the change is.
    Place(String),
}

/// Returns the changes that a tool is asked to make, one for each file.
pub fn of(input: &ToolInput) -> Vec<Edit> {
    let object = match input {
        ToolInput::Text(text) => return patch(text).unwrap_or_default(),
        ToolInput::Json(Value::Object(object)) => object,
        ToolInput::Json(_) => return Vec::new(),
    };
    let path = || text_of(object, &PATHS).map(str::to_owned);
    if let Some(lines) = replacement(object) {
        return vec![Edit { path: path(), extent: Extent::Part, lines }];
    }
    if let Some(Value::Array(edits)) = object.get("edits") {
        let edits: Vec<_> = edits.iter().filter_map(|edit| replacement(edit.as_object()?)).collect();
        if edits.is_empty() {
            return Vec::new();
        }
        return vec![Edit { path: path(), extent: Extent::Part, lines: edits.join(&Line::Place("…".to_owned())) }];
    }
    let written = [("content", Extent::Whole), ("file_text", Extent::Whole), ("new_source", Extent::Part)];
    let written = written.into_iter().find_map(|(key, extent)| Some((object.get(key)?.as_str()?, extent)));
    if let (Some((content, extent)), Some(path)) = (written, path()) {
        let lines = content.lines().map(|line| Line::Added(line.to_owned())).collect();
        return vec![Edit { path: Some(path), extent, lines }];
    }
    let mut edits = object
        .values()
        .find_map(|value| match value {
            Value::String(text) => patch(text),
            Value::Array(words) => words.iter().find_map(|word| patch(word.as_str()?)),
            _ => None,
        })
        .unwrap_or_default();
    for path in edits.iter_mut().filter_map(|edit| edit.path.as_mut()) {
        *path = placed(object, path);
    }
    edits
}

/// Returns the lines of a text that is a change written out, as `diff` or a patch tool does.
pub fn written_out(text: &str) -> Option<Vec<Line>> {
    let is_diff = text.starts_with("diff --git ") || (text.starts_with("--- ") && text.contains("\n+++ "));
    is_diff.then(|| text.lines().map(patch_line).collect())
}

fn text_of<'o>(object: &'o Map<String, Value>, keys: &[&str]) -> Option<&'o str> {
    keys.iter().find_map(|key| object.get(*key)?.as_str())
}

/// Puts a path into the directory that a call names.
fn placed(object: &Map<String, Value>, path: &str) -> String {
    match text_of(object, &DIRECTORIES) {
        Some(directory) if !path.starts_with('/') && !directory.is_empty() => {
            format!("{}/{path}", directory.trim_end_matches('/'))
        }
        Some(_) | None => path.to_owned(),
    }
}

fn replacement(object: &Map<String, Value>) -> Option<Vec<Line>> {
    let old = text_of(object, &["old_string", "oldText", "oldString", "old_str"])?;
    let new = text_of(object, &["new_string", "newText", "newString", "new_str"])?;
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

fn patch(text: &str) -> Option<Vec<Edit>> {
    let start = text.find("*** Begin Patch")?;
    let is_frame = |line: &&str| line.starts_with("*** Begin Patch") || line.starts_with("*** End Patch");
    let body = text[start..].lines().skip_while(is_frame).take_while(|line| !line.starts_with("*** End Patch"));
    let mut edits: Vec<Edit> = Vec::new();
    for line in body {
        let named = [
            ("*** Update File: ", Extent::Part),
            ("*** Add File: ", Extent::Whole),
            ("*** Delete File: ", Extent::Whole),
        ];
        let file = named.into_iter().find_map(|(start, extent)| Some((line.strip_prefix(start)?, extent)));
        if file.is_some() || edits.is_empty() {
            let (path, extent) = file.map_or((None, Extent::Part), |(path, extent)| (Some(path.to_owned()), extent));
            edits.push(Edit { path, extent, lines: Vec::new() });
        }
        if let Some(edit) = edits.last_mut() {
            if let Some(path) = line.strip_prefix("*** Move to: ") {
                edit.path = Some(path.to_owned());
            }
            edit.lines.push(patch_line(line));
        }
    }
    Some(edits)
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

    /// Writes edits in one line.
    fn shown(input: &ToolInput) -> String {
        let line = |line: &Line| match line {
            Line::Added(line) => format!("+{line}"),
            Line::Removed(line) => format!("-{line}"),
            Line::Same(line) => format!(" {line}"),
            Line::Place(line) => format!("@{line}"),
        };
        let edit = |edit: &Edit| {
            let extent = if edit.extent == Extent::Whole { "=" } else { "" };
            let lines: Vec<_> = edit.lines.iter().map(line).collect();
            format!("{}{extent}: {}", edit.path.as_deref().unwrap_or("?"), lines.join("|"))
        };
        of(input).iter().map(edit).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn edits_are_found_in_what_tools_are_given() {
        let json = ToolInput::Json;
        let edit = json!({"file_path": "/a", "old_string": "1\n2\n3\n4\n5", "new_string": "1\n2\n3\nx\ny\n5"});
        assert_eq!(shown(&json(edit)), "/a:  2| 3|-4|+x|+y| 5");
        let edits = json!({"path": "a", "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": ""}]});
        assert_eq!(shown(&json(edits)), "a: -a|+b|@…|-c");
        assert_eq!(shown(&json(json!({"file_path": "/a", "content": "1\n2\n"}))), "/a=: +1|+2");
        assert_eq!(shown(&json(json!({"notebook_path": "/n", "new_source": "x", "cell_id": "1"}))), "/n: +x");
        assert_eq!(shown(&json(json!({"filePath": "/a", "oldString": "a", "newString": "b"}))), "/a: -a|+b");
        for other in [json!({"command": "ls"}), json!({"content": "words"}), json!({"edits": []}), json!([1])] {
            assert_eq!(shown(&json(other)), "");
        }
        assert_eq!(shown(&ToolInput::Text("some words".into())), "");
    }

    #[test]
    fn a_patch_is_an_edit_of_each_of_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@ fn\n-old\n+new\n same\n\
                     *** Add File: b\n+x\n*** Update File: c\n*** Move to: d\n+y\n*** End Patch\n";
        let expected = "a: @*** Update File: a|@@@ fn|-old|+new| same; b=: @*** Add File: b|+x; \
                        d: @*** Update File: c|@*** Move to: d|+y";
        assert_eq!(shown(&ToolInput::Text(patch.into())), expected);
        assert_eq!(shown(&ToolInput::Json(json!({"input": patch}))), expected);
        assert_eq!(shown(&ToolInput::Json(json!({"command": ["apply_patch", patch]}))), expected);
        let short = "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch";
        let there = json!({"cmd": format!("apply_patch <<'EOF'\n{short}\nEOF"), "workdir": "/w/"});
        assert_eq!(shown(&ToolInput::Json(there)), "/w/b=: @*** Add File: b|+x");
        assert_eq!(shown(&ToolInput::Text("*** Begin Patch\n+x".into())), "?: +x");
    }

    #[test]
    fn a_change_that_was_written_out_is_read_line_by_line() {
        assert_eq!(written_out("words"), None);
        let lines = written_out("--- a\n+++ b\n-x\n+y").unwrap();
        assert_eq!(lines[2..], [Line::Removed("x".into()), Line::Added("y".into())]);
    }
}
