//! The session files of this machine: which there are, and taking them in. What `ctx import`, `ctx doctor` and
//! `ctx watch` share.

mod rescue;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use contexture::{
    Contexture,
    core::{Format, Timestamp},
    formats::{self, Framing},
    wire::SkippedFile,
};
use contexture_capture::{
    self as capture, Capture, Homes, ImportSettings, ImportedFile, Runtime, SessionFile, opencode,
};

pub(crate) use self::rescue::{Rescued, is_rescue_needed, rescue};
use crate::{
    environment::Environment,
    error::{Error, Result},
    input::Input,
};

/// What is looked for: the formats of a runtime, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    name: String,
    formats: Vec<Format>,
}

impl Wanted {
    /// Wants what any of them wants; nothing in particular when there are none.
    pub(crate) fn any_of(all: &[Self]) -> Option<Self> {
        let names: Vec<&str> = all.iter().map(|wanted| wanted.name.as_str()).collect();
        let formats = all.iter().flat_map(|wanted| wanted.formats.iter().cloned()).collect();
        (!all.is_empty()).then(|| Self { name: names.join(" or "), formats })
    }

    fn named(name: &str) -> Self {
        let formats = match Runtime::named(name) {
            Some(runtime) => runtime.formats().collect(),
            None => Format::new(name).into_iter().collect(),
        };
        Self { name: name.to_owned(), formats }
    }
}

/// Accepts the names of runtimes and formats.
pub(crate) fn runtime_or_format() -> impl TypedValueParser<Value = Wanted> {
    let formats = formats::known().iter().map(|known| known.name);
    let readable = formats.filter(|name| Format::new(*name).is_ok_and(|format| formats::codec(&format).is_some()));
    let names: Vec<&'static str> = runtimes().chain(readable).collect();
    PossibleValuesParser::new(names).map(|name| Wanted::named(&name))
}

/// Accepts the names of runtimes.
pub(crate) fn runtime() -> impl TypedValueParser<Value = Wanted> {
    PossibleValuesParser::new(runtimes()).map(|name| Wanted::named(&name))
}

fn runtimes() -> impl Iterator<Item = &'static str> {
    Runtime::ALL.iter().map(|runtime| runtime.as_str())
}

/// A session file.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// What wrote it.
    pub(crate) runtime: String,
    pub(crate) format: Format,
    pub(crate) bytes: u64,
    /// When it was last written.
    pub(crate) written: Option<Timestamp>,
}

impl Candidate {
    /// Tells whether it is written anew each time, instead of growing.
    pub(crate) fn is_document(&self) -> bool {
        let framing = formats::codec(&self.format).map(formats::Codec::framing);
        framing.is_some_and(|framing| framing != Framing::Lines) || capture::is_document(&self.path)
    }
}

/// A file that is none, or none that is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Skipped {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
    /// Whether it may be one all the same.
    pub(crate) is_unreadable: bool,
}

impl Skipped {
    /// Leaves a file out because it cannot be read.
    pub(crate) fn unreadable(path: PathBuf, error: &io::Error) -> Self {
        Self { path, reason: format!("it cannot be read: {error}"), is_unreadable: true }
    }

    fn because(path: &Path, reason: &impl ToString) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string(), is_unreadable: false }
    }
}

impl From<&Skipped> for SkippedFile {
    fn from(skipped: &Skipped) -> Self {
        Self { path: skipped.path.clone(), reason: skipped.reason.clone() }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Session files by path, each once.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) skipped: Vec<Skipped>,
}

/// Looks for session files.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Only these; all when there are none.
    pub(crate) wanted: Option<Wanted>,
    /// Only files that were written at or after this time.
    pub(crate) since: Option<Timestamp>,
}

/// A path to look at.
struct Lead {
    path: PathBuf,
    /// Whether somebody named this very file.
    is_named: bool,
}

impl Search {
    /// Looks in the usual places.
    pub(crate) fn everywhere(&self, homes: &Homes) -> Findings {
        self.among(capture::discover(homes).into_iter().map(|found| found.path))
    }

    /// Looks at files that lie in such places.
    pub(crate) fn among(&self, files: impl Iterator<Item = PathBuf>) -> Findings {
        self.follow(files.map(|path| Lead { path, is_named: false }))
    }

    /// Looks at files that somebody named, and below directories.
    pub(crate) fn at(&self, paths: &[PathBuf]) -> Result<Findings> {
        let mut leads = Vec::new();
        for path in paths {
            let unreadable = |source| Error::Read { input: Input::File(path.clone()), source };
            if fs::metadata(path).map_err(unreadable)?.is_dir() {
                leads.extend(capture::session_files(path).into_iter().map(|path| Lead { path, is_named: false }));
            } else {
                leads.push(Lead { path: path.clone(), is_named: true });
            }
        }
        Ok(self.follow(leads.into_iter()))
    }

    fn follow(&self, leads: impl Iterator<Item = Lead>) -> Findings {
        let Findings { mut candidates, mut skipped } = Findings::default();
        for Lead { path, is_named } in leads {
            // The same file by whatever name it is given.
            let path = fs::canonicalize(&path).unwrap_or(path);
            if opencode::is_database(&path) {
                match self.in_database(&path) {
                    Ok(sessions) => candidates.extend(sessions),
                    Err(error) => skipped.push(Skipped { is_unreadable: true, ..Skipped::because(&path, &error) }),
                }
                continue;
            }
            match self.judge(&path, is_named) {
                Ok(Some(candidate)) => candidates.push(candidate),
                Ok(None) => {}
                Err(left_out) => skipped.push(left_out),
            }
        }
        candidates.sort_by(|a, b| a.path.cmp(&b.path));
        candidates.dedup_by(|a, b| a.path == b.path);
        Findings { candidates, skipped }
    }

    /// Lists the sessions of a database.
    fn in_database(&self, database: &Path) -> Result<Vec<Candidate>, opencode::DatabaseError> {
        let format = Runtime::OPENCODE.format();
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.formats.contains(&format)) {
            return Ok(Vec::new());
        }
        let candidate = |session: opencode::DatabaseSession| Candidate {
            path: opencode::path_in(database, &session.id),
            runtime: runtime_of(&format),
            format: format.clone(),
            bytes: session.bytes,
            written: Timestamp::from_micros(session.updated.saturating_mul(1000)),
        };
        let sessions = opencode::sessions(database)?.into_iter().map(candidate);
        Ok(sessions.filter(|session| !self.is_too_old(session.written)).collect())
    }

    /// Decides about one file: nothing is said of those that are not looked for.
    fn judge(&self, path: &Path, is_named: bool) -> Result<Option<Candidate>, Skipped> {
        let metadata = fs::metadata(path).map_err(|error| Skipped::unreadable(path.to_owned(), &error))?;
        let written = metadata.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
        let written = written.map(Timestamp::from);
        if self.is_too_old(written) {
            return Ok(None);
        }
        let Some(format) = self.format_of(path, is_named)? else {
            return Ok(None);
        };
        let runtime = runtime_of(&format);
        Ok(Some(Candidate { path: path.to_owned(), runtime, format, bytes: metadata.len(), written }))
    }

    fn is_too_old(&self, written: Option<Timestamp>) -> bool {
        self.since.zip(written).is_some_and(|(since, written)| written < since)
    }

    /// Decides what a file is, by what it holds and by what is looked for.
    fn format_of(&self, path: &Path, is_named: bool) -> Result<Option<Format>, Skipped> {
        let detected = match capture::detect(path) {
            Ok(format) => format,
            Err(capture::NotASession::Unknown) if is_named && self.wanted.is_some() => {
                return Ok(self.wanted.as_ref().and_then(|wanted| wanted.formats.first().cloned()));
            }
            // A document of any kind may lie below a directory.
            Err(_) if !is_named && capture::is_document(path) => return Ok(None),
            Err(capture::NotASession::Unreadable(source)) => {
                return Err(Skipped::unreadable(path.to_owned(), &source));
            }
            Err(reason) => return Err(Skipped::because(path, &reason)),
        };
        let Some(Wanted { name, formats }) = &self.wanted else {
            return Ok(Some(detected));
        };
        if formats.contains(&detected) {
            return Ok(Some(detected));
        }
        // Arrays of messages look alike.
        let framing = |format: &Format| formats::codec(format).map(formats::Codec::framing);
        let is_array = |format: &&Format| framing(format) == Some(Framing::JsonArray);
        match formats.first().filter(is_array).filter(|_| is_named && is_array(&&detected)) {
            Some(wanted) => Ok(Some(wanted.clone())),
            None if is_named => {
                Err(Skipped::because(path, &format_args!("it is {detected}, and --runtime asks for {name}")))
            }
            None => Ok(None),
        }
    }
}

/// Takes in files. Returns what became of each, in their order. Progress is told in bytes of all of them.
pub(crate) async fn take_in(
    engine: &Contexture,
    environment: &Environment,
    candidates: &[Candidate],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<io::Result<ImportedFile>>> {
    let (principal, machine) = (environment.principal()?, environment.machine()?);
    let file = |candidate: &Candidate| SessionFile {
        path: candidate.path.clone(),
        format: candidate.format.clone(),
        settings: ImportSettings {
            principal: Some(principal.clone()),
            agent: capture::agent_of(&candidate.path),
            ..ImportSettings::new(machine.clone(), candidate.runtime.as_str())
        },
    };
    Ok(Capture::new(engine).import_sessions(candidates.iter().map(file).collect(), progress).await?)
}

/// Returns what wrote a format: a runtime, or the format itself without its version.
fn runtime_of(format: &Format) -> String {
    let name = format.as_str();
    let unversioned = name.strip_suffix("-v1").unwrap_or(name);
    Runtime::of(format).map_or(unversioned, |runtime| runtime.as_str()).to_owned()
}
