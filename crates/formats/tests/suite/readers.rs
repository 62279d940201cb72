//! The formats that are read and not written: what is in a session of each, and what of it every target keeps.
//!
//! `CTX_REWRITE_GOLDEN=1 cargo test -p contexture-formats readers` writes what is read of each anew; read the diff.

mod counted;

use std::{env, fs, path::PathBuf};

use contexture_core::Format;
use contexture_formats::{Dialogue, RawRecord, Replay, Splitter, codec};

use crate::{encode, translate};

/// Each format, with the session of it that was written for these tests.
const READERS: [(&str, &str); 12] = [
    ("copilot-v1", "copilot/events.jsonl"),
    ("cursor-v1", "cursor/5f0c8a52-6a55-4b0e-9f38-3a1f0d5b7c11.jsonl"),
    ("cursor-chat-v1", "cursor-chat/chat.json"),
    ("droid-v1", "droid/6a0c8a52-6a55-4b0e-9f38-3a1f0d5b7c12.jsonl"),
    ("dsh-v1", "dsh/8d0c8a52-6a55-4b0e-9f38-3a1f0d5b7c16/session.jsonl"),
    ("kiro-v1", "kiro/7b0c8a52-6a55-4b0e-9f38-3a1f0d5b7c13.jsonl"),
    ("kiro-chat-v1", "kiro-chat/conversation.json"),
    ("crush-v1", "crush/session.json"),
    ("aider-v1", "aider/.aider.chat.history.md"),
    ("entire-condensed-v1", "entire-condensed/full.jsonl"),
    ("specstory-v1", "specstory/2026-11-15_10-00Z-fix-the-test.md"),
    ("swe-agent-v1", "swe-agent/ada__project-1.traj"),
];

fn path(file: &str) -> PathBuf {
    PathBuf::from(format!("{}/tests/readers/{file}", env!("CARGO_MANIFEST_DIR")))
}

/// Reads a session as an import does: cut into records, each by itself.
pub(crate) fn dialogue(format: &str, content: &[u8]) -> Dialogue {
    let codec = codec(&Format::new(format).unwrap()).unwrap();
    let mut replay = Replay::default();
    let mut splitter = Splitter::new(codec.framing(), content.len() as u64);
    let mut take = |record: RawRecord<'_>| {
        if !record.is_blank() {
            codec.outline(record.bytes).unwrap();
            replay.take(codec.step(record.bytes).unwrap());
        }
    };
    splitter.push(content, &mut take).unwrap();
    splitter.finish(&mut take).unwrap();
    Dialogue::of(replay.into_entries())
}

#[test]
fn a_session_of_each_format_says_what_is_in_it() {
    for (format, file) in READERS {
        let said = dialogue(format, &fs::read(path(file)).unwrap());
        let text = String::from_utf8(translate::encode("text", &said).bytes).unwrap();
        let golden = path(&format!("{}.txt", file.split_once('/').unwrap().0));
        if env::var_os("CTX_REWRITE_GOLDEN").is_some() {
            fs::write(golden, text).unwrap();
            continue;
        }
        assert_eq!(text, fs::read_to_string(golden).unwrap(), "{format}");
    }
}

#[test]
fn what_a_session_of_each_format_says_survives_every_target() {
    for (format, file) in READERS {
        let said = dialogue(format, &fs::read(path(file)).unwrap());
        for target in encode::FORMATS {
            assert_eq!(encode::difference(target, &said), None, "{format} in {target}");
        }
    }
}

#[test]
fn a_session_that_was_cut_off_anywhere_is_read_as_far_as_it_goes() {
    for (format, file) in READERS {
        let content = fs::read(path(file)).unwrap();
        let codec = codec(&Format::new(format).unwrap()).unwrap();
        for end in (0..content.len()).step_by(7) {
            let mut splitter = Splitter::new(codec.framing(), content.len() as u64);
            let mut bytes = Vec::new();
            let mut take = |record: RawRecord<'_>| {
                bytes.extend_from_slice(record.bytes);
                // What is broken is refused, and nothing panics.
                assert_eq!(codec.outline(record.bytes).is_ok(), codec.step(record.bytes).is_ok(), "{format} at {end}");
            };
            splitter.push(&content[..end], &mut take).unwrap();
            splitter.finish(&mut take).unwrap();
            assert_eq!(bytes, &content[..end], "{format} at {end}");
        }
    }
}
