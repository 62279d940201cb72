//! Cursor, whose agents keep transcripts beside its own databases.

use std::path::Path;

use contexture::read_found;
use contexture_core::Trigger;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Runtime,
    descriptor::{
        DirectorySource, HomeDirectory, HookEvent, HookMoment, HookRegistration, IdPlace, RuntimeDescriptor,
        RuntimeHooks, SessionFiles, SessionStorage, UsualHome,
    },
};
use crate::{detect::FormatSigns, discover::is_lines};

/// The file beside the transcripts of a workspace in which Cursor's command line notes which that is.
const MARKER: &str = ".workspace-trusted";
/// Directories between a transcript and that file, at most.
const MAX_DEPTH: usize = 4;
/// How many seconds it waits for a hook.
const TIMEOUT: u32 = 10;

impl Runtime {
    /// Cursor.
    pub const CURSOR: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "cursor",
    title: "Cursor",
    formats: &[FormatSigns { is_record: Some(is_message), ..FormatSigns::of("cursor-v1") }],
    home: HomeDirectory { variable: "CURSOR_CONFIG_DIR", usual: UsualHome::User(".cursor") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["projects"],
        is_session,
        id_place: IdPlace::Name,
        session_of: |path| path.file_stem()?.to_str().map(str::to_owned),
        directory: DirectorySource::Beside(noted_directory),
        continues: None,
        old_document: None,
    }),
    retention_micros: None,
    hooks: Some(RuntimeHooks {
        in_home: "hooks.json",
        in_project: ".cursor/hooks.json",
        registration: HookRegistration::HookFile(&[
            HookEvent::new("sessionStart", TIMEOUT),
            HookEvent::new("beforeSubmitPrompt", TIMEOUT),
            HookEvent::new("postToolUse", TIMEOUT),
            HookEvent::new("afterFileEdit", TIMEOUT),
            HookEvent::new("subagentStop", TIMEOUT),
            HookEvent::new("preCompact", TIMEOUT),
            HookEvent::new("afterAgentResponse", TIMEOUT),
            HookEvent::new("stop", TIMEOUT),
            HookEvent::new("sessionEnd", TIMEOUT),
        ]),
        moment,
        echo: None,
        writes_call_ids: false,
        caution: None,
        project_caution: Some("Cursor calls hooks of a project only in workspaces that you trust."),
        silent_while: "",
        rests_after: "stop",
        agent_tools: &["Task"],
    }),
    agent: None,
    stream: None,
};

/// What Cursor's command line notes of a workspace.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TrustedWorkspace {
    workspace_path: String,
}

/// It has its own names, and those of Claude Code where it calls hooks that are registered there.
fn moment(event: &str) -> Option<HookMoment> {
    Some(match event {
        "sessionStart" | "SessionStart" => HookMoment::Start,
        "beforeSubmitPrompt" | "UserPromptSubmit" => HookMoment::Question,
        "preToolUse" | "PreToolUse" | "beforeShellExecution" | "beforeMCPExecution" => HookMoment::Call,
        "postToolUse"
        | "postToolUseFailure"
        | "PostToolUse"
        | "PostToolUseFailure"
        | "afterFileEdit"
        | "afterShellExecution"
        | "afterMCPExecution"
        | "afterAgentResponse"
        | "subagentStop"
        | "SubagentStop" => HookMoment::Checkpoint(Trigger::ToolCall),
        "preCompact" | "PreCompact" => HookMoment::Checkpoint(Trigger::Compaction),
        "stop" | "Stop" => HookMoment::Checkpoint(Trigger::TurnBoundary),
        "sessionEnd" | "SessionEnd" => HookMoment::End,
        _ => return None,
    })
}

/// Tells a message by what it lacks: others that have both a role and a message name a type beside them.
fn is_message(record: &Value) -> bool {
    let is_said = matches!(record["role"].as_str(), Some("user" | "assistant"));
    is_said && record.get("type").is_none() && record["message"].is_object() && record["message"]["content"].is_array()
}

fn is_session(path: &Path) -> bool {
    is_lines(path) && path.components().any(|part| part.as_os_str() == "agent-transcripts")
}

fn noted_directory(transcript: &Path) -> Option<String> {
    let mut places = transcript.ancestors().skip(1).take(MAX_DEPTH);
    let noted = places.find_map(|place| read_found(&place.join(MARKER)).ok())?;
    let TrustedWorkspace { workspace_path } = serde_json::from_slice(&noted).ok()?;
    Path::new(&workspace_path).is_absolute().then_some(workspace_path)
}
