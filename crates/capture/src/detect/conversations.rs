//! Formats of conversations that no runtime keeps as its sessions.

use contexture_core::EntryPart;
use contexture_formats::{Framing, Splitter, codec};
use serde_json::Value;

use super::{
    MAX_BYTES, named,
    signs::{DocumentFields, FormatSigns, is_list},
};

const BUREAU: &str = "bureau-agent-v1";
const OPENAI_CHAT: &str = "openai-chat-v1";
const ANTHROPIC: &str = "anthropic-messages-v1";

/// The signs of each, those first that are asked first.
pub(super) static CONVERSATIONS: &[FormatSigns] = &[
    FormatSigns { is_document: Some(is_trajectory), ..FormatSigns::of("atif-v1") },
    FormatSigns { is_record: Some(is_entry), ..FormatSigns::of("events-v1") },
    FormatSigns { is_element: Some(is_responses_item), ..FormatSigns::of("openai-responses-v1") },
    FormatSigns { is_element: Some(is_chat_message), ..FormatSigns::of(OPENAI_CHAT) },
    FormatSigns { is_element: Some(is_anthropic_message), ..FormatSigns::of(ANTHROPIC) },
    FormatSigns { is_cbor: Some(is_bureau), ..FormatSigns::of(BUREAU) },
];

/// Returns the format of messages that every API would take: Anthropic's, unless the system speaks among them.
pub(super) fn of_plain_messages(elements: &[Value]) -> Option<&'static str> {
    let is_message = |element: &Value| element["role"].is_string() && element.get("content").is_some();
    let is_system = elements.iter().any(|element| element["role"] == "system");
    let is_list = !elements.is_empty() && elements.iter().all(is_message);
    is_list.then_some(if is_system { OPENAI_CHAT } else { ANTHROPIC })
}

fn is_trajectory(document: &DocumentFields<'_>) -> bool {
    let is_versioned = document.schema_version.is_some_and(|version| version.get().starts_with("\"ATIF-"));
    is_versioned && is_list(document.steps)
}

fn is_entry(record: &Value) -> bool {
    !record["type"].is_string() && record["parts"].is_array() && record["role"].is_string()
}

fn is_responses_item(element: &Value) -> bool {
    let is_item = matches!(
        element["type"].as_str(),
        Some("function_call" | "function_call_output" | "reasoning" | "custom_tool_call" | "custom_tool_call_output")
    );
    is_item || has_block(element, &["input_text", "output_text", "input_image"])
}

fn is_chat_message(element: &Value) -> bool {
    let has_calls = element["role"] == "tool" || element["tool_calls"].is_array();
    element["role"].is_string() && (has_calls || has_block(element, &["image_url", "input_audio"]))
}

fn is_anthropic_message(element: &Value) -> bool {
    let kinds = ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"];
    element["role"].is_string() && has_block(element, &kinds)
}

/// Tells whether a message holds a block of one of some kinds.
fn has_block(message: &Value, kinds: &[&str]) -> bool {
    let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().filter_map(|block| block["type"].as_str()).any(|kind| kinds.contains(&kind))
}

/// Tells whether the first element of a CBOR array is a message of Bureau's.
fn is_bureau(start: &[u8]) -> bool {
    let bureau = codec(&named(BUREAU)).expect("there is a codec for it");
    let mut is_message = None;
    let mut splitter = Splitter::new(Framing::CborArray, MAX_BYTES);
    let _problem = splitter.push(start, &mut |record| {
        is_message.get_or_insert_with(|| {
            let entry = bureau.step(record.bytes).ok().and_then(|step| step.entries.into_iter().next());
            entry.is_some_and(|entry| !matches!(entry.parts[..], [EntryPart::Native { .. }]))
        });
    });
    is_message.unwrap_or(false)
}
