//! OpenAI's Codex.

mod exec;
mod history_base;
mod settings;
mod stream;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use contexture_core::{RuntimeSessionId, Timestamp, Trigger};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Runtime, SessionName,
    descriptor::{
        AgentProgram, DirectorySource, HomeDirectory, HookEvent, HookMoment, HookRegistration, IdPlace,
        RuntimeDescriptor, RuntimeHooks, SessionFiles, SessionStorage, UsualHome, file_time, id_at_end, make_folder,
    },
    first_line::first_line,
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::is_lines,
};

/// How many seconds it waits for a hook.
const TIMEOUT: u32 = 10;
/// It waits no longer for the hook of its end, and complains of more.
const END_TIMEOUT: u32 = 3;
const TRUST: Option<&str> = Some("Start `codex` once and trust the hooks: until then Codex runs none of them.");

impl Runtime {
    /// OpenAI's Codex.
    pub const CODEX: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "codex",
    title: "Codex",
    formats: &[
        FormatSigns { is_head: Some(is_head), ..FormatSigns::of("codex-v1") },
        FormatSigns { is_record: Some(stream::is_record), ..FormatSigns::of("codex-exec-v1") },
    ],
    home: HomeDirectory { variable: "CODEX_HOME", usual: UsualHome::User(".codex") },
    session_variables: &["CODEX_THREAD_ID", "CODEX_SESSION_ID"],
    call_variable: Some("CODEX_TOOL_CALL_ID"),
    storage: SessionStorage::Files(SessionFiles {
        directories: &["sessions", "archived_sessions"],
        is_session,
        id_place: IdPlace::Name,
        session_of: id_at_end,
        // Sessions of a day lie together, whatever they are about.
        directory: DirectorySource::FirstRecord(working_directory),
        continues: Some(history_base::read),
        old_document: None,
    }),
    retention_micros: None,
    hooks: Some(RuntimeHooks {
        in_home: "hooks.json",
        in_project: ".codex/hooks.json",
        registration: HookRegistration::Settings(&[
            HookEvent::new("SessionStart", TIMEOUT),
            HookEvent::new("UserPromptSubmit", TIMEOUT),
            HookEvent::of_tools("PreToolUse", TIMEOUT),
            HookEvent::of_tools("PostToolUse", TIMEOUT),
            HookEvent::new("PreCompact", TIMEOUT),
            HookEvent::new("PostCompact", TIMEOUT),
            HookEvent::new("SubagentStop", TIMEOUT),
            HookEvent::new("Stop", TIMEOUT),
            HookEvent::new("SessionEnd", END_TIMEOUT),
        ]),
        moment,
        echo: None,
        writes_call_ids: true,
        caution: TRUST,
        project_caution: TRUST,
        silent_while: ", as it does while the hook is not trusted in it",
        rests_after: "Stop",
        agent_tools: &[],
    }),
    agent: Some(AgentProgram {
        program: "codex",
        packages: &[("@openai", "codex")],
        ephemeral: Some("--ephemeral"),
        resume,
        resume_at: exec::resume_at,
        folder,
        file_name,
        prepare: make_folder,
        provider: settings::provider,
    }),
    stream: Some(stream::STREAM),
};

/// The first line of a session.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutStart {
    payload: RolloutStartMeta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutStartMeta {
    cwd: PathBuf,
}

fn is_head(record: &Value) -> bool {
    let is_wrapper = record["payload"].is_object() && has_texts(record, ["timestamp", "type"]);
    // Before it wrapped each record it wrote a bare head.
    let is_bare = has_texts(record, ["id", "timestamp"]) && record.get("instructions").is_some();
    // Other programs write times as numbers.
    let is_imitated = record["type"] == "session_meta" && record["payload"]["id"].is_string();
    is_wrapper || is_imitated || is_bare && !record["type"].is_string()
}

fn is_session(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("rollout-") && is_lines(path)
}

fn working_directory(path: &Path) -> PathBuf {
    first_line::<RolloutStart>(path).payload.cwd
}

fn moment(event: &str) -> Option<HookMoment> {
    Some(match event {
        "SessionStart" => HookMoment::Start,
        "UserPromptSubmit" => HookMoment::Question,
        "PreToolUse" => HookMoment::Call,
        "PostToolUse" | "SubagentStop" => HookMoment::Checkpoint(Trigger::ToolCall),
        "PreCompact" => HookMoment::Checkpoint(Trigger::Compaction),
        "PostCompact" | "Stop" => HookMoment::Checkpoint(Trigger::TurnBoundary),
        "SessionEnd" => HookMoment::End,
        _ => return None,
    })
}

fn resume(session: &RuntimeSessionId, _path: &Path) -> [OsString; 2] {
    ["resume".into(), session.as_str().into()]
}

fn folder(home: &Path, _directory: &Path, at: Timestamp) -> PathBuf {
    let time = file_time(at);
    home.join("sessions").join(time.get(..10).unwrap_or(&time).replace('-', "/"))
}

fn file_name(name: &SessionName<'_>) -> String {
    format!("rollout-{}-{}.jsonl", file_time(name.at), name.id)
}
