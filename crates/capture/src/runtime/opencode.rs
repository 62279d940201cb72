//! OpenCode, whose sessions are rows of a database. They are only read.

use std::path::Path;

use super::{
    Runtime,
    descriptor::{HomeDirectory, RuntimeDescriptor, SessionStorage, UsualHome},
};
use crate::detect::{DocumentFields, FormatSigns, is_list, is_object};

impl Runtime {
    /// OpenCode.
    pub const OPENCODE: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "opencode",
    title: "OpenCode",
    formats: &[FormatSigns { is_document: Some(is_export), ..FormatSigns::of("opencode-v1") }],
    home: HomeDirectory { variable: "OPENCODE_DB", usual: UsualHome::Data("opencode") },
    session_variables: &[],
    storage: SessionStorage::Database(is_database),
    retention_micros: None,
    hooks: None,
    agent: None,
    stream: None,
};

fn is_export(document: &DocumentFields<'_>) -> bool {
    is_object(document.info) && is_list(document.messages)
}

fn is_database(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("opencode") && path.extension().is_some_and(|extension| extension == "db")
}
