//! What `gemini --output-format stream-json` says.

use contexture_core::{GivenSessionId, Trigger};
use serde::Deserialize;
use serde_json::Value;

use super::super::{CheckpointMoment, StreamEvent, arguments, descriptor::EventStream};
use crate::detect::has_texts;

pub(super) const STREAM: EventStream = EventStream {
    format: "gemini-stream-v1",
    is_asked_for: |arguments| arguments::is_set(arguments, &["--output-format", "-o"], "stream-json"),
    is_first_line,
    hear,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    session_id: Option<GivenSessionId>,
}

pub(super) fn is_record(record: &Value) -> bool {
    record["type"] == "init" && has_texts(record, ["session_id", "timestamp", "model"])
}

fn is_first_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Event>(line).is_ok_and(|event| event.kind == "init" && event.session_id.is_some())
}

fn hear(line: &[u8]) -> serde_json::Result<StreamEvent> {
    let event: Event = serde_json::from_slice(line)?;
    let trigger = match event.kind.as_str() {
        "result" => Some(Trigger::TurnBoundary),
        // The session's file tells of a call only when it was answered.
        "tool_result" => Some(Trigger::ToolCall),
        _ => None,
    };
    Ok(StreamEvent { session: event.session_id, moment: trigger.map(CheckpointMoment::at_once) })
}
