//! Real sessions, counted twice: by their codecs, and by looking for what each format calls a message.

use std::{fs, path::Path};

use contexture_core::{EntryPart, Format, Role};
use contexture_formats::{
    Splitter, codec,
    codec::{Effect, RecordMark},
};
use serde_json::Value;

use crate::{encode, readers::dialogue};

/// What was found in sessions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    turns: usize,
    /// Records in which a model speaks.
    answers: usize,
    calls: usize,
    results: usize,
}

/// Counts what one record of a format holds, without its codec.
type CountRecord = fn(record: &Value, counted: &mut Counted);

const COUNTS: [(&str, &str, CountRecord); 5] = [
    ("copilot", "copilot-v1", copilot),
    ("cursor", "cursor-v1", cursor),
    ("droid", "droid-v1", droid),
    ("other-harness", "dsh-v1", harness),
    ("entire-condensed", "entire-condensed-v1", condensed),
];

#[test]
fn real_sessions_hold_as_many_messages_as_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !folder.is_dir() {
        eprintln!("SKIPPED real_sessions_hold_as_many_messages_as_are_read: there are no transcripts here");
        return;
    }
    for (place, format, count) in COUNTS {
        let (mut read, mut expected, mut files) = (Counted::default(), Counted::default(), 0);
        for content in contents(&folder.join(place), "jsonl") {
            files += 1;
            for record in content.split(|byte| *byte == b'\n') {
                if let Ok(record) = serde_json::from_slice::<Value>(record) {
                    count(&record, &mut expected);
                }
            }
            tally(format, &content, &mut read);
            survives(format, &content);
        }
        eprintln!("{format}: {files} files, {read:?}");
        assert_eq!(read, expected, "{format}");
    }
}

#[test]
fn real_chats_of_aider_hold_as_many_turns_as_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts/aider");
    if !folder.is_dir() {
        eprintln!("SKIPPED real_chats_of_aider_hold_as_many_turns_as_are_read: there are no transcripts here");
        return;
    }
    let (mut turns, mut expected) = (0, 0);
    for content in contents(&folder, "md") {
        let text = String::from_utf8(content.clone()).unwrap();
        let asks = |line: &str| line.starts_with("#### ") && line.ends_with("  ");
        let mut before = false;
        for line in text.lines() {
            expected += usize::from(asks(line) && !before);
            before = asks(line);
        }
        let mut read = Counted::default();
        tally("aider-v1", &content, &mut read);
        turns += read.turns;
        survives("aider-v1", &content);
    }
    eprintln!("aider-v1: {turns} turns");
    assert_eq!(turns, expected);
    assert!(turns > 0);
}

fn contents(folder: &Path, extension: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Counts what a codec reads. Records that are no JSON are damage that others count.
fn tally(format: &str, content: &[u8], counted: &mut Counted) {
    let codec = codec(&Format::new(format).unwrap()).unwrap();
    let mut bytes = Vec::new();
    let mut splitter = Splitter::new(codec.framing(), content.len() as u64);
    let mut take = |record: contexture_formats::RawRecord<'_>| {
        bytes.extend_from_slice(record.bytes);
        let (Ok(outline), Ok(step)) = (codec.outline(record.bytes), codec.step(record.bytes)) else { return };
        counted.turns += usize::from(matches!(outline.mark, RecordMark::Turn(_)));
        assert!(step.effect != Effect::Nothing || step.entries.is_empty(), "{format}");
        counted.answers += step.entries.iter().filter(|entry| entry.role == Role::Assistant).count();
        for part in step.entries.iter().flat_map(|entry| &entry.parts) {
            counted.calls += usize::from(matches!(part, EntryPart::ToolCall { .. }));
            counted.results += usize::from(matches!(part, EntryPart::ToolResult { .. }));
        }
    };
    splitter.push(content, &mut take).unwrap();
    splitter.finish(&mut take).unwrap();
    assert!(bytes == content, "{format}: the records are not the file");
}

/// Panics unless what is said survives in every target. A file with damage is not read whole here.
fn survives(format: &str, content: &[u8]) {
    let is_whole = format == "aider-v1"
        || content.split(|byte| *byte == b'\n').all(|line| {
            line.trim_ascii().is_empty() || serde_json::from_slice::<Value>(line).is_ok_and(|v| v.is_object())
        });
    if is_whole {
        let said = dialogue(format, content);
        // Codex tells a failure by what a tool answered, which agents quote whose calls have not failed.
        let quotes_codex = memchr::memmem::find(content, b"Process exited with code").is_some();
        for target in encode::FORMATS.iter().filter(|target| !quotes_codex || **target != "codex-v1") {
            assert_eq!(encode::difference(target, &said), None, "{format} in {target}");
        }
    }
}

fn blocks(content: &Value) -> &[Value] {
    content.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn copilot(record: &Value, counted: &mut Counted) {
    let data = &record["data"];
    let requests = blocks(&data["toolRequests"]).len();
    match record["type"].as_str() {
        Some("user.message") => {
            counted.turns += usize::from(!data["source"].as_str().is_some_and(|source| source.starts_with("skill-")));
        }
        Some("assistant.message") => {
            counted.answers +=
                usize::from(requests > 0 || is_text(&data["content"]) || is_text(&data["reasoningText"]));
            counted.calls += requests;
        }
        Some("tool.execution_complete") => counted.results += 1,
        _ => {}
    }
}

fn cursor(record: &Value, counted: &mut Counted) {
    let blocks = blocks(&record["message"]["content"]);
    let count = |kinds: &[&str]| {
        blocks.iter().filter(|block| block["type"].as_str().is_some_and(|kind| kinds.contains(&kind))).count()
    };
    let (calls, results) = (count(&["tool_use", "tool_call"]), count(&["tool_result", "tool-result"]));
    let is_only_blotted = blocks.iter().all(|block| block["text"] == "[REDACTED]");
    counted.turns += usize::from(record["role"] == "user" && blocks.len() > results);
    counted.answers += usize::from(record["role"] == "assistant" && !blocks.is_empty() && !is_only_blotted);
    counted.calls += calls;
    counted.results += results;
}

fn droid(record: &Value, counted: &mut Counted) {
    let message = &record["message"];
    let blocks = blocks(&message["content"]);
    let count = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
    let is_typed = is_text(&message["content"]) || count("text") > 0;
    counted.turns += usize::from(message["role"] == "user" && is_typed);
    counted.answers += usize::from(message["role"] == "assistant");
    counted.calls += count("tool_use");
    counted.results += count("tool_result");
}

fn condensed(record: &Value, counted: &mut Counted) {
    let blocks = blocks(&record["content"]);
    counted.turns += usize::from(record["type"] == "user");
    counted.answers += usize::from(record["type"] == "assistant" && !blocks.is_empty());
    counted.calls += blocks.iter().filter(|block| block["type"] == "tool_use").count();
    counted.results += blocks.iter().filter(|block| block["result"].is_object()).count();
}

/// Counts an event of DeepSeek Harness; what it prints and sessions of others lie beside its sessions.
fn harness(record: &Value, counted: &mut Counted) {
    let data = &record["data"];
    let message = if data["message"].is_object() { &data["message"] } else { data };
    let blocks = blocks(&message["content"]);
    let count = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
    match record["type"].as_str() {
        Some("user/message") => {
            let is_typed = data["source"]["kind"] == "user" && record["surfaceOp"] == "append";
            counted.turns += usize::from(is_typed && !blocks.is_empty());
        }
        Some("assistant/message") => {
            counted.answers += usize::from(!blocks.is_empty());
            counted.calls += count("tool-call");
        }
        Some("tool/result") => counted.results += 1,
        _ => {}
    }
}
