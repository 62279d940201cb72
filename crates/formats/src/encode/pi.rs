//! Writing a session that `pi --session` goes on with: a header and a chain of messages.

mod record;

use std::collections::HashMap;

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme, Timestamp};

use self::record::{PiBlock, PiEntry, PiHeader, PiMessage, PiUsage, SealedReasoning, SessionInfo};
use super::{
    Appender, EncodedDialogue, Encoder, Target, calls, ids::Ids, lines::WrittenLines, plain_text,
    provider::ModelProvider, times,
};
use crate::{
    Framing, NativePrefix,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
};

/// What pi shows in the place of thinking that cannot be read.
const REDACTED: &str = "[Reasoning redacted]";

pub(crate) struct Pi;

impl Encoder for Pi {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue {
        let times = times::of_turns(&dialogue.turns, target.now);
        let mut session = PiWriter::new(target, Ids::new(&target.session));
        session.begin(target, times.first().copied().unwrap_or(target.now));
        session.write(dialogue, times)
    }
}

impl Appender for Pi {
    fn append(&self, dialogue: &Dialogue, target: &Target, prefix: &NativePrefix) -> EncodedDialogue {
        let mut session = PiWriter::new(target, Ids::after(&target.session, prefix));
        session.last = prefix.last().map(str::to_owned);
        session.write(dialogue, times::of_turns(&dialogue.turns, target.now))
    }
}

/// A session as far as it is written.
struct PiWriter<'a> {
    lines: WrittenLines,
    losses: Losses,
    ids: Ids<'a>,
    /// The entry that the next one follows.
    last: Option<String>,
    /// Names of the tools that were called, by the ids of the calls.
    tools: HashMap<String, String>,
    model: Option<&'a str>,
}

/// Who is said to have written an answer.
#[derive(Clone, Copy)]
struct PiVoice<'a> {
    api: &'static str,
    provider: Option<ModelProvider>,
    model: &'a str,
}

impl<'a> PiVoice<'a> {
    /// Guesses the provider by the name of the model; pi asks for another model where it does not know one.
    fn of(model: Option<&'a str>) -> Self {
        let model = model.unwrap_or("unknown");
        let provider = ModelProvider::of(model);
        let api = match provider {
            Some(ModelProvider::Anthropic) => "anthropic-messages",
            Some(ModelProvider::Google) => "google-generative-ai",
            Some(ModelProvider::Openai) => "openai-responses",
            None => "openai-completions",
        };
        Self { api, provider, model }
    }

    /// Tells whether the provider can open a seal.
    fn opens(self, scheme: SealScheme) -> bool {
        self.provider.is_some_and(|provider| provider.opens(scheme))
    }
}

impl<'a> PiWriter<'a> {
    fn new(target: &'a Target, ids: Ids<'a>) -> Self {
        Self {
            lines: WrittenLines::default(),
            losses: Losses::default(),
            ids,
            last: None,
            tools: HashMap::new(),
            model: target.model.as_deref(),
        }
    }

    fn write(mut self, dialogue: &Dialogue, times: Vec<Timestamp>) -> EncodedDialogue {
        let mut system = dialogue.system.as_slice();
        for (turn, at) in dialogue.turns.iter().zip(times) {
            match turn.speaker {
                Speaker::User => self.user(std::mem::take(&mut system), &turn.parts, at),
                Speaker::Assistant => self.assistant(turn, at),
            }
        }
        EncodedDialogue { bytes: self.lines.into_bytes(), losses: self.losses }
    }

    fn begin(&mut self, target: &Target, start: Timestamp) {
        let start = times::in_millis(start);
        self.lines.push(&PiHeader {
            kind: "session",
            version: 3,
            id: &target.session,
            timestamp: &start,
            cwd: &target.directory,
        });
        if let Some(name) = &target.title {
            let id = self.ids.short();
            self.lines.push(&SessionInfo { kind: "session_info", id: &id, parent_id: None, timestamp: &start, name });
            self.last = Some(id);
        }
    }

    fn user(&mut self, system: &[String], parts: &[EntryPart], at: Timestamp) {
        let mut content = Vec::with_capacity(parts.len());
        let mut has_results = false;
        for text in system {
            self.losses.add(LossKind::SystemAsUser);
            content.push(PiBlock::Text { text: text.clone() });
        }
        for part in parts {
            match part {
                EntryPart::ToolResult { call, content, is_error } => {
                    has_results = true;
                    let message = PiMessage::ToolResult {
                        tool_call_id: calls::SESSION.id(call).into_owned(),
                        tool_name: self.tools.get(call).cloned().unwrap_or_default(),
                        content: content.iter().filter_map(|part| self.block(part)).collect(),
                        is_error: *is_error == Some(true),
                        timestamp: times::epoch_millis(at),
                    };
                    self.push(message, at);
                }
                _ => content.extend(self.block(part)),
            }
        }
        if content.is_empty() && !has_results {
            content.push(PiBlock::Text { text: plain_text::note(parts) });
        }
        if !content.is_empty() {
            self.push(PiMessage::User { content, timestamp: times::epoch_millis(at) }, at);
        }
    }

    fn assistant(&mut self, turn: &Turn, at: Timestamp) {
        let model = turn.model.clone().or(self.model.map(str::to_owned));
        let voice = PiVoice::of(model.as_deref());
        let mut content = Vec::with_capacity(turn.parts.len());
        let mut calls_tools = false;
        for part in &turn.parts {
            match part {
                EntryPart::Thinking { text, seal } => content.extend(self.thinking(text, seal.as_ref(), voice)),
                EntryPart::ToolCall { id, name, input } => {
                    let (call_id, name) = calls::SESSION.call(id, name, &mut self.losses);
                    self.tools.insert(id.clone(), name.clone().into_owned());
                    calls_tools = true;
                    content.push(PiBlock::ToolCall {
                        id: call_id.into_owned(),
                        name: name.into_owned(),
                        arguments: calls::named_input(input, &mut self.losses),
                    });
                }
                _ => content.extend(plain_text::for_session(part, &mut self.losses).map(|text| PiBlock::Text { text })),
            }
        }
        if content.is_empty() {
            return;
        }
        let message = PiMessage::Assistant {
            content,
            api: voice.api,
            provider: voice.provider.map_or("unknown", ModelProvider::name),
            model: voice.model.to_owned(),
            usage: PiUsage::default(),
            stop_reason: if calls_tools { "toolUse" } else { "stop" },
            timestamp: times::epoch_millis(at),
        };
        self.push(message, at);
    }

    /// Returns thinking with its seal if the provider can open it; pi itself turns other thinking into text.
    fn thinking(&mut self, text: &str, seal: Option<&Seal>, voice: PiVoice<'_>) -> Option<PiBlock> {
        let thinking = text.to_owned();
        match seal.filter(|seal| voice.opens(seal.scheme)) {
            Some(Seal { scheme: SealScheme::AnthropicRedacted, data }) => Some(PiBlock::Thinking {
                thinking: REDACTED.to_owned(),
                thinking_signature: Some(data.clone()),
                redacted: true,
            }),
            Some(Seal { scheme: SealScheme::OpenaiEncrypted, data }) => {
                let signature = SealedReasoning::of(text, data).to_json();
                Some(PiBlock::Thinking { thinking, thinking_signature: Some(signature), redacted: false })
            }
            Some(Seal { scheme: SealScheme::AnthropicSignature, data }) => {
                Some(PiBlock::Thinking { thinking, thinking_signature: Some(data.clone()), redacted: false })
            }
            Some(Seal { scheme: SealScheme::GeminiSignature, data }) if !text.is_empty() => {
                Some(PiBlock::Thinking { thinking, thinking_signature: Some(data.clone()), redacted: false })
            }
            _ if text.is_empty() => {
                self.losses.add(LossKind::SealedThinking);
                None
            }
            _ => {
                self.losses.add(LossKind::ThinkingAsText);
                Some(PiBlock::Thinking { thinking, thinking_signature: None, redacted: false })
            }
        }
    }

    /// Returns what a user or a tool says.
    fn block(&mut self, part: &EntryPart) -> Option<PiBlock> {
        match part {
            EntryPart::Blob { media_type, source: BlobSource::Base64(data) } if media_type.starts_with("image/") => {
                Some(PiBlock::Image { data: data.clone(), mime_type: media_type.clone() })
            }
            _ => plain_text::for_session(part, &mut self.losses).map(|text| PiBlock::Text { text }),
        }
    }

    fn push(&mut self, message: PiMessage, at: Timestamp) {
        let id = self.ids.short();
        let timestamp = times::in_millis(at);
        self.lines.push(&PiEntry {
            kind: "message",
            id: &id,
            parent_id: self.last.as_deref(),
            timestamp: &timestamp,
            message,
        });
        self.last = Some(id);
    }
}
