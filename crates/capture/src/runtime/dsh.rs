//! DeepSeek Harness.

use std::path::Path;

use serde_json::Value;

use super::{
    Runtime,
    descriptor::{DirectorySource, HomeDirectory, IdPlace, RuntimeDescriptor, SessionFiles, SessionStorage, UsualHome},
};
use crate::{
    detect::{FormatSigns, has_texts},
    discover::is_lines,
    input::known_as,
};

/// What the file of a session is called, in a directory that is named like the session.
const SESSION: &str = "session";
/// What stands before the number of the version that wrote it, from the second version on.
const VERSION: &str = ".v";

impl Runtime {
    /// DeepSeek Harness.
    pub const DSH: Self = Self(&ROW);
}

static ROW: RuntimeDescriptor = RuntimeDescriptor {
    name: "dsh",
    title: "DeepSeek Harness",
    formats: &[
        FormatSigns { is_head: Some(is_head), ..FormatSigns::of("dsh-v1") },
        FormatSigns { is_record: Some(is_printed), ..FormatSigns::of("dsh-stream-v1") },
    ],
    home: HomeDirectory { variable: "DSH_HOME", usual: UsualHome::User(".dsh") },
    session_variables: &[],
    call_variable: None,
    storage: SessionStorage::Files(SessionFiles {
        directories: &["sessions"],
        is_session,
        id_place: IdPlace::Directory,
        session_of: |path| path.parent()?.file_name()?.to_str().map(str::to_owned),
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
    record["type"] == "session" && has_texts(record, ["id", "cwd"]) && record["createdAt"].is_number()
}

fn is_printed(record: &Value) -> bool {
    record["type"] == "session_event" && has_texts(record, ["sessionId"]) && has_texts(&record["event"], ["type"])
}

/// Tells whether a file is the log of a session as the newest version wrote it: a version that finds an older log copies it
/// and leaves it there.
fn is_session(path: &Path) -> bool {
    let Some(own) = version(path).filter(|_| is_lines(path)) else { return false };
    let beside = path.parent().and_then(|place| place.read_dir().ok());
    let newer = |other: &Path| version(other).is_some_and(|other| other > own);
    !beside.into_iter().flatten().flatten().any(|entry| newer(&entry.path()))
}

/// Returns the version that wrote a log, by its name.
fn version(path: &Path) -> Option<u32> {
    let plain = known_as(path);
    let name = plain.file_name()?.to_str()?.strip_suffix(".jsonl")?.strip_prefix(SESSION)?;
    if name.is_empty() { Some(0) } else { name.strip_prefix(VERSION)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn of_several_versions_of_a_log_the_newest_is_the_session() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("--w--/s-1");
        fs::create_dir_all(&place).unwrap();
        for name in ["session.jsonl", "session.v3.jsonl", "session.v10.jsonl.zstd", "notes.jsonl", "session.json"] {
            fs::write(place.join(name), "{}\n").unwrap();
        }
        let mut found: Vec<_> = fs::read_dir(&place).unwrap().flatten().map(|entry| entry.path()).collect();
        found.retain(|path| is_session(path));
        assert_eq!(found, [place.join("session.v10.jsonl.zstd")]);
        assert_eq!(Runtime::DSH.session_of(&found[0]).map(|id| id.to_string()), Some("s-1".to_owned()));
    }
}
