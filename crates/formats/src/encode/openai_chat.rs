//! `openai-chat-v1`: messages that OpenAI's Chat Completions accept.

use std::borrow::Cow;

use contexture_core::{BlobSource, EntryPart, ToolInput};
use serde::Serialize;

use super::{EncodedDialogue, Encoder, Target, calls::CallLimits, plain_text};
use crate::{
    Framing,
    codec::openai_calls::FAILED,
    dialogue::{Dialogue, Losses, Speaker, Turn},
    media,
};

const LIMITS: CallLimits = CallLimits::of_api(40, 64);

pub(crate) struct OpenaiChatEncoder;

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum ChatMessage<'d> {
    System {
        content: &'d str,
    },
    User {
        content: ChatContent<'d>,
    },
    Assistant {
        content: Option<ChatContent<'d>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ChatCall<'d>>,
    },
    Tool {
        tool_call_id: Cow<'d, str>,
        content: ChatContent<'d>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ChatContent<'d> {
    Text(Cow<'d, str>),
    Pieces(Vec<ChatPart<'d>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatPart<'d> {
    Text { text: Cow<'d, str> },
    ImageUrl { image_url: ChatImage<'d> },
    InputAudio { input_audio: ChatAudio<'d> },
    File { file: ChatFile<'d> },
}

#[derive(Serialize)]
struct ChatImage<'d> {
    url: Cow<'d, str>,
}

#[derive(Serialize)]
struct ChatAudio<'d> {
    data: &'d str,
    format: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ChatFile<'d> {
    Bytes { filename: &'static str, file_data: String },
    Id { file_id: &'d str },
}

#[derive(Serialize)]
struct ChatCall<'d> {
    id: Cow<'d, str>,
    #[serde(flatten)]
    tool: ChatTool<'d>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatTool<'d> {
    Function { function: Function<'d> },
    Custom { custom: Custom<'d> },
}

#[derive(Serialize)]
struct Function<'d> {
    name: Cow<'d, str>,
    /// JSON in a string.
    arguments: String,
}

#[derive(Serialize)]
struct Custom<'d> {
    name: Cow<'d, str>,
    input: &'d str,
}

impl Encoder for OpenaiChatEncoder {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn encode(&self, dialogue: &Dialogue, _: &Target) -> EncodedDialogue {
        let mut losses = Losses::default();
        let mut messages: Vec<ChatMessage<'_>> =
            dialogue.system.iter().map(|system| ChatMessage::System { content: system }).collect();
        for turn in &dialogue.turns {
            match turn.speaker {
                Speaker::User => push_asked(&mut messages, turn, &mut losses),
                Speaker::Assistant => messages.push(answered(turn, &mut losses)),
            }
        }
        let bytes = serde_json::to_vec(&messages).expect("messages have text keys");
        EncodedDialogue { bytes, losses }
    }
}

/// Adds a message for each result, and one for what else there is.
fn push_asked<'d>(messages: &mut Vec<ChatMessage<'d>>, turn: &'d Turn, losses: &mut Losses) {
    let mut pieces = Vec::new();
    let mut has_results = false;
    for part in &turn.parts {
        match part {
            EntryPart::ToolResult { call, content, is_error } => {
                has_results = true;
                let content = answer(content, *is_error == Some(true), losses);
                messages.push(ChatMessage::Tool { tool_call_id: LIMITS.id(call), content });
            }
            part => pieces.extend(shown(part, losses)),
        }
    }
    if pieces.is_empty() && !has_results {
        pieces.push(text(plain_text::NO_CONTENT));
    }
    if !pieces.is_empty() {
        messages.push(ChatMessage::User { content: content(pieces) });
    }
}

fn answered<'d>(turn: &'d Turn, losses: &mut Losses) -> ChatMessage<'d> {
    let mut pieces = Vec::new();
    let mut tool_calls = Vec::new();
    for part in &turn.parts {
        match part {
            EntryPart::ToolCall { id, name, input } => tool_calls.push(call(id, name, input, losses)),
            part => pieces.extend(plain_text::for_model(part, losses).map(text)),
        }
    }
    if pieces.is_empty() && tool_calls.is_empty() {
        pieces.push(text(plain_text::NO_CONTENT));
    }
    let content = (!pieces.is_empty()).then(|| content(pieces));
    ChatMessage::Assistant { content, tool_calls }
}

fn call<'d>(id: &'d str, name: &'d str, input: &'d ToolInput, losses: &mut Losses) -> ChatCall<'d> {
    let (id, name) = LIMITS.call(id, name, losses);
    let tool = match input {
        ToolInput::Json(arguments) => {
            ChatTool::Function { function: Function { name, arguments: arguments.to_string() } }
        }
        ToolInput::Text(input) => ChatTool::Custom { custom: Custom { name, input } },
    };
    ChatCall { id, tool }
}

/// A tool answers in words only.
fn answer<'d>(parts: &'d [EntryPart], is_error: bool, losses: &mut Losses) -> ChatContent<'d> {
    let words = |part: &'d EntryPart| match part {
        // Blank output is output.
        EntryPart::Text { text } => (!text.is_empty()).then_some(Cow::Borrowed(text.as_str())),
        part => plain_text::for_model(part, losses).map(Cow::Owned),
    };
    let mut texts: Vec<Cow<'d, str>> = parts.iter().filter_map(words).collect();
    if is_error {
        match texts.first_mut() {
            Some(first) => first.to_mut().insert_str(0, FAILED),
            None => texts.push(Cow::Borrowed(FAILED)),
        }
    }
    if texts.is_empty() {
        return ChatContent::Text(Cow::Borrowed(""));
    }
    content(texts.into_iter().map(text).collect())
}

fn content(mut pieces: Vec<ChatPart<'_>>) -> ChatContent<'_> {
    match &mut pieces[..] {
        [ChatPart::Text { text }] => ChatContent::Text(std::mem::take(text)),
        _ => ChatContent::Pieces(pieces),
    }
}

/// Returns a part as something that a user may send.
fn shown<'d>(part: &'d EntryPart, losses: &mut Losses) -> Option<ChatPart<'d>> {
    if let EntryPart::Blob { media_type, source } = part
        && let Some(piece) = blob(media_type, source)
    {
        return Some(piece);
    }
    plain_text::for_model(part, losses).map(text)
}

fn blob<'d>(media_type: &str, source: &'d BlobSource) -> Option<ChatPart<'d>> {
    let image = |url| Some(ChatPart::ImageUrl { image_url: ChatImage { url } });
    match source {
        BlobSource::Url(url) if media_type.starts_with("image/") => image(Cow::Borrowed(url)),
        BlobSource::Base64(data) if media_type.starts_with("image/") => {
            image(Cow::Owned(media::data_url(media_type, data)))
        }
        BlobSource::Base64(data) if media_type == media::PDF => {
            let file_data = media::data_url(media_type, data);
            Some(ChatPart::File { file: ChatFile::Bytes { filename: "document.pdf", file_data } })
        }
        BlobSource::Base64(data) => {
            let format = match media_type {
                "audio/wav" => "wav",
                "audio/mp3" | "audio/mpeg" => "mp3",
                _ => return None,
            };
            Some(ChatPart::InputAudio { input_audio: ChatAudio { data, format } })
        }
        // Ids of other providers' files look different.
        BlobSource::File(file_id) if file_id.starts_with("file-") => {
            Some(ChatPart::File { file: ChatFile::Id { file_id } })
        }
        BlobSource::Url(_) | BlobSource::File(_) => None,
    }
}

fn text<'d>(text: impl Into<Cow<'d, str>>) -> ChatPart<'d> {
    ChatPart::Text { text: text.into() }
}

#[cfg(test)]
mod tests {
    use contexture_core::{Entry, Role, Seal, SealScheme};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        dialogue::LossKind,
        encode::samples::{self, assistant, call, result, user},
    };

    fn encode(entries: Vec<Entry>) -> (Value, Vec<(LossKind, u64)>) {
        samples::encode(&OpenaiChatEncoder, entries)
    }

    #[test]
    fn each_result_is_a_message_and_a_failure_is_named() {
        let custom =
            EntryPart::ToolCall { id: "b".into(), name: "patch".into(), input: ToolInput::Text("*** Begin".into()) };
        let (messages, losses) = encode(vec![
            Entry::new(Role::System, vec![EntryPart::text("be brief")]),
            user(vec![EntryPart::text("go")]),
            assistant(vec![call("a", json!({"n": 1})), custom, EntryPart::text("I look.")]),
            user(vec![EntryPart::text("hurry"), result("a", vec![EntryPart::text("x"), EntryPart::text("y")], None)]),
            user(vec![result("b", vec![EntryPart::text("no")], Some(true))]),
        ]);
        let expected = json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{\"n\":1}"}},
                {"id": "b", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]},
            {"role": "tool", "tool_call_id": "a",
                "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
            {"role": "tool", "tool_call_id": "b", "content": "[the tool failed]\nno"},
            {"role": "user", "content": "hurry"}
        ]);
        assert_eq!((messages, losses), (expected, vec![]));
    }

    #[test]
    fn blobs_are_sent_by_users_and_named_by_others() {
        let blob = |media_type: &str, source| EntryPart::Blob { media_type: media_type.into(), source };
        let bytes = || BlobSource::Base64("AA==".into());
        let (messages, losses) = encode(vec![
            user(vec![
                blob("image/png", bytes()),
                blob("image/*", BlobSource::Url("https://a.example".into())),
                blob("audio/mpeg", bytes()),
                blob("application/pdf", bytes()),
                blob("application/octet-stream", BlobSource::File("file-1".into())),
                blob("video/mp4", bytes()),
            ]),
            assistant(vec![call("a", json!({}))]),
            user(vec![result("a", vec![blob("image/png", bytes())], None)]),
        ]);
        assert_eq!(
            messages[0]["content"],
            json!([
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                {"type": "image_url", "image_url": {"url": "https://a.example"}},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
                {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AA=="}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "text", "text": "[video/mp4]"}])
        );
        assert_eq!(messages[2], json!({"role": "tool", "tool_call_id": "a", "content": "[image/png]"}));
        assert_eq!(losses, [(LossKind::BlobAsNote, 2)]);
    }

    #[test]
    fn nothing_is_left_empty() {
        let seal = Some(Seal { scheme: SealScheme::OpenaiEncrypted, data: "x".into() });
        let (messages, losses) = encode(vec![
            user(vec![EntryPart::Native { kind: "k".into(), value: Value::Null }]),
            assistant(vec![EntryPart::Thinking { text: String::new(), seal }]),
            user(vec![EntryPart::text("go")]),
            assistant(vec![call("a", json!({}))]),
            user(vec![result("a", vec![], Some(true))]),
        ]);
        assert_eq!(
            messages,
            json!([
                {"role": "user", "content": "(no content)"},
                {"role": "assistant", "content": "(no content)"},
                {"role": "user", "content": "go"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "[the tool failed]\n"}])
        );
        assert_eq!(losses, [(LossKind::NativePart, 1), (LossKind::SealedThinking, 1)]);
    }
}
