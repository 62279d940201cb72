//! Google's Gemini CLI.

mod old_document;
mod project;
mod retention;
mod stream;

use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use contexture_core::{RuntimeSessionId, Timestamp, Trigger};
use contexture_store::private;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Runtime, SessionName,
    descriptor::{
        AgentProgram, DirectorySource, HomeDirectory, HookEvent, HookMoment, HookRegistration, IdPlace,
        RuntimeDescriptor, RuntimeHooks, SessionFiles, SessionStorage, UsualHome, file_time,
    },
    first_line::first_line,
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::{is_document, is_lines},
};

/// How many milliseconds it waits for a hook.
const TIMEOUT: u32 = 10_000;
/// The name of a file holds the beginning of the id only.
const ID_LETTERS: usize = 8;

impl Runtime {
    /// Google's Gemini CLI.
    pub const GEMINI: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "gemini",
    title: "Gemini CLI",
    formats: &[
        FormatSigns {
            is_document: Some(old_document::is_document),
            is_head: Some(is_head),
            ..FormatSigns::of("gemini-v1")
        },
        FormatSigns { is_record: Some(stream::is_record), ..FormatSigns::of("gemini-stream-v1") },
    ],
    home: HomeDirectory { variable: "GEMINI_DIR", usual: UsualHome::User(".gemini") },
    session_variables: &["GEMINI_SESSION_ID"],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["tmp"],
        is_session,
        id_place: IdPlace::Letters(ID_LETTERS),
        session_of: |path| first_line::<FirstLine>(path).session,
        directory: DirectorySource::Beside(project::noted),
        continues: None,
        old_document: Some(old_document::OLD_DOCUMENT),
    }),
    retention_micros: Some(retention::micros),
    hooks: Some(RuntimeHooks {
        in_home: "settings.json",
        in_project: ".gemini/settings.json",
        // It does not say which tool it is about to call, and tells of a compression before each request whether there is
        // one or not; what it compresses stays in its file.
        registration: HookRegistration::Settings(&[
            HookEvent::new("SessionStart", TIMEOUT),
            HookEvent::new("BeforeAgent", TIMEOUT),
            HookEvent::of_tools("AfterTool", TIMEOUT),
            HookEvent::new("AfterAgent", TIMEOUT),
            HookEvent::new("SessionEnd", TIMEOUT),
        ]),
        moment,
        echo: None,
        writes_call_ids: true,
        caution: None,
        project_caution: None,
        silent_while: "",
        rests_after: "AfterAgent",
        agent_tools: &[],
    }),
    agent: Some(AgentProgram {
        program: "gemini",
        packages: &[("@google", "gemini-cli")],
        ephemeral: None,
        resume,
        resume_at: |_| 0,
        folder,
        file_name,
        prepare,
        provider: |_, _| None,
    }),
    stream: Some(stream::STREAM),
};

/// The first line of a session.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FirstLine {
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

fn is_head(record: &Value) -> bool {
    has_texts(record, ["sessionId", "projectHash"]) && !record["type"].is_string()
}

fn is_session(path: &Path) -> bool {
    // Older versions wrote documents, and not everything beside them is a session.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_chat = path.components().any(|part| part.as_os_str() == "chats");
    is_chat && (is_lines(path) || name.starts_with("session-") && is_document(path))
}

fn moment(event: &str) -> Option<HookMoment> {
    Some(match event {
        "SessionStart" => HookMoment::Start,
        // It tells of a compression before each request, whether there is one or not.
        "BeforeAgent" | "PreCompress" => HookMoment::Question,
        "BeforeTool" => HookMoment::Call,
        "AfterTool" => HookMoment::Checkpoint(Trigger::ToolCall),
        "AfterAgent" => HookMoment::Checkpoint(Trigger::TurnBoundary),
        "SessionEnd" => HookMoment::End,
        _ => return None,
    })
}

fn resume(session: &RuntimeSessionId, _path: &Path) -> [OsString; 2] {
    ["--resume".into(), session.as_str().into()]
}

fn folder(home: &Path, directory: &Path, _at: Timestamp) -> PathBuf {
    project::place(home, &directory.to_string_lossy()).join("chats")
}

fn file_name(name: &SessionName<'_>) -> String {
    let (time, id) = (file_time(name.at), name.id.as_str());
    let (minute, short) = (time.get(..16).unwrap_or(&time), id.get(..ID_LETTERS).unwrap_or(id));
    format!("session-{minute}-{short}.jsonl")
}

fn prepare(folder: &Path, directory: &Path) -> io::Result<()> {
    private::create_directory(folder)?;
    let marker = folder.with_file_name(project::MARKER);
    if marker.exists() {
        return Ok(());
    }
    let file = private::file().write(true).create(true).truncate(true).open(marker);
    file?.write_all(directory.to_string_lossy().as_bytes())
}
