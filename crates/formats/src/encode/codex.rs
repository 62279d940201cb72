//! Writing a rollout that `codex exec resume` goes on with.
//!
//! It has the shape that Codex itself gives to sessions of other agents: what models see as items, what a person sees as
//! events beside them, and events around each turn. Tool calls stay calls.

mod record;

use std::collections::HashSet;

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme, Timestamp, ToolInput};
use serde::Serialize;

use self::record::{
    CodexContent, RolloutEvent, RolloutGit, RolloutItem, RolloutLine, RolloutMeta, RolloutOutput, RolloutSummaryText,
};
use super::{Appender, EncodedDialogue, Encoder, Target, calls, ids::Ids, lines::WrittenLines, plain_text, times};
use crate::{
    Framing, NativePrefix,
    codec::codex::{FAILED, NATIVE_KINDS, has_failed, is_injected},
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
};

pub(crate) struct Codex;

impl Encoder for Codex {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue {
        let times = times::of_turns(&dialogue.turns, target.now);
        let mut rollout = Rollout::new(Ids::new(&target.session));
        rollout.now = times::in_millis(times.first().copied().unwrap_or(target.now));
        rollout.session(target);
        rollout.system(&dialogue.system);
        // Codex lists no session in which nobody typed anything.
        rollout.is_asked = dialogue
            .turns
            .iter()
            .any(|turn| turn.speaker == Speaker::User && turn.parts.iter().any(|part| is_typed(turn, part)));
        rollout.write(dialogue, target, times)
    }
}

impl Appender for Codex {
    fn append(&self, dialogue: &Dialogue, target: &Target, prefix: &NativePrefix) -> EncodedDialogue {
        let mut rollout = Rollout::new(Ids::after(&target.session, prefix));
        rollout.ordinal = prefix.next_ordinal();
        // A prefix in which nobody typed anything does not go on.
        rollout.is_asked = true;
        rollout.task = prefix.open_task().map(|id| RolloutTask { id: id.to_owned(), last_message: None });
        rollout.write(dialogue, target, times::of_turns(&dialogue.turns, target.now))
    }
}

/// Tells whether a part is what the user wants now, and not what a runtime or a summary says in the user's name.
fn is_typed(turn: &Turn, part: &EntryPart) -> bool {
    match part {
        EntryPart::Text { .. } | EntryPart::Blob { .. } => !turn.is_meta && !is_injected(part),
        _ => false,
    }
}

/// A rollout as far as it is written.
struct Rollout<'a> {
    lines: WrittenLines,
    losses: Losses,
    ids: Ids<'a>,
    /// The number of what is written next, where records are numbered.
    ordinal: Option<u64>,
    /// The time of what is written next.
    now: String,
    task: Option<RolloutTask>,
    /// Whether somebody types something; if nobody does, what runtimes say in a user's name counts as typed.
    is_asked: bool,
    /// Calls whose results have a type of their own, because their input is free text.
    free_text_calls: HashSet<String>,
}

/// What Codex calls a turn: from what a user typed to the last answer to it.
struct RolloutTask {
    id: String,
    last_message: Option<String>,
}

impl<'a> Rollout<'a> {
    fn new(ids: Ids<'a>) -> Self {
        Self {
            lines: WrittenLines::default(),
            losses: Losses::default(),
            ids,
            ordinal: None,
            now: String::new(),
            task: None,
            is_asked: false,
            free_text_calls: HashSet::new(),
        }
    }

    fn write(mut self, dialogue: &Dialogue, target: &Target, times: Vec<Timestamp>) -> EncodedDialogue {
        for (turn, at) in dialogue.turns.iter().zip(times) {
            self.now = times::in_millis(at);
            match turn.speaker {
                Speaker::User => self.user(turn),
                Speaker::Assistant => self.assistant(&turn.parts),
            }
        }
        self.now = times::in_millis(target.now);
        self.end_task();
        EncodedDialogue { bytes: self.lines.into_bytes(), losses: self.losses }
    }

    fn session(&mut self, target: &Target) {
        let timestamp = self.now.clone();
        let meta = RolloutMeta {
            id: &target.session,
            session_id: &target.session,
            timestamp: &timestamp,
            cwd: &target.directory,
            originator: "contexture",
            cli_version: target.version.as_deref().unwrap_or("0.0.0"),
            source: "cli",
            model_provider: target.provider.as_deref(),
            git: target.branch.as_deref().map(|branch| RolloutGit { branch }),
        };
        self.push("session_meta", meta);
    }

    fn system(&mut self, texts: &[String]) {
        let content: Vec<_> = texts.iter().map(|text| CodexContent::InputText { text: text.clone() }).collect();
        if !content.is_empty() {
            self.item(&RolloutItem::Message { role: "developer", content });
        }
    }

    fn user(&mut self, turn: &Turn) {
        let is_asked = self.is_asked;
        let is_typed = |part: &EntryPart| !is_asked || is_typed(turn, part);
        let mut has_asked = false;
        let mut is_silent = true;
        let mut rest = turn.parts.as_slice();
        while let [first, others @ ..] = rest {
            rest = others;
            match first {
                EntryPart::ToolResult { call, content, is_error } => {
                    self.result(call, content, *is_error == Some(true));
                    is_silent = false;
                }
                EntryPart::Native { .. } => is_silent &= !self.native(first),
                _ => {
                    let typed = is_typed(first);
                    let is_same =
                        |part: &&EntryPart| !matches!(part, EntryPart::Native { .. }) && is_typed(part) == typed;
                    let run = 1 + others.iter().take_while(is_same).count();
                    let from = turn.parts.len() - others.len() - 1;
                    rest = &others[run - 1..];
                    let content = self.contents(&turn.parts[from..from + run]);
                    is_silent &= content.is_empty();
                    if typed && !has_asked {
                        self.begin_task(&content);
                        has_asked = true;
                    }
                    self.user_message(content);
                }
            }
        }
        if is_silent {
            self.user_message(vec![CodexContent::InputText { text: plain_text::note(&turn.parts) }]);
        }
    }

    fn user_message(&mut self, content: Vec<CodexContent>) {
        if !content.is_empty() {
            self.item(&RolloutItem::Message { role: "user", content });
        }
    }

    fn assistant(&mut self, parts: &[EntryPart]) {
        for part in parts {
            match part {
                EntryPart::Thinking { text, seal: Some(Seal { scheme: SealScheme::OpenaiEncrypted, data }) } => {
                    let summary = Some(text).filter(|text| !text.is_empty());
                    let summary =
                        summary.map(|text| RolloutSummaryText { kind: "summary_text", text }).into_iter().collect();
                    self.item(&RolloutItem::Reasoning { summary, encrypted_content: data });
                }
                EntryPart::ToolCall { id, name, input } => self.call(id, name, input),
                EntryPart::Native { .. } => {
                    self.native(part);
                }
                _ => {
                    if let Some(text) = plain_text::for_session(part, &mut self.losses) {
                        self.say(text);
                    }
                }
            }
        }
    }

    fn say(&mut self, text: String) {
        self.event(&RolloutEvent::AgentMessage { message: &text, phase: None, memory_citation: None });
        self.item(&RolloutItem::Message {
            role: "assistant",
            content: vec![CodexContent::OutputText { text: text.clone() }],
        });
        if let Some(task) = &mut self.task {
            task.last_message = Some(text);
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &ToolInput) {
        let (call_id, name) = calls::SESSION.call(id, name, &mut self.losses);
        match input {
            ToolInput::Json(value) => {
                let arguments = value.to_string();
                self.item(&RolloutItem::FunctionCall { name: &name, arguments, call_id: &call_id });
            }
            ToolInput::Text(input) => {
                self.free_text_calls.insert(id.to_owned());
                self.item(&RolloutItem::CustomToolCall { status: "completed", call_id: &call_id, name: &name, input });
            }
        }
    }

    fn result(&mut self, call: &str, content: &[EntryPart], is_error: bool) {
        let mut content = self.contents(content);
        if is_error {
            match content.first_mut() {
                Some(CodexContent::InputText { text }) if has_failed(text) == Some(true) => {}
                Some(CodexContent::InputText { text }) => text.insert_str(0, FAILED),
                _ => content.insert(0, CodexContent::InputText { text: FAILED.to_owned() }),
            }
        }
        let output = match content.as_slice() {
            [] => RolloutOutput::Text(""),
            [CodexContent::InputText { text }] => RolloutOutput::Text(text),
            _ => RolloutOutput::Content(&content),
        };
        let call_id = &*calls::SESSION.id(call);
        if self.free_text_calls.contains(call) {
            self.item(&RolloutItem::CustomToolCallOutput { call_id, output });
        } else {
            self.item(&RolloutItem::FunctionCallOutput { call_id, output });
        }
    }

    /// Returns what a user or a tool says as content of an item.
    fn contents(&mut self, parts: &[EntryPart]) -> Vec<CodexContent> {
        let mut contents = Vec::with_capacity(parts.len());
        for part in parts {
            contents.extend(match part {
                EntryPart::Blob { media_type, source } if media_type.starts_with("image/") => match source {
                    BlobSource::Base64(data) => {
                        Some(CodexContent::InputImage { image_url: format!("data:{media_type};base64,{data}") })
                    }
                    BlobSource::Url(url) => Some(CodexContent::InputImage { image_url: url.clone() }),
                    BlobSource::File(_) => {
                        plain_text::for_session(part, &mut self.losses).map(|text| CodexContent::InputText { text })
                    }
                },
                _ => plain_text::for_session(part, &mut self.losses).map(|text| CodexContent::InputText { text }),
            });
        }
        contents
    }

    /// Writes an item back that Codex once wrote, and tells whether it was one.
    fn native(&mut self, part: &EntryPart) -> bool {
        match part {
            EntryPart::Native { kind, value }
                if NATIVE_KINDS.contains(&kind.as_str()) && value["type"] == kind.as_str() =>
            {
                self.push("response_item", value);
                true
            }
            _ => {
                self.losses.add(LossKind::NativePart);
                false
            }
        }
    }

    fn begin_task(&mut self, content: &[CodexContent]) {
        self.end_task();
        let turn_id = self.ids.uuid();
        self.event(&RolloutEvent::TaskStarted {
            turn_id: &turn_id,
            model_context_window: None,
            collaboration_mode_kind: "default",
        });
        let texts: Vec<&str> = content
            .iter()
            .filter_map(|content| match content {
                CodexContent::InputText { text } => Some(text.as_str()),
                CodexContent::InputImage { .. } | CodexContent::OutputText { .. } => None,
            })
            .collect();
        self.event(&RolloutEvent::UserMessage {
            message: &texts.join("\n"),
            images: [],
            local_images: [],
            text_elements: [],
        });
        self.task = Some(RolloutTask { id: turn_id, last_message: None });
    }

    fn end_task(&mut self) {
        if let Some(RolloutTask { id, last_message }) = self.task.take() {
            self.event(&RolloutEvent::TaskComplete { turn_id: &id, last_agent_message: last_message.as_deref() });
        }
    }

    fn item(&mut self, item: &RolloutItem<'_>) {
        self.push("response_item", item);
    }

    fn event(&mut self, event: &RolloutEvent<'_>) {
        self.push("event_msg", event);
    }

    fn push(&mut self, kind: &'static str, payload: impl Serialize) {
        self.lines.push(&RolloutLine { timestamp: &self.now, ordinal: self.ordinal, kind, payload });
        self.ordinal = self.ordinal.map(|ordinal| ordinal.saturating_add(1));
    }
}
