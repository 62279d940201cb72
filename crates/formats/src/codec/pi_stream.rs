//! `pi-stream-v1`: what pi prints with `--mode json`, one event a line after the line that begins a session.
//!
//! Each message comes whole when it ends, and again when its turn and the agent's work end.

use contexture_core::{Entry, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Facts, Link, Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    pi::message,
    tolerant_json::{self, Field, Object},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

#[derive(Default, Deserialize)]
#[serde(default)]
struct PiStreamEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    message: Object<PiStreamSpeaker<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PiStreamSpeaker<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EndedMessage<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let event: PiStreamEvent<'_> = tolerant_json::object(record)?;
    let mut outline = Outline { at: event.timestamp.instant(), ..Outline::default() };
    match event.kind.text() {
        "session" => {
            outline.link = Link::Root;
            outline.facts =
                Facts { session: event.id.into_text(), directory: event.cwd.into_text(), ..Facts::default() };
        }
        "message_end" => {
            let speaker = event.message.0.unwrap_or_default();
            match speaker.role.text() {
                "user" => {
                    let text = Entry::new(Role::User, message::content(speaker.content)?).text();
                    outline.mark = RecordMark::Turn(Some(text).filter(|text| !text.is_empty()));
                }
                "assistant" => {
                    outline.is_answer = true;
                    outline.facts.model = speaker.model.into_text();
                }
                _ => {}
            }
        }
        _ => {}
    }
    Ok(outline)
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let event: EndedMessage<'_> = tolerant_json::object(record)?;
    let ("message_end", Some(raw)) = (event.kind.text(), event.message) else { return Ok(RecordStep::nothing()) };
    let said = message::entry(raw)?;
    Ok(if said.parts.is_empty() { RecordStep::nothing() } else { RecordStep::append(said) })
}

#[cfg(test)]
mod tests {
    use contexture_core::{EntryPart, ToolInput};
    use serde_json::{Value, json};

    use super::*;
    use crate::{Codec as _, Replay};

    fn ended(message: &Value) -> Value {
        json!({"type": "message_end", "message": message})
    }

    #[test]
    fn a_stream_is_the_messages_that_have_ended() {
        let asked = json!({"role": "user", "content": "Where are we?"});
        let called = json!({"role": "assistant", "model": "m",
            "content": [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "pwd"}}]});
        let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": false,
            "content": [{"type": "text", "text": "/w"}]});
        let events = [
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-07-09T00:00:00Z", "cwd": "/w"}),
            json!({"type": "message_start", "message": asked}),
            ended(&asked),
            json!({"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "x"}}),
            ended(&called),
            json!({"type": "tool_execution_end", "toolCallId": "c", "result": "/w"}),
            ended(&result),
            json!({"type": "turn_end", "message": called, "toolResults": [result]}),
            json!({"type": "agent_end", "messages": [asked, called, result]}),
        ];
        let outlines = events.each_ref().map(|event| CODEC.outline(event.to_string().as_bytes()).unwrap());
        assert_eq!(
            (outlines[0].facts.session.as_deref(), outlines[0].facts.directory.as_deref()),
            (Some("s"), Some("/w"))
        );
        assert_eq!(outlines[2].mark, RecordMark::Turn(Some("Where are we?".into())));
        assert_eq!((outlines[4].is_answer, outlines[4].facts.model.as_deref()), (true, Some("m")));
        let mut replay = Replay::default();
        for event in &events {
            replay.take(CODEC.step(event.to_string().as_bytes()).unwrap());
        }
        let parts: Vec<_> = replay.into_entries().into_iter().map(|entry| (entry.role, entry.parts)).collect();
        let input = ToolInput::Json(json!({"command": "pwd"}));
        let expected = [
            (Role::User, vec![EntryPart::text("Where are we?")]),
            (Role::Assistant, vec![EntryPart::ToolCall { id: "c".into(), name: "bash".into(), input }]),
            (
                Role::Tool,
                vec![EntryPart::ToolResult {
                    call: "c".into(),
                    content: vec![EntryPart::text("/w")],
                    is_error: Some(false),
                }],
            ),
        ];
        assert_eq!(parts, expected);
        assert!(CODEC.outline(b"[]").is_err() && CODEC.step(b"1").is_err());
    }
}
