//! A summary is content of its format and says what the text says.

use contexture_core::Format;
use contexture_formats::{Concatenation, JoinPlan, known, summary_entry};
use serde_json::Value;

use crate::slices::{check, join};

/// Quotes, backslashes, line feeds, controls, long characters, and a beginning that Gemini CLI takes for a command.
const TEXT: &str = "/src \"done\"\\\n\u{1}\u{e9}\u{1f600}\nnext: [tests]";

fn entry(name: &str, text: &str) -> Vec<u8> {
    summary_entry(&Format::new(name).unwrap(), text).expect("the format is known")
}

/// Returns the text at each pointer into the JSON.
fn texts(name: &str, pointers: &[&str]) -> Vec<String> {
    let value: Value = serde_json::from_slice(&entry(name, TEXT)).unwrap();
    pointers.iter().map(|pointer| value.pointer(pointer).unwrap().as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_summary_is_one_message_of_its_format_whatever_the_text() {
    for format in known() {
        let name = Format::new(format.name).unwrap();
        for text in ["", "a", TEXT, &"long \u{20ac} ".repeat(10_000)] {
            let Some(entry) = summary_entry(&name, text) else {
                let has_none = [
                    "atif-v1",
                    "claude-stream-v1",
                    "codex-exec-v1",
                    "gemini-stream-v1",
                    "pi-stream-v1",
                    "opencode-v1",
                    "copilot-v1",
                    "cursor-v1",
                    "cursor-chat-v1",
                    "droid-v1",
                    "dsh-v1",
                    "dsh-stream-v1",
                    "kiro-v1",
                    "kiro-chat-v1",
                    "crush-v1",
                    "aider-v1",
                    "entire-condensed-v1",
                    "specstory-v1",
                    "swe-agent-v1",
                    "jsonl",
                ];
                assert!(has_none.contains(&format.name), "{name} has no summary");
                continue;
            };
            let measure = check(format.rule, &entry).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(measure.messages, (format.rule != Concatenation::Bytes).then_some(1), "{name}");
        }
    }
}

#[test]
fn the_text_is_where_the_runtime_looks_for_it() {
    let places: [(&str, &[&str]); 8] = [
        ("claude-code-v1", &["/message/content"]),
        ("codex-v1", &["/payload/message", "/payload/replacement_history/0/content/0/text"]),
        ("gemini-v1", &["/$set/messages/0/content/1/text"]),
        ("pi-v1", &["/summary"]),
        ("events-v1", &["/parts/0/text"]),
        ("anthropic-messages-v1", &["/0/content/0/text"]),
        ("openai-chat-v1", &["/0/content"]),
        ("openai-responses-v1", &["/0/content/0/text"]),
    ];
    for (name, pointers) in places {
        assert_eq!(texts(name, pointers), vec![TEXT; pointers.len()], "{name}");
    }
    assert_eq!(entry("text", TEXT), TEXT.as_bytes());
}

#[test]
fn records_have_exactly_these_bytes() {
    let text = |name| String::from_utf8(entry(name, "done")).unwrap();
    assert_eq!(
        text("claude-code-v1"),
        "{\"parentUuid\":null,\"isSidechain\":false,\"userType\":\"external\",\"type\":\"user\",\
         \"message\":{\"role\":\"user\",\"content\":\"done\"},\"isVisibleInTranscriptOnly\":true,\
         \"isCompactSummary\":true,\"uuid\":\"211ae55f-eb69-8a76-8333-7c821df25bce\"}\n"
    );
    assert_eq!(
        text("codex-v1"),
        "{\"timestamp\":\"1970-01-01T00:00:00.000Z\",\"type\":\"compacted\",\"payload\":{\"message\":\"done\",\
         \"replacement_history\":[{\"type\":\"message\",\"role\":\"user\",\
         \"content\":[{\"type\":\"input_text\",\"text\":\"done\"}]}]}}\n"
    );
    // The heading keeps a text that starts with '/' from being dropped as a command.
    assert_eq!(
        text("gemini-v1"),
        "{\"$set\":{\"messages\":[{\"id\":\"211ae55f-eb69-8a76-8333-7c821df25bce\",\
         \"timestamp\":\"1970-01-01T00:00:00.000Z\",\"type\":\"user\",\
         \"content\":[{\"text\":\"Summary of the conversation so far:\\n\\n\"},{\"text\":\"done\"}]}]}}\n"
    );
    assert_eq!(
        text("pi-v1"),
        "{\"type\":\"compaction\",\"id\":\"211ae55f\",\"parentId\":null,\"timestamp\":\"1970-01-01T00:00:00.000Z\",\
         \"summary\":\"done\",\"retainedTail\":[],\"tokensBefore\":0}\n"
    );
    assert_eq!(
        text("events-v1"),
        "{\"role\":\"user\",\"parts\":[{\"type\":\"summary\",\"text\":\"done\"}],\
         \"flags\":{\"compact_summary\":true}}\n"
    );
    assert_eq!(
        entry("bureau-agent-v1", "done"),
        b"\x81\xA2\x64Role\x64user\x67Content\x81\xA2\x64Text\x64done\x64Type\x64text"
    );
}

#[test]
fn a_summary_joins_with_what_follows() {
    let parts = [entry("openai-chat-v1", "done"), b"[{\"role\":\"user\",\"content\":\"go on\"}]".to_vec()];
    let (out, measure) = join(JoinPlan::JsonArray { parts: 2 }, &parts, 7).unwrap();
    assert_eq!(out, br#"[{"role":"user","content":"done"},{"role":"user","content":"go on"}]"#);
    assert_eq!(measure.messages, Some(2));
}

#[test]
fn other_formats_have_no_summary() {
    for name in ["opencode-v1", "jsonl", "my-jsonl", "pdf"] {
        assert_eq!(summary_entry(&Format::new(name).unwrap(), "done"), None, "{name}");
    }
}
