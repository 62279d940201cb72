use contexture_core::{BlobSource, Flags, Seal, SealScheme, ToolInput};
use serde_json::{Value, json};

use super::*;
use crate::{Codec as _, Dialogue, Replay, dialogue::Speaker, summary_entry};

const AT: &str = "2026-06-17T10:07:16.816Z";

fn line(kind: &str, payload: &Value) -> Vec<u8> {
    json!({"timestamp": AT, "type": kind, "payload": payload}).to_string().into_bytes()
}

fn outline(kind: &str, payload: &Value) -> Outline {
    CODEC.outline(&line(kind, payload)).unwrap()
}

fn step(kind: &str, payload: &Value) -> RecordStep {
    CODEC.step(&line(kind, payload)).unwrap()
}

/// Returns what one item says, without its time.
fn item(payload: &Value) -> Entry {
    let RecordStep { effect, mut entries } = step("response_item", payload);
    assert_eq!((effect, entries.len()), (Effect::Append, 1));
    let entry = entries.remove(0);
    assert_eq!(entry.at, AT.parse().ok());
    Entry { at: None, ..entry }
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
}

fn meta() -> Flags {
    Flags { meta: true, ..Flags::default() }
}

#[test]
fn the_session_tells_about_itself() {
    let meta = json!({
        "id": "s1", "session_id": "s1", "cwd": "/repo", "cli_version": "0.140.0", "source": "cli",
        "git": {"branch": "main"}, "forked_from_id": "s0", "base_instructions": {"text": "long"},
    });
    let facts = Facts {
        session: Some("s1".into()),
        origin: Some(SessionOrigin { session: "s0".into(), kind: OriginKind::Fork, at: None }),
        version: Some("0.140.0".into()),
        directory: Some("/repo".into()),
        branch: Some("main".into()),
        ..Facts::default()
    };
    let expected = Outline { at: AT.parse().ok(), link: Link::Root, facts, ..Outline::default() };
    assert_eq!(outline("session_meta", &meta), expected);
    assert_eq!(step("session_meta", &meta), RecordStep::nothing());
}

#[test]
fn a_sub_agent_names_the_session_that_started_it() {
    let spawn = json!({"parent_thread_id": "p", "depth": 1});
    let meta = json!({"id": "s", "forked_from_id": "p", "source": {"subagent": {"thread_spawn": spawn}}});
    let origin = SessionOrigin { session: "p".into(), kind: OriginKind::Parent, at: None };
    assert_eq!(outline("session_meta", &meta).facts.origin, Some(origin.clone()));
    let review = json!({"id": "s", "parent_thread_id": "p", "source": {"subagent": "review"}});
    assert_eq!(outline("session_meta", &review).facts.origin, Some(origin));
}

#[test]
fn turn_contexts_and_renamings_are_facts() {
    let facts = outline("turn_context", &json!({"model": "gpt-5", "cwd": "/there", "turn_id": "t"})).facts;
    assert_eq!((facts.model.as_deref(), facts.directory.as_deref()), (Some("gpt-5"), Some("/there")));
    let renamed = json!({"type": "thread_name_updated", "thread_name": "the fix"});
    assert_eq!(outline("event_msg", &renamed).facts.title.as_deref(), Some("the fix"));
}

#[test]
fn a_turn_begins_with_what_a_person_typed_and_not_with_the_event_after_it() {
    let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    assert_eq!(outline("response_item", &message("user", "go")).mark, RecordMark::Turn(Some("go".into())));
    let injected = message("user", "<environment_context>here</environment_context>");
    let events = [
        json!({"type": "user_message", "message": "go", "images": []}),
        json!({"type": "agent_message", "message": "done"}),
        json!({"type": "token_count"}),
        json!({"type": "item_completed", "item": {"type": "UserMessage", "content": []}}),
    ];
    for item in [&injected, &message("assistant", "hi"), &message("developer", "be brief")] {
        assert_eq!(outline("response_item", item).mark, RecordMark::None, "{item}");
    }
    for event in &events {
        assert_eq!(
            (outline("event_msg", event).mark, step("event_msg", event)),
            (RecordMark::None, RecordStep::nothing()),
            "{event}"
        );
    }
}

#[test]
fn messages_have_the_role_that_they_speak_in() {
    let entry = |role, flags, text: &str| Entry { flags, ..Entry::new(role, vec![EntryPart::text(text)]) };
    assert_eq!(item(&message("user", "go")), entry(Role::User, Flags::default(), "go"));
    assert_eq!(item(&message("developer", "be brief")), entry(Role::System, meta(), "be brief"));
    let answer =
        json!({"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "ok"}]});
    assert_eq!(item(&answer), Entry { id: Some("m1".into()), ..entry(Role::Assistant, Flags::default(), "ok") });
    assert_eq!(outline("response_item", &answer).id.as_deref(), Some("m1"));
    let untyped = json!({"role": "assistant", "content": [{"type": "output_text", "text": "ok"}]});
    assert_eq!(item(&untyped), entry(Role::Assistant, Flags::default(), "ok"));
}

#[test]
fn what_codex_puts_into_the_users_mouth_is_meta() {
    for text in ["<environment_context>\n<cwd>/</cwd>", "# AGENTS.md instructions for /repo", " <turn_aborted>\nx"] {
        assert_eq!(item(&message("user", text)).flags, meta(), "{text}");
    }
    let both = json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "# AGENTS.md instructions for /"},
        {"type": "input_text", "text": "<environment_context/>"},
    ]});
    assert_eq!(item(&both).flags, meta());
    assert_eq!(item(&message("user", "<div> is odd")).flags, Flags::default());
}

#[test]
fn images_are_blobs() {
    let shown = json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        {"type": "input_image", "image_url": "https://a/b.png"},
        {"type": "input_hologram", "beam": 1},
    ]});
    let blob = |media_type: &str, source| EntryPart::Blob { media_type: media_type.into(), source };
    let expected = vec![
        EntryPart::text("look"),
        blob("image/png", BlobSource::Base64("AA==".into())),
        blob("image/*", BlobSource::Url("https://a/b.png".into())),
        EntryPart::Native { kind: "input_hologram".into(), value: json!({"type": "input_hologram", "beam": 1}) },
    ];
    assert_eq!(item(&shown).parts, expected);
}

#[test]
fn reasoning_is_thinking_under_a_seal() {
    let reasoning = json!({
        "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "content": [{"type": "reasoning_text", "text": "c"}],
    });
    let seal = Seal { scheme: SealScheme::OpenaiEncrypted, data: "gAAA".into() };
    let entry = item(&reasoning);
    assert_eq!(entry.parts, [EntryPart::Thinking { text: "a\n\nb\n\nc".into(), seal: Some(seal) }]);
    assert_eq!((entry.role, entry.id.as_deref()), (Role::Assistant, Some("rs_1")));
    let bare = json!({"type": "reasoning", "summary": [], "content": null, "encrypted_content": null});
    assert_eq!(item(&bare).parts, [EntryPart::Thinking { text: String::new(), seal: None }]);
}

fn call(payload: &Value) -> (String, String, ToolInput) {
    let entry = item(payload);
    assert_eq!(entry.role, Role::Assistant);
    match entry.parts.into_iter().next() {
        Some(EntryPart::ToolCall { id, name, input }) => (id, name, input),
        other => panic!("{other:?} is no call"),
    }
}

#[test]
fn every_kind_of_call_is_one() {
    let of = |id: &str, name: &str, input| (id.to_owned(), name.to_owned(), input);
    let function =
        json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c"});
    assert_eq!(call(&function), of("c", "shell", ToolInput::Json(json!({"command": ["ls"]}))));
    let broken = json!({"type": "function_call", "name": "shell", "arguments": "{\"comm", "call_id": "c"});
    assert_eq!(call(&broken), of("c", "shell", ToolInput::Text("{\"comm".into())));
    let empty = json!({"type": "function_call", "name": "now", "arguments": "", "call_id": "c"});
    assert_eq!(call(&empty), of("c", "now", ToolInput::Json(json!({}))));
    let served =
        json!({"type": "function_call", "namespace": "mcp__wiki", "name": "ask", "arguments": "{}", "call_id": "c"});
    assert_eq!(call(&served), of("c", "mcp__wiki__ask", ToolInput::Json(json!({}))));
    let custom = json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c"});
    assert_eq!(call(&custom), of("c", "apply_patch", ToolInput::Text("*** Begin".into())));
    let shell = json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}});
    let action = ToolInput::Json(json!({"type": "exec", "command": ["ls"]}));
    assert_eq!(call(&shell), of("c", "local_shell", action));
    let search = json!({"type": "tool_search_call", "call_id": "c", "arguments": {"query": "q"}});
    assert_eq!(call(&search), of("c", "tool_search", ToolInput::Json(json!({"query": "q"}))));
}

fn result(payload: &Value) -> (Vec<EntryPart>, Option<bool>) {
    let entry = item(payload);
    assert_eq!(entry.role, Role::Tool);
    match entry.parts.into_iter().next() {
        Some(EntryPart::ToolResult { call, content, is_error }) if call == "c" => (content, is_error),
        other => panic!("{other:?} is no result of c"),
    }
}

#[test]
fn results_say_by_their_exit_code_whether_they_failed() {
    let of = |output: &str| result(&json!({"type": "function_call_output", "call_id": "c", "output": output})).1;
    assert_eq!(of("fine"), None);
    assert_eq!(of("Exit code: 0\nWall time: 1 seconds\nOutput:\nok"), Some(false));
    assert_eq!(of("Exit code: 2\nOutput:\nno"), Some(true));
    assert_eq!(of("Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 1\nOutput:\n"), Some(true));
    assert_eq!(of("Wall time: 1 seconds\nOutput:\nExit code: 1"), None);
    assert_eq!(of("{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"), Some(true));
    assert_eq!(of("{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"), Some(false));
    assert_eq!(of("{\"output\""), None);
}

#[test]
fn results_may_be_lists_of_texts_and_images() {
    let output = json!([{"type": "input_text", "text": "t"}, {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]);
    let (content, is_error) = result(&json!({"type": "custom_tool_call_output", "call_id": "c", "output": output}));
    let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
    assert_eq!((content, is_error), (vec![EntryPart::text("t"), image], None));
    let object = json!({"type": "function_call_output", "call_id": "c", "output": {"matches": 2}});
    assert_eq!(result(&object).0, [EntryPart::text("{\"matches\":2}")]);
    let tools =
        json!({"type": "tool_search_output", "call_id": "c", "status": "completed", "tools": [{"name": "ask"}]});
    assert_eq!(result(&tools).0, [EntryPart::text("[{\"name\":\"ask\"}]")]);
}

#[test]
fn what_is_not_understood_is_handed_on_as_it_is() {
    let search = json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}});
    assert_eq!(item(&search).parts, [EntryPart::Native { kind: "web_search_call".into(), value: search.clone() }]);
    assert_eq!(step("response_item", &json!({"type": "ghost_snapshot", "ghost_commit": {}})), RecordStep::nothing());
    assert_eq!(step("tomorrow", &json!({"type": "message"})), RecordStep::nothing());
    assert_eq!(outline("tomorrow", &json!({"a": 1})), Outline { at: AT.parse().ok(), ..Outline::default() });
    for record in
        [&b"{}"[..], b"{\"type\":\"event_msg\"}", b"{\"payload\":3,\"type\":[]}", b"{\"record_type\":\"state\"}"]
    {
        assert_eq!(CODEC.step(record), Ok(RecordStep::nothing()), "{}", String::from_utf8_lossy(record));
        assert!(CODEC.outline(record).is_ok());
    }
    for record in [&b""[..], b"not json", b"[]", b"{\"type\":", b"\xff"] {
        assert!(CODEC.step(record).is_err() && CODEC.outline(record).is_err());
    }
}

#[test]
fn messages_between_agents_name_their_author() {
    let text = json!([{"type": "input_text", "text": "done"}]);
    let notice = json!({"type": "agent_message", "author": "/root/a", "recipient": "/root", "content": text});
    let entry = Entry {
        author: Some("/root/a".into()),
        flags: meta(),
        ..Entry::new(Role::User, vec![EntryPart::text("done")])
    };
    assert_eq!(item(&notice), entry);
    let sent = json!({"author": "/root/a", "recipient": "/root", "content": "done", "trigger_turn": true});
    let step = step("inter_agent_communication", &sent);
    assert_eq!(step, RecordStep::append(Entry { at: AT.parse().ok(), ..entry }));
}

fn replay(records: &[(&str, Value)]) -> Vec<Entry> {
    let mut replay = Replay::default();
    for (kind, payload) in records {
        replay.take(step(kind, payload));
    }
    replay.into_entries()
}

fn texts(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(Entry::text).collect()
}

#[test]
fn a_compaction_goes_on_from_its_replacement() {
    let sealed = json!({"type": "compaction", "encrypted_content": "gAAA"});
    let history = json!([message("user", "u1"), sealed]);
    let compacted = json!({"message": "", "replacement_history": history});
    assert_eq!(outline("compacted", &compacted).mark, RecordMark::Compaction { after: None });
    let entries = replay(&[
        ("response_item", message("user", "u0")),
        ("compacted", compacted),
        ("response_item", message("user", "u2")),
    ]);
    assert_eq!(texts(&entries), ["u1", "", "u2"]);
    assert_eq!(entries[1].parts, [EntryPart::Native { kind: "compaction".into(), value: sealed }]);
    assert!(entries[1].flags.compact_summary);
}

#[test]
fn a_readable_summary_is_recognised() {
    let prefix = "Another language model started to solve this problem and produced a summary of its thinking process. \
                  Here it is, use it to assist with your own analysis:";
    let local =
        json!({"message": "all done", "replacement_history": [message("user", &format!("{prefix}\nall done"))]});
    let entries = replay(&[("compacted", local)]);
    assert_eq!(entries[0].parts, [EntryPart::Summary { text: "all done".into() }]);
    assert!(entries[0].flags.compact_summary);

    let ours = summary_entry(&contexture_core::Format::new("codex-v1").unwrap(), "all done").unwrap();
    let step = CODEC.step(&ours).unwrap();
    assert_eq!(step.effect, Effect::Replace(Keep::Nothing));
    assert_eq!(step.entries[0].parts, [EntryPart::Summary { text: "all done".into() }]);
}

#[test]
fn a_compaction_without_a_replacement_keeps_what_the_user_said() {
    let entries = replay(&[
        ("response_item", message("user", "u1")),
        ("response_item", message("assistant", "a1")),
        ("compacted", json!({"message": "so far"})),
    ]);
    assert_eq!(texts(&entries), ["so far", "u1"]);
}

#[test]
fn rolled_back_turns_are_gone() {
    let back = json!({"type": "thread_rolled_back", "num_turns": 1});
    assert_eq!(outline("event_msg", &back).mark, RecordMark::Rewind(Rewind::Turns(1)));
    let entries = replay(&[
        ("response_item", message("user", "u1")),
        ("response_item", message("assistant", "a1")),
        ("response_item", message("user", "u2")),
        ("response_item", message("user", "<turn_aborted>")),
        ("event_msg", back),
    ]);
    assert_eq!(texts(&entries), ["u1", "a1"]);
}

#[test]
fn bare_items_of_old_rollouts_are_read_and_crlf_does_not_matter() {
    let records = [
        "{\"id\":\"s1\",\"timestamp\":\"2025-05-01T10:00:00.000Z\",\"instructions\":null,\"git\":{\"branch\":\"main\"}}\r\n",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"go\"}]}\r\n",
        "{\"record_type\":\"state\"}\r\n",
        "{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"c\"}\r\n",
        "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"ok\"}\r\n",
    ];
    let outlines: Vec<_> = records.iter().map(|record| CODEC.outline(record.as_bytes()).unwrap()).collect();
    assert_eq!(outlines[0].facts.session.as_deref(), Some("s1"));
    assert_eq!(outlines[0].facts.branch.as_deref(), Some("main"));
    assert_eq!(outlines[1].mark, RecordMark::Turn(Some("go".into())));
    let mut replay = Replay::default();
    for record in records {
        replay.take(CODEC.step(record.as_bytes()).unwrap());
    }
    let dialogue = Dialogue::of(replay.into_entries());
    let speakers: Vec<_> = dialogue.turns.iter().map(|turn| turn.speaker).collect();
    assert_eq!(speakers, [Speaker::User, Speaker::Assistant, Speaker::User]);
    assert_eq!(dialogue.losses.counts(), []);
}

#[test]
fn a_rollout_of_another_program_says_what_was_asked_in_events() {
    let line = |kind: &str, payload: Value| {
        json!({"type": kind, "timestamp": 1_737_200_001.5, "payload": payload}).to_string()
    };
    let records = [
        line("session_meta", json!({"id": "s", "cwd": "/w"})),
        line("event_msg", json!({"type": "user_message", "message": "go"})),
        line("event_msg", json!({"type": "agent_reasoning", "text": "hm"})),
        line("response_item", json!({"role": "assistant", "content": [{"type": "output_text", "text": "done"}]})),
    ];
    assert_eq!(CODEC.outline(records[1].as_bytes()).unwrap().mark, RecordMark::Turn(Some("go".into())));
    let mut replay = Replay::default();
    for record in &records {
        replay.take(CODEC.step(record.as_bytes()).unwrap());
    }
    let said: Vec<_> = replay.into_entries().into_iter().map(|entry| (entry.role, entry.parts)).collect();
    let expected = [
        (Role::User, vec![EntryPart::text("go")]),
        (Role::Assistant, vec![EntryPart::Thinking { text: "hm".into(), seal: None }]),
        (Role::Assistant, vec![EntryPart::text("done")]),
    ];
    assert_eq!(said, expected);
    // Codex itself writes the prompt once more.
    let own =
        json!({"type": "event_msg", "timestamp": AT, "payload": {"type": "user_message", "message": "go"}}).to_string();
    assert_eq!(CODEC.step(own.as_bytes()), Ok(RecordStep::nothing()));
    assert_eq!(CODEC.outline(own.as_bytes()).unwrap().mark, RecordMark::None);
}
