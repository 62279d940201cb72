//! What a runtime tells its hooks.

use std::path::{Path, PathBuf};

use contexture_core::{GivenSessionId, Trigger};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

use crate::runtime::{HookMoment, Runtime};

/// Longest name or path; no system has longer paths.
const MAX_NAME: usize = 4096;

/// An event, as far as capture needs it. The runtimes write nearly the same; what they add is not read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HookInput {
    /// What it is called.
    pub hook_event_name: String,
    /// The session.
    pub session_id: GivenSessionId,
    /// The session's file.
    pub transcript_path: Option<PathBuf>,
    /// The agent that it is about, when another one started it.
    pub agent_id: Option<String>,
    /// That agent's file.
    pub agent_transcript_path: Option<PathBuf>,
    /// The directory that the agent works in.
    pub cwd: Option<PathBuf>,
    /// The tool that is about to be called or was just called.
    pub tool_name: Option<String>,
    /// The call that is about to be made or was just answered.
    pub tool_use_id: Option<String>,
    /// What was just said, as Claude Code and Codex call it.
    pub last_assistant_message: Option<String>,
    /// The same, as Gemini CLI calls it.
    pub prompt_response: Option<String>,
    /// Why a session ended.
    pub reason: Option<String>,
    /// When, where the runtime says it in words.
    #[serde(deserialize_with = "words")]
    pub timestamp: Option<String>,
}

/// Reads a text; anything else says nothing.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Words {
        Text(String),
        Other(IgnoredAny),
    }
    Ok(match Words::deserialize(deserializer)? {
        Words::Text(text) => Some(text),
        Words::Other(IgnoredAny) => None,
    })
}

impl HookInput {
    /// Tells whether its names and paths are as long as names and paths are. They are kept, and shown to people.
    pub fn has_usual_lengths(&self) -> bool {
        let names = [Some(self.session_id.as_str()), Some(&*self.hook_event_name), self.reason.as_deref()];
        let more = [self.agent_id.as_deref(), self.tool_use_id.as_deref(), self.tool_name.as_deref()];
        let paths = [&self.transcript_path, &self.agent_transcript_path, &self.cwd];
        let lengths = paths.iter().filter_map(|path| path.as_ref()).map(|path| path.as_os_str().len());
        let names = names.into_iter().chain(more).flatten().map(str::len);
        names.chain(lengths).all(|length| length <= MAX_NAME)
    }

    /// Returns what the event means where a runtime tells of it. One that its row does not know is as good as any to look
    /// at the session.
    pub fn moment(&self, runtime: Runtime) -> HookMoment {
        let known = runtime.hooks().and_then(|hooks| (hooks.moment)(&self.hook_event_name));
        known.unwrap_or(HookMoment::Checkpoint(Trigger::TurnBoundary))
    }

    /// Returns a text that the file will hold once it is up to date with the event.
    pub fn awaited(&self, runtime: Runtime) -> Option<String> {
        let said = || self.last_assistant_message.as_deref().or(self.prompt_response.as_deref());
        let told = self.tool_use_id.as_deref().or_else(said).map(str::trim).filter(|text| !text.is_empty());
        let echo = || runtime.hooks().and_then(|hooks| hooks.echo).and_then(|echo| echo(self));
        told.map(str::to_owned).or_else(echo)
    }

    /// Returns the file of the agent that the event is about, when that is not the session's own.
    pub fn agent_file(&self, session: &Path) -> Option<PathBuf> {
        let beside = |agent: &String| {
            let directory = session.with_extension("").join("subagents");
            directory.join(format!("agent-{agent}.jsonl"))
        };
        self.agent_transcript_path.clone().or_else(|| self.agent_id.as_ref().map(beside))
    }
}
