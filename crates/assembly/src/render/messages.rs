//! Messages of the APIs, and transcripts of runtimes.

use std::{borrow::Cow, collections::BTreeSet};

use contexture_core::Format;
use contexture_formats::{Dialogue, EncodedDialogue, Target, dialogue::Losses, encoder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use super::{ModelCall, Rendered, Renderer, WindowPiece};
use crate::{
    item::{Item, ItemContent, Voice},
    recipe::{Rendering, Stability},
};

/// Renders a piece as it stands among others: elements of an array, without what parts them.
pub(super) fn fragment(renderer: &Renderer<'_>, item: Option<&Item>, content: &ItemContent) -> String {
    if let ItemContent::Text { voice: Voice::System, .. } = content {
        let texts = renderer.entries([(item, content)]);
        let text = texts.first().map(contexture_core::Entry::text).unwrap_or_default();
        return to_text(&json!({"type": "text", "text": text}));
    }
    let dialogue = Dialogue::part(renderer.entries([(item, content)]));
    let encoded = encode(renderer, &dialogue).bytes;
    let array = String::from_utf8(encoded).expect("JSON is text");
    array.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map_or_else(|| array.clone(), str::to_owned)
}

/// What the answer may have where nobody says: the API wants a number.
const DEFAULT_MAX_OUTPUT: u64 = 8192;

#[derive(Serialize)]
struct AnthropicRequest<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<&'r RawValue>,
}

/// Renders what the API of Anthropic takes: instructions apart, and marks up to where its cache may keep everything.
pub(super) fn anthropic(renderer: &Renderer<'_>, pieces: &[WindowPiece<'_>], call: Option<ModelCall<'_>>) -> Rendered {
    let mut dialogue = renderer.dialogue(pieces);
    let mut system: Vec<Value> = dialogue.system.drain(..).map(|text| json!({"type": "text", "text": text})).collect();
    if let Some(last) = system.last_mut() {
        mark(last);
    }
    let EncodedDialogue { bytes, losses } = encode(renderer, &dialogue);
    let mut messages: Vec<Box<RawValue>> = serde_json::from_slice(&bytes).expect("messages are an array");
    for (message, block) in lasting_ends(renderer, pieces) {
        let mut marked: Value = serde_json::from_str(messages[message].get()).expect("a message is JSON");
        if let Some(block) = marked["content"].get_mut(block) {
            mark(block);
        }
        messages[message] = serde_json::value::to_raw_value(&marked).expect("a message has text keys");
    }
    let tools = if call.is_some() { called_tools(&messages) } else { Vec::new() };
    let request = AnthropicRequest {
        model: call.map(|call| call.model),
        max_tokens: call.map(|call| call.max_output.unwrap_or(DEFAULT_MAX_OUTPUT)),
        tool_choice: (!tools.is_empty()).then(|| json!({"type": "none"})),
        tools,
        system,
        messages: messages.iter().map(AsRef::as_ref).collect(),
    };
    rendered(&request, &dialogue, &losses)
}

/// Describes the tools that a conversation has calls of: the API refuses calls of tools that a request does not have. None
/// of them may be called again, because nobody is there to run them.
fn called_tools(messages: &[Box<RawValue>]) -> Vec<Value> {
    #[derive(Deserialize)]
    struct Message<'m> {
        #[serde(borrow)]
        content: Vec<Block<'m>>,
    }
    #[derive(Deserialize)]
    struct Block<'m> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'m, str>,
        #[serde(default, borrow)]
        name: Option<Cow<'m, str>>,
    }
    let mut names = BTreeSet::new();
    for message in messages {
        let Ok(Message { content }) = serde_json::from_str::<Message<'_>>(message.get()) else { continue };
        let called = content.into_iter().filter(|block| block.kind == "tool_use");
        names.extend(called.filter_map(|block| Some(block.name?.into_owned())));
    }
    let tool = |name: String| json!({"name": name, "description": "Was called in this conversation.", "input_schema": {"type": "object"}});
    names.into_iter().map(tool).collect()
}

/// Returns where the lasting segments end: the message, and the block in it.
fn lasting_ends(renderer: &Renderer<'_>, pieces: &[WindowPiece<'_>]) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    for stability in [Stability::Stable, Stability::Append] {
        let end = pieces.partition_point(|piece| piece.stability <= stability);
        let Dialogue { turns, .. } = renderer.dialogue(&pieces[..end]);
        let Some((last, before)) = turns.split_last() else { continue };
        let last = Dialogue { turns: vec![last.clone()], ..Dialogue::default() };
        let encoded: Vec<Value> =
            serde_json::from_slice(&encode(renderer, &last).bytes).expect("messages are an array");
        let blocks = encoded.first().and_then(|message| message["content"].as_array()).map_or(0, Vec::len);
        let place = (before.len(), blocks.saturating_sub(1));
        if ends.last() != Some(&place) {
            ends.push(place);
        }
    }
    ends
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

#[derive(Serialize)]
struct ChatRequest<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    messages: Box<RawValue>,
}

pub(super) fn openai_chat(
    renderer: &Renderer<'_>,
    pieces: &[WindowPiece<'_>],
    call: Option<ModelCall<'_>>,
) -> Rendered {
    let dialogue = renderer.dialogue(pieces);
    let encoded = encode(renderer, &dialogue);
    let request = ChatRequest {
        model: call.map(|call| call.model),
        max_completion_tokens: call.and_then(|call| call.max_output),
        messages: raw(encoded.bytes),
    };
    rendered(&request, &dialogue, &encoded.losses)
}

#[derive(Serialize)]
struct ResponsesRequest<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    input: Box<RawValue>,
}

pub(super) fn openai_responses(
    renderer: &Renderer<'_>,
    pieces: &[WindowPiece<'_>],
    call: Option<ModelCall<'_>>,
) -> Rendered {
    let mut dialogue = renderer.dialogue(pieces);
    let instructions = std::mem::take(&mut dialogue.system).join("\n\n");
    let encoded = encode(renderer, &dialogue);
    let request = ResponsesRequest {
        model: call.map(|call| call.model),
        max_output_tokens: call.and_then(|call| call.max_output),
        instructions,
        input: raw(encoded.bytes),
    };
    rendered(&request, &dialogue, &encoded.losses)
}

pub(super) fn transcript(renderer: &Renderer<'_>, pieces: &[WindowPiece<'_>]) -> Rendered {
    let dialogue = renderer.dialogue(pieces);
    let EncodedDialogue { bytes, losses } = encode(renderer, &dialogue);
    Rendered { bytes, losses: both(&dialogue, &losses) }
}

fn encode(renderer: &Renderer<'_>, dialogue: &Dialogue) -> EncodedDialogue {
    let name = match renderer.rendering {
        Rendering::Prompt => "text",
        Rendering::Anthropic => "anthropic-messages-v1",
        Rendering::OpenaiChat => "openai-chat-v1",
        Rendering::OpenaiResponses => "openai-responses-v1",
        Rendering::ClaudeCode => "claude-code-v1",
        Rendering::Codex => "codex-v1",
        Rendering::Gemini => "gemini-v1",
        Rendering::Pi => "pi-v1",
    };
    let format = Format::new(name).expect("names of formats are formats");
    let session = renderer.session;
    let target = Target {
        session: session.id.clone(),
        directory: session.directory.clone(),
        branch: session.branch.clone(),
        version: None,
        model: session.model.clone(),
        provider: renderer.provider.map(str::to_owned),
        title: None,
        now: session.now,
    };
    encoder(&format).expect("every rendering can be written").encode(dialogue, &target)
}

fn rendered(request: &impl Serialize, dialogue: &Dialogue, losses: &Losses) -> Rendered {
    let bytes = serde_json::to_vec(request).expect("a request has text keys");
    Rendered { bytes, losses: both(dialogue, losses) }
}

fn both(dialogue: &Dialogue, losses: &Losses) -> Losses {
    let mut all = dialogue.losses.clone();
    all.extend(losses);
    all
}

fn raw(bytes: Vec<u8>) -> Box<RawValue> {
    let text = String::from_utf8(bytes).expect("JSON is text");
    RawValue::from_string(text).expect("encoders write JSON")
}

fn to_text(value: &Value) -> String {
    value.to_string()
}
