use contexture_core::{BlobSource, Entry, EntryPart, Flags, Format, Role, Seal, SealScheme, ToolInput, Usage};
use serde_json::{Value, json};

use super::*;
use crate::{Codec as _, Dialogue, Replay, summary_entry};

const AT: &str = "2026-04-29T21:39:33.155Z";

fn outline(record: &Value) -> Outline {
    CODEC.outline(record.to_string().as_bytes()).unwrap()
}

fn step(record: &Value) -> RecordStep {
    CODEC.step(record.to_string().as_bytes()).unwrap()
}

fn message(kind: &str, id: &str, content: &Value) -> Value {
    json!({"id": id, "timestamp": AT, "type": kind, "content": content})
}

/// Returns the parts of the entries that a message says.
fn parts(record: &Value) -> Vec<Vec<EntryPart>> {
    let RecordStep { effect, entries } = step(record);
    assert_eq!(effect, Effect::Upsert);
    entries.into_iter().map(|entry| entry.parts).collect()
}

fn replay(records: &[Value]) -> Vec<Entry> {
    let mut replay = Replay::default();
    for record in records {
        replay.take(step(record));
    }
    replay.into_entries()
}

fn texts(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(Entry::text).collect()
}

#[test]
fn the_first_line_and_updates_tell_about_the_session() {
    let first = json!({"sessionId": "s", "projectHash": "h", "startTime": AT, "lastUpdated": AT, "kind": "main"});
    let facts = Facts { session: Some("s".into()), ..Facts::default() };
    assert_eq!(outline(&first), Outline { at: AT.parse().ok(), link: Link::Root, facts, ..Outline::default() });
    assert_eq!(step(&first), RecordStep::nothing());
    let update = json!({"$set": {"summary": "the fix", "lastUpdated": AT}});
    assert_eq!(outline(&update).facts.title.as_deref(), Some("the fix"));
    assert_eq!(step(&update), RecordStep::nothing());
}

#[test]
fn a_users_message_begins_a_turn() {
    let asked = message("user", "u1", &json!([{"text": "go"}]));
    let expected = Outline {
        id: Some("u1".into()),
        at: AT.parse().ok(),
        mark: RecordMark::Turn(Some("go".into())),
        ..Outline::default()
    };
    assert_eq!(outline(&asked), expected);
    let entry =
        Entry { id: Some("u1".into()), at: AT.parse().ok(), ..Entry::new(Role::User, vec![EntryPart::text("go")]) };
    assert_eq!(step(&asked), RecordStep { effect: Effect::Upsert, entries: vec![entry] });
    assert_eq!(parts(&message("user", "u1", &json!("go"))), [[EntryPart::text("go")]]);
    assert_eq!(
        parts(&message("user", "u1", &json!(["go", {"text": "on"}]))),
        [[EntryPart::text("go"), EntryPart::text("on")]]
    );
}

#[test]
fn what_is_not_sent_again_is_meta() {
    for text in ["/help", " ?", "<session_context>x", "<hook_context>", ""] {
        let record = message("user", "u", &json!([{"text": text}]));
        assert_eq!(outline(&record).mark, RecordMark::None, "{text}");
        assert_eq!(step(&record).entries[0].flags, Flags { meta: true, ..Flags::default() }, "{text}");
    }
    for kind in ["info", "error", "warning", "tomorrow"] {
        assert_eq!(step(&message(kind, "i", &json!("x"))), RecordStep::nothing(), "{kind}");
        assert_eq!(outline(&message(kind, "i", &json!("x"))).mark, RecordMark::None, "{kind}");
    }
}

fn calling(result: &Value, status: &str) -> Value {
    let call = json!({"id": "c1", "name": "read", "args": {"path": "a"}, "status": status, "result": result});
    json!({
        "id": "g1", "timestamp": AT, "type": "gemini", "content": "look", "model": "gemini-3",
        "thoughts": [{"subject": "Plan", "description": "read it"}],
        "tokens": {"input": 10, "output": 2, "cached": 5, "thoughts": 3, "tool": 0, "total": 15},
        "toolCalls": [call],
    })
}

fn response(response: &Value) -> Value {
    json!([{"functionResponse": {"id": "c1", "name": "read", "response": response}}])
}

fn call() -> EntryPart {
    EntryPart::ToolCall { id: "c1".into(), name: "read".into(), input: ToolInput::Json(json!({"path": "a"})) }
}

fn result(text: &str, is_error: Option<bool>) -> EntryPart {
    EntryPart::ToolResult { call: "c1".into(), content: vec![EntryPart::text(text)], is_error }
}

#[test]
fn an_answer_thinks_speaks_and_calls_and_its_results_follow() {
    let step = step(&calling(&response(&json!({"output": "text"})), "success"));
    let (answer, results) = (&step.entries[0], &step.entries[1]);
    let thought = EntryPart::Thinking { text: "Plan\nread it".into(), seal: None };
    assert_eq!(answer.parts, [thought, EntryPart::text("look"), call()]);
    assert_eq!((answer.id.as_deref(), answer.model.as_deref()), (Some("g1"), Some("gemini-3")));
    let usage = Usage { input: Some(10), output: Some(5), cache_read: Some(5), cache_write: None, reasoning: Some(3) };
    assert_eq!(answer.usage, Some(usage));
    assert_eq!(results.parts, [result("text", Some(false))]);
    assert_eq!((results.id.as_deref(), results.role), (Some("g1/results"), Role::Tool));
    // An answer comes again under its id, so the id is no id of the record.
    assert_eq!(outline(&calling(&json!(null), "success")).id, None);
}

#[test]
fn results_have_many_forms() {
    let results = |result: &Value, status| parts(&calling(result, status)).remove(1);
    assert_eq!(results(&json!("plain"), "success"), [result("plain", Some(false))]);
    assert_eq!(results(&response(&json!({"error": "gone"})), "error"), [result("gone", Some(true))]);
    assert_eq!(results(&response(&json!({"error": "gone"})), "scheduled"), [result("gone", Some(true))]);
    assert_eq!(results(&response(&json!({"output": {"n": 1}})), "success"), [result("{\"n\":1}", Some(false))]);
    assert_eq!(results(&response(&json!({"n": 1})), "cancelled"), [result("{\"n\":1}", Some(true))]);
    assert_eq!(results(&json!(null), "executing"), []);
    let both = json!([
        {"functionResponse": {"id": "c0", "name": "read", "response": {"output": "other"}}},
        {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "own"}}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
    ]);
    let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
    let content = vec![EntryPart::text("own"), image];
    assert_eq!(
        results(&both, "success"),
        [EntryPart::ToolResult { call: "c1".into(), content, is_error: Some(false) }]
    );
}

#[test]
fn parts_of_the_api_are_read_where_they_are_the_content() {
    let content = json!([
        {"text": "hm", "thought": true, "thoughtSignature": "S1"},
        {"functionCall": {"id": "c1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "S2"},
        {"fileData": {"mimeType": "text/plain", "fileUri": "gs://a"}},
        {"executableCode": {"code": "1"}},
    ]);
    let sealed = |text: &str, data: &str| EntryPart::Thinking {
        text: text.into(),
        seal: Some(Seal { scheme: SealScheme::GeminiSignature, data: data.into() }),
    };
    let file = EntryPart::Blob { media_type: "text/plain".into(), source: BlobSource::Url("gs://a".into()) };
    let native = EntryPart::Native { kind: "part".into(), value: json!({"executableCode": {"code": "1"}}) };
    let expected = vec![sealed("hm", "S1"), sealed("", "S2"), call(), file, native];
    let mut record = calling(&response(&json!({"output": "text"})), "success");
    record["content"] = content;
    // The call is there twice, and thoughts beside thoughts in the content are the same ones.
    assert_eq!(parts(&record), [expected, vec![result("text", Some(false))]]);

    let responded = message("user", "u2", &response(&json!({"output": "text"})));
    let step = step(&responded);
    assert_eq!((step.entries[0].role, step.entries[0].parts.clone()), (Role::Tool, vec![result("text", None)]));
    assert_eq!(outline(&responded).mark, RecordMark::None);
}

#[test]
fn calls_without_ids_are_known_by_their_names() {
    let mut record = calling(&json!("text"), "success");
    record["toolCalls"][0]["id"].take();
    record["content"] = json!([{"functionCall": {"name": "read", "args": {"path": "a"}}}]);
    let entries = step(&record).entries;
    let dialogue = Dialogue::of(entries);
    assert_eq!(dialogue.turns.len(), 3);
    let counts: Vec<_> = dialogue.losses.counts().iter().map(|count| count.count).collect();
    assert_eq!(counts, [1], "only the opening is invented");
}

#[test]
fn a_newer_version_takes_the_place_of_a_message_and_its_results() {
    let entries = replay(&[
        message("user", "u1", &json!("go")),
        calling(&json!(null), "executing"),
        message("user", "u2", &json!("hurry")),
        calling(&response(&json!({"output": "text"})), "success"),
    ]);
    let ids: Vec<_> = entries.iter().filter_map(|entry| entry.id.as_deref()).collect();
    assert_eq!(ids, ["u1", "g1", "g1/results", "u2"]);
    assert_eq!(entries[2].parts, [result("text", Some(false))]);
}

#[test]
fn setting_the_messages_replaces_them() {
    let set = json!({"$set": {"messages": [message("user", "u9", &json!("anew"))], "lastUpdated": AT}});
    assert_eq!(outline(&set).mark, RecordMark::None);
    let compressed = json!({"$set": {"messages": [message("user", "u9", &json!("<state_snapshot>…"))]}});
    assert_eq!(outline(&compressed).mark, RecordMark::Compaction { after: None });
    let entries = replay(&[message("user", "u1", &json!("go")), set, message("gemini", "g2", &json!("ok"))]);
    assert_eq!(texts(&entries), ["anew", "ok"]);

    let ours = summary_entry(&Format::new("gemini-v1").unwrap(), "/all done").unwrap();
    let entry = CODEC.step(&ours).unwrap().entries.remove(0);
    assert_eq!(entry.parts, [EntryPart::Summary { text: "/all done".into() }]);
    assert_eq!(entry.flags, Flags { compact_summary: true, ..Flags::default() });
}

#[test]
fn rewinding_takes_back_a_message_and_all_after_it() {
    let back = json!({"$rewindTo": "u2"});
    assert_eq!(outline(&back).mark, RecordMark::Rewind(Rewind::Before("u2".into())));
    let entries = replay(&[
        message("user", "u1", &json!("one")),
        calling(&json!("text"), "success"),
        message("user", "u2", &json!("two")),
        message("gemini", "g2", &json!("no")),
        back,
        message("user", "u3", &json!("three")),
    ]);
    assert_eq!(texts(&entries), ["one", "look", "", "three"]);
}

#[test]
fn a_whole_document_is_one_record() {
    let document = json!({
        "sessionId": "s", "projectHash": "h", "startTime": AT, "lastUpdated": "2026-04-30T00:00:00Z", "summary": "the fix",
        "messages": [
            message("info", "i", &json!("hello")),
            message("user", "u0", &json!("/help")),
            message("user", "u1", &json!("go")),
            calling(&json!("text"), "success"),
        ],
    });
    let pretty = serde_json::to_vec_pretty(&document).unwrap();
    let outline = CODEC.outline(&pretty).unwrap();
    assert_eq!(outline.mark, RecordMark::Turn(Some("go".into())));
    assert_eq!(outline.at, "2026-04-30T00:00:00Z".parse().ok());
    assert_eq!((outline.facts.session.as_deref(), outline.facts.title.as_deref()), (Some("s"), Some("the fix")));
    let step = CODEC.step(&pretty).unwrap();
    assert_eq!(step.effect, Effect::Replace(Keep::Nothing));
    assert_eq!(texts(&step.entries), ["/help", "go", "look", ""]);
}

#[test]
fn what_is_no_record_is_refused_and_what_is_unknown_is_not() {
    for record in [&b""[..], b"nope", b"[1]", b"{\"id\":"] {
        assert!(CODEC.step(record).is_err() && CODEC.outline(record).is_err());
    }
    for record in [json!({}), json!({"later": 1}), json!({"id": 3, "$set": []}), json!({"$set": {"messages": {}}})] {
        assert_eq!(step(&record), RecordStep::nothing(), "{record}");
        assert_eq!(outline(&record), Outline::default(), "{record}");
    }
}
