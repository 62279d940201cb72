//! What `claude --output-format stream-json` says.

use contexture_core::{GivenSessionId, Trigger};
use serde::Deserialize;
use serde_json::Value;

use super::super::{CheckpointMoment, StreamEvent, arguments, descriptor::EventStream};

pub(super) const STREAM: EventStream = EventStream {
    format: "claude-stream-v1",
    is_asked_for: |arguments| arguments::is_set(arguments, &["--output-format"], "stream-json"),
    is_first_line,
    hear,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    session_id: Option<GivenSessionId>,
    /// The call whose sub-agent speaks, in a file of its own.
    parent_tool_use_id: Option<String>,
    message: Message,
    result: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Blocks,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Blocks {
    List(Vec<Block>),
    Other(serde::de::IgnoredAny),
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Other(serde::de::IgnoredAny)
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    ToolUse {
        id: String,
    },
    #[serde(other)]
    Other,
}

pub(super) fn is_record(record: &Value) -> bool {
    match record["type"].as_str() {
        Some("system") => record["subtype"] == "init" && record["session_id"].is_string() && record["tools"].is_array(),
        Some("user" | "assistant") => record["message"].is_object() && record.get("parent_tool_use_id").is_some(),
        _ => false,
    }
}

fn is_first_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Event>(line)
        .is_ok_and(|event| event.kind == "system" && event.subtype.is_some() && event.session_id.is_some())
}

fn hear(line: &[u8]) -> serde_json::Result<StreamEvent> {
    let event: Event = serde_json::from_slice(line)?;
    let moment = match event.kind.as_str() {
        "assistant" => {
            let Blocks::List(blocks) = event.message.content else { return Ok(StreamEvent::default()) };
            let call = blocks.into_iter().rev().find_map(|block| match block {
                Block::ToolUse { id } => Some(id),
                Block::Other => None,
            });
            let is_own = event.parent_tool_use_id.is_none();
            call.map(|id| CheckpointMoment { trigger: Trigger::ToolCall, awaited: Some(id).filter(|_| is_own) })
        }
        "result" => Some(CheckpointMoment { trigger: Trigger::TurnBoundary, awaited: event.result }),
        _ => None,
    };
    Ok(StreamEvent { session: event.session_id, moment })
}
