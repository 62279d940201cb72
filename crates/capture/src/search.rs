//! Looking for session files: which there are on this machine, and which of them somebody wants.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use contexture::wire::{ImportTotals, SkippedFile};
use contexture_core::{Format, Machine, Principal, Template, Timestamp};
use contexture_formats::{Codec, Framing, codec};

use crate::{
    Capture, DatabaseEntry, DatabaseSession, Error, FileOutcome, Homes, ImportSettings, ImportedFile, KnownFile,
    KnownFiles, NotASession, Result, Runtime, SessionFile, agent_of, database_sessions, detect, discover, is_document,
    session_files,
};

/// What is looked for: the formats of a runtime, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedSessions {
    name: String,
    formats: Vec<Format>,
}

impl WantedSessions {
    /// Wants what any of them wants; nothing in particular when there are none.
    pub fn any_of(all: &[Self]) -> Option<Self> {
        let names: Vec<&str> = all.iter().map(|wanted| wanted.name.as_str()).collect();
        let formats = all.iter().flat_map(|wanted| wanted.formats.iter().cloned()).collect();
        (!all.is_empty()).then(|| Self { name: names.join(" or "), formats })
    }

    /// Wants what a runtime writes, or a format, by its name.
    pub fn named(name: &str) -> Self {
        let formats = match Runtime::named(name) {
            Some(runtime) => runtime.formats().collect(),
            None => Format::new(name).into_iter().collect(),
        };
        Self { name: name.to_owned(), formats }
    }
}

/// A session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCandidate {
    /// The file.
    pub path: PathBuf,
    /// What wrote it.
    pub runtime: String,
    /// How it is written.
    pub format: Format,
    /// Its size.
    pub bytes: u64,
    /// When it was last written.
    pub written: Option<Timestamp>,
    /// What is known of it, if it was taken in and is as it was then: it need not be opened.
    pub unchanged: Option<KnownFile>,
}

impl SessionCandidate {
    /// Tells whether it is written anew each time, instead of growing.
    pub fn is_document(&self) -> bool {
        let framing = codec(&self.format).map(Codec::framing);
        framing.is_some_and(|framing| framing != Framing::Lines) || is_document(&self.path)
    }

    /// Tells what becomes of a file that is not opened.
    fn unread(&self, known: &KnownFile) -> ImportedFile {
        ImportedFile {
            path: self.path.clone(),
            format: self.format.clone(),
            outcome: FileOutcome::Unchanged,
            new_commits: 0,
            known_commits: 0,
            purged_artifacts: 0,
            lanes: known.lanes,
            lines: 0,
            bytes: 0,
            bad_lines: Vec::new(),
            bad_lines_left_out: 0,
            damage: None,
            forked_from: None,
            tip: known.tip,
            size: self.bytes,
        }
    }
}

/// A file that is none, or none that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedSession {
    /// The file.
    pub path: PathBuf,
    /// Why it is left out.
    pub reason: SkipReason,
}

/// Why a file is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// It cannot be read, so it may be a session all the same.
    #[error("{0}")]
    Unreadable(String),
    /// It is no session.
    #[error("{0}")]
    NoSession(String),
    /// It is a session of a format that is not looked for.
    #[error("it is {found}, and {wanted} is looked for")]
    Unwanted {
        /// What it is.
        found: Format,
        /// What is looked for.
        wanted: String,
    },
}

impl SkippedSession {
    /// Leaves a file out because it cannot be read.
    pub fn unreadable(path: PathBuf, error: &io::Error) -> Self {
        Self { path, reason: SkipReason::Unreadable(format!("it cannot be read: {error}")) }
    }

    /// Tells whether it may be a session all the same.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.reason, SkipReason::Unreadable(_))
    }
}

impl From<&SkippedSession> for SkippedFile {
    fn from(SkippedSession { path, reason }: &SkippedSession) -> Self {
        Self { path: path.clone(), reason: reason.to_string() }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct SessionFindings {
    /// Session files by path, each once.
    pub candidates: Vec<SessionCandidate>,
    /// Files that are left out.
    pub skipped: Vec<SkippedSession>,
}

/// Looks for session files.
#[derive(Debug, Default)]
pub struct SessionSearch {
    /// Only these; all when there are none.
    pub wanted: Option<WantedSessions>,
    /// Only files that were written at or after this time.
    pub since: Option<Timestamp>,
    /// Files that need not be opened as long as they are as they were.
    pub known: KnownFiles,
}

/// A path to look at.
struct Lead {
    path: PathBuf,
    origin: LeadOrigin,
}

/// Why a path is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeadOrigin {
    /// Somebody named it.
    Named,
    /// Somebody named a directory around it.
    Below,
    /// It lies where a runtime keeps its sessions, and other documents.
    Usual,
}

impl SessionSearch {
    /// Looks in the usual places.
    pub fn everywhere(&self, homes: &Homes) -> SessionFindings {
        self.among(discover(homes).into_iter().map(|found| found.path))
    }

    /// Looks at files that lie in such places.
    pub fn among(&self, files: impl Iterator<Item = PathBuf>) -> SessionFindings {
        self.follow(files.map(|path| Lead { path, origin: LeadOrigin::Usual }))
    }

    /// Looks at files that somebody named, and below directories.
    pub fn at(&self, paths: &[PathBuf]) -> Result<SessionFindings> {
        let mut leads = Vec::new();
        for path in paths {
            let unreadable = |source| Error::Unreadable { path: path.clone(), source };
            if fs::metadata(path).map_err(unreadable)?.is_dir() {
                leads.extend(session_files(path).into_iter().map(|path| Lead { path, origin: LeadOrigin::Below }));
            } else {
                leads.push(Lead { path: path.clone(), origin: LeadOrigin::Named });
            }
        }
        Ok(self.follow(leads.into_iter()))
    }

    fn follow(&self, leads: impl Iterator<Item = Lead>) -> SessionFindings {
        let SessionFindings { mut candidates, mut skipped } = SessionFindings::default();
        for Lead { path, origin } in leads {
            // The same file by whatever name it is given.
            let path = fs::canonicalize(&path).unwrap_or(path);
            let known = self.known.unchanged(&path);
            if known.is_none()
                && let Some((runtime, sessions)) = database_sessions(&path)
            {
                candidates.extend(self.wanted_of(runtime, &path, sessions));
                continue;
            }
            match self.judge(&path, origin, known) {
                Ok(Some(candidate)) => candidates.push(candidate),
                Ok(None) => {}
                Err(left_out) => skipped.push(left_out),
            }
        }
        candidates.sort_by(|a, b| a.path.cmp(&b.path));
        candidates.dedup_by(|a, b| a.path == b.path);
        SessionFindings { candidates, skipped }
    }

    /// Returns those sessions of a runtime's database that are looked for.
    fn wanted_of(&self, runtime: Runtime, path: &Path, sessions: Vec<DatabaseSession>) -> Vec<SessionCandidate> {
        let format = runtime.format();
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.formats.contains(&format)) {
            return Vec::new();
        }
        let candidate = |DatabaseSession { id, updated, bytes }| SessionCandidate {
            path: DatabaseEntry { database: path.to_owned(), session: id }.path(),
            runtime: runtime_of(&format),
            format: format.clone(),
            bytes,
            written: Timestamp::from_micros(updated.saturating_mul(1000)),
            unchanged: None,
        };
        let candidates = sessions.into_iter().map(candidate);
        candidates.filter(|session| !self.is_too_old(session.written)).collect()
    }

    /// Decides about one file: nothing is said of those that are not looked for.
    fn judge(
        &self,
        path: &Path,
        origin: LeadOrigin,
        known: Option<&KnownFile>,
    ) -> Result<Option<SessionCandidate>, SkippedSession> {
        let metadata = fs::metadata(path).map_err(|error| SkippedSession::unreadable(path.to_owned(), &error))?;
        let written = metadata.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
        let written = written.map(Timestamp::from);
        if self.is_too_old(written) {
            return Ok(None);
        }
        // Somebody may say that the file is something else than it was taken for.
        let is_wanted =
            |known: &&KnownFile| self.wanted.as_ref().is_none_or(|wanted| wanted.formats.contains(&known.format));
        let unchanged = known.filter(is_wanted).cloned();
        let format = match &unchanged {
            Some(known) => known.format.clone(),
            None => match self.format_of(path, origin)? {
                Some(format) => format,
                None => return Ok(None),
            },
        };
        let (path, runtime, bytes) = (path.to_owned(), runtime_of(&format), metadata.len());
        Ok(Some(SessionCandidate { path, runtime, format, bytes, written, unchanged }))
    }

    fn is_too_old(&self, written: Option<Timestamp>) -> bool {
        self.since.zip(written).is_some_and(|(since, written)| written < since)
    }

    /// Decides what a file is, by what it holds and by what is looked for.
    fn format_of(&self, path: &Path, origin: LeadOrigin) -> Result<Option<Format>, SkippedSession> {
        let is_named = origin == LeadOrigin::Named;
        let detected = match detect(path) {
            Ok(format) => format,
            Err(NotASession::Unknown | NotASession::TooLong) if is_named && self.wanted.is_some() => {
                return Ok(self.wanted.as_ref().and_then(|wanted| wanted.formats.first().cloned()));
            }
            Err(reason @ NotASession::TooLong) => {
                let reason = SkipReason::Unreadable(reason.to_string());
                return Err(SkippedSession { path: path.to_owned(), reason });
            }
            // Runtimes keep documents of other kinds beside their sessions.
            Err(_) if origin == LeadOrigin::Usual && is_document(path) => return Ok(None),
            Err(NotASession::Unreadable(source)) => {
                return Err(SkippedSession::unreadable(path.to_owned(), &source));
            }
            Err(reason) => {
                let reason = SkipReason::NoSession(reason.to_string());
                return Err(SkippedSession { path: path.to_owned(), reason });
            }
        };
        let Some(WantedSessions { name, formats }) = &self.wanted else {
            return Ok(Some(detected));
        };
        if formats.contains(&detected) {
            return Ok(Some(detected));
        }
        // Arrays of messages look alike.
        let framing = |format: &Format| codec(format).map(Codec::framing);
        let is_array = |format: &&Format| framing(format) == Some(Framing::JsonArray);
        match formats.first().filter(is_array).filter(|_| is_named && is_array(&&detected)) {
            Some(wanted) => Ok(Some(wanted.clone())),
            None if is_named => {
                let reason = SkipReason::Unwanted { found: detected, wanted: name.clone() };
                Err(SkippedSession { path: path.to_owned(), reason })
            }
            None => Ok(None),
        }
    }
}

/// Whose sessions are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOwner {
    /// Who ran the agents.
    pub principal: Principal,
    /// Where the files lie.
    pub machine: Machine,
    /// The role that the agents had, if that is known; a session that is known keeps its own otherwise.
    pub role: Option<Template>,
}

impl SessionOwner {
    pub(crate) fn file(&self, candidate: &SessionCandidate) -> SessionFile {
        let settings = ImportSettings {
            principal: Some(self.principal.clone()),
            role: self.role.clone(),
            agent: agent_of(&candidate.path),
            ..ImportSettings::new(self.machine.clone(), candidate.runtime.as_str())
        };
        SessionFile { path: candidate.path.clone(), format: candidate.format.clone(), settings }
    }
}

/// What became of sessions that were found.
#[derive(Debug)]
pub struct FoundImport {
    /// The files that were read, by path.
    pub files: Vec<ImportedFile>,
    /// The same by runtime.
    pub runtimes: BTreeMap<String, ImportTotals>,
    /// The files that were left out, and those that could not be read.
    pub skipped: Vec<SkippedSession>,
}

impl FoundImport {
    /// Tells whether there are commits that were not here before.
    pub fn has_grown(&self) -> bool {
        self.runtimes.values().any(|totals| totals.new_commits > 0)
    }
}

impl Capture<'_> {
    /// Takes in all that was found, and looks for the links between sessions if there is something new. Progress is told
    /// in bytes of all files.
    pub async fn import_findings(
        self,
        found: SessionFindings,
        owner: &SessionOwner,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<FoundImport> {
        let SessionFindings { candidates, skipped } = found;
        let results = self.import_found(&candidates, owner, progress).await?;
        let mut import = FoundImport { files: Vec::new(), runtimes: BTreeMap::new(), skipped };
        for (SessionCandidate { path, runtime, .. }, file) in candidates.into_iter().zip(results) {
            match file {
                Ok(file) => {
                    import.runtimes.entry(runtime).or_default().add(&file);
                    import.files.push(file);
                }
                // One file that cannot be read must not keep the others out.
                Err(source) => import.skipped.push(SkippedSession::unreadable(path, &source)),
            }
        }
        if import.has_grown() {
            self.link_sessions().await?;
        }
        Ok(import)
    }

    /// Takes in files that were found. Returns what became of each, in their order. Progress is told in bytes of all of
    /// them.
    pub async fn import_found(
        self,
        candidates: &[SessionCandidate],
        owner: &SessionOwner,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<io::Result<ImportedFile>>> {
        let changed = candidates.iter().filter(|candidate| candidate.unchanged.is_none());
        let changed = changed.map(|candidate| owner.file(candidate)).collect();
        let mut read = self.import_sessions(changed, progress).await?.into_iter();
        let result = |candidate: &SessionCandidate| match &candidate.unchanged {
            Some(known) => Some(Ok(candidate.unread(known))),
            None => read.next(),
        };
        Ok(candidates.iter().filter_map(result).collect())
    }
}

/// Returns what wrote a format: a runtime, or the format itself without its version.
fn runtime_of(format: &Format) -> String {
    let name = format.as_str();
    let unversioned = name.strip_suffix("-v1").unwrap_or(name);
    Runtime::of(format).map_or(unversioned, |runtime| runtime.as_str()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEX: &str = r#"{"type":"thread.started","thread_id":"t"}"#;
    const CLAUDE: &str = r#"{"type":"user","message":{},"parent_tool_use_id":null,"session_id":"s"}"#;

    fn search(wanted: &str) -> SessionSearch {
        SessionSearch { wanted: Some(WantedSessions::named(wanted)), ..SessionSearch::default() }
    }

    fn session(directory: &Path, name: &str, content: &str) -> PathBuf {
        let path = directory.canonicalize().unwrap().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn paths(findings: &SessionFindings) -> Vec<&Path> {
        findings.candidates.iter().map(|candidate| &*candidate.path).collect()
    }

    #[test]
    fn sessions_are_found_once_and_by_what_wrote_them() {
        let directory = tempfile::tempdir().unwrap();
        let codex = session(directory.path(), "codex.jsonl", CODEX);
        let claude = session(directory.path(), "claude.jsonl", CLAUDE);
        let both = SessionSearch::default().at(&[directory.path().to_owned(), codex.clone()]).unwrap();
        assert_eq!(paths(&both), [&*claude, &*codex]);
        let one = search("codex").at(&[directory.path().to_owned()]).unwrap();
        assert_eq!((paths(&one), one.skipped.as_slice()), (vec![&*codex], &[][..]));
        assert_eq!(one.candidates[0].runtime, "codex");
        let any = WantedSessions::any_of(&[WantedSessions::named("codex"), WantedSessions::named("claude-code")]);
        let any = SessionSearch { wanted: any, ..SessionSearch::default() }.at(&[directory.path().to_owned()]).unwrap();
        assert_eq!(paths(&any), [&*claude, &*codex]);
        let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
        let later = SessionSearch { since: Some(later.into()), ..SessionSearch::default() };
        assert_eq!(paths(&later.at(&[codex]).unwrap()), Vec::<&Path>::new());
    }

    #[test]
    fn a_named_file_is_left_out_with_a_reason_and_one_that_is_not_there_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let codex = session(directory.path(), "codex.jsonl", CODEX);
        let found = search("claude-code").at(std::slice::from_ref(&codex)).unwrap();
        let reason =
            SkipReason::Unwanted { found: Format::new("codex-exec-v1").unwrap(), wanted: "claude-code".to_owned() };
        assert_eq!(found.skipped, [SkippedSession { path: codex, reason }]);
        let absent = SessionSearch::default().at(&[directory.path().join("absent.jsonl")]);
        assert!(matches!(absent, Err(Error::Unreadable { .. })), "{absent:?}");
    }
}
