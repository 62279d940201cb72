//! The agents that sessions are written for: where each looks for them and how it is told to go on.

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use contexture_core::{Format, RuntimeSessionId, Timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::Homes;

/// An agent that can go on with a session that was written for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// The pi coding agent.
    Pi,
}

/// A session that a runtime is to find.
#[derive(Debug, Clone, Copy)]
pub struct SessionName<'s> {
    /// Its id.
    pub id: &'s RuntimeSessionId,
    /// The directory that the agent works in.
    pub directory: &'s Path,
    /// When it is written.
    pub at: Timestamp,
}

impl Runtime {
    /// Every runtime.
    pub const ALL: &'static [Self] = &[Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Pi];

    /// Returns its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
        }
    }

    /// Returns what people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Pi => "pi",
        }
    }

    /// Returns the format of its sessions.
    pub fn format(self) -> Format {
        let name = match self {
            Self::ClaudeCode => "claude-code-v1",
            Self::Codex => "codex-v1",
            Self::Gemini => "gemini-v1",
            Self::Pi => "pi-v1",
        };
        Format::new(name).expect("the names of formats are legal")
    }

    /// Returns the runtime that writes a format, be it its sessions or what it says while it works.
    pub fn of(format: &Format) -> Option<Self> {
        Some(match format.as_str() {
            "claude-code-v1" | "claude-stream-v1" => Self::ClaudeCode,
            "codex-v1" | "codex-exec-v1" => Self::Codex,
            "gemini-v1" | "gemini-stream-v1" => Self::Gemini,
            "pi-v1" => Self::Pi,
            _ => return None,
        })
    }

    /// Returns the directory below which the runtime keeps its sessions, if its home is known.
    pub fn sessions(self, homes: &Homes) -> Option<PathBuf> {
        Some(match self {
            Self::ClaudeCode => homes.claude.as_ref()?.join("projects"),
            Self::Codex => homes.codex.as_ref()?.join("sessions"),
            Self::Gemini => homes.gemini.as_ref()?.join("tmp"),
            Self::Pi => homes.pi.as_ref()?.join("sessions"),
        })
    }

    /// Returns where the runtime looks for a session, if its home is known.
    pub fn place(self, homes: &Homes, name: SessionName<'_>) -> Option<PathBuf> {
        let SessionName { id, directory, at } = name;
        let time = file_time(at);
        let file = match self {
            Self::ClaudeCode => format!("{id}.jsonl"),
            Self::Codex => format!("rollout-{time}-{id}.jsonl"),
            Self::Gemini => {
                let minute = time.get(..16).unwrap_or(&time);
                let short = id.as_str().get(..8).unwrap_or(id.as_str());
                format!("session-{minute}-{short}.jsonl")
            }
            Self::Pi => format!("{time}-000Z_{id}.jsonl"),
        };
        Some(self.folder(homes, directory, at)?.join(file))
    }

    /// Returns the directory in which the runtime begins a session of those who work in a directory, if its home is known.
    pub fn folder(self, homes: &Homes, directory: &Path, at: Timestamp) -> Option<PathBuf> {
        let directory = directory.to_string_lossy();
        Some(match self {
            Self::ClaudeCode => {
                let slug = directory.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
                self.sessions(homes)?.join(slug)
            }
            Self::Codex => {
                let time = file_time(at);
                self.sessions(homes)?.join(time.get(..10).unwrap_or(&time).replace('-', "/"))
            }
            Self::Gemini => gemini_project(homes.gemini.as_ref()?, &directory).join("chats"),
            Self::Pi => {
                let slug = directory.trim_start_matches('/').replace(['/', '\\', ':'], "-");
                self.sessions(homes)?.join(format!("--{slug}--"))
            }
        })
    }

    /// Puts beside a session what the runtime needs to find it, unless it is there.
    pub(crate) fn prepare(self, session: &Path, directory: &Path) -> io::Result<()> {
        let Some(place) = session.parent() else { return Ok(()) };
        fs::create_dir_all(place)?;
        let marker = place.with_file_name(".project_root");
        if self == Self::Gemini && !marker.exists() {
            fs::write(marker, directory.to_string_lossy().as_bytes())?;
        }
        Ok(())
    }

    /// Returns the program and its arguments that go on with a session.
    pub fn resume_command(self, session: &RuntimeSessionId, path: &Path) -> (&'static str, Vec<OsString>) {
        let session = session.as_str();
        match self {
            Self::ClaudeCode => ("claude", vec!["--resume".into(), session.into()]),
            Self::Codex => ("codex", vec!["resume".into(), session.into()]),
            Self::Gemini => ("gemini", vec!["--resume".into(), session.into()]),
            Self::Pi => ("pi", vec!["--session".into(), path.into()]),
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Writes a time as it stands in the names of files, to the second.
fn file_time(at: Timestamp) -> String {
    let at = at.to_string();
    at.get(..19).unwrap_or(&at).replace(':', "-")
}

/// Returns where Gemini CLI keeps what belongs to a directory: where it says, or a place of that name that is free.
fn gemini_project(home: &Path, directory: &str) -> PathBuf {
    let places = home.join("tmp");
    let registry = fs::read(home.join("projects.json")).unwrap_or_default();
    let registry: Value = serde_json::from_slice(&registry).unwrap_or_default();
    if let Some(slug) = registry["projects"][directory].as_str() {
        return places.join(slug);
    }
    let base = Path::new(directory).file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let slug = base.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "project" } else { slug };
    let taken = |slug: &str| registry["projects"].as_object().is_some_and(|all| all.values().any(|name| name == slug));
    let is_own = |place: &Path| match fs::read_to_string(place.join(".project_root")) {
        Ok(root) => root.trim() == directory,
        Err(_) => !place.exists(),
    };
    let names = std::iter::once(slug.to_owned()).chain((1..1000).map(|number| format!("{slug}-{number}")));
    let free = names.map(|name| (places.join(&name), name)).find(|(place, name)| !taken(name) && is_own(place));
    free.map_or_else(|| places.join(slug), |(place, _)| place)
}
