//! What agents tell while they work: a line of JSON for each thing that happens.

use contexture::core::{Format, Trigger};
use contexture_capture::Runtime;
use serde::Deserialize;

/// Whose lines they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `claude --output-format stream-json`.
    Claude,
    /// `codex exec --json`.
    Codex,
    /// `gemini --output-format stream-json`.
    Gemini,
}

/// What a line tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// The session's id.
    pub(crate) session: Option<String>,
    /// What has happened, if that is worth a checkpoint.
    pub(crate) happened: Option<Happened>,
}

/// Something that is worth a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) trigger: Trigger,
    /// A text that the session's file holds once it tells of it too.
    pub(crate) awaited: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeEvent {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    session_id: Option<String>,
    /// The call whose sub-agent speaks, in a file of its own.
    parent_tool_use_id: Option<String>,
    message: ClaudeMessage,
    result: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeMessage {
    content: Blocks,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Blocks {
    List(Vec<Block>),
    Other(serde::de::IgnoredAny),
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Other(serde::de::IgnoredAny)
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    ToolUse {
        id: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CodexEvent {
    #[serde(rename = "type")]
    kind: String,
    thread_id: Option<String>,
    item: CodexItem,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CodexItem {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiEvent {
    #[serde(rename = "type")]
    kind: String,
    session_id: Option<String>,
}

impl Dialect {
    /// Returns the agent that speaks it.
    pub(crate) const fn runtime(self) -> Runtime {
        match self {
            Self::Claude => Runtime::ClaudeCode,
            Self::Codex => Runtime::Codex,
            Self::Gemini => Runtime::Gemini,
        }
    }

    /// Returns the format of its lines.
    pub(crate) fn format(self) -> Format {
        let name = match self {
            Self::Claude => "claude-stream-v1",
            Self::Codex => "codex-exec-v1",
            Self::Gemini => "gemini-stream-v1",
        };
        Format::new(name).expect("the names of formats are legal")
    }

    /// Recognises it by the first line that is said.
    pub(crate) fn of_first_line(line: &[u8]) -> Option<Self> {
        if !line.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let is_claude = serde_json::from_slice::<ClaudeEvent>(line)
            .is_ok_and(|event| event.kind == "system" && event.subtype.is_some() && event.session_id.is_some());
        let is_codex = serde_json::from_slice::<CodexEvent>(line)
            .is_ok_and(|event| event.kind == "thread.started" && event.thread_id.is_some());
        let is_gemini = serde_json::from_slice::<GeminiEvent>(line)
            .is_ok_and(|event| event.kind == "init" && event.session_id.is_some());
        match (is_claude, is_codex, is_gemini) {
            (true, ..) => Some(Self::Claude),
            (_, true, _) => Some(Self::Codex),
            (.., true) => Some(Self::Gemini),
            (false, false, false) => None,
        }
    }

    /// Reads a line. One that is not understood tells nothing.
    pub(crate) fn hear(self, line: &[u8]) -> Heard {
        let heard = match self {
            Self::Claude => serde_json::from_slice(line).map(hear_claude),
            Self::Codex => serde_json::from_slice(line).map(hear_codex),
            Self::Gemini => serde_json::from_slice(line).map(hear_gemini),
        };
        // Warnings that a program prints among its events are no events.
        heard.unwrap_or_default()
    }
}

fn hear_claude(event: ClaudeEvent) -> Heard {
    let happened = match event.kind.as_str() {
        "assistant" => {
            let Blocks::List(blocks) = event.message.content else { return Heard::default() };
            let call = blocks.into_iter().rev().find_map(|block| match block {
                Block::ToolUse { id } => Some(id),
                Block::Other => None,
            });
            let is_own = event.parent_tool_use_id.is_none();
            call.map(|id| Happened { trigger: Trigger::ToolCall, awaited: Some(id).filter(|_| is_own) })
        }
        "result" => Some(Happened { trigger: Trigger::TurnBoundary, awaited: event.result }),
        _ => None,
    };
    Heard { session: event.session_id, happened }
}

fn hear_codex(event: CodexEvent) -> Heard {
    let trigger = match (event.kind.as_str(), event.item.kind.as_str()) {
        ("turn.completed" | "turn.failed", _) => Some(Trigger::TurnBoundary),
        ("item.completed", "agent_message" | "reasoning" | "todo_list" | "plan" | "error" | "") => None,
        ("item.completed", _) => Some(Trigger::ToolCall),
        _ => None,
    };
    Heard { session: event.thread_id, happened: trigger.map(|trigger| Happened { trigger, awaited: None }) }
}

fn hear_gemini(event: GeminiEvent) -> Heard {
    let trigger = match event.kind.as_str() {
        "result" => Some(Trigger::TurnBoundary),
        // The session's file tells of a call only when it was answered.
        "tool_result" => Some(Trigger::ToolCall),
        _ => None,
    };
    Heard { session: event.session_id, happened: trigger.map(|trigger| Happened { trigger, awaited: None }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happened(dialect: Dialect, line: &str) -> Option<(Trigger, Option<String>)> {
        dialect.hear(line.as_bytes()).happened.map(|happened| (happened.trigger, happened.awaited))
    }

    #[test]
    fn the_first_line_tells_whose_it_is() {
        let of = |line: &str| Dialect::of_first_line(line.as_bytes());
        assert_eq!(of(r#"{"type":"system","subtype":"init","session_id":"s"}"#), Some(Dialect::Claude));
        assert_eq!(of(r#"{"type":"thread.started","thread_id":"t"}"#), Some(Dialect::Codex));
        assert_eq!(of(r#"{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"s"}"#), Some(Dialect::Gemini));
        for other in ["", "hello", "{}", "[1]", r#"{"type":"system"}"#, r#"{"type":7}"#] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn calls_and_ends_of_turns_are_moments_and_the_rest_is_not() {
        let call = r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
        assert_eq!(happened(Dialect::Claude, call), Some((Trigger::ToolCall, Some("t1".to_owned()))));
        let inner = call.replace(r#""session_id""#, r#""parent_tool_use_id":"t0","session_id""#);
        assert_eq!(happened(Dialect::Claude, &inner), Some((Trigger::ToolCall, None)));
        let result = r#"{"type":"result","subtype":"success","result":"Done."}"#;
        assert_eq!(happened(Dialect::Claude, result), Some((Trigger::TurnBoundary, Some("Done.".to_owned()))));
        let ran = r#"{"type":"item.completed","item":{"id":"0","type":"command_execution"}}"#;
        assert_eq!(happened(Dialect::Codex, ran), Some((Trigger::ToolCall, None)));
        assert_eq!(happened(Dialect::Codex, r#"{"type":"turn.completed"}"#), Some((Trigger::TurnBoundary, None)));
        assert_eq!(happened(Dialect::Gemini, r#"{"type":"tool_result"}"#), Some((Trigger::ToolCall, None)));
        let said = r#"{"type":"item.completed","item":{"type":"agent_message","text":"Hi"}}"#;
        let user = r#"{"type":"user","message":{"content":"text"}}"#;
        for (dialect, line) in [(Dialect::Codex, said), (Dialect::Claude, user), (Dialect::Gemini, "not JSON")] {
            assert_eq!(happened(dialect, line), None, "{line}");
        }
    }
}
