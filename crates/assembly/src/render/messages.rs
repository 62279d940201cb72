//! Messages of the APIs, and transcripts of runtimes.

use contexture_core::Format;
use contexture_formats::{Dialogue, EncodedDialogue, Target, dialogue::Losses, encoder};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::{Rendered, Renderer, WindowPiece};
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

#[derive(Serialize)]
struct AnthropicRequest<'r> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<&'r RawValue>,
}

/// Renders what the API of Anthropic takes: instructions apart, and marks up to where its cache may keep everything.
pub(super) fn anthropic(renderer: &Renderer<'_>, pieces: &[WindowPiece<'_>]) -> Rendered {
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
    let request = AnthropicRequest { system, messages: messages.iter().map(AsRef::as_ref).collect() };
    rendered(&request, &dialogue, &losses)
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
struct ChatRequest {
    messages: Box<RawValue>,
}

pub(super) fn openai_chat(renderer: &Renderer<'_>, pieces: &[WindowPiece<'_>]) -> Rendered {
    let dialogue = renderer.dialogue(pieces);
    let encoded = encode(renderer, &dialogue);
    rendered(&ChatRequest { messages: raw(encoded.bytes) }, &dialogue, &encoded.losses)
}

#[derive(Serialize)]
struct ResponsesRequest {
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    input: Box<RawValue>,
}

pub(super) fn openai_responses(renderer: &Renderer<'_>, pieces: &[WindowPiece<'_>]) -> Rendered {
    let mut dialogue = renderer.dialogue(pieces);
    let instructions = std::mem::take(&mut dialogue.system).join("\n\n");
    let encoded = encode(renderer, &dialogue);
    rendered(&ResponsesRequest { instructions, input: raw(encoded.bytes) }, &dialogue, &encoded.losses)
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
        provider: None,
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
