//! A conversation that is written in a format and read again says the same.

use contexture_core::{BlobSource, Entry, EntryPart, Format, Role, Seal, SealScheme, ToolInput};
use contexture_formats::{
    Dialogue, EncodedDialogue, Replay, Splitter, Target, codec,
    dialogue::{Speaker, Turn},
    encoder,
};
use proptest::{collection::vec, prelude::*, sample};
use serde_json::{Map, Value, json};

const MAX_DOCUMENT: u64 = 1 << 24;

/// The formats that are both written and read, and whether they take only objects as inputs.
const FORMATS: [(&str, bool); 4] =
    [("anthropic-messages-v1", true), ("openai-chat-v1", false), ("openai-responses-v1", false), ("atif-v1", true)];

pub(crate) fn target() -> Target {
    Target {
        session: "0193c5a0-0000-7000-8000-000000000001".into(),
        directory: "/work".into(),
        branch: None,
        version: None,
        model: None,
        provider: Some("openai".to_owned()),
        title: Some("Fix the test".into()),
        now: "2026-11-15T10:00:00Z".parse().unwrap(),
    }
}

pub(crate) fn encode(format: &str, dialogue: &Dialogue) -> EncodedDialogue {
    encoder(&Format::new(format).unwrap()).unwrap().encode(dialogue, &target())
}

fn decode(format: &str, bytes: &[u8]) -> Dialogue {
    let format = Format::new(format).unwrap();
    let codec = codec(&format).unwrap();
    assert_eq!(codec.framing(), encoder(&format).unwrap().framing());
    let mut replay = Replay::default();
    let mut splitter = Splitter::new(codec.framing(), MAX_DOCUMENT);
    let mut read = |record: contexture_formats::RawRecord<'_>| {
        codec.outline(record.bytes).unwrap();
        replay.take(codec.step(record.bytes).unwrap());
    };
    splitter.push(bytes, &mut read).unwrap();
    splitter.finish(&mut read).unwrap();
    Dialogue::of(replay.into_entries())
}

/// What every translation keeps.
#[derive(Debug, Default, PartialEq)]
struct Said {
    system: Vec<String>,
    texts: Vec<(bool, String)>,
    calls: Vec<(String, ToolInput)>,
    results: Vec<(Vec<String>, bool)>,
}

impl Said {
    fn of(dialogue: &Dialogue) -> Self {
        let mut said = Self { system: dialogue.system.clone(), ..Self::default() };
        for Turn { speaker, parts, .. } in &dialogue.turns {
            for part in parts {
                match part {
                    EntryPart::ToolCall { name, input, .. } => said.calls.push((name.clone(), input.clone())),
                    EntryPart::ToolResult { content, is_error, .. } => {
                        said.results.push((words(content), *is_error == Some(true)));
                    }
                    part => {
                        let texts = words(std::slice::from_ref(part));
                        said.texts.extend(texts.into_iter().map(|text| (*speaker == Speaker::User, text)));
                    }
                }
            }
        }
        said
    }
}

/// Returns the texts that somebody said, not those that stand for something else; the generator makes none like those.
fn words(parts: &[EntryPart]) -> Vec<String> {
    let texts = parts.iter().filter_map(|part| match part {
        EntryPart::Text { text } | EntryPart::Summary { text } => Some(text.clone()),
        _ => None,
    });
    texts.filter(|text| !text.starts_with(['[', '<', '('])).collect()
}

/// Returns what a target that takes only objects makes of an input.
fn wrapped(input: ToolInput) -> ToolInput {
    ToolInput::Json(match input {
        ToolInput::Json(object @ Value::Object(_)) => object,
        ToolInput::Json(Value::Null) => Value::Object(Map::new()),
        ToolInput::Json(value) => json!({ "input": value }),
        ToolInput::Text(text) => json!({ "input": text }),
    })
}

fn text() -> impl Strategy<Value = String> {
    "[a-z\u{e9}\u{1f600}][a-z\"\\\\\n\t \u{1}]{0,8}"
}

fn seals() -> impl Strategy<Value = Option<Seal>> {
    let schemes = [
        SealScheme::AnthropicSignature,
        SealScheme::AnthropicRedacted,
        SealScheme::OpenaiEncrypted,
        SealScheme::GeminiSignature,
    ];
    prop::option::of((sample::select(schemes.to_vec()), text()).prop_map(|(scheme, data)| Seal { scheme, data }))
}

fn blobs() -> impl Strategy<Value = EntryPart> {
    let types = ["image/png", "image/*", "image/tiff", "application/pdf", "application/octet-stream", "audio/wav"];
    let sources = prop_oneof![
        Just(BlobSource::Base64("AA==".into())),
        Just(BlobSource::Url("https://a.example/b".into())),
        sample::select(&["file_1", "file-1", "/tmp/a.png"]).prop_map(|id| BlobSource::File(id.into())),
    ];
    (sample::select(types.to_vec()), sources)
        .prop_map(|(media_type, source)| EntryPart::Blob { media_type: media_type.into(), source })
}

fn inputs() -> impl Strategy<Value = ToolInput> {
    prop_oneof![
        4 => (text(), text()).prop_map(|(key, value)| ToolInput::Json(json!({key: value, "n": [1, null]}))),
        1 => sample::select(vec![json!({}), json!([1]), json!("s"), json!(-1.5), Value::Null]).prop_map(ToolInput::Json),
        1 => text().prop_map(ToolInput::Text),
    ]
}

/// Ids that targets accept and ids that they do not.
fn call_ids() -> impl Strategy<Value = String> {
    let ids = ["call_1", "toolu_2", "call_3|fc_3", "a.b", "a_b", "", "call_that_has_more_than_forty_characters_in_it"];
    sample::select(ids.map(str::to_owned).to_vec())
}

fn contents() -> impl Strategy<Value = Vec<EntryPart>> {
    let native = Just(EntryPart::Native { kind: "k".into(), value: Value::Null });
    vec(prop_oneof![4 => text().prop_map(EntryPart::text), 1 => blobs(), 1 => native], 0..3)
}

fn parts() -> impl Strategy<Value = EntryPart> {
    prop_oneof![
        6 => text().prop_map(EntryPart::text),
        1 => text().prop_map(|text| EntryPart::Summary { text }),
        2 => (prop_oneof![Just(String::new()), text()], seals()).prop_map(|(text, seal)| EntryPart::Thinking { text, seal }),
        1 => blobs(),
        1 => Just(EntryPart::Native { kind: "k".into(), value: json!({"a": 1}) }),
        6 => (call_ids(), sample::select(&["Bash", "mcp__wiki-1"]), inputs())
            .prop_map(|(id, name, input)| EntryPart::ToolCall { id, name: name.into(), input }),
        6 => (call_ids(), contents(), any::<Option<bool>>())
            .prop_map(|(call, content, is_error)| EntryPart::ToolResult { call, content, is_error }),
    ]
}

pub(crate) fn dialogues() -> impl Strategy<Value = Dialogue> {
    let role = sample::select(&[Role::System, Role::User, Role::User, Role::Assistant, Role::Assistant, Role::Tool]);
    vec((role, vec(parts(), 0..4)), 0..10)
        .prop_map(|entries| Dialogue::of(entries.into_iter().map(|(role, parts)| Entry::new(role, parts)).collect()))
}

/// Checks by the API's own rules what is written for it.
fn check_anthropic(messages: &Value) {
    let mut asked: Vec<&str> = Vec::new();
    for (n, message) in messages.as_array().unwrap().iter().enumerate() {
        assert_eq!(message["role"], ["user", "assistant"][n % 2], "turns alternate");
        let blocks = message["content"].as_array().unwrap();
        let answered: Vec<&str> = blocks.iter().filter_map(|block| block["tool_use_id"].as_str()).collect();
        assert_eq!(answered, asked, "calls are answered in the next message");
        assert!(blocks[..answered.len()].iter().all(|block| block["type"] == "tool_result"), "results come first");
        asked = blocks.iter().filter(|block| block["type"] == "tool_use").map(|b| b["id"].as_str().unwrap()).collect();
        let last = blocks.last().expect("no message is empty")["type"].as_str().unwrap();
        assert!(!last.ends_with("thinking"), "thinking is never last");
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "text" => assert!(!block["text"].as_str().unwrap().trim().is_empty(), "no text is blank"),
                "tool_use" => {
                    let id = block["id"].as_str().unwrap();
                    assert!(!id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)));
                    assert!(block["input"].is_object());
                }
                "tool_result" if block["is_error"] == true => {
                    let content = &block["content"];
                    let is_words =
                        |blocks: &Vec<Value>| !blocks.is_empty() && blocks.iter().all(|b| b["type"] == "text");
                    assert!(
                        content.as_str().is_some_and(|text| !text.is_empty())
                            || content.as_array().is_some_and(is_words)
                    );
                }
                _ => {}
            }
        }
    }
    assert!(asked.is_empty(), "the last calls are answered");
}

/// Checks that results follow their calls at once, by their ids, and that nothing is left out.
fn check_chat(messages: &Value) {
    let mut asked: Vec<&str> = Vec::new();
    for message in messages.as_array().unwrap() {
        if message["role"] == "tool" {
            assert_eq!(asked.remove(0), message["tool_call_id"]);
            assert!(message["content"].is_string() || message["content"].is_array());
            continue;
        }
        assert!(asked.is_empty(), "results follow their calls");
        let calls = message["tool_calls"].as_array();
        asked = calls.into_iter().flatten().map(|call| call["id"].as_str().unwrap()).collect();
        assert!(asked.iter().all(|id| (1..=40).contains(&id.len())));
        assert!(!message["content"].is_null() || !asked.is_empty(), "a message says something");
    }
    assert!(asked.is_empty(), "the last calls are answered");
}

/// Checks that results are of the kind of their calls, and that reasoning leads to something.
fn check_responses(items: &Value) {
    let items = items.as_array().unwrap();
    for (n, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap();
        match kind {
            "function_call" | "custom_tool_call" => {
                let answers =
                    |other: &&Value| other["type"] == format!("{kind}_output") && other["call_id"] == item["call_id"];
                assert_eq!(items[n..].iter().filter(answers).count(), 1, "{item} is answered once");
            }
            "reasoning" => {
                let next = &items[n + 1];
                let is_models = next["type"] != "message" || next["role"] == "assistant";
                assert!(is_models && !next["type"].as_str().unwrap().ends_with("_output"), "{next} follows reasoning");
            }
            _ => {}
        }
    }
}

/// Checks by the rules of version 1.7.
fn check_atif(trajectory: &Value) {
    let steps = trajectory["steps"].as_array().unwrap();
    assert!(!steps.is_empty());
    for (n, step) in steps.iter().enumerate() {
        assert_eq!(step["step_id"], n + 1);
        assert!(step["message"].is_string() || step["message"].is_array());
        if step["source"] != "agent" {
            assert!(
                ["model_name", "reasoning_content", "tool_calls", "metrics"].iter().all(|key| step.get(key).is_none())
            );
        }
        let calls: Vec<&Value> = step["tool_calls"].as_array().into_iter().flatten().collect();
        assert!(calls.iter().all(|call| call["arguments"].is_object()));
        for result in step.pointer("/observation/results").and_then(Value::as_array).into_iter().flatten() {
            let Some(id) = result.get("source_call_id") else { continue };
            assert!(calls.iter().any(|call| call["tool_call_id"] == *id), "a result has its call in its step");
        }
    }
}

/// Checks that a dialogue comes back from every format, and that what was written for each follows its rules.
pub(crate) fn check_every_format(dialogue: &Dialogue) {
    for (format, only_objects) in FORMATS {
        let EncodedDialogue { bytes, .. } = encode(format, dialogue);
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        match format {
            "anthropic-messages-v1" => check_anthropic(&json),
            "openai-chat-v1" => check_chat(&json),
            "openai-responses-v1" => check_responses(&json),
            _ => check_atif(&json),
        }
        let again = decode(format, &bytes);
        assert_eq!(again.losses.counts(), [], "nothing needs repair in {format}");
        let mut expected = Said::of(dialogue);
        if only_objects {
            expected.calls = expected.calls.into_iter().map(|(name, input)| (name, wrapped(input))).collect();
        }
        if format == "anthropic-messages-v1" {
            expected.system.clear();
        }
        assert_eq!(Said::of(&again), expected, "{format}: {json}");
    }
}

proptest! {
    #[test]
    fn texts_calls_and_results_survive_every_format(dialogue in dialogues()) {
        check_every_format(&dialogue);
    }

    #[test]
    fn the_same_dialogue_has_the_same_bytes(dialogue in dialogues()) {
        for format in FORMATS.map(|(format, _)| format).into_iter().chain(["text"]) {
            prop_assert_eq!(encode(format, &dialogue), encode(format, &dialogue.clone()), "{}", format);
        }
    }

    #[test]
    fn a_conversation_as_text_holds_every_text_and_no_others_line(dialogue in dialogues()) {
        let EncodedDialogue { bytes, .. } = encode("text", &dialogue);
        let written = String::from_utf8(bytes).unwrap();
        for (_, text) in Said::of(&dialogue).texts {
            let first = text.lines().next().unwrap().trim_end();
            prop_assert!(written.contains(&format!("\n  {first}\n")), "{text:?} in {written}");
        }
        let is_ours = |line: &str| {
            ["# ", "* ", "User", "Assistant", "Instructions:", "Summary of"].iter().any(|start| line.starts_with(start))
        };
        prop_assert!(written.lines().all(|line| line.is_empty() || line.starts_with("  ") || is_ours(line)), "{written}");
    }
}
