//! Factory's Droid.

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
    /// Factory's Droid.
    pub const DROID: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "droid",
    title: "Factory Droid",
    formats: &[FormatSigns { is_head: Some(is_head), ..FormatSigns::of("droid-v1") }],
    // The variable names what `.factory` lies in.
    home: HomeDirectory { variable: "FACTORY_HOME_OVERRIDE", usual: UsualHome::User(".factory") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["sessions", ".factory/sessions"],
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

fn is_head(record: &Value) -> bool {
    record["type"] == "session_start" && has_texts(record, ["id", "title"])
}
