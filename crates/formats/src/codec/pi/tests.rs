use contexture_core::{BlobSource, Format, Seal, SealScheme, ToolInput, Usage};
use serde_json::{Value, json};

use super::*;
use crate::{Codec as _, Dialogue, Replay, summary_entry};

const AT: &str = "2026-05-12T01:02:27.768Z";

fn outline(record: &Value) -> Outline {
    CODEC.outline(record.to_string().as_bytes()).unwrap()
}

fn step(record: &Value) -> RecordStep {
    CODEC.step(record.to_string().as_bytes()).unwrap()
}

fn message(id: &str, parent: Option<&str>, message: &Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": AT, "message": message})
}

fn said(content: &Value) -> Entry {
    entry(&json!({"role": "assistant", "api": "anthropic-messages", "content": content}))
}

/// Returns what a message says.
fn entry(content: &Value) -> Entry {
    let RecordStep { effect, mut entries } = step(&message("e1", None, content));
    assert_eq!((effect, entries.len()), (Effect::Append, 1));
    entries.remove(0)
}

fn replay(records: &[Value]) -> Vec<Entry> {
    let mut replay = Replay::default();
    for record in records {
        replay.take(step(record));
    }
    replay.into_entries()
}

fn texts(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(Entry::text).filter(|text| !text.is_empty()).collect()
}

fn asks(id: &str, parent: Option<&str>, text: &str) -> Value {
    message(id, parent, &json!({"role": "user", "content": text}))
}

#[test]
fn the_header_tells_about_the_session() {
    let path = "/home/a/.pi/agent/sessions/--repo--/2026-05-01T10-00-00-000Z_s0.jsonl";
    let header =
        json!({"type": "session", "version": 3, "id": "s1", "timestamp": AT, "cwd": "/repo", "parentSession": path});
    let facts = Facts {
        session: Some("s1".into()),
        origin: Some(SessionOrigin { session: "s0".into(), kind: OriginKind::Fork, at: None }),
        directory: Some("/repo".into()),
        ..Facts::default()
    };
    assert_eq!(outline(&header), Outline { at: AT.parse().ok(), link: Link::Root, facts, ..Outline::default() });
    assert_eq!(step(&header), RecordStep::nothing());
    let old = json!({"type": "session", "id": "s1", "cwd": "/", "modelId": "claude-opus-4-5", "branchedFrom": path});
    let facts = outline(&old).facts;
    assert_eq!(facts.model.as_deref(), Some("claude-opus-4-5"));
    assert_eq!(facts.origin.map(|origin| origin.session).as_deref(), Some("s0"));
}

#[test]
fn entries_form_a_tree() {
    let first = outline(&asks("a1", None, "go"));
    let expected = Outline {
        id: Some("a1".into()),
        link: Link::Root,
        at: AT.parse().ok(),
        mark: RecordMark::Turn(Some("go".into())),
        ..Outline::default()
    };
    assert_eq!(first, expected);
    assert_eq!(outline(&asks("a2", Some("a1"), "on")).link, Link::To("a1".into()));
    let entry = step(&asks("a2", Some("a1"), "on")).entries.remove(0);
    assert_eq!((entry.id.as_deref(), entry.parent.as_deref()), (Some("a2"), Some("a1")));
    assert_eq!((entry.role, entry.at), (Role::User, AT.parse().ok()));
}

#[test]
fn the_first_version_has_no_ids() {
    let record = json!({"type": "message", "timestamp": AT, "message": {"role": "user", "content": "go"}});
    assert_eq!((outline(&record).id, outline(&record).link), (None, Link::Previous));
    assert_eq!(texts(&replay(&[record])), ["go"]);
    let change = json!({"type": "model_change", "timestamp": AT, "provider": "anthropic", "modelId": "m"});
    assert_eq!(step(&change), RecordStep::nothing());
    let compaction = json!({"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 3});
    assert_eq!(step(&compaction).effect, Effect::Replace(Keep::Nothing));
}

#[test]
fn models_and_names_are_facts() {
    let change =
        json!({"type": "model_change", "id": "m", "parentId": null, "provider": "anthropic", "modelId": "claude"});
    assert_eq!(outline(&change).facts.model.as_deref(), Some("claude"));
    let named = json!({"type": "session_info", "id": "n", "parentId": "m", "name": "the fix"});
    assert_eq!(outline(&named).facts.title.as_deref(), Some("the fix"));
    let answer = message("a", None, &json!({"role": "assistant", "model": "claude", "content": []}));
    assert_eq!(outline(&answer).facts.model.as_deref(), Some("claude"));
    assert_eq!(outline(&answer).mark, RecordMark::None);
}

#[test]
fn an_answer_thinks_speaks_and_calls() {
    let answer = entry(&json!({
        "role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": "claude",
        "usage": {"input": 1, "output": 2, "cacheRead": 4, "cacheWrite": 8, "totalTokens": 15},
        "stopReason": "toolUse",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "EpEQ"},
            {"type": "text", "text": "look"},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
            {"type": "hologram", "beam": 1},
        ],
    }));
    let seal = Seal { scheme: SealScheme::AnthropicSignature, data: "EpEQ".into() };
    let parts = vec![
        EntryPart::Thinking { text: "hm".into(), seal: Some(seal) },
        EntryPart::text("look"),
        EntryPart::ToolCall { id: "c1".into(), name: "read".into(), input: ToolInput::Json(json!({"path": "a"})) },
        EntryPart::Native { kind: "hologram".into(), value: json!({"type": "hologram", "beam": 1}) },
    ];
    let usage = Usage { input: Some(13), output: Some(2), cache_read: Some(4), cache_write: Some(8), reasoning: None };
    let expected = Entry {
        id: Some("e1".into()),
        model: Some("claude".into()),
        at: AT.parse().ok(),
        usage: Some(usage),
        ..Entry::new(Role::Assistant, parts)
    };
    assert_eq!(answer, expected);
}

#[test]
fn signatures_are_seals_of_whoever_made_them() {
    let seals = |api: &str, block: &Value| -> Vec<Option<Seal>> {
        let entry = entry(&json!({"role": "assistant", "api": api, "content": [block]}));
        let seal = |part: EntryPart| match part {
            EntryPart::Thinking { seal, .. } => Some(seal),
            _ => None,
        };
        entry.parts.into_iter().filter_map(seal).collect()
    };
    let thinking = |signature: &str| json!({"type": "thinking", "thinking": "t", "thinkingSignature": signature});
    let seal = |scheme, data: &str| vec![Some(Seal { scheme, data: data.into() })];
    let reasoning = "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"gAAA\"}";
    for api in ["openai-responses", "openai-codex-responses"] {
        assert_eq!(seals(api, &thinking(reasoning)), seal(SealScheme::OpenaiEncrypted, "gAAA"));
    }
    assert_eq!(seals("google-gemini-cli", &thinking("Cg")), seal(SealScheme::GeminiSignature, "Cg"));
    let call = json!({"type": "toolCall", "id": "c", "name": "n", "arguments": {}, "thoughtSignature": "Cg"});
    assert_eq!(seals("google-generative-ai", &call), seal(SealScheme::GeminiSignature, "Cg"));
    assert_eq!(seals("openai-completions", &thinking("reasoning_content")), [None]);
    assert_eq!(seals("openai-responses", &thinking("rs_1")), [None]);
    let redacted =
        json!({"type": "thinking", "thinking": "[Reasoning redacted]", "thinkingSignature": "Eu", "redacted": true});
    assert_eq!(seals("anthropic-messages", &redacted), seal(SealScheme::AnthropicRedacted, "Eu"));
    assert!(matches!(&said(&json!([redacted])).parts[0], EntryPart::Thinking { text, .. } if text.is_empty()));
}

#[test]
fn results_say_whether_the_tool_failed() {
    let result = json!({
        "role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": true,
        "content": [{"type": "text", "text": "gone"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}],
    });
    let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
    let content = vec![EntryPart::text("gone"), image];
    let expected = EntryPart::ToolResult { call: "c1".into(), content, is_error: Some(true) };
    let entry = entry(&result);
    assert_eq!((entry.role, entry.parts), (Role::Tool, vec![expected]));
}

#[test]
fn what_broke_off_is_not_sent_again() {
    for reason in ["error", "aborted"] {
        let entry =
            entry(&json!({"role": "assistant", "stopReason": reason, "content": [{"type": "text", "text": "ha"}]}));
        assert_eq!(entry.flags, Flags { synthetic: true, ..Flags::default() });
    }
}

#[test]
fn what_nobody_typed_is_meta() {
    let meta = |entry: Entry| {
        assert_eq!((entry.role, entry.flags), (Role::User, Flags { meta: true, ..Flags::default() }));
        entry.text()
    };
    let bash = json!({"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 1, "cancelled": false});
    assert_eq!(meta(entry(&bash)), "Ran `ls`\n```\na\n```\n\nCommand exited with code 1");
    let quiet = json!({"role": "bashExecution", "command": "ls", "output": "", "exitCode": 0, "fullOutputPath": "/t"});
    assert_eq!(meta(entry(&quiet)), "Ran `ls`\n(no output)\n\n[Output truncated. Full output: /t]");
    assert_eq!(meta(entry(&json!({"role": "custom", "content": "note"}))), "note");
    let custom = json!({"type": "custom_message", "id": "c", "parentId": null, "customType": "x", "content": "note"});
    assert_eq!(meta(step(&custom).entries.remove(0)), "note");
    assert_eq!(outline(&custom).mark, RecordMark::None);
    let branch = json!({"type": "branch_summary", "id": "b", "parentId": null, "fromId": "a", "summary": "tried it"});
    assert!(meta(step(&branch).entries.remove(0)).ends_with("came back from:\n\n<summary>\ntried it</summary>"));
    let hidden = json!({"role": "bashExecution", "command": "ls", "output": "a", "excludeFromContext": true});
    assert_eq!(entry(&hidden).parts, []);
}

#[test]
fn a_compaction_keeps_everything_from_an_entry_on_even_one_that_says_nothing() {
    let change = |id: &str, parent: &str| json!({"type": "model_change", "id": id, "parentId": parent, "modelId": "m"});
    let compaction = json!({
        "type": "compaction", "id": "c1", "parentId": "a4", "timestamp": AT,
        "summary": "so far", "firstKeptEntryId": "a3", "tokensBefore": 19,
    });
    assert_eq!(outline(&compaction).mark, RecordMark::Compaction { after: Some("a4".into()) });
    let entries = replay(&[
        asks("a1", None, "one"),
        change("a2", "a1"),
        change("a3", "a2"),
        asks("a4", Some("a3"), "two"),
        compaction,
        asks("a5", Some("c1"), "three"),
    ]);
    assert_eq!(texts(&entries), ["so far", "two", "three"]);
    assert_eq!(entries[0].parts, [EntryPart::Summary { text: "so far".into() }]);
    assert_eq!(Dialogue::of(entries).losses.counts(), []);
}

#[test]
fn a_compaction_may_bring_its_tail_along() {
    let tail =
        json!([{"role": "user", "content": "two"}, {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}]);
    let compaction =
        json!({"type": "compaction", "id": "c1", "parentId": "a1", "summary": "so far", "retainedTail": tail});
    let entries = replay(&[asks("a1", None, "one"), compaction]);
    assert_eq!(texts(&entries), ["so far", "two", "ok"]);

    let ours = summary_entry(&Format::new("pi-v1").unwrap(), "done").unwrap();
    let step = CODEC.step(&ours).unwrap();
    assert_eq!((step.effect, texts(&step.entries)), (Effect::Replace(Keep::Nothing), vec!["done".to_owned()]));
}

#[test]
fn what_is_no_record_is_refused_and_what_is_unknown_is_not() {
    for record in [&b""[..], b"nope", b"[1]", b"{\"id\":"] {
        assert!(CODEC.step(record).is_err() && CODEC.outline(record).is_err());
    }
    for record in [json!({}), json!({"type": "later", "message": 3}), json!({"type": "message"})] {
        assert_eq!(step(&record), RecordStep::nothing(), "{record}");
        assert_eq!(outline(&record), Outline::default(), "{record}");
    }
    let unknown = json!({"role": "hologram", "beam": 1});
    assert_eq!(entry(&unknown).parts, [EntryPart::Native { kind: "hologram".into(), value: unknown }]);
    let placeholder = Entry { id: Some("l".into()), ..silent() };
    assert_eq!(step(&json!({"type": "label", "id": "l", "label": "x"})), RecordStep::append(placeholder));
}
