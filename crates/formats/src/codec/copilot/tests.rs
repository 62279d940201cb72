use contexture_core::ToolInput;
use serde_json::{Value, json};

use super::*;
use crate::{Codec as _, Replay};

const AT: &str = "2026-11-15T10:00:00.000Z";

fn event(kind: &str, data: &Value) -> Value {
    json!({"type": kind, "id": "e1", "parentId": "e0", "timestamp": AT, "data": data})
}

fn outline(record: &Value) -> Outline {
    CODEC.outline(record.to_string().as_bytes()).unwrap()
}

fn step(record: &Value) -> RecordStep {
    CODEC.step(record.to_string().as_bytes()).unwrap()
}

fn said(kind: &str, data: &Value) -> Vec<EntryPart> {
    step(&event(kind, data)).entries.remove(0).parts
}

#[test]
fn a_start_tells_about_its_session() {
    let start = event(
        "session.start",
        &json!({"sessionId": "s", "producer": "copilot-agent", "copilotVersion": "1.0.64", "selectedModel": "m",
            "context": {"cwd": "/w", "branch": "main", "gitRoot": "/w"}}),
    );
    let facts = Facts {
        session: Some("s".into()),
        version: Some("1.0.64".into()),
        directory: Some("/w".into()),
        branch: Some("main".into()),
        model: Some("m".into()),
        ..Facts::default()
    };
    let at = AT.parse().ok();
    assert_eq!(outline(&start), Outline { id: Some("e1".into()), at, facts, ..Outline::default() });
    assert_eq!(step(&start), RecordStep::nothing());
}

#[test]
fn what_somebody_types_is_a_turn_and_what_is_put_there_is_not() {
    let asked = |data: &Value| {
        let event = event("user.message", data);
        let entry = step(&event).entries.remove(0);
        (outline(&event).mark, entry.text(), entry.flags.meta)
    };
    let turn = |words: &str| RecordMark::Turn(Some(words.to_owned()));
    let typed = json!({"content": "why?", "transformedContent": "<now/>why?", "attachments": []});
    assert_eq!(asked(&typed), (turn("why?"), "why?".to_owned(), false));
    assert_eq!(asked(&json!({"transformedContent": "why?"})), (turn("why?"), "why?".to_owned(), false));
    let skill = json!({"content": "be brave", "source": "skill-courage"});
    assert_eq!(asked(&skill), (RecordMark::None, "be brave".to_owned(), true));
    let autopilot = json!({"content": "go on", "isAutopilotContinuation": true});
    assert_eq!(asked(&autopilot).0, RecordMark::None);
}

#[test]
fn an_answer_thinks_speaks_and_calls() {
    let answer = json!({"content": "I look.", "model": "m", "reasoningText": "hm", "reasoningOpaque": "sealed", "toolRequests": [
        {"toolCallId": "c1", "name": "bash", "arguments": {"command": "ls"}, "type": "function"},
        {"toolCallId": "c2", "name": "read", "arguments": "{\"path\":\"a\"}", "type": "function"},
        {"toolCallId": "c3", "name": "apply_patch", "arguments": "*** Begin Patch", "type": "custom"},
    ]});
    let call = |id: &str, name: &str, input| EntryPart::ToolCall { id: id.into(), name: name.into(), input };
    assert_eq!(
        said("assistant.message", &answer),
        [
            EntryPart::Thinking { text: "hm".into(), seal: None },
            EntryPart::text("I look."),
            call("c1", "bash", ToolInput::Json(json!({"command": "ls"}))),
            call("c2", "read", ToolInput::Json(json!({"path": "a"}))),
            call("c3", "apply_patch", ToolInput::Text("*** Begin Patch".into())),
        ]
    );
}

#[test]
fn a_tool_answers_or_fails() {
    let result = |content: Vec<EntryPart>, is_error| EntryPart::ToolResult { call: "c1".into(), content, is_error };
    let done =
        json!({"toolCallId": "c1", "success": true, "result": {"content": "a.rs", "detailedContent": "a.rs, long"}});
    assert_eq!(said("tool.execution_complete", &done), [result(vec![EntryPart::text("a.rs")], Some(false))]);
    let failed = json!({"toolCallId": "c1", "success": false, "error": {"message": "no such file", "code": "failure"}});
    assert_eq!(said("tool.execution_complete", &failed), [result(vec![EntryPart::text("no such file")], Some(true))]);
    assert_eq!(said("tool.execution_complete", &json!({"toolCallId": "c1"})), [result(vec![], None)]);
}

#[test]
fn what_a_started_agent_says_lies_beside_the_conversation() {
    let told = event("assistant.message", &json!({"content": "done", "parentToolCallId": "c1"}));
    assert_eq!(outline(&told).lane.as_deref(), Some("c1"));
    assert!(step(&told).entries[0].flags.side_chain);
}

#[test]
fn a_compaction_takes_the_place_of_what_came_before_and_a_failed_one_does_not() {
    let asked = event("user.message", &json!({"content": "why?"}));
    let failed = event("session.compaction_complete", &json!({"success": false, "error": "no"}));
    let done = event("session.compaction_complete", &json!({"success": true, "summaryContent": "so far"}));
    assert_eq!(outline(&failed).mark, RecordMark::None);
    assert_eq!(outline(&done).mark, RecordMark::Compaction { after: None });
    let mut replay = Replay::default();
    for record in [&asked, &failed, &done] {
        replay.take(step(record));
    }
    assert_eq!(replay.entries().iter().map(Entry::text).collect::<Vec<_>>(), ["so far"]);
}

#[test]
fn instructions_that_come_again_take_the_place_of_those_before() {
    let mut replay = Replay::default();
    for content in ["be brief", "be kind"] {
        replay.take(step(&event("system.message", &json!({"role": "system", "content": content}))));
    }
    assert_eq!(replay.entries().iter().map(Entry::text).collect::<Vec<_>>(), ["be kind"]);
}
