//! Cursor, whose agents keep transcripts beside its own databases.

use std::path::Path;

use serde_json::Value;

use super::{
    Runtime,
    descriptor::{HomeDirectory, IdPlace, RuntimeDescriptor, SessionFiles, SessionStorage, UsualHome},
};
use crate::{detect::FormatSigns, discover::is_lines};

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
        working_directory: None,
        noted_directory: None,
        continues: None,
        old_document: None,
    }),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

/// Tells a message by what it lacks: others that have both a role and a message name a type beside them.
fn is_message(record: &Value) -> bool {
    let is_said = matches!(record["role"].as_str(), Some("user" | "assistant"));
    is_said && record.get("type").is_none() && record["message"].is_object() && record["message"]["content"].is_array()
}

fn is_session(path: &Path) -> bool {
    is_lines(path) && path.components().any(|part| part.as_os_str() == "agent-transcripts")
}
