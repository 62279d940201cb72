//! Anthropic's Claude Code.

mod stream;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use contexture::read_found;
use contexture_core::{RuntimeSessionId, Timestamp, Trigger};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Runtime, SessionName,
    descriptor::{
        AgentProgram, DAY_MICROS, DirectorySource, HomeDirectory, HookEvent, HookMoment, HookRegistration, IdPlace,
        RuntimeDescriptor, RuntimeHooks, SessionFiles, SessionStorage, UsualHome, make_folder,
    },
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::is_lines,
};

/// How long it keeps sessions when its settings do not say.
const USUAL_DAYS: i64 = 30;
/// How many seconds it waits for a hook.
const TIMEOUT: u32 = 10;

impl Runtime {
    /// Anthropic's Claude Code.
    pub const CLAUDE_CODE: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "claude-code",
    title: "Claude Code",
    formats: &[
        FormatSigns { is_record: Some(is_record), ..FormatSigns::of("claude-code-v1") },
        FormatSigns { is_record: Some(stream::is_record), ..FormatSigns::of("claude-stream-v1") },
    ],
    home: HomeDirectory { variable: "CLAUDE_CONFIG_DIR", usual: UsualHome::User(".claude") },
    session_variables: &["CLAUDE_CODE_SESSION_ID"],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["projects"],
        is_session: is_lines,
        id_place: IdPlace::Name,
        session_of: |path| path.file_stem()?.to_str().map(str::to_owned),
        directory: DirectorySource::Records,
        continues: None,
        old_document: None,
    }),
    retention_micros: Some(retention_micros),
    hooks: Some(RuntimeHooks {
        in_home: "settings.json",
        in_project: ".claude/settings.local.json",
        registration: HookRegistration::Settings(&[
            HookEvent::new("SessionStart", TIMEOUT),
            HookEvent::new("UserPromptSubmit", TIMEOUT),
            HookEvent::of_tools("PreToolUse", TIMEOUT),
            HookEvent::of_tools("PostToolUse", TIMEOUT),
            HookEvent::of_tools("PostToolUseFailure", TIMEOUT),
            HookEvent::new("PreCompact", TIMEOUT),
            HookEvent::new("PostCompact", TIMEOUT),
            HookEvent::new("SubagentStop", TIMEOUT),
            HookEvent::new("Stop", TIMEOUT),
            HookEvent::new("SessionEnd", TIMEOUT),
        ]),
        moment,
        echo: None,
        writes_call_ids: true,
        caution: None,
        project_caution: None,
        silent_while: "",
        rests_after: "Stop",
        agent_tools: &["Task", "Agent"],
    }),
    agent: Some(AgentProgram {
        program: "claude",
        packages: &[("@anthropic-ai", "claude-code")],
        ephemeral: Some("--no-session-persistence"),
        resume,
        resume_at: |_| 0,
        folder,
        file_name,
        prepare: make_folder,
        provider: |_, _| None,
    }),
    stream: Some(stream::STREAM),
};

/// Its settings, as far as they matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Settings {
    cleanup_period_days: Option<i64>,
}

fn is_record(record: &Value) -> bool {
    let is_known = match record["type"].as_str() {
        Some(kind @ ("user" | "assistant")) => {
            // Tools that copy sessions may leave out what a line follows, but neither its time nor whose it is.
            let is_copied = record["message"]["role"] == kind && has_texts(record, ["timestamp"]);
            let is_linked = record.get("parentUuid").is_some();
            record["message"].is_object() && record["uuid"].is_string() && (is_linked || is_copied)
        }
        Some("system" | "progress" | "attachment") => has_texts(record, ["uuid", "sessionId"]),
        Some("summary") => record["leafUuid"].is_string(),
        Some("file-history-snapshot") => record["messageId"].is_string(),
        Some("queue-operation") => has_texts(record, ["operation", "sessionId"]),
        _ => false,
    };
    is_known && !stream::is_record(record)
}

fn moment(event: &str) -> Option<HookMoment> {
    Some(match event {
        "SessionStart" => HookMoment::Start,
        "UserPromptSubmit" => HookMoment::Question,
        "PreToolUse" => HookMoment::Call,
        "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "SubagentStop" => {
            HookMoment::Checkpoint(Trigger::ToolCall)
        }
        "PreCompact" => HookMoment::Checkpoint(Trigger::Compaction),
        "PostCompact" | "Stop" => HookMoment::Checkpoint(Trigger::TurnBoundary),
        "SessionEnd" => HookMoment::End,
        _ => return None,
    })
}

fn resume(session: &RuntimeSessionId, _path: &Path) -> [OsString; 2] {
    ["--resume".into(), session.as_str().into()]
}

fn folder(home: &Path, directory: &Path, _at: Timestamp) -> PathBuf {
    let slug = directory.to_string_lossy().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    home.join("projects").join(slug)
}

fn file_name(name: &SessionName<'_>) -> String {
    format!("{}.jsonl", name.id)
}

fn retention_micros(home: &Path) -> Option<i64> {
    let text = read_found(&home.join("settings.json")).unwrap_or_default();
    // It deletes nothing while it cannot read its settings, but they may be repaired.
    let settings: Settings = serde_json::from_slice(&text).unwrap_or_default();
    settings.cleanup_period_days.unwrap_or(USUAL_DAYS).checked_mul(DAY_MICROS)
}
