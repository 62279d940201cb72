//! A plain-text summary as the beginning of a conversation.

use contexture_core::{ArtifactId, EntryPart, Format};

use crate::{KnownFormat, cbor::writer::CborWriter, rule::Concatenation};

/// Stands for a time that nobody took, where a runtime refuses a record without one.
const NO_TIME: &str = "1970-01-01T00:00:00.000Z";

/// What a summary begins with where a format has no record of its own for one.
const HEADING: &str = "Summary of the conversation so far:\n\n";

/// Returns the smallest content in the format that carries the text as the conversation so far.
///
/// It passes the format's [`Checker`](crate::Checker) and joins with what follows. The same text gives the same bytes:
/// ids that a runtime needs are derived from the text, and nothing names a session, a directory or a real time; filling
/// those in is left to whoever writes a file for the runtime. Nothing is returned for a format in which it is not known
/// what such a record looks like.
pub fn summary_entry(format: &Format, text: &str) -> Option<Vec<u8>> {
    let known = KnownFormat::named(format)?;
    let mut entry = (known.summary?)(text);
    if known.rule == Concatenation::Lines {
        entry.push(b'\n');
    }
    Some(entry)
}

/// Writes a summary in a format, without what ends a line.
pub(crate) type SummaryWriter = fn(text: &str) -> Vec<u8>;

pub(crate) fn claude_code(text: &str) -> Vec<u8> {
    let (quoted, uuid) = (quoted(text), text_uuid(text));
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"userType":"external","type":"user","message":{{"role":"user","content":{quoted}}},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"{uuid}"}}"#
    )
    .into_bytes()
}

/// With the replacement history Codex continues from exactly this message.
pub(crate) fn codex(text: &str) -> Vec<u8> {
    let quoted = quoted(text);
    format!(
        r#"{{"timestamp":"{NO_TIME}","type":"compacted","payload":{{"message":{quoted},"replacement_history":[{{"type":"message","role":"user","content":[{{"type":"input_text","text":{quoted}}}]}}]}}}}"#
    )
    .into_bytes()
}

/// Gemini CLI drops a user text that starts with '/', '?' or certain tags, hence the heading.
pub(crate) fn gemini(text: &str) -> Vec<u8> {
    let (heading, quoted, uuid) = (quoted(HEADING), quoted(text), text_uuid(text));
    format!(
        r#"{{"$set":{{"messages":[{{"id":"{uuid}","timestamp":"{NO_TIME}","type":"user","content":[{{"text":{heading}}},{{"text":{quoted}}}]}}]}}}}"#
    )
    .into_bytes()
}

pub(crate) fn pi(text: &str) -> Vec<u8> {
    let (quoted, uuid) = (quoted(text), text_uuid(text));
    let short = &uuid[..8];
    format!(
        r#"{{"type":"compaction","id":"{short}","parentId":null,"timestamp":"{NO_TIME}","summary":{quoted},"retainedTail":[],"tokensBefore":0}}"#
    )
    .into_bytes()
}

pub(crate) fn events(text: &str) -> Vec<u8> {
    let quoted = quoted(text);
    format!(r#"{{"role":"user","parts":[{{"type":"summary","text":{quoted}}}],"flags":{{"compact_summary":true}}}}"#)
        .into_bytes()
}

pub(crate) fn anthropic(text: &str) -> Vec<u8> {
    let quoted = quoted(text);
    format!(r#"[{{"role":"user","content":[{{"type":"text","text":{quoted}}}]}}]"#).into_bytes()
}

pub(crate) fn openai_chat(text: &str) -> Vec<u8> {
    format!(r#"[{{"role":"user","content":{}}}]"#, quoted(text)).into_bytes()
}

pub(crate) fn openai_responses(text: &str) -> Vec<u8> {
    let quoted = quoted(text);
    format!(r#"[{{"type":"message","role":"user","content":[{{"type":"input_text","text":{quoted}}}]}}]"#).into_bytes()
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("every text has a JSON form")
}

fn text_uuid(text: &str) -> String {
    uuid(&ArtifactId::of(text.as_bytes()))
}

/// Returns a summary as a message that says what it is.
pub(crate) fn headed(summary: &str) -> String {
    format!("{HEADING}{summary}")
}

/// Finds the summaries among what a user said, by the heading that this crate writes above them.
pub(crate) fn recognise(parts: Vec<EntryPart>) -> Vec<EntryPart> {
    let mut found = Vec::with_capacity(parts.len());
    let mut is_headed = false;
    for part in parts {
        match part {
            EntryPart::Text { text } if text == HEADING => is_headed = true,
            EntryPart::Text { text } if std::mem::take(&mut is_headed) => found.push(EntryPart::Summary { text }),
            EntryPart::Text { text } => found.push(match text.strip_prefix(HEADING) {
                Some(summary) => EntryPart::Summary { text: summary.to_owned() },
                None => EntryPart::Text { text },
            }),
            other => found.push(other),
        }
    }
    found
}

/// Tells whether parts are summaries and nothing else.
pub(crate) fn is_all(parts: &[EntryPart]) -> bool {
    !parts.is_empty() && parts.iter().all(|part| matches!(part, EntryPart::Summary { .. }))
}

/// Returns `[{"Role": "user", "Content": [{"Text": text, "Type": "text"}]}]`, keys in the order that Bureau's
/// deterministic encoding gives them.
pub(crate) fn bureau(text: &str) -> Vec<u8> {
    let mut content = CborWriter::default();
    content.array(1);
    content.map(2);
    content.text("Role");
    content.text("user");
    content.text("Content");
    content.array(1);
    content.map(2);
    content.text("Text");
    content.text(text);
    content.text("Type");
    content.text("text");
    content.into_bytes()
}

/// Makes a version 8 UUID (RFC 9562) of the digest's first 16 bytes.
pub(crate) fn uuid(id: &ArtifactId) -> String {
    let mut bits = u128::from_be_bytes(*id.as_bytes().first_chunk().expect("a digest has 32 bytes"));
    bits = bits & !(0xF << 76) | 8 << 76;
    bits = bits & !(0b11 << 62) | 0b10 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
