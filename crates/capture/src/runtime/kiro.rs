//! Kiro's command line.

use serde_json::Value;

use super::{
    Runtime,
    descriptor::{DirectorySource, HomeDirectory, IdPlace, RuntimeDescriptor, SessionFiles, SessionStorage, UsualHome},
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::is_lines,
};

impl Runtime {
    /// Kiro's command line.
    pub const KIRO: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "kiro",
    title: "Kiro CLI",
    formats: &[FormatSigns { is_head: Some(is_message), ..FormatSigns::of("kiro-v1") }],
    home: HomeDirectory { variable: "KIRO_HOME", usual: UsualHome::User(".kiro") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["sessions/cli"],
        is_session: is_lines,
        id_place: IdPlace::Name,
        session_of: |path| path.file_stem()?.to_str().map(str::to_owned),
        directory: DirectorySource::Records,
        continues: None,
        old_document: None,
    }),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

/// Tells a message by its envelope; what lies beside a session describes it and is none.
fn is_message(record: &Value) -> bool {
    let is_kind = matches!(record["kind"].as_str(), Some("Prompt" | "AssistantMessage" | "ToolResults"));
    is_kind && has_texts(record, ["version"]) && record["data"]["content"].is_array()
}
