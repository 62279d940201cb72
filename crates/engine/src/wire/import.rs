//! What became of session files, as programs read it.

use std::{collections::BTreeMap, path::PathBuf};

use contexture_core::{CommitId, Format, GivenSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub format: Format,
    /// What it was to the store.
    pub outcome: FileOutcome,
    /// Commits that were not here before.
    pub new_commits: u64,
    /// Commits that were.
    pub known_commits: u64,
    /// Artifacts of what was read whose content was purged here and stays so.
    #[serde(default, skip_serializing_if = "is_none_purged")]
    pub purged_artifacts: u64,
    /// Conversations in it: the main one, branches and side chains.
    pub lanes: u64,
    /// Lines that were read, or records of a document.
    pub lines: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Lines that are no records, with the reason; they are kept all the same.
    pub bad_lines: Vec<BadLine>,
    /// How many further such lines there are.
    pub bad_lines_left_out: u64,
    /// Why the rest of a compressed file or of a document cannot be read; what comes before it was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// The session that this one continues by reference, when it is not here: then it is a chain of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<GivenSessionId>,
    /// The last commit of the conversation that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<CommitId>,
    /// Bytes of the session that the store holds now.
    pub size: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_none_purged(artifacts: &u64) -> bool {
    *artifacts == 0
}

/// What a file was to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileOutcome {
    /// It was not known.
    New,
    /// It had grown.
    Grown,
    /// All of it was here.
    Unchanged,
    /// It had become another file of the same name.
    Rewritten,
}

/// A line, or an element of a document, that is no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BadLine {
    /// Its number among those that were read; the first is 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Whether it may be a record, and is kept without having been read because it is too large.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
}

/// What became of all files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportClosing {
    /// The files by runtime.
    pub runtimes: BTreeMap<String, ImportTotals>,
    /// The files that were left out.
    pub skipped: Vec<SkippedFile>,
}

/// What became of all files of a runtime.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportTotals {
    /// The files.
    pub files: u64,
    /// Those that were not known.
    pub new_files: u64,
    /// Those that had grown.
    pub grown_files: u64,
    /// Those that were here.
    pub unchanged_files: u64,
    /// Commits that were made.
    pub new_commits: u64,
    /// Conversations that leave the main one.
    pub branches: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Lines that are no records.
    pub bad_lines: u64,
}

/// A file that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// A file that would be taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedFile {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub runtime: String,
    /// Its size.
    pub bytes: u64,
}

/// A file that was compared with the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedFile {
    /// The file.
    pub path: PathBuf,
    /// What that has shown.
    #[serde(flatten)]
    pub result: Verified,
}

/// What a comparison of a file with the store has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Verified {
    /// The store gives back these first bytes of the file exactly; it holds so many more.
    Same {
        /// Bytes that were compared.
        bytes: u64,
        /// Bytes of the file that were not taken in.
        left: u64,
    },
    /// The store gives back something else from this byte on.
    Differs {
        /// The first byte that differs.
        at: u64,
    },
    /// The file was never taken in.
    Unknown,
}

/// A session that has grown while it was watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrownSession {
    /// Whose it is.
    pub runtime: String,
    /// Its id, or the name of its file.
    pub session: String,
    /// What became of its file.
    #[serde(flatten)]
    pub file: ImportedFile,
}

impl ImportTotals {
    /// Counts one more file.
    pub fn add(&mut self, file: &ImportedFile) {
        self.files += 1;
        match file.outcome {
            FileOutcome::New | FileOutcome::Rewritten => self.new_files += 1,
            FileOutcome::Grown => self.grown_files += 1,
            FileOutcome::Unchanged => self.unchanged_files += 1,
        }
        self.new_commits += file.new_commits;
        self.branches += file.lanes.saturating_sub(1);
        self.bytes += file.bytes;
        self.bad_lines += file.bad_lines.len() as u64 + file.bad_lines_left_out;
    }
}
