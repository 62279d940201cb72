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
    /// The session, as Cursor calls it.
    #[serde(deserialize_with = "told")]
    pub conversation_id: GivenSessionId,
    /// Which Cursor it is that tells.
    #[serde(deserialize_with = "told")]
    pub cursor_version: Option<String>,
    /// The session's file.
    pub transcript_path: Option<PathBuf>,
    /// The agent that it is about, when another one started it.
    pub agent_id: Option<String>,
    /// That agent's file.
    pub agent_transcript_path: Option<PathBuf>,
    /// The directory that the agent works in.
    pub cwd: Option<PathBuf>,
    /// The directories that the agent works in, as Cursor calls them.
    #[serde(deserialize_with = "told")]
    pub workspace_roots: Vec<PathBuf>,
    /// The tool that is about to be called or was just called.
    #[serde(deserialize_with = "told")]
    pub tool_name: Option<String>,
    /// The call that is about to be made or was just answered.
    pub tool_use_id: Option<String>,
    /// What was just said, as Claude Code and Codex call it.
    pub last_assistant_message: Option<String>,
    /// The same, as Gemini CLI calls it.
    pub prompt_response: Option<String>,
    /// The same, as Cursor calls it.
    #[serde(deserialize_with = "told")]
    pub text: Option<String>,
    /// Why a session ended.
    pub reason: Option<String>,
    /// When, where the runtime says it in words.
    #[serde(deserialize_with = "told")]
    pub timestamp: Option<String>,
}

/// Reads what is meant; anything else says nothing.
fn told<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Told<T> {
        Meant(T),
        Other(IgnoredAny),
    }
    Ok(match Told::deserialize(deserializer)? {
        Told::Meant(told) => told,
        Told::Other(IgnoredAny) => T::default(),
    })
}

impl HookInput {
    /// Tells whether its names and paths are as long as names and paths are. They are kept, and shown to people.
    pub fn has_usual_lengths(&self) -> bool {
        let names = [Some(self.session().as_str()), Some(&*self.hook_event_name), self.reason.as_deref()];
        let more = [self.agent_id.as_deref(), self.tool_use_id.as_deref(), self.tool_name.as_deref()];
        let paths = [&self.transcript_path, &self.agent_transcript_path, &self.cwd];
        let paths = paths.into_iter().flatten().chain(self.workspace_roots.first());
        let lengths = paths.map(|path| path.as_os_str().len());
        let names = names.into_iter().chain(more).flatten().map(str::len);
        names.chain(lengths).all(|length| length <= MAX_NAME)
    }

    /// Returns what the event means where a runtime tells of it. One that its row does not know is as good as any to look
    /// at the session.
    pub fn moment(&self, runtime: Runtime) -> HookMoment {
        let known = runtime.hooks().and_then(|hooks| (hooks.moment)(&self.hook_event_name));
        known.unwrap_or(HookMoment::Checkpoint(Trigger::TurnBoundary))
    }

    /// Returns the session that it is about.
    pub fn session(&self) -> &GivenSessionId {
        if self.session_id.as_str().is_empty() { &self.conversation_id } else { &self.session_id }
    }

    /// Returns the directory that the agent works in.
    pub fn directory(&self) -> Option<&Path> {
        let named = self.cwd.as_ref().filter(|path| !path.as_os_str().is_empty());
        named.or_else(|| self.workspace_roots.first()).map(PathBuf::as_path)
    }

    /// Returns a text that the file will hold once it is up to date with the event.
    pub fn awaited(&self, runtime: Runtime) -> Option<String> {
        let hooks = runtime.hooks()?;
        let call = self.tool_use_id.as_deref().filter(|_| hooks.writes_call_ids);
        let said = || {
            let said = [&self.last_assistant_message, &self.prompt_response, &self.text];
            said.into_iter().find_map(|text| text.as_deref())
        };
        let told = call.or_else(said).map(str::trim).filter(|text| !text.is_empty());
        told.map(str::to_owned).or_else(|| hooks.echo.and_then(|echo| echo(self)))
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
