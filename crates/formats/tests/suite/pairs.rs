//! Every format that is written and read, from each into each other: exact bytes for one conversation, and what must
//! survive for every conversation.
//!
//! `CTX_REWRITE_GOLDEN=1 cargo test -p contexture-formats pairs` writes the files anew; read their diff.

use std::{env, fs, path::PathBuf};

use contexture_core::{ArtifactId, BlobSource, Entry, EntryPart, Flags, Format, Role, ToolInput};
use contexture_formats::{
    Dialogue, EncodedDialogue, Framing, Replay, TRANSLATOR_VERSION, Target, codec,
    dialogue::{LossCount, Speaker},
    encoder, read,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::translate::dialogues;

const FORMATS: [&str; 11] = [
    "claude-code-v1",
    "codex-v1",
    "gemini-v1",
    "pi-v1",
    "opencode-v1",
    "events-v1",
    "bureau-agent-v1",
    "anthropic-messages-v1",
    "openai-chat-v1",
    "openai-responses-v1",
    "atif-v1",
];

fn format(name: &str) -> Format {
    Format::new(name).unwrap()
}

fn target() -> Target {
    Target {
        session: "0193c5a0-0000-7000-8000-000000000002".into(),
        directory: "/repo".into(),
        branch: Some("main".into()),
        version: None,
        model: None,
        provider: Some("openai".to_owned()),
        title: None,
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
    }
}

fn encode(name: &str, dialogue: &Dialogue) -> EncodedDialogue {
    encoder(&format(name)).unwrap().encode(dialogue, &target())
}

fn decode(name: &str, content: &[u8]) -> Dialogue {
    let mut replay = Replay::default();
    read(codec(&format(name)).unwrap(), content, &mut |reading| replay.take(reading.step.unwrap())).unwrap();
    Dialogue::of(replay.into_entries())
}

/// A conversation with text, two calls at once with their results, an image, instructions and a summary.
fn conversation() -> Dialogue {
    let at = |entry: Entry, minute: u32| {
        let at = Some(format!("2026-11-15T10:{minute:02}:00Z").parse().unwrap());
        Entry { at, ..entry }
    };
    let agent = |parts| Entry { model: Some("model-1".into()), ..Entry::new(Role::Assistant, parts) };
    let call = |id: &str, name: &str, input| EntryPart::ToolCall { id: id.into(), name: name.into(), input };
    let result = |call: &str, text: &str, is_error| EntryPart::ToolResult {
        call: call.into(),
        content: vec![EntryPart::text(text)],
        is_error: Some(is_error),
    };
    let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("iVBORw0KGgo=".into()) };
    let flags = Flags { compact_summary: true, ..Flags::default() };
    let summary =
        Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text: "The test is flaky.".into() }]) };
    Dialogue::of(vec![
        Entry::new(Role::System, vec![EntryPart::text("Be brief.")]),
        at(summary, 0),
        at(Entry::new(Role::User, vec![EntryPart::text("Why does it fail?\n\"Grün\" says:"), image]), 1),
        at(
            agent(vec![
                EntryPart::text("I look."),
                call("call_1", "Bash", ToolInput::Json(json!({"command": "ls", "timeout": 5}))),
                call("call_2", "Read", ToolInput::Json(json!({"file_path": "/src/a.rs"}))),
            ]),
            2,
        ),
        at(Entry::new(Role::Tool, vec![result("call_1", "a.rs\nb.rs", false)]), 3),
        at(Entry::new(Role::Tool, vec![result("call_2", "no such file", true)]), 4),
        at(agent(vec![EntryPart::text("It connects too early.")]), 5),
        at(Entry::new(Role::User, vec![EntryPart::text("Fix it.")]), 6),
    ])
}

fn golden(from: &str, file: &str) -> PathBuf {
    PathBuf::from(format!("{}/tests/suite/pairs/{from}/{file}", env!("CARGO_MANIFEST_DIR")))
}

/// Compares with what was written before, or writes it anew.
fn compare(path: &PathBuf, content: &[u8]) {
    if env::var_os("CTX_REWRITE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        return fs::write(path, content).unwrap();
    }
    let expected = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(String::from_utf8_lossy(content), String::from_utf8_lossy(&expected), "{}", path.display());
    assert_eq!(content, expected, "{}", path.display());
}

#[test]
fn a_conversation_goes_from_each_format_into_each_other_with_exactly_these_bytes() {
    for from in FORMATS {
        let source = encode(from, &conversation());
        let read = decode(from, &source.bytes);
        let mut losses = Map::new();
        for into in FORMATS {
            let EncodedDialogue { bytes, losses: encoding } =
                if into == from { source.clone() } else { encode(into, &read) };
            let ending = match encoder(&format(into)).unwrap().framing() {
                Framing::Lines => "jsonl",
                Framing::JsonArray | Framing::Document => "json",
                Framing::CborArray => "cbor",
                Framing::Sections(_) => "md",
            };
            compare(&golden(from, &format!("{into}.{ending}")), &bytes);
            let counts = encoding.counts().iter();
            let counts: Map<String, Value> =
                counts.map(|LossCount { loss, count }| (loss.as_str().to_owned(), json!(count))).collect();
            losses.insert(into.to_owned(), counts.into());
        }
        let losses = serde_json::to_string_pretty(&Value::Object(losses)).unwrap() + "\n";
        compare(&golden(from, "losses.json"), losses.as_bytes());
    }
}

/// The version of the rules, and the digest of all files that hold what conversations become by them.
const WRITTEN_BY: (u32, &str) = (1, "art-eb6938aa22489c42a1adb56793a5f15e4fd3eeb8ef56eb6c10d27d761f014f5f");

#[test]
fn what_is_written_otherwise_is_written_by_a_new_version() {
    let mut files = Vec::new();
    for from in FORMATS {
        for file in fs::read_dir(golden(from, "")).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.push(format!("{from}/{name} {}\n", ArtifactId::of(&fs::read(&path).unwrap())));
        }
    }
    files.sort();
    let digest = ArtifactId::of(files.concat().as_bytes()).to_string();
    // Translations are kept under the version; where files have changed, raise it in `encode.rs` and here.
    assert_eq!((TRANSLATOR_VERSION, digest.as_str()), WRITTEN_BY);
}

/// What survives every way: what was said, and each call with its result.
#[derive(Debug, PartialEq)]
struct Kept {
    texts: Vec<(bool, String)>,
    calls: Vec<(String, Value)>,
    results: Vec<(Vec<String>, bool)>,
}

impl Kept {
    fn of(dialogue: &Dialogue) -> Self {
        let mut kept = Self { texts: Vec::new(), calls: Vec::new(), results: Vec::new() };
        for turn in &dialogue.turns {
            for part in &turn.parts {
                match part {
                    EntryPart::Text { text } | EntryPart::Summary { text } => {
                        let texts = words(text).map(|text| (turn.speaker == Speaker::User, text));
                        kept.texts.extend(texts);
                    }
                    EntryPart::ToolCall { name, input, .. } => kept.calls.push((name.clone(), named(input))),
                    EntryPart::ToolResult { content, is_error, .. } => {
                        let texts = content.iter().filter_map(|part| match part {
                            EntryPart::Text { text } | EntryPart::Summary { text } => Some(text.as_str()),
                            _ => None,
                        });
                        // Where one text is all that a format has, several are joined, notes among them.
                        let lines = texts.flat_map(str::lines).filter(|line| !line.is_empty() && words(line).is_some());
                        kept.results.push((lines.map(str::to_owned).collect(), *is_error == Some(true)));
                    }
                    EntryPart::Thinking { .. } | EntryPart::Blob { .. } | EntryPart::Native { .. } => {}
                }
            }
        }
        kept
    }
}

/// Returns what somebody said, without what stands for something else; the generator makes no words like those.
fn words(text: &str) -> Option<String> {
    let text = text.strip_prefix("Summary of the conversation so far:\n\n").unwrap_or(text);
    (!text.starts_with(['[', '<', '('])).then(|| text.to_owned())
}

/// Returns what a tool is given as a target that takes only named values does.
fn named(input: &ToolInput) -> Value {
    match input {
        // Nothing at all is written as no named value or as one that is nothing.
        ToolInput::Json(Value::Null) => json!({}),
        ToolInput::Json(object) if *object == json!({ "input": null }) => json!({}),
        ToolInput::Json(object @ Value::Object(_)) => object.clone(),
        ToolInput::Json(value) => json!({ "input": value }),
        ToolInput::Text(text) => json!({ "input": text }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn there_and_back_keeps_texts_and_calls_with_their_results(dialogue in dialogues()) {
        // Instructions become what a user says where a format has no place for them, and stay that.
        let dialogue = Dialogue { system: Vec::new(), ..dialogue };
        for from in FORMATS {
            let here = decode(from, &encode(from, &dialogue).bytes);
            let expected = Kept::of(&here);
            for by in FORMATS {
                let there = decode(by, &encode(by, &here).bytes);
                let back = decode(from, &encode(from, &there).bytes);
                prop_assert_eq!(&Kept::of(&back), &expected, "{} by {}", from, by);
            }
        }
    }
}
