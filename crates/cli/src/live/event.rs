//! What a runtime tells its hooks.

use std::path::{Path, PathBuf};

use contexture::core::Trigger;
use serde::Deserialize;

/// An event, as far as capture needs it. The runtimes write nearly the same; what they add is not read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Event {
    pub(crate) hook_event_name: String,
    pub(crate) session_id: String,
    pub(crate) transcript_path: Option<PathBuf>,
    /// The agent that it is about, when another one started it.
    pub(crate) agent_id: Option<String>,
    /// That agent's file.
    pub(crate) agent_transcript_path: Option<PathBuf>,
    pub(crate) cwd: Option<PathBuf>,
    /// The call that is about to be made or was just answered.
    pub(crate) tool_use_id: Option<String>,
    /// What was just said, as Claude Code and Codex call it.
    pub(crate) last_assistant_message: Option<String>,
    /// The same, as Gemini CLI calls it.
    pub(crate) prompt_response: Option<String>,
    /// Why a session ended.
    pub(crate) reason: Option<String>,
}

/// What an event means for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It begins, or goes on after it was left.
    Start,
    /// Somebody asks; what is asked will be in the file with the answer.
    Question,
    /// A tool is about to be called.
    Call,
    /// Something happened that is worth a checkpoint.
    Checkpoint(Trigger),
    /// It is over.
    End,
}

impl Event {
    /// Returns what the event means. One that nobody knows is as good as any to look at the session.
    pub(crate) fn moment(&self) -> Moment {
        match self.hook_event_name.as_str() {
            "SessionStart" | "session_start" => Moment::Start,
            // Gemini CLI tells of a compression before each request, whether there is one or not.
            "UserPromptSubmit" | "BeforeAgent" | "before_agent_start" | "PreCompress" => Moment::Question,
            "PreToolUse" | "BeforeTool" | "tool_call" => Moment::Call,
            "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "SubagentStop" | "AfterTool" | "tool_result" => {
                Moment::Checkpoint(Trigger::ToolCall)
            }
            "PreCompact" | "session_before_compact" => Moment::Checkpoint(Trigger::Compaction),
            "SessionEnd" | "session_shutdown" => Moment::End,
            _ => Moment::Checkpoint(Trigger::TurnBoundary),
        }
    }

    /// Returns a text that the file will hold once it is up to date with the event.
    pub(crate) fn awaited(&self) -> Option<&str> {
        let said = || self.last_assistant_message.as_deref().or(self.prompt_response.as_deref());
        self.tool_use_id.as_deref().or_else(said).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Returns the file of the agent that the event is about, when that is not the session's own.
    pub(crate) fn agent_file(&self, session: &Path) -> Option<PathBuf> {
        let beside = |agent: &String| {
            let directory = session.with_extension("").join("subagents");
            directory.join(format!("agent-{agent}.jsonl"))
        };
        self.agent_transcript_path.clone().or_else(|| self.agent_id.as_ref().map(beside))
    }
}
