//! What the encoders write for one small conversation, to the byte.

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, Seal, SealScheme, ToolInput};
use contexture_formats::{Dialogue, EncodedDialogue, dialogue::LossKind};
use serde_json::json;

use crate::translate::encode;

fn dialogue() -> Dialogue {
    let call = |id: &str, name: &str, input| EntryPart::ToolCall { id: id.into(), name: name.into(), input };
    let result = |call: &str, text: &str, is_error| EntryPart::ToolResult {
        call: call.into(),
        content: vec![EntryPart::text(text)],
        is_error: Some(is_error),
    };
    let seal = Some(Seal { scheme: SealScheme::AnthropicSignature, data: "c2ln".into() });
    let flags = Flags { compact_summary: true, ..Flags::default() };
    Dialogue::of(vec![
        Entry::new(Role::System, vec![EntryPart::text("Be brief.")]),
        Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text: "The test is flaky.".into() }]) },
        Entry {
            at: Some("2026-11-15T09:00:00Z".parse().unwrap()),
            ..Entry::new(
                Role::User,
                vec![
                    EntryPart::text("Why?\n\"Here\":"),
                    EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) },
                ],
            )
        },
        Entry {
            model: Some("claude-x".into()),
            at: Some("2026-11-15T09:00:05Z".parse().unwrap()),
            ..Entry::new(
                Role::Assistant,
                vec![
                    EntryPart::Thinking { text: "Ports, perhaps.".into(), seal },
                    EntryPart::text("I look."),
                    call("toolu_1", "Bash", ToolInput::Json(json!({"command": "ls", "timeout": 5}))),
                    call("toolu_2", "apply_patch", ToolInput::Text("*** Begin Patch".into())),
                ],
            )
        },
        Entry::new(Role::User, vec![result("toolu_1", "a.rs\nb.rs", false), result("toolu_2", "no such file", true)]),
        Entry {
            model: Some("claude-x".into()),
            ..Entry::new(Role::Assistant, vec![EntryPart::text("It connects too early.")])
        },
        Entry::new(Role::User, vec![EntryPart::text("Fix it.")]),
    ])
}

fn check(format: &str, expected: &str, lost: &[(LossKind, u64)]) {
    let EncodedDialogue { bytes, losses } = encode(format, &dialogue());
    // One record a line reads better here than it would in what is written.
    let expected: String =
        if format == "text" { expected.to_owned() } else { expected.lines().map(str::trim).collect() };
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    assert_eq!(losses.counts().iter().map(|count| (count.loss, count.count)).collect::<Vec<_>>(), lost);
}

#[test]
fn anthropic_messages() {
    check(
        "anthropic-messages-v1",
        r#"[{"role":"user","content":[{"type":"text","text":"[system instructions]\nBe brief."},
            {"type":"text","text":"The test is flaky."},{"type":"text","text":"Why?\n\"Here\":"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},
            {"role":"assistant","content":[{"type":"thinking","thinking":"Ports, perhaps.","signature":"c2ln"},
            {"type":"text","text":"I look."},
            {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls","timeout":5}},
            {"type":"tool_use","id":"toolu_2","name":"apply_patch","input":{"input":"*** Begin Patch"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.rs\nb.rs"},
            {"type":"tool_result","tool_use_id":"toolu_2","content":"no such file","is_error":true}]},
            {"role":"assistant","content":[{"type":"text","text":"It connects too early."}]},
            {"role":"user","content":[{"type":"text","text":"Fix it."}]}]"#,
        &[(LossKind::InputWrapped, 1), (LossKind::SystemAsUser, 1)],
    );
}

#[test]
fn openai_chat() {
    check(
        "openai-chat-v1",
        r#"[{"role":"system","content":"Be brief."},
            {"role":"user","content":[{"type":"text","text":"The test is flaky."},{"type":"text","text":"Why?\n\"Here\":"},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},
            {"role":"assistant","content":[{"type":"text","text":"<thinking>\nPorts, perhaps.\n</thinking>"},
            {"type":"text","text":"I look."}],"tool_calls":[
            {"id":"toolu_1","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\",\"timeout\":5}"}},
            {"id":"toolu_2","type":"custom","custom":{"name":"apply_patch","input":"*** Begin Patch"}}]},
            {"role":"tool","tool_call_id":"toolu_1","content":"a.rs\nb.rs"},
            {"role":"tool","tool_call_id":"toolu_2","content":"[the tool failed]\nno such file"},
            {"role":"assistant","content":"It connects too early."},
            {"role":"user","content":"Fix it."}]"#,
        &[(LossKind::ThinkingAsText, 1)],
    );
}

#[test]
fn openai_responses() {
    check(
        "openai-responses-v1",
        r#"[{"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."}]},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"The test is flaky."},
            {"type":"input_text","text":"Why?\n\"Here\":"},
            {"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"auto"}]},
            {"type":"message","role":"assistant","content":[
            {"type":"output_text","text":"<thinking>\nPorts, perhaps.\n</thinking>"},
            {"type":"output_text","text":"I look."}]},
            {"type":"function_call","call_id":"toolu_1","name":"Bash","arguments":"{\"command\":\"ls\",\"timeout\":5}"},
            {"type":"custom_tool_call","call_id":"toolu_2","name":"apply_patch","input":"*** Begin Patch"},
            {"type":"function_call_output","call_id":"toolu_1","output":"a.rs\nb.rs"},
            {"type":"custom_tool_call_output","call_id":"toolu_2","output":"[the tool failed]\nno such file"},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"It connects too early."}]},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it."}]}]"#,
        &[(LossKind::ThinkingAsText, 1)],
    );
}

#[test]
fn atif() {
    check(
        "atif-v1",
        r#"{"schema_version":"ATIF-v1.7","session_id":"0193c5a0-0000-7000-8000-000000000001",
            "agent":{"name":"contexture","version":"unknown","model_name":"claude-x"},"steps":[
            {"step_id":1,"source":"system","message":"Be brief."},
            {"step_id":2,"source":"user","message":[{"type":"text","text":"The test is flaky."},
            {"type":"text","text":"Why?\n\"Here\":"},{"type":"text","text":"[image/png]"}]},
            {"step_id":3,"timestamp":"2026-11-15T09:00:05.000000Z","source":"agent","model_name":"claude-x",
            "message":"I look.","reasoning_content":"Ports, perhaps.","tool_calls":[
            {"tool_call_id":"toolu_1","function_name":"Bash","arguments":{"command":"ls","timeout":5}},
            {"tool_call_id":"toolu_2","function_name":"apply_patch","arguments":{"input":"*** Begin Patch"}}],
            "observation":{"results":[{"source_call_id":"toolu_1","content":"a.rs\nb.rs"},
            {"source_call_id":"toolu_2","content":"no such file","extra":{"is_error":true}}]}},
            {"step_id":4,"source":"agent","model_name":"claude-x","message":"It connects too early."},
            {"step_id":5,"source":"user","message":"Fix it."}]}"#,
        &[(LossKind::BlobAsNote, 1), (LossKind::InputWrapped, 1)],
    );
}

#[test]
fn text() {
    check(
        "text",
        r#"# Fix the test

Summary of the conversation so far:
  The test is flaky.

Instructions:
  Be brief.

User:
  Why?
  "Here":
  [image/png]

Assistant (claude-x), 2026-11-15T09:00:05Z:
* thinks:
    Ports, perhaps.
  I look.
* calls Bash: {"command":"ls","timeout":5}
* Bash answers:
    a.rs
    b.rs
* calls apply_patch:
    *** Begin Patch
* apply_patch fails:
    no such file

Assistant (claude-x):
  It connects too early.

User:
  Fix it.
"#,
        &[(LossKind::BlobAsNote, 1), (LossKind::ThinkingAsText, 1)],
    );
}
