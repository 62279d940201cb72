//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{
    reply::{OPAQUE, Reply},
    request::{ConversationMessage, MessageRole, Purpose},
    step::Block,
};

/// How Claude Code asks for a summary.
const COMPACTION: &str = "Your task is to create a detailed summary";

/// What pi tells the model that it is when it asks for a summary.
const SUMMARIZER: &str = "You are a context summarization assistant";

pub(super) fn purpose(body: &Value) -> Purpose {
    if last_text(body).contains(COMPACTION) || texts(&body["system"]).join("\n").contains(SUMMARIZER) {
        return Purpose::Compaction;
    }
    // What a client asks for itself it asks without tools, as JSON, or for one token.
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let wants_json = !body["output_config"]["format"].is_null() || !body["output_format"].is_null();
    let wants_text = body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 1);
    if has_tools && wants_text && !wants_json { Purpose::Turn } else { Purpose::Side }
}

/// Claude Code looks for a summary between tags; pi takes all of the answer.
pub(super) fn enclose(summary: &str, body: &Value) -> String {
    if last_text(body).contains(COMPACTION) { format!("<summary>{summary}</summary>") } else { summary.to_owned() }
}

fn last_text(body: &Value) -> String {
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    last.map(|message| texts(&message["content"]).join("\n")).unwrap_or_default()
}

pub(super) fn conversation(body: &Value) -> Vec<ConversationMessage> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages
        .flat_map(|message| {
            let role = match message["role"].as_str() {
                Some("assistant") => MessageRole::Assistant,
                Some("system") => MessageRole::Developer,
                _ => MessageRole::User,
            };
            match &message["content"] {
                Value::String(text) => vec![ConversationMessage::text(role, text)],
                blocks => blocks.as_array().into_iter().flatten().filter_map(|block| said(role, block)).collect(),
            }
        })
        .collect()
}

fn said(role: MessageRole, block: &Value) -> Option<ConversationMessage> {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "text" => Some(ConversationMessage::text(role, text("text"))),
        "thinking" => Some(ConversationMessage::thinking(text("thinking"))),
        "tool_use" => Some(ConversationMessage::call(text("name"), block["input"].clone())),
        "tool_result" => Some(ConversationMessage::outcome(texts(&block["content"]).join("\n"))),
        _ => None,
    }
}

/// Returns the texts of a content, which may be one.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        blocks => blocks.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str()).collect(),
    }
}

pub(super) fn document(reply: &Reply) -> Value {
    let mut message = opening(reply);
    message["content"] = reply.blocks.iter().map(|(id, block)| content(id, block)).collect();
    message["stop_reason"] = stop_reason(reply).into();
    message["usage"]["output_tokens"] = reply.output_tokens.into();
    message
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let mut events = vec![json!({"type": "message_start", "message": opening(reply)})];
    for (index, (id, block)) in reply.blocks.iter().enumerate() {
        let (start, deltas) = increments(id, block);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
        "usage": {"output_tokens": reply.output_tokens},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

fn opening(reply: &Reply) -> Value {
    json!({
        "id": format!("msg_{}", reply.id),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": reply.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 1,
        },
    })
}

fn stop_reason(reply: &Reply) -> &'static str {
    if reply.calls_tools() { "tool_use" } else { "end_turn" }
}

fn content(id: &str, block: &Block) -> Value {
    match block {
        Block::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": OPAQUE}),
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Call { name, input } => {
            json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input})
        }
    }
}

/// Returns what a block starts as, and what is added to it.
fn increments(id: &str, block: &Block) -> (Value, Vec<Value>) {
    let mut start = content(id, block);
    match block {
        Block::Thinking(text) => {
            start["thinking"] = "".into();
            start["signature"] = "".into();
            let thought = json!({"type": "thinking_delta", "thinking": text});
            (start, vec![thought, json!({"type": "signature_delta", "signature": OPAQUE})])
        }
        Block::Text(text) => {
            start["text"] = "".into();
            (start, vec![json!({"type": "text_delta", "text": text})])
        }
        Block::Call { input, .. } => {
            start["input"] = json!({});
            (start, vec![json!({"type": "input_json_delta", "partial_json": input.to_string()})])
        }
    }
}
