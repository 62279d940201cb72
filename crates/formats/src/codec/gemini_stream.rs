//! `gemini-stream-v1`: what `gemini --output-format stream-json` prints, one event a line.

use contexture_core::{Entry, EntryPart, Role, ToolInput};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    Effect, Link, Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    tolerant_json::{self, Field, Object, Shape},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// An event of any type, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    delta: Field<'a>,
    #[serde(borrow)]
    tool_name: Field<'a>,
    #[serde(borrow)]
    tool_id: Field<'a>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Object<StreamFailure<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamFailure<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let event: Event<'_> = tolerant_json::object(record)?;
    let mut outline = Outline { at: event.timestamp.instant(), ..Outline::default() };
    match (event.kind.text(), event.role.text()) {
        ("init", _) => {
            outline.link = Link::Root;
            outline.facts.session = event.session_id.into_text();
            outline.facts.model = event.model.into_text();
        }
        ("message", "user") => outline.mark = RecordMark::Turn(event.content.into_text()),
        _ => {}
    }
    Ok(outline)
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let event: Event<'_> = tolerant_json::object(record)?;
    let at = event.timestamp.instant();
    let (role, part) = match event.kind.text() {
        "message" => {
            let role = if event.role.text() == "user" { Role::User } else { Role::Assistant };
            (role, EntryPart::text(event.content.text()))
        }
        "tool_use" => {
            let input = event.parameters.map_or_else(|| Value::Object(Map::new()), tolerant_json::value);
            let call = EntryPart::ToolCall {
                id: event.tool_id.into_text().unwrap_or_default(),
                name: event.tool_name.into_text().unwrap_or_default(),
                input: ToolInput::Json(input),
            };
            (Role::Assistant, call)
        }
        "tool_result" => {
            let output = match (tolerant_json::shape(event.output)?, event.error.0) {
                (Shape::Text(text), _) => text.into_owned(),
                (_, Some(error)) => error.message.text().to_owned(),
                _ => event.output.map(|output| output.get().to_owned()).unwrap_or_default(),
            };
            let is_error = match event.status.text() {
                "success" => Some(false),
                "error" => Some(true),
                _ => None,
            };
            let call = event.tool_id.into_text().unwrap_or_default();
            (Role::Tool, EntryPart::ToolResult { call, content: vec![EntryPart::text(output)], is_error })
        }
        _ => return Ok(RecordStep::nothing()),
    };
    let effect = if event.delta.is_true() { Effect::Continue } else { Effect::Append };
    Ok(RecordStep { effect, entries: vec![Entry { at, ..Entry::new(role, vec![part]) }] })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Codec as _, Replay};

    const AT: &str = "2026-04-29T21:39:33.155Z";

    fn step(record: &Value) -> RecordStep {
        CODEC.step(record.to_string().as_bytes()).unwrap()
    }

    fn outline(record: &Value) -> Outline {
        CODEC.outline(record.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_stream_tells_about_its_session_and_what_was_asked() {
        let facts = outline(&json!({"type": "init", "timestamp": AT, "session_id": "s", "model": "gemini-3"})).facts;
        assert_eq!((facts.session.as_deref(), facts.model.as_deref()), (Some("s"), Some("gemini-3")));
        let asked = json!({"type": "message", "timestamp": AT, "role": "user", "content": "go"});
        let expected = Outline { at: AT.parse().ok(), mark: RecordMark::Turn(Some("go".into())), ..Outline::default() };
        assert_eq!(outline(&asked), expected);
        for event in [json!({"type": "result", "status": "success"}), json!({"type": "error"}), json!({})] {
            assert_eq!((step(&event), outline(&event).mark), (RecordStep::nothing(), RecordMark::None));
        }
        assert!(CODEC.step(b"1").is_err());
    }

    #[test]
    fn an_answer_that_comes_in_pieces_is_one() {
        let said = |text: &str| json!({"type": "message", "role": "assistant", "content": text, "delta": true});
        let call = json!({"type": "tool_use", "tool_name": "read", "tool_id": "c", "parameters": {"path": "a"}});
        let failed = json!({"type": "tool_result", "tool_id": "c", "status": "error", "error": {"type": "t", "message": "gone"}});
        let asked = json!({"type": "message", "role": "user", "content": "go"});
        let mut replay = Replay::default();
        for record in [asked, said("Hel"), said("lo"), call, failed, said("Sor"), said("ry")] {
            replay.take(step(&record));
        }
        let input = ToolInput::Json(json!({"path": "a"}));
        let expected = vec![
            Entry::new(Role::User, vec![EntryPart::text("go")]),
            Entry::new(Role::Assistant, vec![EntryPart::text("Hello")]),
            Entry::new(Role::Assistant, vec![EntryPart::ToolCall { id: "c".into(), name: "read".into(), input }]),
            Entry::new(
                Role::Tool,
                vec![EntryPart::ToolResult {
                    call: "c".into(),
                    content: vec![EntryPart::text("gone")],
                    is_error: Some(true),
                }],
            ),
            Entry::new(Role::Assistant, vec![EntryPart::text("Sorry")]),
        ];
        assert_eq!(replay.into_entries(), expected);
        let fine = json!({"type": "tool_result", "tool_id": "c", "status": "success", "output": "text"});
        let result =
            EntryPart::ToolResult { call: "c".into(), content: vec![EntryPart::text("text")], is_error: Some(false) };
        assert_eq!(step(&fine).entries[0].parts, [result]);
    }
}
