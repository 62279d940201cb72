//! GitHub Copilot CLI.

mod hooks;

use std::path::Path;

use contexture_core::Trigger;
use serde_json::Value;

use super::{
    Runtime,
    descriptor::{
        DirectorySource, HomeDirectory, HookMoment, HookRegistration, IdPlace, RuntimeDescriptor, RuntimeHooks,
        SessionFiles, SessionStorage, UsualHome,
    },
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::is_lines,
};

/// Its name on the command line.
const NAME: &str = "copilot";
/// What the file of a session is called, in a directory that is named like the session.
const EVENTS: &str = "events";

impl Runtime {
    /// GitHub Copilot CLI.
    pub const COPILOT: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: NAME,
    title: "Copilot CLI",
    formats: &[FormatSigns { is_head: Some(is_head), is_record: Some(is_event), ..FormatSigns::of("copilot-v1") }],
    home: HomeDirectory { variable: "COPILOT_HOME", usual: UsualHome::User(".copilot") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["session-state"],
        is_session,
        id_place: IdPlace::Directory,
        session_of,
        directory: DirectorySource::Records,
        continues: None,
        old_document: None,
    }),
    retention_micros: None,
    hooks: Some(RuntimeHooks {
        in_home: "hooks/contexture.json",
        in_project: ".github/hooks/contexture.json",
        registration: HookRegistration::Extension(hooks::EXTENSION),
        moment,
        echo: Some(hooks::echo),
        writes_call_ids: true,
        caution: None,
        project_caution: Some("Copilot CLI calls hooks of a project only in folders that you trust."),
        silent_while: ", as it does while `disableAllHooks` is set in its settings",
        rests_after: "Stop",
        agent_tools: &[],
    }),
    agent: None,
    stream: None,
};

/// Its own names mean the same, in case somebody else has registered us under them.
fn moment(event: &str) -> Option<HookMoment> {
    Some(match event {
        "SessionStart" | "sessionStart" => HookMoment::Start,
        "UserPromptSubmit" | "userPromptSubmitted" => HookMoment::Question,
        "PreToolUse" | "preToolUse" => HookMoment::Call,
        "PostToolUse" | "postToolUse" => HookMoment::Checkpoint(Trigger::ToolCall),
        "Stop" | "agentStop" => HookMoment::Checkpoint(Trigger::TurnBoundary),
        "SessionEnd" | "sessionEnd" => HookMoment::End,
        _ => return None,
    })
}

fn is_head(record: &Value) -> bool {
    record["type"] == "session.start" && has_texts(&record["data"], ["sessionId", "producer"])
}

/// Tells an event by its envelope and the types that stand in every session.
fn is_event(record: &Value) -> bool {
    let is_typed = matches!(
        record["type"].as_str(),
        Some(
            "user.message"
                | "assistant.message"
                | "assistant.turn_start"
                | "assistant.turn_end"
                | "tool.execution_start"
                | "tool.execution_complete"
                | "session.resume"
        )
    );
    is_typed && record["data"].is_object() && record.get("parentId").is_some() && has_texts(record, ["id", "timestamp"])
}

/// Older versions wrote a file for each session; what lies beside the events of one is something else.
fn is_session(path: &Path) -> bool {
    let is_in_place = path.parent().and_then(Path::file_name).is_some_and(|place| place == "session-state");
    is_lines(path) && (is_in_place || path.file_stem().is_some_and(|stem| stem == EVENTS))
}

fn session_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?;
    let name = if stem == EVENTS { path.parent()?.file_name()? } else { stem };
    name.to_str().map(str::to_owned)
}
