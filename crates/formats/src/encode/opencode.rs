//! Writing a session that `opencode import` takes in: one document, as `opencode export` writes it.

mod ids;
mod record;

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme, Timestamp};
use serde_json::{Map, Value, json};

use self::{
    ids::OpencodeIds,
    record::{
        MessageInfo, MessageTimes, MessageVoice, NamedModel, NoTokens, PartContent, SessionInfo, SessionTimes, Span,
        WorkingPath, WrittenExport, WrittenMessage, WrittenPart, WrittenState,
    },
};
use super::{
    EncodedDialogue, Encoder, Target,
    calls::{self, CallAnswer},
    plain_text,
    provider::ModelProvider,
    times,
};
use crate::{
    Framing,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
    media,
};

/// The version that a session says it is of, when nobody knows better.
const VERSION: &str = "1.18.0";
/// The agent that OpenCode works with unless it is told otherwise.
const AGENT: &str = "build";
/// The agent that sums up for OpenCode.
const SUMMARISER: &str = "compaction";

pub(crate) struct OpencodeEncoder;

/// A session as far as it is written.
struct OpencodeWriter<'a> {
    target: &'a Target,
    session: String,
    ids: OpencodeIds<'a>,
    messages: Vec<WrittenMessage>,
    losses: Losses,
    /// The message of the user that answers belong to.
    asked: String,
}

/// How the model speaks once.
struct SpokenStep<'m> {
    model: &'m str,
    finish: &'static str,
    /// When it begins and ends.
    span: [Timestamp; 2],
    is_summary: bool,
}

impl Encoder for OpencodeEncoder {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue {
        let times = times::of_turns(&dialogue.turns, target.now);
        let mut writer = OpencodeWriter {
            target,
            session: OpencodeIds::of_session(&target.session, target.now),
            ids: OpencodeIds::new(&target.session, target.now),
            messages: Vec::new(),
            losses: Losses::default(),
            asked: String::new(),
        };
        let mut system = dialogue.system.as_slice();
        if dialogue.turns.is_empty() && !system.is_empty() {
            let (said, model) = (writer.instructions(system), writer.model_from(&[]));
            writer.ask(said, &model, target.now);
        }
        for (n, (turn, at)) in dialogue.turns.iter().zip(&times).enumerate() {
            let model = writer.model_from(&dialogue.turns[n..]);
            match turn.speaker {
                Speaker::User => writer.user(turn, std::mem::take(&mut system), &model, *at),
                Speaker::Assistant => {
                    let end = times.get(n + 1).copied().unwrap_or(*at);
                    writer.assistant(turn, dialogue.turns.get(n + 1), &model, [*at, end]);
                }
            }
        }
        writer.finish(times.first().copied())
    }
}

impl OpencodeWriter<'_> {
    /// Returns the model that speaks in the first of these turns, or answers it.
    fn model_from(&self, turns: &[Turn]) -> String {
        let named = turns.iter().take(2).find_map(|turn| turn.model.clone());
        named.or_else(|| self.target.model.clone()).unwrap_or_else(|| "unknown".to_owned())
    }

    fn user(&mut self, turn: &Turn, system: &[String], model: &str, at: Timestamp) {
        let is_first = self.messages.is_empty();
        let words: Vec<&EntryPart> =
            turn.parts.iter().filter(|part| !matches!(part, EntryPart::ToolResult { .. })).collect();
        let mut words = words.as_slice();
        if let [EntryPart::Summary { text }, rest @ ..] = words
            && is_first
        {
            self.compaction(text, model, at);
            words = rest;
        }
        let mut said = self.instructions(system);
        for part in words {
            said.extend(self.shown(part, turn.is_meta));
        }
        // Without results and without a compaction the turn would be gone and the model would speak twice in a row.
        if said.is_empty() && words.len() == turn.parts.len() && !words.is_empty() {
            said.push(PartContent::Text { text: plain_text::note(&turn.parts), synthetic: turn.is_meta });
        }
        if !said.is_empty() {
            self.ask(said, model, at);
        }
    }

    /// Returns instructions as what a user says, as whom OpenCode keeps them: its own stand above every request.
    fn instructions(&mut self, system: &[String]) -> Vec<PartContent> {
        self.losses.add_many(LossKind::SystemAsUser, system.len() as u64);
        system.iter().map(|text| PartContent::Text { text: text.clone(), synthetic: true }).collect()
    }

    /// Writes what the user is taken to say.
    fn ask(&mut self, said: Vec<PartContent>, model: &str, at: Timestamp) {
        let voice = MessageVoice::User {
            time: MessageTimes { created: times::epoch_millis(at), completed: None },
            agent: AGENT,
            model: NamedModel { provider: provider(model), model: model.to_owned() },
        };
        self.asked = self.ids.next("msg_");
        self.push(self.asked.clone(), voice, said);
    }

    /// Writes a summary as the compaction that the session begins with. Anywhere else it would take away what comes before.
    fn compaction(&mut self, text: &str, model: &str, at: Timestamp) {
        self.ask(vec![PartContent::Compaction { auto: false }], model, at);
        let said = PartContent::Text { text: text.to_owned(), synthetic: false };
        let id = self.ids.next("msg_");
        self.answer(id, vec![said], &SpokenStep { model, finish: "stop", span: [at, at], is_summary: true });
    }

    fn assistant(&mut self, turn: &Turn, next: Option<&Turn>, model: &str, span: [Timestamp; 2]) {
        let answers = calls::answers(next);
        let message = self.ids.next("msg_");
        let mut said = Vec::with_capacity(turn.parts.len() + 2);
        let mut finish = "stop";
        for part in &turn.parts {
            match part {
                EntryPart::Thinking { text, seal } => said.extend(self.thinking(text, seal.as_ref(), model, span[0])),
                EntryPart::ToolCall { id, name, input } => {
                    finish = "tool-calls";
                    let (call, tool) = calls::SESSION.call(id, name, &mut self.losses);
                    let input = calls::object_input(input, &mut self.losses).as_object().cloned().unwrap_or_default();
                    let state = Box::new(self.state(&message, input, answers.get(id.as_str()), span));
                    said.push(PartContent::Tool { call: call.into_owned(), tool: tool.into_owned(), state });
                }
                part => said.extend(
                    plain_text::for_session(part, &mut self.losses)
                        .map(|text| PartContent::Text { text, synthetic: false }),
                ),
            }
        }
        if !said.is_empty() {
            self.answer(message, said, &SpokenStep { model, finish, span, is_summary: false });
        }
    }

    /// Writes what the model says in one step.
    fn answer(&mut self, id: String, said: Vec<PartContent>, step: &SpokenStep<'_>) {
        let SpokenStep { model, finish, span: [created, completed], is_summary } = *step;
        let agent = if is_summary { SUMMARISER } else { AGENT };
        let directory = &self.target.directory;
        let voice = MessageVoice::Assistant {
            parent: self.asked.clone(),
            time: MessageTimes {
                created: times::epoch_millis(created),
                completed: Some(times::epoch_millis(completed)),
            },
            model: model.to_owned(),
            provider: provider(model),
            mode: agent,
            agent,
            path: WorkingPath { cwd: directory.clone(), root: directory.clone() },
            cost: 0,
            tokens: NoTokens::default(),
            finish,
            summary: is_summary,
        };
        let end = PartContent::StepFinish { reason: finish, cost: 0, tokens: NoTokens::default() };
        let said = [PartContent::StepStart].into_iter().chain(said).chain([end]).collect();
        self.push(id, voice, said);
    }

    /// Returns what became of a call: every call of a dialogue has a result.
    fn state(
        &mut self,
        message: &str,
        input: Map<String, Value>,
        answer: Option<&CallAnswer<'_>>,
        [start, end]: [Timestamp; 2],
    ) -> WrittenState {
        let time = Span { start: times::epoch_millis(start), end: times::epoch_millis(end) };
        let Some(CallAnswer { content, is_error }) = answer else {
            return WrittenState::Error { input, error: String::new(), time };
        };
        let (mut texts, mut attachments) = (Vec::new(), Vec::new());
        for part in *content {
            match file(part).filter(|_| !is_error) {
                Some(said) => attachments.push(self.part(message.to_owned(), said)),
                None => texts.extend(plain_text::for_session(part, &mut self.losses)),
            }
        }
        let text = texts.join("\n");
        if *is_error {
            return WrittenState::Error { input, error: text, time };
        }
        WrittenState::Completed { input, output: text, title: "", metadata: Map::new(), time, attachments }
    }

    /// Returns thinking, with its seal if the provider of the model can open it.
    fn thinking(&mut self, text: &str, seal: Option<&Seal>, model: &str, at: Timestamp) -> Option<PartContent> {
        let opened = seal.filter(|seal| ModelProvider::of(model).is_some_and(|provider| provider.opens(seal.scheme)));
        if opened.is_none() {
            plain_text::note_seal(text, seal, &mut self.losses);
        }
        let metadata = opened.map(|Seal { scheme, data }| match scheme {
            SealScheme::AnthropicSignature => json!({"anthropic": {"signature": data}}),
            SealScheme::AnthropicRedacted => json!({"anthropic": {"redactedData": data}}),
            SealScheme::OpenaiEncrypted => json!({"openai": {"reasoningEncryptedContent": data}}),
            SealScheme::GeminiSignature => json!({"google": {"thoughtSignature": data}}),
        });
        let at = times::epoch_millis(at);
        let time = Span { start: at, end: at };
        (!text.is_empty() || metadata.is_some()).then(|| PartContent::Reasoning {
            text: text.to_owned(),
            time,
            metadata,
        })
    }

    /// Returns what a user says.
    fn shown(&mut self, part: &EntryPart, is_meta: bool) -> Option<PartContent> {
        file(part).or_else(|| {
            let text = plain_text::for_session(part, &mut self.losses)?;
            Some(PartContent::Text { text, synthetic: is_meta })
        })
    }

    fn push(&mut self, id: String, voice: MessageVoice, said: Vec<PartContent>) {
        let parts = said.into_iter().map(|said| self.part(id.clone(), said)).collect();
        self.messages.push(WrittenMessage { info: MessageInfo { id, session: self.session.clone(), voice }, parts });
    }

    fn part(&mut self, message: String, said: PartContent) -> WrittenPart {
        WrittenPart { id: self.ids.next("prt_"), session: self.session.clone(), message, said }
    }

    fn finish(self, start: Option<Timestamp>) -> EncodedDialogue {
        let Self { target, session, messages, losses, .. } = self;
        let start = start.unwrap_or(target.now);
        // OpenCode gives a session that is called this a title of its own when it goes on.
        let untitled = format!("New session - {}", times::in_millis(start));
        let info = SessionInfo {
            id: &session,
            slug: &session,
            project: "global",
            directory: &target.directory,
            title: target.title.as_deref().unwrap_or(&untitled),
            version: target.version.as_deref().unwrap_or(VERSION),
            time: SessionTimes { created: times::epoch_millis(start), updated: times::epoch_millis(target.now) },
        };
        let mut bytes = serde_json::to_vec_pretty(&WrittenExport { info, messages }).expect("messages have text keys");
        bytes.push(b'\n');
        EncodedDialogue { bytes, losses }
    }
}

/// Names the provider of a model; OpenCode asks for another model where it does not know one.
fn provider(model: &str) -> &'static str {
    ModelProvider::of(model).map_or("unknown", ModelProvider::name)
}

/// Returns an image or a document as OpenCode attaches it; the model is given no other files.
fn file(part: &EntryPart) -> Option<PartContent> {
    let EntryPart::Blob { media_type, source: BlobSource::Base64(data) } = part else { return None };
    let is_shown = media_type.starts_with("image/") || media_type == media::PDF;
    is_shown.then(|| PartContent::File { mime: media_type.clone(), url: media::data_url(media_type, data) })
}

#[cfg(test)]
mod tests;
