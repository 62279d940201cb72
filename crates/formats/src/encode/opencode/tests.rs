use contexture_core::{BlobSource, Entry, EntryPart, Role, Seal, SealScheme};
use serde_json::{Value, json};

use super::OpencodeEncoder;
use crate::{
    dialogue::LossKind,
    encode::samples::{self, assistant, call, result, user},
};

/// A role and its parts.
type SaidMessage = (String, Value);

/// Returns who says what: the role, the parts without ids and spans, and what was lost.
fn said(entries: Vec<Entry>) -> (Vec<SaidMessage>, Vec<(LossKind, u64)>) {
    let (export, losses) = samples::encode(&OpencodeEncoder, entries);
    let mut last = String::new();
    let messages = export["messages"].as_array().unwrap().iter().map(|message| {
        let mut parts = message["parts"].clone();
        for part in parts.as_array_mut().unwrap() {
            assert_eq!(part["sessionID"], export["info"]["id"]);
            assert_eq!(part["messageID"], message["info"]["id"]);
            let id = part["id"].as_str().unwrap();
            assert!(id[4..16] > *last, "{id} comes after {last}");
            last = id[4..16].to_owned();
            let part = part.as_object_mut().unwrap();
            for key in ["id", "sessionID", "messageID", "time", "cost", "tokens"] {
                part.remove(key);
            }
        }
        (message["info"]["role"].as_str().unwrap().to_owned(), parts)
    });
    (messages.collect(), losses)
}

#[test]
fn a_call_and_its_result_are_one_part() {
    let image = || EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
    let (messages, losses) = said(vec![
        user(vec![EntryPart::text("go"), image()]),
        assistant(vec![call("a", json!({"n": 1})), call("b", json!({}))]),
        user(vec![result("a", vec![EntryPart::text("x"), image()], None), result("b", vec![image()], Some(true))]),
        assistant(vec![EntryPart::text("done")]),
    ]);
    let (start, file) = (json!({"type": "step-start"}), json!("data:image/png;base64,AA=="));
    let end = |reason: &str| json!({"type": "step-finish", "reason": reason});
    assert_eq!(
        messages[0].1,
        json!([{"type": "text", "text": "go"}, {"type": "file", "mime": "image/png", "url": file}])
    );
    let tools = messages[1].1.as_array().unwrap();
    assert_eq!((&tools[0], &tools[3]), (&start, &end("tool-calls")));
    let state = &tools[1]["state"];
    assert_eq!(
        (&state["status"], &state["input"], &state["output"]),
        (&json!("completed"), &json!({"n": 1}), &json!("x"))
    );
    assert_eq!(state["attachments"][0]["url"], file);
    let state = &tools[2]["state"];
    assert_eq!((&state["status"], &state["error"]), (&json!("error"), &json!("[image/png]")));
    assert_eq!(messages[2], ("assistant".into(), json!([start, {"type": "text", "text": "done"}, end("stop")])));
    assert_eq!((messages.len(), losses), (3, vec![(LossKind::BlobAsNote, 1)]));
}

#[test]
fn a_summary_at_the_beginning_is_a_compaction_and_instructions_follow_it() {
    let summary = || EntryPart::Summary { text: "so far".into() };
    let (messages, losses) = said(vec![
        Entry::new(Role::System, vec![EntryPart::text("be brief")]),
        user(vec![summary(), EntryPart::text("go on")]),
        assistant(vec![EntryPart::text("ok")]),
        user(vec![summary()]),
    ]);
    let roles: Vec<&str> = messages.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(messages[0].1, json!([{"type": "compaction", "auto": false}]));
    assert_eq!(messages[1].1[1], json!({"type": "text", "text": "so far"}));
    let instructions = json!({"type": "text", "text": "be brief", "synthetic": true});
    assert_eq!(messages[2].1, json!([instructions, {"type": "text", "text": "go on"}]));
    assert_eq!(messages[4].1[0]["text"], "Summary of the conversation so far:\n\nso far");
    assert_eq!(losses, [(LossKind::SystemAsUser, 1)]);
    let (messages, _) = said(vec![Entry::new(Role::System, vec![EntryPart::text("be brief")])]);
    assert_eq!(messages, [("user".into(), json!([instructions]))]);
}

#[test]
fn reasoning_keeps_the_seal_of_the_models_provider() {
    let thinking =
        |text: &str, scheme| EntryPart::Thinking { text: text.into(), seal: Some(Seal { scheme, data: "sig".into() }) };
    let answer = assistant(vec![
        thinking("signed", SealScheme::AnthropicSignature),
        thinking("", SealScheme::AnthropicRedacted),
        thinking("foreign", SealScheme::OpenaiEncrypted),
        thinking("", SealScheme::GeminiSignature),
    ]);
    let answer = Entry { model: Some("claude-opus-4-5".into()), ..answer };
    let (messages, losses) = said(vec![user(vec![EntryPart::text("go")]), answer]);
    let reasoning = messages[1].1.as_array().unwrap();
    assert_eq!(
        reasoning[1..4],
        [
            json!({"type": "reasoning", "text": "signed", "metadata": {"anthropic": {"signature": "sig"}}}),
            json!({"type": "reasoning", "text": "", "metadata": {"anthropic": {"redactedData": "sig"}}}),
            json!({"type": "reasoning", "text": "foreign"}),
        ]
    );
    assert_eq!((reasoning.len(), losses), (5, vec![(LossKind::SealedThinking, 2)]));
}

#[test]
fn the_session_is_described_as_opencode_describes_one() {
    let (export, _) = samples::encode(&OpencodeEncoder, vec![]);
    let now = 1_794_736_800_000_i64;
    let id = export["info"]["id"].as_str().unwrap();
    assert!(id.starts_with("ses_") && id.len() == 30, "{id}");
    let expected = json!({"id": id, "slug": id, "projectID": "global", "directory": "/work",
        "title": "New session - 2026-11-15T10:00:00.000Z", "version": "1.18.0", "time": {"created": now, "updated": now}});
    assert_eq!((&export["info"], &export["messages"]), (&expected, &json!([])));
}
