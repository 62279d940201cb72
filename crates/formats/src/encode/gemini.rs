//! Writing a session that `gemini --resume` goes on with.
//!
//! The results of tools are kept with the calls, in the message that makes them; a turn in which the model speaks again
//! after a call becomes several messages.

mod record;

use std::collections::HashMap;

use contexture_core::{ArtifactId, BlobSource, EntryPart, Timestamp, ToolInput};

use self::record::{
    GeminiApiPart, GeminiCall, GeminiContent, GeminiFunctionResponse, GeminiResponse, GeminiThought, InlineData,
    ModelMessage, SessionRecord, UserMessage,
};
use super::{
    Appender, EncodedDialogue, Encoder, Target,
    calls::{self, CallAnswer},
    ids::Ids,
    lines::WrittenLines,
    plain_text, times,
};
use crate::{
    Framing, NativePrefix,
    codec::gemini::is_skipped,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
};

/// What stands before a text that Gemini CLI would take for a command and leave out.
const GUARD: &str = "The user wrote:\n";

pub(crate) struct Gemini;

impl Encoder for Gemini {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue {
        let times = times::of_turns(&dialogue.turns, target.now);
        let mut session = GeminiWriter::new(target, Ids::new(&target.session));
        session.begin(target, times.first().copied().unwrap_or(target.now));
        session.write(dialogue, times)
    }
}

impl Appender for Gemini {
    fn append(&self, dialogue: &Dialogue, target: &Target, prefix: &NativePrefix) -> EncodedDialogue {
        let session = GeminiWriter::new(target, Ids::after(&target.session, prefix));
        session.write(dialogue, times::of_turns(&dialogue.turns, target.now))
    }
}

/// A session as far as it is written.
struct GeminiWriter<'a> {
    lines: WrittenLines,
    losses: Losses,
    ids: Ids<'a>,
    model: Option<&'a str>,
}

/// What a model says up to where it waits for its tools.
#[derive(Default)]
struct GeminiMessage {
    thoughts: Vec<GeminiThought>,
    texts: Vec<String>,
    calls: Vec<GeminiCall>,
}

impl<'a> GeminiWriter<'a> {
    fn new(target: &'a Target, ids: Ids<'a>) -> Self {
        Self { lines: WrittenLines::default(), losses: Losses::default(), ids, model: target.model.as_deref() }
    }

    fn write(mut self, dialogue: &Dialogue, times: Vec<Timestamp>) -> EncodedDialogue {
        let mut system = dialogue.system.as_slice();
        for (n, (turn, at)) in dialogue.turns.iter().zip(times).enumerate() {
            let at = times::in_millis(at);
            match turn.speaker {
                Speaker::User => self.user(std::mem::take(&mut system), &turn.parts, &at),
                Speaker::Assistant => {
                    let results = calls::answers(dialogue.turns.get(n + 1));
                    self.model(turn, &results, &at);
                }
            }
        }
        EncodedDialogue { bytes: self.lines.into_bytes(), losses: self.losses }
    }

    fn begin(&mut self, target: &Target, start: Timestamp) {
        // Gemini CLI has a hash of its own here, asks that there be one, and compares it with nothing.
        let hash = ArtifactId::of(target.directory.as_bytes()).to_string();
        self.lines.push(&SessionRecord {
            id: &target.session,
            project_hash: hash.strip_prefix("art-").unwrap_or(&hash),
            start_time: &times::in_millis(start),
            last_updated: &times::in_millis(target.now),
            kind: "main",
            summary: target.title.as_deref(),
        });
    }

    fn user(&mut self, system: &[String], parts: &[EntryPart], at: &str) {
        let mut content = Vec::with_capacity(parts.len());
        for text in system {
            self.losses.add(LossKind::SystemAsUser);
            content.push(GeminiApiPart::Text(text.clone()));
        }
        let is_result = |part: &EntryPart| matches!(part, EntryPart::ToolResult { .. });
        for part in parts.iter().filter(|part| !is_result(part)) {
            content.extend(self.api_part(part));
        }
        if content.is_empty() {
            if parts.iter().any(is_result) {
                return;
            }
            content.push(GeminiApiPart::Text(plain_text::note(parts)));
        }
        let texts: Vec<&str> = content.iter().filter_map(GeminiApiPart::text).collect();
        if !texts.is_empty() && is_skipped(&texts.concat()) {
            content.insert(0, GeminiApiPart::Text(GUARD.to_owned()));
        }
        self.lines.push(&UserMessage { id: &self.ids.uuid(), timestamp: at, kind: "user", content: &content });
    }

    fn model(&mut self, turn: &Turn, results: &HashMap<&str, CallAnswer<'_>>, at: &str) {
        let mut message = GeminiMessage::default();
        for part in &turn.parts {
            if !matches!(part, EntryPart::ToolCall { .. }) && !message.calls.is_empty() {
                self.push(std::mem::take(&mut message), turn, at);
            }
            match part {
                EntryPart::ToolCall { id, name, input } => message.calls.push(self.call(id, name, input, results, at)),
                EntryPart::Thinking { text, seal } => {
                    // Gemini CLI keeps signatures in another place and does without those that are missing.
                    self.losses.add_many(LossKind::SealedThinking, u64::from(seal.is_some() && text.is_empty()));
                    if !text.is_empty() {
                        message.thoughts.push(GeminiThought {
                            subject: "",
                            description: text.clone(),
                            timestamp: at.to_owned(),
                        });
                    }
                }
                _ => message.texts.extend(plain_text::for_session(part, &mut self.losses)),
            }
        }
        self.push(message, turn, at);
    }

    fn push(&mut self, message: GeminiMessage, turn: &Turn, at: &str) {
        let GeminiMessage { thoughts, mut texts, calls } = message;
        let content = match texts.len() {
            0 if calls.is_empty() && thoughts.is_empty() => return,
            0 => GeminiContent::Text(String::new()),
            1 => GeminiContent::Text(texts.remove(0)),
            _ => GeminiContent::Parts(texts.into_iter().map(GeminiApiPart::Text).collect()),
        };
        self.lines.push(&ModelMessage {
            id: &self.ids.uuid(),
            timestamp: at,
            kind: "gemini",
            content,
            thoughts,
            tool_calls: calls,
            model: turn.model.as_deref().or(self.model),
        });
    }

    fn call(
        &mut self,
        id: &str,
        name: &str,
        input: &ToolInput,
        results: &HashMap<&str, CallAnswer<'_>>,
        at: &str,
    ) -> GeminiCall {
        let (call_id, plain_name) = calls::SESSION.call(id, name, &mut self.losses);
        let mut name = plain_name.into_owned();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
            name.truncate(64);
            self.losses.add(LossKind::ToolRenamed);
        }
        let (output, mut media, is_error) = match results.get(id) {
            Some(answer) => {
                let (said, shown): (Vec<&EntryPart>, Vec<&EntryPart>) =
                    answer.content.iter().partition(|part| !is_inline(part));
                let said: Vec<_> =
                    said.into_iter().filter_map(|part| plain_text::for_session(part, &mut self.losses)).collect();
                let shown: Vec<_> = shown.into_iter().filter_map(|part| self.api_part(part)).collect();
                (said.join("\n"), shown, answer.is_error)
            }
            None => (String::new(), Vec::new(), false),
        };
        let response = if is_error { GeminiResponse::Error(output) } else { GeminiResponse::Output(output) };
        let response = GeminiFunctionResponse { id: call_id.clone().into_owned(), name: name.clone(), response };
        let mut result = vec![GeminiApiPart::FunctionResponse(response)];
        result.append(&mut media);
        GeminiCall {
            id: call_id.into_owned(),
            display_name: name.clone(),
            name,
            args: calls::named_input(input, &mut self.losses),
            result,
            status: if is_error { "error" } else { "success" },
            timestamp: at.to_owned(),
            description: "",
            render_output_as_markdown: false,
        }
    }

    fn api_part(&mut self, part: &EntryPart) -> Option<GeminiApiPart> {
        match part {
            EntryPart::Blob { media_type, source: BlobSource::Base64(data) } => {
                let inline = InlineData { mime_type: media_type.clone(), data: data.clone() };
                Some(GeminiApiPart::InlineData(inline))
            }
            _ => plain_text::for_session(part, &mut self.losses).map(GeminiApiPart::Text),
        }
    }
}

fn is_inline(part: &EntryPart) -> bool {
    matches!(part, EntryPart::Blob { source: BlobSource::Base64(_), .. })
}
