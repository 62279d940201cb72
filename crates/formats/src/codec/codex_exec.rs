//! `codex-exec-v1`: what `codex exec --json` prints, one event a line.
//!
//! It tells less than a rollout: not what was asked, and of most tools only that they ran. Items count from 0 in every
//! run, so a call is known by the digest of its record instead.

use contexture_core::{ArtifactId, Entry, EntryPart, Role, ToolInput};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    Effect, Link, Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    tolerant_json::{self, Field, Object, Shape},
};
use crate::summary;

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

#[derive(Default, Deserialize)]
#[serde(default)]
struct Started<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    thread_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
}

/// An item of any type, in the fields that are used. Its id is not: of a web search there are two.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    server: Field<'a>,
    #[serde(borrow)]
    tool: Field<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Object<McpResult<'a>>,
    #[serde(borrow)]
    error: Object<McpError<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct McpResult<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct McpError<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct McpContent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let event: Started<'_> = tolerant_json::object(record)?;
    let mut outline = Outline::default();
    match event.kind.text() {
        "thread.started" => {
            outline.link = Link::Root;
            outline.facts.session = event.thread_id.into_text();
        }
        "turn.started" => outline.mark = RecordMark::Turn(None),
        _ => {}
    }
    Ok(outline)
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let event: Event<'_> = tolerant_json::object(record)?;
    // What is started or updated comes again when it is completed.
    let ("item.completed", Some(raw)) = (event.kind.text(), event.item) else { return Ok(RecordStep::nothing()) };
    let item: Item<'_> = tolerant_json::object_or_default(raw)?;
    let parts = match item.kind.text() {
        "agent_message" | "plan" => vec![EntryPart::text(item.text.text())],
        "reasoning" => vec![EntryPart::Thinking { text: item.text.text().to_owned(), seal: None }],
        "command_execution" | "file_change" | "mcp_tool_call" => {
            return called(item, summary::uuid(&ArtifactId::of(record)));
        }
        // Errors are for the screen.
        "error" => return Ok(RecordStep::nothing()),
        kind => vec![EntryPart::Native { kind: kind.to_owned(), value: tolerant_json::value(raw) }],
    };
    Ok(RecordStep::append(Entry::new(Role::Assistant, parts)))
}

/// Returns a call and what came of it.
fn called(item: Item<'_>, call: String) -> serde_json::Result<RecordStep> {
    let has_failed = match (item.status.text(), &item.exit_code) {
        ("failed" | "declined", _) | (_, Field::Other) => Some(true),
        (_, Field::Count(code)) => Some(*code != 0),
        ("completed", _) => Some(false),
        _ => None,
    };
    let named = |name: &str, raw: Option<&RawValue>| {
        let value = raw.map(tolerant_json::value).unwrap_or_default();
        Value::Object(Map::from_iter([(name.to_owned(), value)]))
    };
    let (name, input, content) = match item.kind.text() {
        "command_execution" => {
            let output = vec![EntryPart::text(item.aggregated_output.text())];
            ("command_execution".to_owned(), named("command", item.command), output)
        }
        "file_change" => {
            ("file_change".to_owned(), named("changes", item.changes), vec![EntryPart::text(item.status.text())])
        }
        _ => {
            let name = format!("mcp__{}__{}", item.server.text(), item.tool.text());
            let content = match item.error.0 {
                Some(error) => vec![EntryPart::text(error.message.text())],
                None => mcp_content(item.result.0.unwrap_or_default().content)?,
            };
            (name, item.arguments.map_or_else(|| Value::Object(Map::new()), tolerant_json::value), content)
        }
    };
    let asked = EntryPart::ToolCall { id: call.clone(), name, input: ToolInput::Json(input) };
    let answered = EntryPart::ToolResult { call, content, is_error: has_failed };
    let entries = vec![Entry::new(Role::Assistant, vec![asked]), Entry::new(Role::Tool, vec![answered])];
    Ok(RecordStep { effect: Effect::Append, entries })
}

fn mcp_content(raw: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    let Shape::List(list) = tolerant_json::shape(raw)? else { return Ok(Vec::new()) };
    let part = |raw| {
        let content: McpContent<'_> = tolerant_json::object_or_default(raw)?;
        Ok(match content.text {
            Field::Text(text) => EntryPart::text(text),
            _ => EntryPart::Native {
                kind: content.kind.into_text().unwrap_or_default(),
                value: tolerant_json::value(raw),
            },
        })
    };
    list.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Codec as _, Dialogue, Replay};

    fn step(record: &Value) -> RecordStep {
        CODEC.step(record.to_string().as_bytes()).unwrap()
    }

    fn completed(item: &Value) -> Vec<EntryPart> {
        let step = step(&json!({"type": "item.completed", "item": item}));
        assert_eq!(step.effect, Effect::Append);
        step.entries.into_iter().flat_map(|entry| entry.parts).collect()
    }

    fn call(item: &Value) -> (String, Value, String, Option<bool>) {
        let mut parts = completed(item).into_iter();
        let (
            Some(EntryPart::ToolCall { id, name, input: ToolInput::Json(input) }),
            Some(EntryPart::ToolResult { call, content, is_error }),
        ) = (parts.next(), parts.next())
        else {
            panic!("{item} is no call");
        };
        assert_eq!(id, call);
        (name, input, crate::dialogue::text_of(&content), is_error)
    }

    #[test]
    fn the_stream_names_its_session_and_marks_turns() {
        let outline = |record: Value| CODEC.outline(record.to_string().as_bytes()).unwrap();
        assert_eq!(outline(json!({"type": "thread.started", "thread_id": "t"})).facts.session.as_deref(), Some("t"));
        assert_eq!(outline(json!({"type": "turn.started"})).mark, RecordMark::Turn(None));
        for event in
            [json!({"type": "turn.completed", "usage": {}}), json!({"type": "error", "message": "m"}), json!({})]
        {
            assert_eq!(step(&event), RecordStep::nothing());
            assert_eq!(outline(event), Outline::default());
        }
    }

    #[test]
    fn items_count_once_they_are_completed() {
        let item = json!({"id": "item_0", "type": "agent_message", "text": "ok"});
        assert_eq!(step(&json!({"type": "item.updated", "item": item})), RecordStep::nothing());
        assert_eq!(completed(&item), [EntryPart::text("ok")]);
        let reasoning = json!({"id": "item_1", "type": "reasoning", "text": "hm"});
        assert_eq!(completed(&reasoning), [EntryPart::Thinking { text: "hm".into(), seal: None }]);
        let todo = json!({"id": "item_2", "type": "todo_list", "items": []});
        assert_eq!(completed(&todo), [EntryPart::Native { kind: "todo_list".into(), value: todo }]);
        let error = json!({"type": "item.completed", "item": {"id": "item_3", "type": "error", "message": "m"}});
        assert_eq!(step(&error), RecordStep::nothing());
    }

    #[test]
    fn commands_changes_and_servers_are_calls() {
        let command = json!({
            "id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": "a\n", "exit_code": 1, "status": "failed",
        });
        assert_eq!(call(&command), ("command_execution".into(), json!({"command": "ls"}), "a\n".into(), Some(true)));
        let changes = json!([{"path": "a", "kind": "add"}]);
        let change = json!({"id": "item_1", "type": "file_change", "changes": changes, "status": "completed"});
        assert_eq!(call(&change), ("file_change".into(), json!({"changes": changes}), "completed".into(), Some(false)));
        let asked = |result: Value, error: Value| {
            call(&json!({
                "id": "item_2", "type": "mcp_tool_call", "server": "wiki", "tool": "ask", "arguments": {"q": 1},
                "result": result, "error": error, "status": if error.is_null() { "completed" } else { "failed" },
            }))
        };
        let name = || "mcp__wiki__ask".to_owned();
        let answer = json!({"content": [{"type": "text", "text": "yes"}], "structured_content": null});
        assert_eq!(asked(answer, Value::Null), (name(), json!({"q": 1}), "yes".into(), Some(false)));
        assert_eq!(asked(Value::Null, json!({"message": "no"})), (name(), json!({"q": 1}), "no".into(), Some(true)));
    }

    #[test]
    fn items_of_two_runs_are_not_mixed_up() {
        let mut replay = Replay::default();
        for output in ["a", "b"] {
            let item = json!({"id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": output, "exit_code": 0});
            replay.take(step(&json!({"type": "item.completed", "item": item})));
        }
        let dialogue = Dialogue::of(replay.into_entries());
        let results = dialogue
            .turns
            .iter()
            .flat_map(|turn| &turn.parts)
            .filter(|part| matches!(part, EntryPart::ToolResult { .. }));
        assert_eq!(results.count(), 2);
    }

    #[test]
    fn a_search_has_two_ids() {
        let record = br#"{"type":"item.completed","item":{"id":"item_0","type":"web_search","id":"ws_1","query":"q"}}"#;
        assert_eq!(CODEC.step(record).unwrap().entries.len(), 1);
        assert!(CODEC.step(b"[]").is_err());
    }
}
