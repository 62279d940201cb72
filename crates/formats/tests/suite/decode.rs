//! Codecs take whatever comes: no bytes make them panic, and what is still an object is never refused.

use contexture_core::Format;
use contexture_formats::{Codec, Replay, codec};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value, json};

const BUREAU: &str = "bureau-agent-v1";

fn codec_of(format: &str) -> &'static dyn Codec {
    codec(&Format::new(format).unwrap()).unwrap()
}

/// Records of every shape that the formats know, as their runtimes write them.
fn records() -> Vec<(&'static str, Value)> {
    let usage = json!({"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3});
    let blocks = json!([
        {"type": "text", "text": "hi"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {"type": "document", "source": {"type": "url", "url": "https://a.example"}},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "t", "name": "run", "input": {"a": [1]}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "out"}], "is_error": true},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "compaction", "content": "so far"}]);
    let message = json!({"id": "msg_1", "role": "assistant", "model": "m", "content": blocks, "usage": usage});
    let mut records = vec![
        ("anthropic-messages-v1", message.clone()),
        ("anthropic-messages-v1", json!({"role": "user", "content": "why?"})),
        (
            "claude-stream-v1",
            json!({"type": "assistant", "uuid": "u", "session_id": "s", "parent_tool_use_id": null, "message": message}),
        ),
        (
            "claude-stream-v1",
            json!({"type": "system", "subtype": "init", "cwd": "/w", "model": "m", "session_id": "s"}),
        ),
        (
            "claude-stream-v1",
            json!({"type": "system", "subtype": "compact_boundary",
            "compact_metadata": {"trigger": "auto", "preserved_segment": {"head_uuid": "u"}}}),
        ),
        (
            "claude-stream-v1",
            json!({"type": "user", "isSynthetic": true, "message": {"role": "user", "content": "This session is being continued from a previous conversation"}}),
        ),
        (
            "openai-chat-v1",
            json!({"role": "assistant", "content": null, "reasoning": "hm", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{\"a\":1}"}},
            {"id": "d", "type": "custom", "custom": {"name": "patch", "input": "x"}}]}),
        ),
        ("openai-chat-v1", json!({"role": "tool", "tool_call_id": "c", "content": "[the tool failed]\nno"})),
        (
            "openai-chat-v1",
            json!({"role": "user", "name": "ada", "content": [{"type": "text", "text": "hi"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}}]}),
        ),
        (
            "opencode-v1",
            json!({"info": {"id": "ses_1", "parentID": "ses_0", "directory": "/w", "title": "t", "version": "1",
            "time": {"created": 1, "updated": 2}, "revert": {"messageID": "m9", "partID": "p"}},
            "messages": [
                {"info": {"id": "m1", "role": "user", "time": {"created": 1}, "system": "be brief"}, "parts": [
                    {"id": "p1", "type": "text", "text": "hi"}, {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA=="}]},
                {"info": {"id": "m2", "role": "assistant", "parentID": "m1", "modelID": "m", "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}}, "parts": [
                    {"type": "step-start"}, {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "s"}}},
                    {"type": "tool", "callID": "c", "tool": "bash", "state": {"status": "completed", "input": {}, "output": "out", "time": {"compacted": 5}}},
                    {"type": "tool", "callID": "d", "tool": "bash", "state": {"status": "error", "input": {}, "error": "no", "metadata": {"interrupted": true, "output": "half"}}},
                    {"type": "step-finish", "reason": "stop"}]},
                {"info": {"id": "m3", "role": "user"}, "parts": [{"type": "compaction", "auto": true, "tail_start_id": "m2"}]},
                {"info": {"id": "m4", "role": "assistant", "parentID": "m3", "summary": true, "finish": "stop"}, "parts": [{"type": "text", "text": "so far"}]}]}),
        ),
        (
            "atif-v1",
            json!({"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": [
            {"step_id": 1, "source": "system", "message": "x", "observation": {"results": [{"content": "so far"}]},
                "extra": {"context_management": {"type": "compaction", "boundary": "replace"}}},
            {"step_id": 2, "source": "user", "message": [{"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}]},
            {"step_id": 3, "source": "agent", "timestamp": "2026-11-15T10:00:00Z", "message": "", "reasoning_content": "hm",
                "tool_calls": [{"tool_call_id": "c", "function_name": "ls", "arguments": {}}],
                "observation": {"results": [{"source_call_id": "c", "content": "out", "extra": {"is_error": true}},
                    {"subagent_trajectory_ref": [{"trajectory_id": "t"}]}]},
                "metrics": {"prompt_tokens": 1, "completion_tokens": 2}}]}),
        ),
        (
            BUREAU,
            json!({"Role": "assistant", "Content": [
            {"Type": "text", "Text": "hi", "ToolUse": null}, {"Type": "tool_use", "ToolUse": {"ID": "t", "Name": "ls", "Input": {"a": 1}}},
            {"Type": "tool_result", "ToolResult": {"ToolUseID": "t", "Content": "out", "IsError": false}},
            {"Type": "thinking", "Thinking": {"Content": "hm", "Signature": "s"}}]}),
        ),
    ];
    let items = json!([
        {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "hi"},
            {"type": "input_image", "image_url": "https://a.example"}, {"type": "input_file", "file_id": "file-1"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c", "name": "run", "namespace": "mcp__a", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": {"content": "out", "success": true}},
        {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": "x"},
        {"type": "local_shell_call", "call_id": "e", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "e", "status": "failed", "output": "no"},
        {"type": "shell_call_output", "call_id": "f", "output": [{"stdout": "a", "stderr": "", "outcome": {"exit_code": 1}}]},
        {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "output": "out", "error": null},
        {"type": "agent_message", "author": "a", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "compaction", "encrypted_content": "x"}]);
    records.extend(items.as_array().unwrap().iter().map(|item| ("openai-responses-v1", item.clone())));
    records
}

/// Writes a value as the format's codec takes it.
fn encode(format: &str, value: &Value) -> Vec<u8> {
    if format == BUREAU { cbor(value) } else { value.to_string().into_bytes() }
}

fn cbor(value: &Value) -> Vec<u8> {
    let head = |kind: u8, len: usize| [&[kind | 0x1A][..], &u32::try_from(len).unwrap().to_be_bytes()].concat();
    match value {
        Value::Null => vec![0xF6],
        Value::Bool(yes) => vec![0xF4 + u8::from(*yes)],
        Value::Number(number) => [&[0xFB][..], &number.as_f64().unwrap().to_be_bytes()].concat(),
        Value::String(text) => [head(0x60, text.len()), text.clone().into_bytes()].concat(),
        Value::Array(elements) => {
            [head(0x80, elements.len()), elements.iter().flat_map(cbor).collect::<Vec<_>>()].concat()
        }
        Value::Object(fields) => {
            let fields_of = |(key, value): (&String, &Value)| [cbor(&json!(key)), cbor(value)].concat();
            [head(0xA0, fields.len()), fields.iter().flat_map(fields_of).collect::<Vec<_>>()].concat()
        }
    }
}

/// Returns how many values there are in a value, itself included.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Puts another value in the place of the value with this number, counted as `size` counts.
fn replace(value: &mut Value, number: usize, other: &Value) -> usize {
    if number == 0 {
        *value = other.clone();
        return 0;
    }
    let mut left = number - 1;
    let inner: Vec<&mut Value> = match value {
        Value::Array(elements) => elements.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => return left,
    };
    for value in inner {
        let len = size(value);
        if left < len {
            return replace(value, left, other);
        }
        left -= len;
    }
    left
}

fn values() -> impl Strategy<Value = Value> {
    let words = ["", "text", "user", "assistant", "m1", "c", "replace", "data:;base64,", "2026-11-15T10:00:00Z"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop::sample::select(vec!["type", "text", "content", "id", "role", "info", "time"]);
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            vec((key.prop_map(str::to_owned), inner), 0..3).prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
}

/// An outline passes over what is wrong in fields that it does not need, so it may succeed where a step fails.
fn is_outlined_if_read(codec: &dyn Codec, bytes: &[u8]) -> bool {
    let outline = codec.outline(bytes);
    codec.step(bytes).is_err() || outline.is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_still_an_object_is_never_refused(
        record in any::<Index>(),
        changes in vec((any::<Index>(), values()), 1..4),
    ) {
        let records = records();
        let (format, mut value) = records[record.index(records.len())].clone();
        for (place, other) in changes {
            let number = 1 + place.index(size(&value));
            replace(&mut value, number, &other);
        }
        prop_assert!(value.is_object());
        let bytes = encode(format, &value);
        let codec = codec_of(format);
        prop_assert!(codec.outline(&bytes).is_ok(), "{format}: {value}");
        let step = codec.step(&bytes);
        prop_assert!(step.is_ok(), "{format}: {value}");
        Replay::default().take(step.unwrap());
    }

    #[test]
    fn no_bytes_make_a_codec_panic(
        record in any::<Index>(),
        cut in any::<Index>(),
        changes in vec((any::<Index>(), any::<u8>()), 0..4),
    ) {
        let records = records();
        let (format, value) = &records[record.index(records.len())];
        let mut bytes = encode(format, value);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(cut.index(2 * bytes.len()) + 1);
        prop_assert!(is_outlined_if_read(codec_of(format), &bytes), "{format}");
    }

    #[test]
    fn arbitrary_bytes_are_a_record_or_a_problem(bytes in vec(any::<u8>(), 0..64)) {
        for (format, _) in records() {
            prop_assert!(is_outlined_if_read(codec_of(format), &bytes), "{format}");
        }
    }
}

#[test]
fn records_as_their_runtimes_write_them_are_read_whole() {
    for (format, value) in records() {
        let bytes = encode(format, &value);
        codec_of(format).outline(&bytes).unwrap();
        codec_of(format).step(&bytes).unwrap();
    }
}
