//! `anthropic-messages-v1`: messages that Anthropic's API accepts.

use std::borrow::Cow;

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme, ToolInput};
use serde::Serialize;
use serde_json::Value;

use super::{
    EncodedDialogue, Encoder, Target,
    calls::{self, CallLimits},
    plain_text,
};
use crate::{
    Framing,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
    media,
};

const LIMITS: CallLimits = CallLimits::of_api(64, 128);

/// Stands before instructions, for which an array of messages has no place.
const SYSTEM: &str = "[system instructions]";

/// The images that the API reads.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

pub(crate) struct AnthropicEncoder;

#[derive(Serialize)]
struct AnthropicMessage<'d> {
    role: &'static str,
    content: Vec<AnthropicBlock<'d>>,
}

/// A part of a message.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum AnthropicBlock<'d> {
    Text {
        text: Cow<'d, str>,
    },
    Image {
        source: MediaSource<'d>,
    },
    Document {
        source: MediaSource<'d>,
    },
    Thinking {
        thinking: &'d str,
        signature: &'d str,
    },
    RedactedThinking {
        data: &'d str,
    },
    ToolUse {
        id: Cow<'d, str>,
        name: Cow<'d, str>,
        input: Cow<'d, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'d, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<AnthropicAnswer<'d>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum MediaSource<'d> {
    Base64 { media_type: &'d str, data: &'d str },
    Url { url: &'d str },
    File { file_id: &'d str },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum AnthropicAnswer<'d> {
    /// One text, which may be blank here and nowhere else.
    Text(Cow<'d, str>),
    Blocks(Vec<AnthropicBlock<'d>>),
}

impl Encoder for AnthropicEncoder {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn encode(&self, dialogue: &Dialogue, _: &Target) -> EncodedDialogue {
        let mut losses = Losses::default();
        let mut messages: Vec<AnthropicMessage<'_>> =
            dialogue.turns.iter().map(|turn| message(turn, &mut losses)).collect();
        if !dialogue.system.is_empty() {
            losses.add_many(LossKind::SystemAsUser, dialogue.system.len() as u64);
            let instructions = dialogue.system.iter().map(|system| instructions(system));
            match messages.first_mut() {
                Some(first) => drop(first.content.splice(..0, instructions)),
                None => messages.push(AnthropicMessage { role: "user", content: instructions.collect() }),
            }
        }
        let bytes = serde_json::to_vec(&messages).expect("messages have text keys");
        EncodedDialogue { bytes, losses }
    }
}

/// Returns instructions as what a user says.
fn instructions<'d>(system: &str) -> AnthropicBlock<'d> {
    text(format!("{SYSTEM}\n{system}"))
}

fn message<'d>(turn: &'d Turn, losses: &mut Losses) -> AnthropicMessage<'d> {
    let role = match turn.speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let mut content = content(turn, losses);
    if content.is_empty() {
        content.push(text(plain_text::NO_CONTENT));
    }
    AnthropicMessage { role, content }
}

/// Returns what is said in a turn, as far as the API takes it.
pub(super) fn content<'d>(turn: &'d Turn, losses: &mut Losses) -> Vec<AnthropicBlock<'d>> {
    let mut content: Vec<AnthropicBlock<'d>> = match turn.speaker {
        Speaker::User => turn.parts.iter().filter_map(|part| asked(part, losses)).collect(),
        Speaker::Assistant => turn.parts.iter().filter_map(|part| answered(part, losses)).collect(),
    };
    // The API refuses a message that ends with thinking.
    while content
        .pop_if(|last| matches!(last, AnthropicBlock::Thinking { .. } | AnthropicBlock::RedactedThinking { .. }))
        .is_some()
    {
        losses.add(LossKind::SealedThinking);
    }
    content
}

/// Returns a part as a block that a user or a tool says.
pub(super) fn asked<'d>(part: &'d EntryPart, losses: &mut Losses) -> Option<AnthropicBlock<'d>> {
    match part {
        EntryPart::ToolResult { call, content, is_error } => {
            let is_error = *is_error == Some(true);
            Some(AnthropicBlock::ToolResult {
                tool_use_id: LIMITS.id(call),
                content: answer(content, is_error, losses),
                is_error,
            })
        }
        part => shown(part, losses),
    }
}

fn answered<'d>(part: &'d EntryPart, losses: &mut Losses) -> Option<AnthropicBlock<'d>> {
    match part {
        EntryPart::ToolCall { id, name, input } => Some(call(id, name, input, losses)),
        EntryPart::Thinking { text, seal: Some(Seal { scheme: SealScheme::AnthropicSignature, data }) } => {
            Some(AnthropicBlock::Thinking { thinking: text, signature: data })
        }
        EntryPart::Thinking { seal: Some(Seal { scheme: SealScheme::AnthropicRedacted, data }), .. } => {
            Some(AnthropicBlock::RedactedThinking { data })
        }
        // The API takes images from users only.
        part => plain_text::for_model(part, losses).map(text),
    }
}

fn call<'d>(id: &'d str, name: &'d str, input: &'d ToolInput, losses: &mut Losses) -> AnthropicBlock<'d> {
    let (id, name) = LIMITS.call(id, name, losses);
    AnthropicBlock::ToolUse { id, name, input: calls::object_input(input, losses) }
}

fn answer<'d>(content: &'d [EntryPart], is_error: bool, losses: &mut Losses) -> Option<AnthropicAnswer<'d>> {
    if let [EntryPart::Text { text }] = content
        && !text.is_empty()
    {
        return Some(AnthropicAnswer::Text(Cow::Borrowed(text)));
    }
    let show = |part: &'d EntryPart| {
        if is_error { plain_text::for_model(part, losses).map(text) } else { shown(part, losses) }
    };
    let blocks: Vec<AnthropicBlock<'d>> = content.iter().filter_map(show).collect();
    if blocks.is_empty() {
        // The API wants to know what went wrong.
        return is_error.then_some(AnthropicAnswer::Text(Cow::Borrowed(plain_text::NO_CONTENT)));
    }
    Some(AnthropicAnswer::Blocks(blocks))
}

/// Returns a part as a block that a user may send.
fn shown<'d>(part: &'d EntryPart, losses: &mut Losses) -> Option<AnthropicBlock<'d>> {
    if let EntryPart::Blob { media_type, source } = part
        && let Some(block) = blob(media_type, source)
    {
        return Some(block);
    }
    plain_text::for_model(part, losses).map(text)
}

fn blob<'d>(media_type: &'d str, source: &'d BlobSource) -> Option<AnthropicBlock<'d>> {
    let is_image = media_type.starts_with("image/");
    let is_pdf = media_type == media::PDF;
    let source = match source {
        BlobSource::Base64(data) if is_pdf || IMAGES.contains(&media_type) => MediaSource::Base64 { media_type, data },
        BlobSource::Url(url) if is_pdf || is_image => MediaSource::Url { url },
        // Ids of other providers' files look different.
        BlobSource::File(file_id) if file_id.starts_with("file_") => MediaSource::File { file_id },
        BlobSource::Base64(_) | BlobSource::Url(_) | BlobSource::File(_) => return None,
    };
    Some(if is_image { AnthropicBlock::Image { source } } else { AnthropicBlock::Document { source } })
}

/// Returns words as a block.
pub(super) fn text<'d>(text: impl Into<Cow<'d, str>>) -> AnthropicBlock<'d> {
    AnthropicBlock::Text { text: text.into() }
}

#[cfg(test)]
mod tests {
    use contexture_core::{Entry, Role};
    use serde_json::json;

    use super::*;
    use crate::encode::samples::{self, assistant, call, result, user};

    fn encode(entries: Vec<Entry>) -> (Value, Vec<(LossKind, u64)>) {
        samples::encode(&AnthropicEncoder, entries)
    }

    fn blob(media_type: &str, source: BlobSource) -> EntryPart {
        EntryPart::Blob { media_type: media_type.into(), source }
    }

    #[test]
    fn results_come_first_in_the_message_after_their_calls() {
        let (messages, losses) = encode(vec![
            user(vec![EntryPart::text("go")]),
            assistant(vec![EntryPart::text("I look."), call("a", json!({"n": 1})), call("b", json!({}))]),
            user(vec![EntryPart::text("hurry"), result("b", vec![EntryPart::text("no")], Some(true))]),
            user(vec![result("a", vec![EntryPart::text("x"), EntryPart::text("y")], Some(false))]),
        ]);
        let expected = json!([
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "run", "input": {"n": 1}},
                {"type": "tool_use", "id": "b", "name": "run", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a",
                    "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
                {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true},
                {"type": "text", "text": "hurry"}]}
        ]);
        assert_eq!((messages, losses), (expected, vec![]));
    }

    #[test]
    fn thinking_needs_anthropics_seal_and_something_after_it() {
        let thinking = |text: &str, scheme| EntryPart::Thinking {
            text: text.into(),
            seal: Some(Seal { scheme, data: "sig".into() }),
        };
        let (messages, losses) = encode(vec![
            user(vec![EntryPart::text("go")]),
            assistant(vec![
                thinking("signed", SealScheme::AnthropicSignature),
                thinking("", SealScheme::AnthropicRedacted),
                thinking("foreign", SealScheme::OpenaiEncrypted),
                EntryPart::text("done"),
                thinking("last", SealScheme::AnthropicSignature),
            ]),
        ]);
        let content = json!([
            {"type": "thinking", "thinking": "signed", "signature": "sig"},
            {"type": "redacted_thinking", "data": "sig"},
            {"type": "text", "text": "<thinking>\nforeign\n</thinking>"},
            {"type": "text", "text": "done"}]);
        assert_eq!(messages[1]["content"], content);
        assert_eq!(losses, [(LossKind::SealedThinking, 2), (LossKind::ThinkingAsText, 1)]);
    }

    #[test]
    fn instructions_open_the_first_message() {
        let system = || Entry::new(Role::System, vec![EntryPart::text("be brief")]);
        let marked = json!({"type": "text", "text": "[system instructions]\nbe brief"});
        let (messages, losses) = encode(vec![system(), user(vec![EntryPart::text("hi")])]);
        assert_eq!(messages, json!([{"role": "user", "content": [marked, {"type": "text", "text": "hi"}]}]));
        assert_eq!(losses, [(LossKind::SystemAsUser, 1)]);
        assert_eq!(encode(vec![system()]).0, json!([{"role": "user", "content": [marked]}]));
    }

    #[test]
    fn what_the_api_refuses_is_changed() {
        let (messages, losses) = encode(vec![
            user(vec![EntryPart::Native { kind: "k".into(), value: Value::Null }]),
            assistant(vec![
                EntryPart::ToolCall { id: "a|b".into(), name: "a.b".into(), input: ToolInput::Text("x".into()) },
                call("c", json!({})),
            ]),
            user(vec![result("a|b", vec![], Some(true)), result("c", vec![EntryPart::text("")], None)]),
        ]);
        let id = messages[1]["content"][0]["id"].clone();
        assert_eq!(messages[0]["content"], json!([{"type": "text", "text": "(no content)"}]));
        assert_eq!(
            messages[1]["content"][0],
            json!({"type": "tool_use", "id": id, "name": "a_b", "input": {"input": "x"}})
        );
        assert_eq!(
            messages[2]["content"],
            json!([
                {"type": "tool_result", "tool_use_id": id, "content": "(no content)", "is_error": true},
                {"type": "tool_result", "tool_use_id": "c"}])
        );
        let changes = [LossKind::NativePart, LossKind::IdChanged, LossKind::ToolRenamed, LossKind::InputWrapped];
        assert_eq!(losses, changes.map(|loss| (loss, 1)));
    }

    #[test]
    fn images_and_documents_go_where_the_api_takes_them() {
        let bytes = || BlobSource::Base64("AA==".into());
        let image = || blob("image/png", bytes());
        let (messages, losses) = encode(vec![
            user(vec![
                image(),
                blob("application/pdf", BlobSource::Url("https://a.example/a.pdf".into())),
                blob("image/*", BlobSource::File("file_1".into())),
                blob("image/tiff", bytes()),
                blob("application/octet-stream", BlobSource::File("file-openai".into())),
            ]),
            assistant(vec![image(), call("c", json!({})), call("d", json!({}))]),
            user(vec![result("c", vec![image()], None), result("d", vec![image()], Some(true))]),
        ]);
        let shown = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}});
        let note = json!({"type": "text", "text": "[image/png]"});
        assert_eq!(
            messages[0]["content"],
            json!([
                shown,
                {"type": "document", "source": {"type": "url", "url": "https://a.example/a.pdf"}},
                {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                {"type": "text", "text": "[image/tiff]"},
                {"type": "text", "text": "[application/octet-stream: file-openai]"}])
        );
        assert_eq!(messages[1]["content"][0], note);
        assert_eq!(messages[2]["content"][0]["content"], json!([shown]));
        assert_eq!(messages[2]["content"][1]["content"], json!([note]));
        assert_eq!(losses, [(LossKind::BlobAsNote, 4)]);
    }
}
