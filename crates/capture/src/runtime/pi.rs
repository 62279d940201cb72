//! The pi coding agent.

mod extension;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use contexture_core::{RuntimeSessionId, Timestamp, Trigger};
use serde_json::Value;

use super::{
    Runtime, SessionName,
    descriptor::{
        AgentProgram, DirectorySource, HomeDirectory, HookMoment, HookRegistration, IdPlace, RuntimeDescriptor,
        RuntimeHooks, SessionFiles, SessionStorage, UsualHome, file_time, id_at_end, make_folder,
    },
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::is_lines,
};

impl Runtime {
    /// The pi coding agent.
    pub const PI: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "pi",
    title: "pi",
    formats: &[
        FormatSigns { is_head: Some(is_head), ..FormatSigns::of("pi-v1") },
        FormatSigns { is_record: Some(is_event), begins_like: Some("pi-v1"), ..FormatSigns::of("pi-stream-v1") },
    ],
    home: HomeDirectory { variable: "PI_CODING_AGENT_DIR", usual: UsualHome::User(".pi/agent") },
    session_variables: &["PI_SESSION_ID"],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["sessions"],
        is_session: is_lines,
        id_place: IdPlace::Name,
        session_of: id_at_end,
        directory: DirectorySource::Records,
        continues: None,
        old_document: None,
    }),
    retention_micros: None,
    hooks: Some(RuntimeHooks {
        in_home: "extensions/contexture.js",
        in_project: ".pi/extensions/contexture.js",
        registration: HookRegistration::Extension(extension::EXTENSION),
        moment,
        echo: None,
        writes_call_ids: true,
        caution: None,
        project_caution: Some("pi loads what is in a project only if you trust the project."),
        silent_while: "",
        rests_after: "agent_end",
        agent_tools: &[],
    }),
    agent: Some(AgentProgram {
        program: "pi",
        packages: &[("@earendil-works", "pi-coding-agent"), ("@mariozechner", "pi-coding-agent")],
        ephemeral: Some("--no-session"),
        resume,
        resume_at: |_| 0,
        folder,
        file_name,
        prepare: make_folder,
        provider: |_, _| None,
    }),
    stream: None,
};

fn is_head(record: &Value) -> bool {
    record["type"] == "session" && has_texts(record, ["id", "timestamp", "cwd"])
}

/// Tells whether a record is an event of `--mode json`, whose first line is that of a session file.
fn is_event(record: &Value) -> bool {
    let kind = record["type"].as_str().unwrap_or_default();
    match kind {
        "message_start" | "message_end" => record["message"]["role"].is_string(),
        "message_update" => record.get("assistantMessageEvent").is_some(),
        "tool_execution_start" | "tool_execution_end" => has_texts(record, ["toolCallId", "toolName"]),
        _ => false,
    }
}

fn moment(event: &str) -> Option<HookMoment> {
    Some(match event {
        "session_start" => HookMoment::Start,
        "before_agent_start" => HookMoment::Question,
        "tool_call" => HookMoment::Call,
        "tool_result" => HookMoment::Checkpoint(Trigger::ToolCall),
        "session_before_compact" => HookMoment::Checkpoint(Trigger::Compaction),
        "turn_end" | "agent_end" | "session_compact" => HookMoment::Checkpoint(Trigger::TurnBoundary),
        "session_shutdown" => HookMoment::End,
        _ => return None,
    })
}

fn resume(_session: &RuntimeSessionId, path: &Path) -> [OsString; 2] {
    ["--session".into(), path.into()]
}

fn folder(home: &Path, directory: &Path, _at: Timestamp) -> PathBuf {
    let directory = directory.to_string_lossy();
    let slug = directory.trim_start_matches('/').replace(['/', '\\', ':'], "-");
    home.join("sessions").join(format!("--{slug}--"))
}

fn file_name(name: &SessionName<'_>) -> String {
    format!("{}-000Z_{}.jsonl", file_time(name.at), name.id)
}
