//! OpenAI's Chat Completions.

use serde_json::{Value, json};

use super::{
    reply::Reply,
    request::{ConversationMessage, MessageRole, Purpose},
    step::Block,
};

/// No client that is tested speaks this protocol, so nobody asks anything for itself.
pub(super) fn purpose(_: &Value) -> Purpose {
    Purpose::Turn
}

pub(super) fn conversation(body: &Value) -> Vec<ConversationMessage> {
    body["messages"].as_array().into_iter().flatten().flat_map(said).collect()
}

fn said(message: &Value) -> Vec<ConversationMessage> {
    let content = texts(&message["content"]);
    let role = match message["role"].as_str() {
        Some("system" | "developer") => return Vec::new(),
        Some("tool") => return vec![ConversationMessage::outcome(content)],
        Some("assistant") => MessageRole::Assistant,
        _ => MessageRole::User,
    };
    let text = (!content.is_empty()).then(|| ConversationMessage::text(role, &content));
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let function = &call["function"];
        let arguments = function["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
        let input = arguments.unwrap_or_else(|| function["arguments"].clone());
        ConversationMessage::call(function["name"].as_str().unwrap_or_default(), input)
    });
    text.into_iter().chain(calls).collect()
}

/// Returns the text of a content, which may be a list of parts.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => {
            let texts = parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

pub(super) fn document(reply: &Reply) -> Value {
    json!({
        "id": format!("chatcmpl-{}", reply.id),
        "object": "chat.completion",
        "model": reply.model,
        "choices": [{"index": 0, "message": message(reply), "finish_reason": finish_reason(reply)}],
        "usage": {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
        },
    })
}

/// Writes the answer as one chunk.
pub(super) fn events(reply: &Reply) -> String {
    let chunk = json!({
        "id": format!("chatcmpl-{}", reply.id),
        "object": "chat.completion.chunk",
        "model": reply.model,
        "choices": [{"index": 0, "delta": message(reply), "finish_reason": finish_reason(reply)}],
    });
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

fn message(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    for (id, block) in &reply.blocks {
        match block {
            Block::Text(text) => message["content"] = text.as_str().into(),
            // What was thought stays with the vendor.
            Block::Thinking(_) => {}
            Block::Call { name, input } => {
                let function = json!({"name": name, "arguments": input.to_string()});
                calls.push(
                    json!({"index": calls.len(), "id": format!("call_{id}"), "type": "function", "function": function}),
                );
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn finish_reason(reply: &Reply) -> &'static str {
    if reply.calls_tools() { "tool_calls" } else { "stop" }
}
