//! What the engine's errors mean on a command line: a stable code, an exit code, and a hint.

use std::io;

use contexture::{
    BundleProblem, Error as EngineError, StoreError,
    core::{Format, RecordError},
    formats,
};
use contexture_capture::Error as CaptureError;

use super::Exit;

/// What an error means to whoever typed the command.
pub(super) struct Verdict {
    /// A word that programs may rely on.
    pub(super) code: &'static str,
    pub(super) exit: Exit,
    /// What to do next, with one command to type.
    pub(super) hint: Option<String>,
}

impl Verdict {
    pub(super) fn failed(code: &'static str) -> Self {
        Self { code, exit: Exit::Failed, hint: None }
    }

    pub(super) fn usage(code: &'static str) -> Self {
        Self { code, exit: Exit::Usage, hint: None }
    }

    pub(super) fn conflict(code: &'static str) -> Self {
        Self { code, exit: Exit::Conflict, hint: None }
    }

    pub(super) fn damaged(code: &'static str) -> Self {
        Self { code, exit: Exit::Damaged, hint: None }.hint("`ctx fsck` says what else is damaged")
    }

    pub(super) fn hint(self, text: impl Into<String>) -> Self {
        Self { hint: Some(text.into()), ..self }
    }

    /// Judges an error of capture.
    pub(super) fn of_capture(error: &CaptureError) -> Self {
        match error {
            CaptureError::Engine(error) => Self::of(error),
            CaptureError::Overtaken { .. } => Self::conflict("overtaken").hint("try again"),
            CaptureError::NoPlace { .. } => Self::failed("no-place").hint("set HOME, or the variable of the agent"),
            CaptureError::Io { .. } => Self::failed("input-output"),
        }
    }

    /// Judges an error of the engine.
    pub(super) fn of(error: &EngineError) -> Self {
        match error {
            EngineError::Store(error) => Self::of_store(error),
            EngineError::Reference { .. } => Self::usage("bad-reference").hint("`ctx log --all` shows the commits"),
            EngineError::NoAncestor { .. } => Self::failed("no-ancestor"),
            EngineError::Empty => Self::failed("empty").hint("`--allow-empty` makes a commit of nothing"),
            EngineError::Malformed { .. } => {
                Self::failed("malformed").hint("`--no-check` stores the bytes as they are")
            }
            EngineError::Record(error) => match error {
                RecordError::NeedsParent(_) => Self::failed("needs-parent").hint("name it with `--parent ID`"),
                RecordError::Newer { .. } => Self::failed("newer-record").hint("upgrade ctx"),
                RecordError::Json(_) => Self::damaged("damaged"),
            },
            EngineError::Annotation(_) => Self::failed("annotation-too-long"),
            EngineError::Name(_) => Self::usage("bad-name"),
            EngineError::NoSummaryEntry(_) => Self::failed("no-summary-entry"),
            EngineError::NotAnAncestor { commit, .. } => {
                Self::failed("not-an-ancestor").hint(format!("`ctx log {}` shows its ancestors", commit.short()))
            }
            EngineError::AbsentArtifact { .. } => Self::damaged("absent-artifact"),
            EngineError::OtherContent { .. } => Self::failed("other-content"),
            EngineError::Assembly(_) => Self::failed("bad-assembly").hint("`ctx assemble --help` shows what it takes"),
            EngineError::NoSource { name, .. } => {
                Self::usage("no-source").hint(format!("add `source = \"{name}\"` to a segment of the recipe"))
            }
            EngineError::NotInEnvelope { envelope, .. } => Self::failed("no-candidate")
                .hint(format!("`ctx envelope show {} --all` lists all there was", envelope.short())),
            EngineError::Rejected(_) => Self::failed("rejected").hint(
                "raise the budget with `--max-tokens N`, or let the recipe cut with `overflow = \"truncate_tail\"`",
            ),
            EngineError::JsonText(_) => Self::failed("bad-record"),
            EngineError::NotNative { .. } => Self::failed("not-native")
                .hint("`--tier mapped` allows a translation, and no `--tier` the best there is"),
            EngineError::Unwritable { .. } => {
                Self::usage("unwritable").hint("name one of them: `--format claude-code-v1`")
            }
            EngineError::Mixed { commit, found } => Self::failed("mixed-formats").hint(format!(
                "`--format {}` translates all of it; `ctx log {}` shows where it changes",
                found.iter().find(|format| formats::encoder(format).is_some()).map_or("text", Format::as_str),
                commit.short()
            )),
            EngineError::Unjoinable { commit, .. } => {
                Self::failed("unjoinable").hint(format!("`ctx show {}` tells where it came from", commit.short()))
            }
            EngineError::Bundle { problem } => match problem {
                BundleProblem::Newer { .. } => Self::failed("newer-bundle").hint("upgrade ctx"),
                BundleProblem::Magic
                | BundleProblem::Truncated
                | BundleProblem::Digest
                | BundleProblem::Frame(_)
                | BundleProblem::Record(_) => Self::failed("bad-bundle"),
            },
            EngineError::Io { .. } => Self::failed("input-output"),
        }
    }

    fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::Open { source, .. } => match source.kind() {
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                    Self::failed("cannot-open").hint("a store is a directory: `--store DIR`")
                }
                _ => Self::failed("cannot-open").hint("`--store DIR` names another place"),
            },
            StoreError::Newer { .. } => Self::failed("newer-store").hint("upgrade ctx"),
            StoreError::Foreign { .. } => Self::failed("foreign-store").hint(
                "`--store` names another directory, or another schema: postgres://USER@HOST/DATABASE?schema=NAME",
            ),
            StoreError::Unreachable { server, source } => match source.downcast_ref::<io::Error>().map(io::Error::kind)
            {
                // What the system does not know is about encryption, and what the server said needs no hint.
                None | Some(io::ErrorKind::InvalidData | io::ErrorKind::Other) => Self::failed("unreachable"),
                Some(_) => Self::failed("unreachable")
                    .hint(format!("`pg_isready {}` asks whether a server is there", address(server))),
            },
            StoreError::Login { .. } => Self::failed("login").hint(
                "name user and password as postgres://USER:PASSWORD@HOST/DATABASE, or the password as PGPASSWORD",
            ),
            StoreError::NoDatabase { server, database } => {
                Self::failed("no-database").hint(format!("`createdb {} {database}` makes it", address(server)))
            }
            StoreError::Denied { grant, .. } => Self::failed("denied").hint(to_owner(grant)),
            StoreError::Lost { .. } => {
                Self::failed("lost").hint("run the same command again; with `--key` it cannot happen twice")
            }
            StoreError::Database { .. } => Self::failed("database"),
            StoreError::Busy(_) => Self::failed("busy").hint("nothing was written; run the same command again"),
            StoreError::ReadOnly => Self::failed("read-only").hint("`ctx store check` says why"),
            StoreError::DiskFull => Self::failed("disk-full"),
            StoreError::Disk { .. } => Self::failed("disk").hint("`ctx fsck` checks what the disk kept"),
            StoreError::Poisoned { .. } => Self::failed("poisoned"),
            StoreError::Closed => Self::failed("closed"),
            StoreError::Input(_) => Self::failed("cannot-read"),
            StoreError::Damaged { .. } => Self::damaged("damaged"),
            StoreError::DamagedArtifact(_) => Self::damaged("damaged-artifact"),
            StoreError::NoArtifact(_) => Self::failed("no-artifact"),
            StoreError::NoCommit(_) => Self::failed("no-commit").hint("`ctx log --all` shows the commits"),
            StoreError::NoEnvelope(_) => Self::failed("no-envelope"),
            StoreError::TooManyArtifacts { .. } => Self::failed("too-many-artifacts"),
            StoreError::NoMissing(_) => Self::failed("no-missing"),
            StoreError::NoMatch { noun: "commit", .. } => {
                Self::failed("no-match").hint("`ctx log --all` shows the commits")
            }
            StoreError::NoMatch { .. } => Self::failed("no-match"),
            StoreError::Ambiguous { .. } => Self::failed("ambiguous").hint("type more digits of the one you mean"),
            StoreError::NoParent(_) => Self::failed("no-parent").hint("`ctx log --all` shows the commits"),
            StoreError::NoMerged(_) => Self::failed("no-merged").hint("`ctx log --all` shows the commits"),
            StoreError::NoHead(_) => Self::failed("no-head").hint("`ctx head list` shows the heads"),
            StoreError::HeadConflict { head, expected, actual } => {
                let log = format!("`ctx head log {head}` shows who");
                Self::conflict("head-conflict").hint(match (expected, actual) {
                    (None, _) => format!("{log} made it"),
                    (Some(_), Some(actual)) => format!("{log} moved it; then retry with `--expect {actual}`"),
                    (Some(_), None) => format!("{log} deleted it; then retry with `--expect none`"),
                })
            }
            StoreError::KeyConflict { commit, .. } => Self::conflict("key-conflict")
                .hint(format!("`ctx show {}` shows what the key was used for", commit.short())),
        }
    }
}

/// Returns what the owner of a database has to type.
pub(super) fn to_owner(grant: &str) -> String {
    format!("the owner of the database can type `{grant}`")
}

/// Writes the first of a server's addresses as PostgreSQL's own programs take it.
fn address(server: &str) -> String {
    let first = server.split(',').next().unwrap_or(server);
    let (host, port) = first.rsplit_once(':').unwrap_or((first, "5432"));
    format!("-h {host} -p {port}")
}
