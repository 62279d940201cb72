//! Exports of real OpenCode sessions, where they are at hand.

use std::{fs, path::Path};

use contexture_core::{Entry, EntryPart, Format};
use contexture_formats::{Dialogue, Framing, RawRecord, Replay, Splitter, codec};
use serde_json::Value;

use crate::translate;

const MAX_DOCUMENT: u64 = 64 << 20;

/// What there is to count in a session.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    texts: usize,
    thoughts: usize,
    calls: usize,
    results: usize,
    failures: usize,
}

#[test]
fn exports_of_real_sessions_are_read_to_the_last_part_and_survive_translation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts/opencode");
    if !folder.is_dir() {
        eprintln!("skipped: there are no exports in {}", folder.display());
        return;
    }
    let mut total = Counts::default();
    let (mut sessions, mut turns, mut compactions) = (0, 0, 0);
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let content = fs::read(&path).unwrap();
        let entries = replay(&content);
        let export: Value = serde_json::from_slice(&content).unwrap();
        let is_compacted = entries.iter().any(|entry| entry.flags.compact_summary);
        let counts = entries.iter().fold(Counts::default(), count_entry);
        if !is_compacted {
            assert_eq!(counts, count_export(&export), "{}", path.display());
        }
        total = entries.iter().fold(total, count_entry);
        sessions += 1;
        compactions += usize::from(is_compacted);
        let dialogue = Dialogue::of(entries);
        translate::check_every_format(&dialogue);
        turns += dialogue.turns.len();
    }
    eprintln!("opencode: {sessions} sessions, {compactions} compacted, {turns} turns, {total:?}");
}

fn replay(content: &[u8]) -> Vec<Entry> {
    let codec = codec(&Format::new("opencode-v1").unwrap()).unwrap();
    let mut replay = Replay::default();
    let mut splitter = Splitter::new(Framing::Document, MAX_DOCUMENT);
    for slice in content.chunks(64 * 1024) {
        splitter.push(slice, &mut |_| panic!("a document ends with its content")).unwrap();
    }
    let mut read = |record: RawRecord<'_>| {
        let facts = codec.outline(record.bytes).unwrap().facts;
        assert!(facts.session.is_some() && facts.directory.is_some() && facts.title.is_some());
        let step = codec.step(record.bytes).unwrap();
        // The next export of the same session holds the same messages.
        replay.take(step.clone());
        replay.take(step);
    };
    splitter.finish(&mut read).unwrap();
    replay.into_entries()
}

fn count_entry(mut counts: Counts, entry: &Entry) -> Counts {
    for part in &entry.parts {
        match part {
            EntryPart::Text { .. } => counts.texts += 1,
            EntryPart::Thinking { .. } => counts.thoughts += 1,
            EntryPart::ToolCall { .. } => counts.calls += 1,
            EntryPart::ToolResult { is_error, .. } => {
                counts.results += 1;
                counts.failures += usize::from(*is_error == Some(true));
            }
            EntryPart::Blob { .. } | EntryPart::Summary { .. } => {}
            EntryPart::Native { kind, .. } => panic!("{kind} is not understood"),
        }
    }
    counts
}

/// Counts the plain way what the export holds.
fn count_export(export: &Value) -> Counts {
    let messages = export["messages"].as_array().unwrap();
    let mut counts = Counts::default();
    for part in messages.iter().flat_map(|message| message["parts"].as_array().unwrap()) {
        match part["type"].as_str().unwrap() {
            "text" => counts.texts += 1,
            "reasoning" => {
                let sealed = part.pointer("/metadata/openai/reasoningEncryptedContent").is_some_and(Value::is_string);
                counts.thoughts += usize::from(part["text"] != "" || sealed);
            }
            "tool" => {
                counts.calls += 1;
                counts.results += 1;
                let failed = part["state"]["status"] == "error";
                let stopped = part.pointer("/state/metadata/output").is_some_and(Value::is_string);
                counts.failures += usize::from(failed && !stopped);
            }
            _ => {}
        }
    }
    counts
}
