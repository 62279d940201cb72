//! What `codex exec --json` says.

use std::ffi::OsString;

use contexture_core::{GivenSessionId, Trigger};
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{CheckpointMoment, StreamEvent, arguments, descriptor::EventStream},
    exec,
};

pub(super) const STREAM: EventStream = EventStream { format: "codex-exec-v1", is_asked_for, is_first_line, hear };

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    thread_id: Option<GivenSessionId>,
    item: Item,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
}

fn is_asked_for(arguments: &[OsString]) -> bool {
    let is_json = arguments::flags(arguments).any(|word| word == "--json" || word == "--experimental-json");
    is_json && exec::position(arguments).is_some()
}

pub(super) fn is_record(record: &Value) -> bool {
    match record["type"].as_str() {
        Some("thread.started") => record["thread_id"].is_string(),
        Some("item.started" | "item.completed") => record["item"].is_object(),
        _ => false,
    }
}

fn is_first_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Event>(line).is_ok_and(|event| event.kind == "thread.started" && event.thread_id.is_some())
}

fn hear(line: &[u8]) -> serde_json::Result<StreamEvent> {
    let event: Event = serde_json::from_slice(line)?;
    let trigger = match (event.kind.as_str(), event.item.kind.as_str()) {
        ("turn.completed" | "turn.failed", _) => Some(Trigger::TurnBoundary),
        ("item.completed", "agent_message" | "reasoning" | "todo_list" | "plan" | "error" | "") => None,
        ("item.completed", _) => Some(Trigger::ToolCall),
        _ => None,
    };
    Ok(StreamEvent { session: event.thread_id, moment: trigger.map(CheckpointMoment::at_once) })
}
