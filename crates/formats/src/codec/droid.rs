//! `droid-v1`: the session file of Factory's Droid, one record a line, messages in the blocks of Anthropic's API.

use contexture_core::{Entry, EntryPart, Flags, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Effect, Facts, Keep, Link, Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    loose_blocks,
    tolerant_json::{self, Field, Object},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// What Droid puts before the words of somebody.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DroidLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    parent_id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    message: Object<DroidMessage<'a>>,
    #[serde(borrow)]
    title: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    version: Field<'a>,
    #[serde(borrow)]
    summary_text: Field<'a>,
    #[serde(borrow)]
    anchor_message: Object<Anchor<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DroidMessage<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Field<'a>,
}

/// The last message that a compaction sums up.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Anchor<'a> {
    #[serde(borrow)]
    id: Field<'a>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let line: DroidLine<'_> = tolerant_json::object(record)?;
    let at = line.timestamp.instant();
    let link = line.parent_id.to_text().map_or(Link::Previous, Link::To);
    match line.kind.text() {
        "session_start" => {
            let facts = Facts {
                session: line.id.into_text(),
                title: line.title.into_text(),
                directory: line.cwd.into_text(),
                version: line.version.into_text(),
                ..Facts::default()
            };
            Ok(Outline { at, facts, ..Outline::default() })
        }
        "compaction_state" if !line.summary_text.text().is_empty() => {
            let after = line.anchor_message.0.and_then(|anchor| anchor.id.into_text());
            let mark = RecordMark::Compaction { after };
            Ok(Outline { id: line.id.into_text(), at, mark, has_summary: true, ..Outline::default() })
        }
        "message" => {
            let message = line.message.0.unwrap_or_default();
            let facts = Facts { model: message.model.to_text(), ..Facts::default() };
            let mark = match words(&entry(message)?) {
                Some(words) => RecordMark::Turn(Some(words)),
                None => RecordMark::None,
            };
            Ok(Outline { id: line.id.into_text(), link, at, mark, facts, ..Outline::default() })
        }
        _ => Ok(Outline { id: line.id.into_text(), link, at, ..Outline::default() }),
    }
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let line: DroidLine<'_> = tolerant_json::object(record)?;
    let (id, parent, at) = (line.id.to_text(), line.parent_id.to_text(), line.timestamp.instant());
    match line.kind.text() {
        "message" => {
            let entry = entry(line.message.0.unwrap_or_default())?;
            if entry.parts.is_empty() {
                return Ok(RecordStep::nothing());
            }
            Ok(RecordStep::append(Entry { id, parent, at, ..entry }))
        }
        "compaction_state" if !line.summary_text.text().is_empty() => {
            let flags = Flags { compact_summary: true, ..Flags::default() };
            let text = line.summary_text.text().to_owned();
            let entry = Entry { id, at, flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) };
            Ok(RecordStep { effect: Effect::Replace(Keep::Nothing), entries: vec![entry] })
        }
        _ => Ok(RecordStep::nothing()),
    }
}

fn entry(message: DroidMessage<'_>) -> serde_json::Result<Entry> {
    let parts = loose_blocks::parts(message.content)?;
    let role = match message.role.text() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ if loose_blocks::is_results(&parts) => Role::Tool,
        _ => Role::User,
    };
    Ok(Entry { model: message.model.into_text(), ..Entry::new(role, parts) })
}

/// Returns what somebody has typed, without what Droid reminds the model of.
fn words(entry: &Entry) -> Option<String> {
    if entry.role != Role::User {
        return None;
    }
    let typed = entry.parts.iter().filter_map(|part| match part {
        EntryPart::Text { text } => Some(without_reminder(text)),
        _ => None,
    });
    let typed: Vec<&str> = typed.filter(|text| !text.is_empty()).collect();
    (!typed.is_empty()).then(|| typed.join("\n"))
}

fn without_reminder(text: &str) -> &str {
    match text.trim_start().strip_prefix(REMINDER.0) {
        Some(rest) => rest.split_once(REMINDER.1).map_or("", |(_, typed)| typed.trim()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Codec as _, Replay};

    fn message(id: &str, parent: &Value, role: &str, content: &Value) -> Value {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-15T10:00:00Z",
            "message": {"role": role, "content": content}})
    }

    fn outline(record: &Value) -> Outline {
        CODEC.outline(record.to_string().as_bytes()).unwrap()
    }

    fn replay(records: &[Value]) -> Vec<Entry> {
        let mut replay = Replay::default();
        for record in records {
            replay.take(CODEC.step(record.to_string().as_bytes()).unwrap());
        }
        replay.into_entries()
    }

    #[test]
    fn a_start_tells_about_its_session() {
        let start = json!({"type": "session_start", "id": "s", "title": "Fix", "cwd": "/w", "version": 2});
        let facts = Facts {
            session: Some("s".into()),
            title: Some("Fix".into()),
            directory: Some("/w".into()),
            ..Facts::default()
        };
        assert_eq!(outline(&start), Outline { facts, ..Outline::default() });
        assert_eq!(replay(&[start]), []);
    }

    #[test]
    fn a_turn_begins_where_somebody_has_typed_something() {
        let mark = |content: &Value| outline(&message("m", &Value::Null, "user", content)).mark;
        let turn = |words: &str| RecordMark::Turn(Some(words.to_owned()));
        assert_eq!(mark(&json!("Why?")), turn("Why?"));
        assert_eq!(
            mark(&json!([{"type": "text", "text": "<system-reminder>x</system-reminder>\n\nWhy?"}])),
            turn("Why?")
        );
        assert_eq!(mark(&json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"}])), RecordMark::None);
        assert_eq!(mark(&json!([{"type": "tool_result", "tool_use_id": "t", "content": "a"}])), RecordMark::None);
    }

    #[test]
    fn messages_follow_those_that_they_name() {
        let record = message("m2", &json!("m1"), "assistant", &json!([{"type": "text", "text": "So."}]));
        assert_eq!(outline(&record).link, Link::To("m1".into()));
        assert_eq!(outline(&message("m1", &Value::Null, "user", &json!("Why?"))).link, Link::Previous);
    }

    #[test]
    fn a_compaction_takes_the_place_of_what_came_before() {
        let asked = message("m1", &Value::Null, "user", &json!("Why?"));
        let compaction =
            json!({"type": "compaction_state", "id": "k", "summaryText": "so far", "anchorMessage": {"id": "m1"}});
        assert_eq!(outline(&compaction).mark, RecordMark::Compaction { after: Some("m1".into()) });
        assert_eq!(replay(&[asked, compaction]).iter().map(Entry::text).collect::<Vec<_>>(), ["so far"]);
    }
}
