//! `cursor-v1`: the transcript of an agent of Cursor, one message a line.
//!
//! Neither ids nor times are in it, nor what tools answered; what the model thought is blotted out.

use contexture_core::{Entry, EntryPart, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Facts, Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    loose_blocks,
    tolerant_json::{self, Field, Object},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// What Cursor puts in the place of what the model thought.
const BLOTTED: &str = "[REDACTED]";
/// What Cursor wraps what somebody asks in.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorLine<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    message: Object<CursorMessage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorMessage<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let line: CursorLine<'_> = tolerant_json::object(record)?;
    let facts = Facts { model: line.model.to_text(), ..Facts::default() };
    let entry = entry(line)?;
    let is_asked = entry.role == Role::User && !entry.parts.is_empty();
    let mark = if is_asked { RecordMark::Turn(Some(query(&entry.text()).to_owned())) } else { RecordMark::None };
    Ok(Outline { mark, facts, ..Outline::default() })
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let entry = entry(tolerant_json::object(record)?)?;
    Ok(if entry.parts.is_empty() { RecordStep::nothing() } else { RecordStep::append(entry) })
}

fn entry(line: CursorLine<'_>) -> serde_json::Result<Entry> {
    let role = match line.role.text() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "tool" => Role::Tool,
        // What is no message, such as the end of a turn, says nothing.
        _ => return Ok(Entry::new(Role::System, Vec::new())),
    };
    let parts = loose_blocks::parts(line.message.0.unwrap_or_default().content)?;
    let role = if loose_blocks::is_results(&parts) { Role::Tool } else { role };
    let parts = parts.into_iter().filter_map(|part| said(role, part)).collect();
    Ok(Entry { model: line.model.into_text(), ..Entry::new(role, parts) })
}

/// Returns what a part says, without what Cursor adds to it.
pub(super) fn said(role: Role, part: EntryPart) -> Option<EntryPart> {
    let EntryPart::Text { text } = part else { return Some(part) };
    let text = match role {
        Role::User => {
            let is_query = text.trim().starts_with(QUERY.0) && text.trim().ends_with(QUERY.1);
            if is_query { query(&text).to_owned() } else { text }
        }
        Role::Assistant => match text.trim_end().strip_suffix(BLOTTED) {
            Some(before) => before.trim_end().to_owned(),
            None => text,
        },
        Role::System | Role::Tool => text,
    };
    (!text.is_empty()).then(|| EntryPart::text(text))
}

/// Returns what somebody asks of what Cursor has wrapped around it.
pub(super) fn query(text: &str) -> &str {
    let Some((_, rest)) = text.split_once(QUERY.0) else { return text };
    rest.split_once(QUERY.1).map_or(rest, |(query, _)| query).trim()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Codec as _;

    fn line(role: &str, content: &Value) -> String {
        json!({"role": role, "message": {"content": content}}).to_string()
    }

    fn read(line: &str) -> (RecordMark, Vec<Entry>) {
        (CODEC.outline(line.as_bytes()).unwrap().mark, CODEC.step(line.as_bytes()).unwrap().entries)
    }

    #[test]
    fn what_somebody_asks_is_a_turn_without_its_wrapping() {
        let asked = [
            json!([{"type": "text", "text": "<user_query>\nWhy?\n</user_query>"}]),
            json!([{"type": "text", "text": "Why?"}]),
            json!("<user_query>Why?</user_query>"),
        ];
        for content in asked {
            let (mark, entries) = read(&line("user", &content));
            assert_eq!(mark, RecordMark::Turn(Some("Why?".into())), "{content}");
            assert_eq!(entries, [Entry::new(Role::User, vec![EntryPart::text("Why?")])], "{content}");
        }
        let (mark, entries) = read(&line("user", &json!("<files>a</files>\n<user_query>Why?</user_query>")));
        assert_eq!(mark, RecordMark::Turn(Some("Why?".into())));
        assert_eq!(entries[0].text(), "<files>a</files>\n<user_query>Why?</user_query>");
    }

    #[test]
    fn what_is_blotted_out_says_nothing() {
        let said = |text: &str| {
            let content = json!([{"type": "text", "text": text}, {"type": "tool_use", "name": "Shell", "input": {}}]);
            let entry = read(&line("assistant", &content)).1.remove(0);
            (entry.text(), entry.parts.len())
        };
        assert_eq!(said("I look.\n\n[REDACTED]"), ("I look.".into(), 2));
        assert_eq!(said("[REDACTED]"), (String::new(), 1));
        assert_eq!(said("a [REDACTED] b"), ("a [REDACTED] b".into(), 2));
    }

    #[test]
    fn answers_of_tools_are_no_turn_and_the_end_of_one_says_nothing() {
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "a.rs"}]);
        let (mark, entries) = read(&line("user", &result));
        assert_eq!((mark, entries[0].role), (RecordMark::None, Role::Tool));
        assert_eq!(read(r#"{"type":"turn_ended","status":"success"}"#), (RecordMark::None, vec![]));
    }
}
