//! Codecs take whatever comes.

use contexture_core::Format;
use contexture_formats::{Codec, Dialogue, Replay, codec};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value, json};

const FORMATS: [&str; 17] = [
    "claude-code-v1",
    "codex-v1",
    "codex-exec-v1",
    "gemini-v1",
    "gemini-stream-v1",
    "pi-v1",
    "copilot-v1",
    "cursor-v1",
    "cursor-chat-v1",
    "droid-v1",
    "dsh-v1",
    "dsh-stream-v1",
    "kiro-v1",
    "kiro-chat-v1",
    "entire-condensed-v1",
    "crush-v1",
    "swe-agent-v1",
];

fn codecs() -> impl Iterator<Item = &'static dyn Codec> {
    FORMATS.iter().map(|name| codec(&Format::new(*name).unwrap()).unwrap())
}

/// Records in the shapes that runtimes write, of every kind that means something.
fn records() -> Vec<Value> {
    let written = ["claude-code-v1", "codex-v1", "gemini-v1", "pi-v1"].map(|name| {
        let path = format!("{}/tests/suite/golden/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    });
    let read = [
        "copilot/events.jsonl",
        "cursor/5f0c8a52-6a55-4b0e-9f38-3a1f0d5b7c11.jsonl",
        "droid/6a0c8a52-6a55-4b0e-9f38-3a1f0d5b7c12.jsonl",
        "dsh/8d0c8a52-6a55-4b0e-9f38-3a1f0d5b7c16/session.jsonl",
        "kiro/7b0c8a52-6a55-4b0e-9f38-3a1f0d5b7c13.jsonl",
        "kiro-chat/conversation.json",
        "crush/session.json",
        "cursor-chat/chat.json",
        "entire-condensed/full.jsonl",
    ]
    .map(|file| std::fs::read_to_string(format!("{}/tests/readers/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let mut records: Vec<Value> = written
        .iter()
        .chain(&read)
        .flat_map(|lines| lines.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let codex =
        |kind: &str, payload: Value| json!({"timestamp": "2026-06-17T10:07:16.816Z", "type": kind, "payload": payload});
    let message = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]});
    let asked = json!({"id": "u", "timestamp": "2026-06-17T10:07:16.816Z", "type": "user", "content": [{"text": "a"}]});
    let spawn = json!({"subagent": {"thread_spawn": {"parent_thread_id": "p"}}});
    records.extend([
        codex("session_meta", json!({"id": "s", "source": spawn, "git": {"branch": "b"}})),
        codex("turn_context", json!({"model": "m", "cwd": "/"})),
        codex("compacted", json!({"message": "m", "replacement_history": [message, {"type": "compaction"}]})),
        codex("event_msg", json!({"type": "thread_rolled_back", "num_turns": 2})),
        codex("event_msg", json!({"type": "item_completed", "item": {"type": "UserMessage", "content": [{"text": "a"}]}})),
        codex("inter_agent_communication", json!({"author": "a", "content": "c"})),
        message,
        json!({"id": "s", "timestamp": "2025-05-01T10:00:00Z", "git": {"branch": "b"}}),
        json!({"$set": {"messages": [asked], "summary": "s"}}),
        json!({"$rewindTo": "u"}),
        json!({"sessionId": "s", "projectHash": "h", "messages": [asked]}),
        json!({"id": "g", "type": "gemini", "content": [
            {"text": "t", "thought": true, "thoughtSignature": "s"},
            {"functionCall": {"id": "c", "name": "n", "args": {}}},
            {"functionResponse": {"id": "c", "name": "n", "response": {"output": "o"}, "parts": [{"inlineData": {}}]}},
            {"fileData": {"mimeType": "a/b", "fileUri": "u"}},
        ], "tokens": {"input": 1, "output": 2, "thoughts": 3}}),
        json!({"type": "item.completed", "item": {"type": "command_execution", "command": "c", "exit_code": 1}}),
        json!({"type": "item.completed", "item": {"type": "mcp_tool_call", "server": "s", "tool": "t",
            "result": {"content": [{"type": "text", "text": "t"}]}, "error": {"message": "m"}}}),
        json!({"type": "message", "role": "assistant", "content": "c", "delta": true}),
        json!({"type": "tool_use", "tool_name": "n", "tool_id": "i", "parameters": {}}),
        json!({"type": "tool_result", "tool_id": "i", "status": "error", "output": "o", "error": {"message": "m"}}),
        json!({"type": "compaction", "id": "c", "parentId": "p", "summary": "s", "firstKeptEntryId": "k"}),
        json!({"type": "compaction", "id": "c", "parentId": null, "summary": "s", "retainedTail": [{"role": "user", "content": "a"}]}),
        json!({"type": "branch_summary", "id": "b", "parentId": "p", "summary": "s"}),
        json!({"type": "message", "id": "m", "parentId": null, "message": {"role": "bashExecution", "command": "c", "exitCode": 1}}),
    ]);
    records
}

/// Something that is not expected where it stands.
fn surprise() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("a\u{0}"),
        json!([]),
        json!([null, "a", {"type": "text"}]),
        json!({}),
        json!({"type": "message", "id": [], "content": {"text": {}}}),
    ])
}

/// Puts something else in the place of a value somewhere in the tree.
fn replace(tree: &mut Value, path: &[Index], surprise: Value) {
    let child = match (path.first(), &mut *tree) {
        (Some(index), Value::Array(list)) if !list.is_empty() => index.get_mut(list.as_mut_slice()),
        (Some(index), Value::Object(map)) if !map.is_empty() => {
            let key = index.get(&map.keys().cloned().collect::<Vec<_>>()).clone();
            map.get_mut(&key).unwrap()
        }
        _ => {
            *tree = surprise;
            return;
        }
    };
    replace(child, &path[1..], surprise);
}

proptest! {
    #[test]
    fn no_bytes_make_a_codec_panic(bytes in vec(any::<u8>(), 0..64)) {
        for codec in codecs() {
            prop_assert_eq!(codec.outline(&bytes).is_ok(), codec.step(&bytes).is_ok());
        }
    }

    #[test]
    fn damaged_records_are_read_or_refused(
        record in prop::sample::select(records()),
        edits in vec((any::<Index>(), any::<u8>(), 0..3u8), 1..4),
    ) {
        let mut bytes = record.to_string().into_bytes();
        for (place, byte, edit) in edits {
            let place = place.index(bytes.len());
            match edit {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => bytes.truncate(place.max(1)),
            }
        }
        for codec in codecs() {
            let problems = [codec.outline(&bytes).err(), codec.step(&bytes).err()];
            for problem in problems.into_iter().flatten() {
                prop_assert!(serde_json::from_slice::<Map<String, Value>>(&bytes).is_err(), "{}: {}", record, problem);
            }
        }
    }

    #[test]
    fn an_object_is_a_record_whatever_is_in_it(
        records in vec((prop::sample::select(records()), vec(any::<Index>(), 1..6), surprise()), 1..6),
    ) {
        for codec in codecs() {
            let mut replay = Replay::default();
            for (record, path, surprise) in &records {
                let mut record = record.clone();
                replace(&mut record, path, surprise.clone());
                let bytes = record.to_string().into_bytes();
                if let Err(problem) = codec.outline(&bytes) {
                    prop_assert!(false, "{}: {}", record, problem);
                }
                match codec.step(&bytes) {
                    Ok(step) => replay.take(step),
                    Err(problem) => prop_assert!(false, "{}: {}", record, problem),
                }
            }
            Dialogue::of(replay.into_entries());
        }
    }
}

#[test]
fn deep_nesting_is_read_and_half_characters_are_replaced() {
    let deep = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let records = [
        format!(
            r#"{{"type":"response_item","payload":{{"type":"function_call","call_id":"c","name":"n","arguments":{deep}}}}}"#
        ),
        format!(r#"{{"type":"response_item","payload":{{"type":"tomorrow","x":{deep}}}}}"#),
        format!(
            r#"{{"id":"g","type":"gemini","content":"","toolCalls":[{{"name":"n","args":{deep},"result":{deep}}}]}}"#
        ),
        format!(
            r#"{{"type":"message","message":{{"role":"assistant","content":[{{"type":"toolCall","arguments":{deep}}}]}}}}"#
        ),
        r#"{"type":"event_msg","payload":{"type":"user_message","message":"cut \ud83d"}}"#.to_owned(),
        r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"cut \ud83d"}]}}"#.to_owned(),
        r#"{"id":"u","type":"user","content":"cut \ud83d"}"#.to_owned(),
    ];
    for codec in codecs() {
        for record in &records {
            codec.outline(record.as_bytes()).unwrap();
            codec.step(record.as_bytes()).unwrap();
        }
    }
}
