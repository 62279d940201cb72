//! Writing a session that `claude --resume` goes on with: a chain of lines, each with one message of the API.

use contexture_core::{EntryPart, Timestamp};
use serde::Serialize;

use super::{
    Appender, EncodedDialogue, Encoder, Target,
    anthropic::{self, AnthropicBlock},
    ids::Ids,
    lines::WrittenLines,
    plain_text, times,
};
use crate::{
    Framing, NativePrefix,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
};

/// The version that a session says it is of, when nobody knows better. Loaders compare it with nothing.
const VERSION: &str = "2.1.0";
/// The model that spoke, where another vendor's did: Claude Code knows no other names.
const MODEL: &str = "claude-sonnet-4-5";

pub(crate) struct ClaudeCodeEncoder;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the runtime's lines have them")]
struct ClaudeLine<'d> {
    parent_uuid: Option<&'d str>,
    is_sidechain: bool,
    user_type: &'static str,
    cwd: &'d str,
    session_id: &'d str,
    version: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<&'d str>,
    #[serde(rename = "type")]
    kind: &'static str,
    message: ClaudeMessage<'d>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_meta: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_compact_summary: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_visible_in_transcript_only: bool,
    uuid: &'d str,
    timestamp: String,
}

/// What sets a line apart from what a person typed.
#[derive(Debug, Clone, Copy, Default)]
struct Mood {
    is_meta: bool,
    is_summary: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ClaudeMessage<'d> {
    User { role: &'static str, content: Vec<AnthropicBlock<'d>> },
    Assistant(ClaudeAnswer<'d>),
}

/// A message as the API returns it. Without all of these fields the client does not load the line.
#[derive(Serialize)]
struct ClaudeAnswer<'d> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'d str,
    content: Vec<AnthropicBlock<'d>>,
    stop_reason: &'static str,
    stop_sequence: Option<String>,
    usage: ClaudeUsage,
}

#[derive(Serialize)]
struct ClaudeUsage {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Title<'d> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "customTitle")]
    text: &'d str,
    session_id: &'d str,
}

impl Encoder for ClaudeCodeEncoder {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue {
        let mut writer = ClaudeWriter::new(target, Ids::new(&target.session));
        if let Some(title) = &target.title {
            writer.lines.push(&Title { kind: "custom-title", text: title, session_id: &target.session });
        }
        writer.write(dialogue)
    }
}

impl Appender for ClaudeCodeEncoder {
    fn append(&self, dialogue: &Dialogue, target: &Target, prefix: &NativePrefix) -> EncodedDialogue {
        let mut writer = ClaudeWriter::new(target, Ids::after(&target.session, prefix));
        writer.last = prefix.last().map(str::to_owned);
        writer.write(dialogue)
    }
}

/// A session as far as it is written.
struct ClaudeWriter<'d> {
    target: &'d Target,
    lines: WrittenLines,
    losses: Losses,
    ids: Ids<'d>,
    /// The line that the next one follows.
    last: Option<String>,
}

impl<'d> ClaudeWriter<'d> {
    fn new(target: &'d Target, ids: Ids<'d>) -> Self {
        Self { target, lines: WrittenLines::default(), losses: Losses::default(), ids, last: None }
    }

    fn write(mut self, dialogue: &'d Dialogue) -> EncodedDialogue {
        let times = times::of_turns(&dialogue.turns, self.target.now);
        let start = times.first().copied().unwrap_or(self.target.now);
        if !dialogue.system.is_empty() {
            // A transcript has no place for instructions; the client sends its own.
            self.losses.add_many(LossKind::SystemAsUser, dialogue.system.len() as u64);
            let content = dialogue.system.iter().map(anthropic::text).collect();
            self.push(
                "user",
                ClaudeMessage::User { role: "user", content },
                Mood { is_meta: true, is_summary: false },
                start,
            );
        }
        for (turn, at) in dialogue.turns.iter().zip(times) {
            self.turn(turn, at);
        }
        EncodedDialogue { bytes: self.lines.into_bytes(), losses: self.losses }
    }

    fn turn(&mut self, turn: &'d Turn, at: Timestamp) {
        match turn.speaker {
            Speaker::User => self.user(turn, at),
            Speaker::Assistant => {
                let content = anthropic::content(turn, &mut self.losses);
                if content.is_empty() {
                    return;
                }
                let calls_tools = content.iter().any(|block| matches!(block, AnthropicBlock::ToolUse { .. }));
                let model = turn.model.as_deref().filter(|model| model.starts_with("claude"));
                let answer = ClaudeAnswer {
                    id: format!("msg_{}", self.ids.uuid().replace('-', "")),
                    kind: "message",
                    role: "assistant",
                    model: model.or(self.target.model.as_deref()).unwrap_or(MODEL),
                    content,
                    stop_reason: if calls_tools { "tool_use" } else { "end_turn" },
                    stop_sequence: None,
                    usage: ClaudeUsage { input_tokens: 0, output_tokens: 0 },
                };
                self.push("assistant", ClaudeMessage::Assistant(answer), Mood::default(), at);
            }
        }
    }

    /// Writes what a user says. A summary has a line of its own, by which the client knows it.
    fn user(&mut self, turn: &'d Turn, at: Timestamp) {
        let mut content = Vec::new();
        for part in &turn.parts {
            if let EntryPart::Summary { text } = part {
                self.ask(&mut content, Mood { is_meta: turn.is_meta, is_summary: false }, at);
                self.ask(&mut vec![anthropic::text(text)], Mood { is_meta: false, is_summary: true }, at);
            } else {
                content.extend(anthropic::asked(part, &mut self.losses));
            }
        }
        if content.is_empty() && !turn.parts.iter().any(|part| matches!(part, EntryPart::Summary { .. })) {
            content.push(anthropic::text(plain_text::note(&turn.parts)));
        }
        self.ask(&mut content, Mood { is_meta: turn.is_meta, is_summary: false }, at);
    }

    fn ask(&mut self, content: &mut Vec<AnthropicBlock<'_>>, mood: Mood, at: Timestamp) {
        let content = std::mem::take(content);
        if !content.is_empty() {
            self.push("user", ClaudeMessage::User { role: "user", content }, mood, at);
        }
    }

    fn push(&mut self, kind: &'static str, message: ClaudeMessage<'_>, mood: Mood, at: Timestamp) {
        let uuid = self.ids.uuid();
        self.lines.push(&ClaudeLine {
            parent_uuid: self.last.as_deref(),
            is_sidechain: false,
            user_type: "external",
            cwd: &self.target.directory,
            session_id: &self.target.session,
            version: self.target.version.as_deref().unwrap_or(VERSION),
            git_branch: self.target.branch.as_deref(),
            kind,
            message,
            is_meta: mood.is_meta,
            is_compact_summary: mood.is_summary,
            is_visible_in_transcript_only: mood.is_summary,
            uuid: &uuid,
            timestamp: times::in_millis(at),
        });
        self.last = Some(uuid);
    }
}
