//! Where runtimes keep their sessions.

use std::{
    fs::FileType,
    io::Read as _,
    path::{Path, PathBuf},
};

use contexture::open_found;
use contexture_core::GivenSessionId;

use crate::{Homes, Runtime, detect::by_start, input::known_as};

/// A file that may be a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiscoveredFile {
    /// The file.
    pub path: PathBuf,
    /// The runtime in whose place it lies.
    pub runtime: Runtime,
}

/// A directory below which a runtime keeps sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// The directory, or a database.
    pub path: PathBuf,
    /// The runtime.
    pub runtime: Runtime,
}

/// Lists the usual places, be there anything or not.
pub fn places(homes: &Homes) -> Vec<SessionPlace> {
    let places = |runtime: &Runtime| {
        let runtime = *runtime;
        runtime.places(homes).into_iter().map(move |path| SessionPlace { path, runtime })
    };
    Runtime::ALL.iter().flat_map(places).collect()
}

/// Lists the files in the usual places, by path.
pub fn discover(homes: &Homes) -> Vec<DiscoveredFile> {
    let mut found = Vec::new();
    for SessionPlace { path: place, runtime } in places(homes) {
        let Some(files) = runtime.files() else {
            let entries = place.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
            let databases = entries.filter(|path| runtime.names_database(path));
            let databases = databases.chain(place.is_file().then(|| place.clone()));
            found.extend(databases.map(|path| DiscoveredFile { path, runtime }));
            continue;
        };
        walk(&place, &mut |path| {
            if (files.is_session)(path) {
                found.push(DiscoveredFile { path: path.to_owned(), runtime });
            }
        });
    }
    found.sort();
    found
}

/// Returns the file that may be a session when something has happened to a path in one of the usual places: it, or the
/// database whose log it is.
pub fn touched(homes: &Homes, path: &Path) -> Option<DiscoveredFile> {
    // SQLite appends to a log beside the database first.
    let database = path.to_str().map_or(path, |text| Path::new(text.strip_suffix("-wal").unwrap_or(text)));
    places(homes).into_iter().find_map(|SessionPlace { path: place, runtime }| {
        let (file, is_wanted) = match runtime.files() {
            Some(files) => (path, (files.is_session)(path)),
            None => (database, runtime.names_database(database) || database == place),
        };
        (is_wanted && file.starts_with(&place)).then(|| DiscoveredFile { path: file.to_owned(), runtime })
    })
}

/// Finds the file that a runtime keeps of a session.
pub fn find_session(runtime: Runtime, homes: &Homes, session: &GivenSessionId) -> Option<PathBuf> {
    if session.as_str().is_empty() {
        return None;
    }
    let files = runtime.files()?;
    let is_named = |path: &Path| files.is_named(&known_as(path), session.as_str());
    find(&runtime.sessions(homes)?, &|path| (files.is_session)(path) && is_named(path))
}

/// Looks for a file: in the directories that sort last first, because Codex has one for each day; the first of several,
/// because Gemini CLI begins another one when a session is resumed and goes on with the first.
fn find(directory: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let kinds = directory.read_dir().ok()?.flatten().filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)));
    let mut entries: Vec<(PathBuf, FileType)> = kinds.collect();
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let found = entries.iter().find(|(path, _)| is_wanted(path) && path.is_file());
    let found = found.map(|(path, _)| path.clone());
    // A link that leads back up would have no end.
    let places = entries.iter().rev().filter(|(_, kind)| kind.is_dir());
    found.or_else(|| places.map(|(place, _)| place).find_map(|place| find(place, is_wanted)))
}

/// Lists the files below a directory that may be sessions, by path.
///
/// Many that end in `.json` or `.cbor` are something else; who lists them should not wonder.
pub fn session_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(directory, &mut |path| {
        if is_lines(path) || is_document(path) || is_written_talk(path) {
            files.push(path.to_owned());
        }
    });
    files.sort();
    files
}

/// Lists the files of the agents that a session has started, where its runtime keeps them beside its own file.
pub fn agent_transcripts(file: &Path, session: &GivenSessionId) -> Vec<PathBuf> {
    // Claude Code has a directory named like the file, Gemini CLI one named like the session.
    let of_session =
        file.parent().filter(|_| !session.as_str().is_empty()).map(|directory| directory.join(session.as_str()));
    let mut files = session_files(&known_as(file).with_extension(""));
    files.extend(of_session.iter().flat_map(|directory| session_files(directory)));
    files.retain(|path| is_lines(path));
    files.sort();
    files.dedup();
    files
}

/// Returns the agent that a whole file belongs to, when it is one that another agent started.
pub fn agent_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    stem.strip_prefix("agent-").map(str::to_owned)
}

/// Tells by its name whether a file may be one document.
pub fn is_document(path: &Path) -> bool {
    known_as(path).extension().is_some_and(|extension| ["json", "cbor", "traj"].iter().any(|known| extension == *known))
}

/// Tells whether a file in Markdown is a conversation. Most are something else, so this looks into it.
pub(crate) fn is_written_talk(path: &Path) -> bool {
    const FIRST_BYTES: u64 = 256;
    let mut start = Vec::new();
    path.extension().is_some_and(|extension| extension == "md")
        && open_found(path).is_ok_and(|file| file.take(FIRST_BYTES).read_to_end(&mut start).is_ok())
        && by_start(&start).is_some()
}

/// Tells by its name whether a file holds lines, be it compressed.
pub(crate) fn is_lines(path: &Path) -> bool {
    let plain = known_as(path);
    // Codex takes the plain file too when it finds both.
    plain.extension().is_some_and(|extension| extension == "jsonl") && (plain == path || !plain.exists())
}

/// Visits every file below a directory. What cannot be read is not there.
fn walk(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    let Ok(entries) = directory.read_dir() else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // A link that leads back up would have no end.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, visit),
            Ok(kind) if kind.is_file() => visit(&path),
            _ => {}
        }
    }
}
