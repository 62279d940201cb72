//! Where runtimes keep their sessions.

use std::path::{Path, PathBuf};

use super::input::known_as;

/// Directories in which to look.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    /// Claude Code's configuration directory.
    pub claude: Option<PathBuf>,
    /// Codex's home.
    pub codex: Option<PathBuf>,
    /// Gemini CLI's directory.
    pub gemini: Option<PathBuf>,
    /// pi's agent directory.
    pub pi: Option<PathBuf>,
    /// OpenCode's data directory, or its database.
    pub opencode: Option<PathBuf>,
}

/// A file that may be a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// The runtime in whose place it lies.
    pub runtime: &'static str,
}

/// Lists the files in the usual places, by path.
pub fn discover(homes: &Homes) -> Vec<Found> {
    let places = [
        ("claude-code", homes.claude.as_ref().map(|home| home.join("projects"))),
        ("codex", homes.codex.as_ref().map(|home| home.join("sessions"))),
        ("codex", homes.codex.as_ref().map(|home| home.join("archived_sessions"))),
        ("gemini", homes.gemini.as_ref().map(|home| home.join("tmp"))),
        ("pi", homes.pi.as_ref().map(|home| home.join("sessions"))),
    ];
    let mut found = Vec::new();
    for (runtime, place) in places {
        if let Some(place) = place {
            walk(&place, &mut |path| {
                if is_session(runtime, path) {
                    found.push(Found { path: path.to_owned(), runtime });
                }
            });
        }
    }
    if let Some(place) = &homes.opencode {
        let is_database = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with("opencode") && path.extension().is_some_and(|extension| extension == "db")
        };
        let entries = place.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let databases = entries.filter(is_database).chain(place.is_file().then(|| place.clone()));
        found.extend(databases.map(|path| Found { path, runtime: "opencode" }));
    }
    found.sort();
    found
}

/// Lists the files below a directory that may be sessions, by path.
///
/// Many that end in `.json` or `.cbor` are something else; who lists them should not wonder.
pub fn session_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(directory, &mut |path| {
        if is_lines(path) || is_document(path) {
            files.push(path.to_owned());
        }
    });
    files.sort();
    files
}

/// Tells by its name whether a file may be one document.
pub fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json" || extension == "cbor")
}

fn is_session(runtime: &str, path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_lines = is_lines(path);
    match runtime {
        "codex" => name.starts_with("rollout-") && is_lines,
        // Older versions wrote documents, and not everything beside them is a session.
        "gemini" => {
            let is_chat = path.components().any(|part| part.as_os_str() == "chats");
            is_chat && (is_lines || name.starts_with("session-") && is_document(path))
        }
        _ => is_lines,
    }
}

/// Tells by its name whether a file holds lines, be it compressed.
fn is_lines(path: &Path) -> bool {
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
