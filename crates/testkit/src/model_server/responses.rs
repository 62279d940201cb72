//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{
    reply::{OPAQUE, Reply},
    request::{ConversationMessage, MessageRole, Purpose},
    step::Block,
};

/// How Codex asks for a summary.
const COMPACTION: &str = "CONTEXT CHECKPOINT COMPACTION";

pub(super) fn purpose(body: &Value) -> Purpose {
    if wants_sealed_summary(body) || last_item(body).is_some_and(|item| texts(&item["content"]).contains(COMPACTION)) {
        return Purpose::Compaction;
    }
    // What a client asks for itself it asks without tools or as JSON.
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let wants_json = body["text"]["format"]["type"].as_str().is_some_and(|format| format != "text");
    if has_tools && !wants_json { Purpose::Turn } else { Purpose::Side }
}

/// Says whether Codex takes this for OpenAI's own model, whose summaries only OpenAI can read.
pub(super) fn wants_sealed_summary(body: &Value) -> bool {
    last_item(body).is_some_and(|item| item["type"] == "compaction_trigger")
}

fn last_item(body: &Value) -> Option<&Value> {
    body["input"].as_array()?.last()
}

pub(super) fn conversation(body: &Value) -> Vec<ConversationMessage> {
    match &body["input"] {
        Value::String(text) => vec![ConversationMessage::text(MessageRole::User, text)],
        items => items.as_array().into_iter().flatten().filter_map(said).collect(),
    }
}

fn said(item: &Value) -> Option<ConversationMessage> {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    match text("type") {
        "message" | "" => {
            let role = match text("role") {
                "assistant" => MessageRole::Assistant,
                "developer" | "system" => MessageRole::Developer,
                _ => MessageRole::User,
            };
            Some(ConversationMessage::text(role, &texts(&item["content"])))
        }
        "reasoning" => Some(ConversationMessage::thinking(&texts(&item["summary"]))),
        "function_call" => {
            let namespace = item["namespace"].as_str().map_or_else(String::new, |namespace| format!("{namespace}/"));
            let arguments = serde_json::from_str(text("arguments"));
            let arguments = arguments.unwrap_or_else(|_| item["arguments"].clone());
            Some(ConversationMessage::call(&(namespace + text("name")), arguments))
        }
        "custom_tool_call" => Some(ConversationMessage::call(text("name"), item["input"].clone())),
        "function_call_output" | "custom_tool_call_output" => {
            Some(ConversationMessage::outcome(texts(&item["output"])))
        }
        _ => None,
    }
}

/// Returns the texts of a content, which may be one.
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
    let mut response = opening(reply);
    response["status"] = "completed".into();
    response["output"] = reply.blocks.iter().map(|(id, block)| item(reply, id, block)).collect();
    response["usage"] = json!({
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    });
    response
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": opening(reply)})];
    for (index, (id, block)) in reply.blocks.iter().enumerate() {
        let item = item(reply, id, block);
        let about = |kind: &str, name: &str, value: Value| {
            let mut event = json!({"type": kind, "output_index": index});
            if name != "item" {
                event["item_id"] = item["id"].clone();
            }
            event[name] = value;
            event
        };
        events.push(about("response.output_item.added", "item", empty(&item)));
        if let Block::Text(text) = block {
            let mut delta = about("response.output_text.delta", "delta", text.as_str().into());
            delta["content_index"] = 0.into();
            events.push(delta);
        }
        events.push(about("response.output_item.done", "item", item.clone()));
    }
    events.push(json!({"type": "response.completed", "response": document(reply)}));
    events
}

fn opening(reply: &Reply) -> Value {
    json!({
        "id": format!("resp_{}", reply.id),
        "object": "response",
        "model": reply.model,
        "status": "in_progress",
        "output": [],
    })
}

fn item(reply: &Reply, id: &str, block: &Block) -> Value {
    let call = format!("call_{id}");
    match block {
        Block::Text(_) if reply.is_sealed => json!({
            "type": "compaction",
            "id": format!("cmp_{id}"),
            "encrypted_content": OPAQUE,
        }),
        Block::Thinking(text) => json!({
            "type": "reasoning",
            "id": format!("rs_{id}"),
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": OPAQUE,
        }),
        Block::Text(text) => json!({
            "type": "message",
            "id": format!("msg_{id}"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Block::Call { name, input: Value::String(input) } => json!({
            "type": "custom_tool_call",
            "id": format!("ctc_{id}"),
            "call_id": call,
            "name": name,
            "input": input,
            "status": "completed",
        }),
        Block::Call { name, input } => {
            let mut item = json!({
                "type": "function_call",
                "id": format!("fc_{id}"),
                "call_id": call,
                "name": name,
                "arguments": input.to_string(),
                "status": "completed",
            });
            if let Some((namespace, name)) = name.split_once('/') {
                item["namespace"] = namespace.into();
                item["name"] = name.into();
            }
            item
        }
    }
}

/// Returns an item as it is announced, before its content.
fn empty(item: &Value) -> Value {
    let mut empty = item.clone();
    for (name, value) in empty.as_object_mut().into_iter().flatten() {
        match name.as_str() {
            "content" | "summary" => *value = json!([]),
            "arguments" | "input" => *value = json!(""),
            "status" => *value = json!("in_progress"),
            _ => {}
        }
    }
    empty
}
