//! What agents tell while they work: a line of JSON for each thing that happens.

use std::{ffi::OsString, fmt};

use contexture_core::{Format, GivenSessionId, Trigger};

use super::{Runtime, descriptor::EventStream};

/// Whose lines they are.
#[derive(Clone, Copy)]
pub struct Dialect {
    runtime: Runtime,
    stream: &'static EventStream,
}

/// What a line tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamEvent {
    /// The session's id.
    pub session: Option<GivenSessionId>,
    /// What has happened, if it is worth a checkpoint.
    pub moment: Option<CheckpointMoment>,
}

/// Something that is worth a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointMoment {
    /// What it is.
    pub trigger: Trigger,
    /// A text that the session's file holds once it tells of it too.
    pub awaited: Option<String>,
}

impl Dialect {
    /// Returns how a runtime speaks, if it tells what happens at all.
    pub fn of(runtime: Runtime) -> Option<Self> {
        runtime.0.stream.as_ref().map(|stream| Self { runtime, stream })
    }

    /// Recognises it by the first line that is said.
    pub fn of_first_line(line: &[u8]) -> Option<Self> {
        if !line.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let all = Runtime::ALL.iter().copied().filter_map(Self::of);
        all.into_iter().find(|dialect| (dialect.stream.is_first_line)(line))
    }

    /// Returns the agent that speaks it.
    pub const fn runtime(self) -> Runtime {
        self.runtime
    }

    /// Returns the format of its lines.
    pub fn format(self) -> Format {
        Format::new(self.stream.format).expect("the names of formats are legal")
    }

    /// Reads a line. One that is not understood tells nothing.
    pub fn hear(self, line: &[u8]) -> StreamEvent {
        // Warnings that a program prints among its events are no events.
        (self.stream.hear)(line).unwrap_or_default()
    }

    /// Tells whether the arguments of the agent's program ask for it.
    pub(super) fn is_asked_for(self, arguments: &[OsString]) -> bool {
        (self.stream.is_asked_for)(arguments)
    }
}

impl CheckpointMoment {
    /// Tells of something that the session's file need not be waited for.
    pub(super) fn at_once(trigger: Trigger) -> Self {
        Self { trigger, awaited: None }
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.runtime == other.runtime
    }
}

impl Eq for Dialect {}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.runtime).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(runtime: Runtime) -> Dialect {
        Dialect::of(runtime).unwrap()
    }

    fn happened(runtime: Runtime, line: &str) -> Option<(Trigger, Option<String>)> {
        dialect(runtime).hear(line.as_bytes()).moment.map(|moment| (moment.trigger, moment.awaited))
    }

    #[test]
    fn the_first_line_tells_whose_it_is() {
        let of = |line: &str| Dialect::of_first_line(line.as_bytes());
        let claude = dialect(Runtime::CLAUDE_CODE);
        assert_eq!(of(r#"{"type":"system","subtype":"init","session_id":"s"}"#), Some(claude));
        assert_eq!(of(r#"{"type":"thread.started","thread_id":"t"}"#), Some(dialect(Runtime::CODEX)));
        let gemini = r#"{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"s"}"#;
        assert_eq!(of(gemini), Some(dialect(Runtime::GEMINI)));
        for other in ["", "hello", "{}", "[1]", r#"{"type":"system"}"#, r#"{"type":7}"#] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn calls_and_ends_of_turns_are_moments_and_the_rest_is_not() {
        let (claude, codex, gemini) = (Runtime::CLAUDE_CODE, Runtime::CODEX, Runtime::GEMINI);
        let call = r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
        assert_eq!(happened(claude, call), Some((Trigger::ToolCall, Some("t1".to_owned()))));
        let inner = call.replace(r#""session_id""#, r#""parent_tool_use_id":"t0","session_id""#);
        assert_eq!(happened(claude, &inner), Some((Trigger::ToolCall, None)));
        let result = r#"{"type":"result","subtype":"success","result":"Done."}"#;
        assert_eq!(happened(claude, result), Some((Trigger::TurnBoundary, Some("Done.".to_owned()))));
        let ran = r#"{"type":"item.completed","item":{"id":"0","type":"command_execution"}}"#;
        assert_eq!(happened(codex, ran), Some((Trigger::ToolCall, None)));
        assert_eq!(happened(codex, r#"{"type":"turn.completed"}"#), Some((Trigger::TurnBoundary, None)));
        assert_eq!(happened(gemini, r#"{"type":"tool_result"}"#), Some((Trigger::ToolCall, None)));
        let said = r#"{"type":"item.completed","item":{"type":"agent_message","text":"Hi"}}"#;
        let user = r#"{"type":"user","message":{"content":"text"}}"#;
        for (runtime, line) in [(codex, said), (claude, user), (gemini, "not JSON")] {
            assert_eq!(happened(runtime, line), None, "{line}");
        }
    }
}
