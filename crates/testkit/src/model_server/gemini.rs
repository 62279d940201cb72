//! Google's `generateContent`.

use serde_json::{Value, json};

use super::{
    reply::{OPAQUE, Reply},
    request::{ConversationMessage, MessageRole, Purpose},
    step::Block,
};

/// What Gemini CLI calls the summary it asks for.
const COMPACTION: &str = "<state_snapshot>";

pub(super) fn purpose(body: &Value) -> Purpose {
    // What a client asks for itself it asks without tools or as JSON.
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let wants_json = body["generationConfig"]["responseMimeType"] == "application/json";
    if has_tools && !wants_json {
        return Purpose::Turn;
    }
    let is_compaction = texts(&body["systemInstruction"]["parts"]).iter().any(|text| text.contains(COMPACTION));
    if is_compaction { Purpose::Compaction } else { Purpose::Side }
}

/// Gemini CLI looks for a summary between tags.
pub(super) fn enclose(summary: &str) -> String {
    format!("<state_snapshot>{summary}</state_snapshot>")
}

pub(super) fn conversation(body: &Value) -> Vec<ConversationMessage> {
    let contents = body["contents"].as_array().into_iter().flatten();
    contents
        .flat_map(|content| {
            let role = if content["role"] == "model" { MessageRole::Assistant } else { MessageRole::User };
            content["parts"].as_array().into_iter().flatten().filter_map(move |part| said(role, part))
        })
        .collect()
}

fn said(role: MessageRole, part: &Value) -> Option<ConversationMessage> {
    if let Some(text) = part["text"].as_str() {
        let is_thought = part["thought"] == true;
        return Some(if is_thought {
            ConversationMessage::thinking(text)
        } else {
            ConversationMessage::text(role, text)
        });
    }
    let call = &part["functionCall"];
    if let Some(name) = call["name"].as_str() {
        return Some(ConversationMessage::call(name, call["args"].clone()));
    }
    let response = part["functionResponse"].get("response")?;
    let output = ["output", "error"].into_iter().find_map(|name| response[name].as_str());
    Some(ConversationMessage::outcome(output.map_or_else(|| response.to_string(), str::to_owned)))
}

fn texts(parts: &Value) -> Vec<&str> {
    parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
}

pub(super) fn document(reply: &Reply) -> Value {
    let parts: Vec<Value> = reply.blocks.iter().map(|(id, block)| part(id, block)).collect();
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
            "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": reply.input_tokens,
            "candidatesTokenCount": reply.output_tokens,
            "totalTokenCount": reply.input_tokens + reply.output_tokens,
        },
        "modelVersion": reply.model,
        "responseId": reply.id,
    })
}

fn part(id: &str, block: &Block) -> Value {
    match block {
        Block::Thinking(text) => json!({"text": text, "thought": true}),
        Block::Text(text) => json!({"text": text}),
        Block::Call { name, input } => json!({
            "functionCall": {"id": id, "name": name, "args": input},
            "thoughtSignature": OPAQUE,
        }),
    }
}
