//! `openai-responses-v1`: items that OpenAI's Responses API accepts.

use std::{borrow::Cow, collections::HashSet};

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme, ToolInput};
use serde::Serialize;

use super::{EncodedDialogue, Encoder, Target, calls::CallLimits, plain_text};
use crate::{
    Framing,
    codec::openai_calls::FAILED,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
    media,
};

const LIMITS: CallLimits = CallLimits::of_api(64, 64);

pub(crate) struct OpenaiResponsesEncoder;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponsesItem<'d> {
    Message { role: &'static str, content: Vec<ResponsePart<'d>> },
    Reasoning { summary: Vec<Summary<'d>>, encrypted_content: &'d str },
    FunctionCall { call_id: Cow<'d, str>, name: Cow<'d, str>, arguments: String },
    FunctionCallOutput { call_id: Cow<'d, str>, output: ResponsesOutput<'d> },
    CustomToolCall { call_id: Cow<'d, str>, name: Cow<'d, str>, input: &'d str },
    CustomToolCallOutput { call_id: Cow<'d, str>, output: ResponsesOutput<'d> },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponsePart<'d> {
    InputText { text: Cow<'d, str> },
    OutputText { text: Cow<'d, str> },
    InputImage { image_url: Cow<'d, str>, detail: &'static str },
    InputFile(ResponsesFile<'d>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesFile<'d> {
    Bytes { filename: &'static str, file_data: String },
    Url { file_url: &'d str },
    Id { file_id: &'d str },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Summary<'d> {
    SummaryText { text: &'d str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesOutput<'d> {
    Text(Cow<'d, str>),
    Pieces(Vec<ResponsePart<'d>>),
}

/// A conversation as far as it is written.
struct ResponsesConversation<'d> {
    items: Vec<ResponsesItem<'d>>,
    /// Calls of custom tools, whose results are items of another type.
    custom: HashSet<&'d str>,
    losses: Losses,
}

impl Encoder for OpenaiResponsesEncoder {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn encode(&self, dialogue: &Dialogue, _: &Target) -> EncodedDialogue {
        let mut conversation =
            ResponsesConversation { items: Vec::new(), custom: HashSet::new(), losses: Losses::default() };
        for system in &dialogue.system {
            let content = vec![ResponsePart::InputText { text: Cow::Borrowed(system) }];
            conversation.items.push(ResponsesItem::Message { role: "system", content });
        }
        for turn in &dialogue.turns {
            match turn.speaker {
                Speaker::User => conversation.push_asked(turn),
                Speaker::Assistant => conversation.push_answered(turn),
            }
        }
        let bytes = serde_json::to_vec(&conversation.items).expect("items have text keys");
        EncodedDialogue { bytes, losses: conversation.losses }
    }
}

impl<'d> ResponsesConversation<'d> {
    fn push_asked(&mut self, turn: &'d Turn) {
        let start = self.items.len();
        let mut content = Vec::new();
        for part in &turn.parts {
            match part {
                EntryPart::ToolResult { call, content, is_error } => {
                    let output = self.output(content, *is_error == Some(true));
                    let call_id = LIMITS.id(call);
                    self.items.push(if self.custom.contains(call.as_str()) {
                        ResponsesItem::CustomToolCallOutput { call_id, output }
                    } else {
                        ResponsesItem::FunctionCallOutput { call_id, output }
                    });
                }
                part => content.extend(self.shown(part)),
            }
        }
        if content.is_empty() && self.items.len() == start {
            content.push(ResponsePart::InputText { text: Cow::Borrowed(plain_text::NO_CONTENT) });
        }
        if !content.is_empty() {
            self.items.push(ResponsesItem::Message { role: "user", content });
        }
    }

    fn push_answered(&mut self, turn: &'d Turn) {
        let start = self.items.len();
        for part in &turn.parts {
            match part {
                EntryPart::ToolCall { id, name, input } => {
                    let (call_id, name) = LIMITS.call(id, name, &mut self.losses);
                    self.items.push(match input {
                        ToolInput::Json(arguments) => {
                            ResponsesItem::FunctionCall { call_id, name, arguments: arguments.to_string() }
                        }
                        ToolInput::Text(input) => {
                            self.custom.insert(id);
                            ResponsesItem::CustomToolCall { call_id, name, input }
                        }
                    });
                }
                EntryPart::Thinking { text, seal: Some(Seal { scheme: SealScheme::OpenaiEncrypted, data }) } => {
                    let summary = if text.is_empty() { Vec::new() } else { vec![Summary::SummaryText { text }] };
                    self.items.push(ResponsesItem::Reasoning { summary, encrypted_content: data });
                }
                part => {
                    if let Some(text) = plain_text::for_model(part, &mut self.losses) {
                        self.push_said(Cow::Owned(text), start);
                    }
                }
            }
        }
        // The API refuses reasoning that nothing follows.
        while self.items.len() > start
            && self.items.pop_if(|item| matches!(item, ResponsesItem::Reasoning { .. })).is_some()
        {
            self.losses.add(LossKind::SealedThinking);
        }
        if self.items.len() == start {
            self.push_said(Cow::Borrowed(plain_text::NO_CONTENT), start);
        }
    }

    /// Adds words of the model to the message that the turn ends with so far, or begins one.
    fn push_said(&mut self, text: Cow<'d, str>, turn_start: usize) {
        let piece = ResponsePart::OutputText { text };
        match self.items[turn_start..].last_mut() {
            Some(ResponsesItem::Message { content, .. }) => content.push(piece),
            _ => self.items.push(ResponsesItem::Message { role: "assistant", content: vec![piece] }),
        }
    }

    fn output(&mut self, parts: &'d [EntryPart], is_error: bool) -> ResponsesOutput<'d> {
        let mut pieces = Vec::new();
        for part in parts {
            match part {
                // Blank output is output.
                EntryPart::Text { text } if text.is_empty() => {}
                EntryPart::Text { text } => pieces.push(ResponsePart::InputText { text: Cow::Borrowed(text) }),
                part => pieces.extend(self.shown(part)),
            }
        }
        if is_error {
            match pieces.first_mut() {
                Some(ResponsePart::InputText { text }) => text.to_mut().insert_str(0, FAILED),
                _ => pieces.insert(0, ResponsePart::InputText { text: Cow::Borrowed(FAILED) }),
            }
        }
        match &mut pieces[..] {
            [] => ResponsesOutput::Text(Cow::Borrowed("")),
            [ResponsePart::InputText { text }] => ResponsesOutput::Text(std::mem::take(text)),
            _ => ResponsesOutput::Pieces(pieces),
        }
    }

    /// Returns a part as something that a user may send.
    fn shown(&mut self, part: &'d EntryPart) -> Option<ResponsePart<'d>> {
        if let EntryPart::Blob { media_type, source } = part
            && let Some(piece) = blob(media_type, source)
        {
            return Some(piece);
        }
        plain_text::for_model(part, &mut self.losses).map(|text| ResponsePart::InputText { text: Cow::Owned(text) })
    }
}

fn blob<'d>(media_type: &str, source: &'d BlobSource) -> Option<ResponsePart<'d>> {
    let image = |image_url| Some(ResponsePart::InputImage { image_url, detail: "auto" });
    match source {
        BlobSource::Url(url) if media_type.starts_with("image/") => image(Cow::Borrowed(url)),
        BlobSource::Base64(data) if media_type.starts_with("image/") => {
            image(Cow::Owned(media::data_url(media_type, data)))
        }
        BlobSource::Url(url) if media_type == media::PDF => {
            Some(ResponsePart::InputFile(ResponsesFile::Url { file_url: url }))
        }
        BlobSource::Base64(data) if media_type == media::PDF => {
            let file_data = media::data_url(media_type, data);
            Some(ResponsePart::InputFile(ResponsesFile::Bytes { filename: "document.pdf", file_data }))
        }
        // Ids of other providers' files look different.
        BlobSource::File(file_id) if file_id.starts_with("file-") => {
            Some(ResponsePart::InputFile(ResponsesFile::Id { file_id }))
        }
        BlobSource::Base64(_) | BlobSource::Url(_) | BlobSource::File(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{Entry, Role};
    use serde_json::{Value, json};

    use super::*;
    use crate::encode::samples::{self, assistant, call, result, user};

    fn encode(entries: Vec<Entry>) -> (Value, Vec<(LossKind, u64)>) {
        samples::encode(&OpenaiResponsesEncoder, entries)
    }

    fn thinking(text: &str, scheme: SealScheme) -> EntryPart {
        EntryPart::Thinking { text: text.into(), seal: Some(Seal { scheme, data: "x".into() }) }
    }

    #[test]
    fn items_keep_their_order() {
        let custom =
            EntryPart::ToolCall { id: "b".into(), name: "patch".into(), input: ToolInput::Text("*** Begin".into()) };
        let (items, losses) = encode(vec![
            Entry::new(Role::System, vec![EntryPart::text("be brief")]),
            user(vec![EntryPart::text("go")]),
            assistant(vec![
                thinking("hm", SealScheme::OpenaiEncrypted),
                call("a", json!({"n": 1})),
                EntryPart::text("I look."),
                EntryPart::text("Twice."),
                custom,
            ]),
            user(vec![EntryPart::text("hurry"), result("a", vec![EntryPart::text("x")], None)]),
            user(vec![result("b", vec![EntryPart::text("no")], Some(true))]),
        ]);
        let expected = json!([
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "be brief"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
            {"type": "function_call", "call_id": "a", "name": "run", "arguments": "{\"n\":1}"},
            {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "I look."}, {"type": "output_text", "text": "Twice."}]},
            {"type": "custom_tool_call", "call_id": "b", "name": "patch", "input": "*** Begin"},
            {"type": "function_call_output", "call_id": "a", "output": "x"},
            {"type": "custom_tool_call_output", "call_id": "b", "output": "[the tool failed]\nno"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hurry"}]}
        ]);
        assert_eq!((items, losses), (expected, vec![]));
    }

    #[test]
    fn reasoning_needs_openais_seal_and_something_after_it() {
        let (items, losses) = encode(vec![
            user(vec![EntryPart::text("go")]),
            assistant(vec![
                thinking("signed", SealScheme::AnthropicSignature),
                thinking("", SealScheme::OpenaiEncrypted),
            ]),
            user(vec![EntryPart::text("on")]),
            assistant(vec![thinking("", SealScheme::OpenaiEncrypted)]),
        ]);
        let said = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
        assert_eq!(items[1], said("<thinking>\nsigned\n</thinking>"));
        assert_eq!(items[3], said("(no content)"));
        assert_eq!(items.as_array().unwrap().len(), 4);
        assert_eq!(losses, [(LossKind::ThinkingAsText, 1), (LossKind::SealedThinking, 2)]);
    }

    #[test]
    fn images_and_files_are_shown() {
        let blob = |media_type: &str, source| EntryPart::Blob { media_type: media_type.into(), source };
        let bytes = || BlobSource::Base64("AA==".into());
        let (items, losses) = encode(vec![
            user(vec![
                blob("image/*", BlobSource::Url("https://a.example".into())),
                blob("application/pdf", BlobSource::Url("https://a.example/a.pdf".into())),
                blob("application/pdf", bytes()),
                blob("application/octet-stream", BlobSource::File("file-1".into())),
                blob("audio/wav", bytes()),
            ]),
            assistant(vec![call("a", json!({})), call("b", json!({}))]),
            user(vec![result("a", vec![blob("image/png", bytes())], Some(true)), result("b", vec![], None)]),
        ]);
        assert_eq!(
            items[0]["content"],
            json!([
                {"type": "input_image", "image_url": "https://a.example", "detail": "auto"},
                {"type": "input_file", "file_url": "https://a.example/a.pdf"},
                {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,AA=="},
                {"type": "input_file", "file_id": "file-1"},
                {"type": "input_text", "text": "[audio/wav]"}])
        );
        assert_eq!(
            items[3]["output"],
            json!([
                {"type": "input_text", "text": "[the tool failed]\n"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"}])
        );
        assert_eq!(items[4]["output"], json!(""));
        assert_eq!(losses, [(LossKind::BlobAsNote, 1)]);
    }
}
