//! Runtimes: the agents whose sessions are read and written.
//!
//! Each is a row of one table, [`Runtime::ALL`], and a module that holds what the row says. Nothing else asks which
//! runtime it has before it: whoever needs to know something of a runtime asks its row.

mod arguments;
mod claude_code;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod cursor_chat;
mod descriptor;
mod dialect;
mod droid;
mod dsh;
mod first_line;
mod gemini;
mod homes;
mod kiro;
mod kiro_chat;
mod opencode;
mod pi;

use std::{
    cmp::Ordering,
    ffi::OsString,
    fmt,
    hash::{Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use contexture_core::{Format, GivenSessionId, RuntimeSessionId, Timestamp};
use serde::{Serialize, Serializer};

use self::descriptor::{DirectorySource, RuntimeDescriptor, SessionFiles, SessionStorage};
pub use self::{
    descriptor::{HookEvent, HookExtension, HookMoment, HookRegistration, RuntimeHooks},
    dialect::{CheckpointMoment, Dialect, StreamEvent},
    homes::Homes,
};
use crate::{database::SessionDatabase, detect::FormatSigns};

/// An agent whose sessions are known: a row of the table.
#[derive(Clone, Copy)]
pub struct Runtime(&'static RuntimeDescriptor);

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

/// How an agent is started that goes on with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    /// The program.
    pub program: &'static str,
    /// What it is told.
    pub arguments: Vec<OsString>,
}

impl Runtime {
    /// Every runtime.
    pub const ALL: &'static [Self] = &[
        Self::CLAUDE_CODE,
        Self::CODEX,
        Self::GEMINI,
        Self::PI,
        Self::OPENCODE,
        Self::COPILOT,
        Self::CURSOR,
        Self::CURSOR_CHAT,
        Self::DROID,
        Self::DSH,
        Self::KIRO,
        Self::KIRO_CHAT,
        Self::CRUSH,
    ];

    /// Returns those that can go on with a session that was written for them.
    pub fn resumable() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|runtime| runtime.can_resume())
    }

    /// Returns those that tell hooks what they do.
    pub fn hooked() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|runtime| runtime.hooks().is_some())
    }

    /// Returns the runtime with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|runtime| runtime.as_str() == name)
    }

    /// Returns the runtime that writes a format, be it its sessions or what it says while it works.
    pub fn of(format: &Format) -> Option<Self> {
        Self::ALL.iter().copied().find(|runtime| runtime.signs().iter().any(|signs| signs.format == format.as_str()))
    }

    /// Returns the runtime that is started by a program, or from a package, `@owner/name` with a version or without.
    pub fn of_program(name: &str) -> Option<Self> {
        let (owner, package) = name.rsplit_once('/').unwrap_or(("", name));
        let package = package.split('@').next().unwrap_or(package);
        Self::resumable().find(|runtime| {
            let is_program = owner.is_empty() && runtime.program() == Some(package);
            is_program || runtime.0.agent.as_ref().is_some_and(|agent| agent.packages.contains(&(owner, package)))
        })
    }

    /// Returns its name on the command line.
    pub const fn as_str(self) -> &'static str {
        self.0.name
    }

    /// Returns what people call it.
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// Returns the format of its sessions.
    pub fn format(self) -> Format {
        self.formats().next().expect("every runtime writes sessions")
    }

    /// Returns the formats that it writes, that of its sessions first.
    pub fn formats(self) -> impl Iterator<Item = Format> {
        self.signs().iter().map(|signs| Format::new(signs.format).expect("the names of formats are legal"))
    }

    /// Returns by what the formats that it writes are recognised.
    pub(crate) const fn signs(self) -> &'static [FormatSigns] {
        self.0.formats
    }

    /// Returns the variables in which it tells the programs that it starts which session they work for.
    pub const fn session_variables(self) -> &'static [&'static str] {
        self.0.session_variables
    }

    /// Returns the variable in which it tells a program that a tool has started which call that was.
    pub const fn call_variable(self) -> Option<&'static str> {
        self.0.call_variable
    }

    /// Returns how it tells hooks what it does, if it can.
    pub const fn hooks(self) -> Option<&'static RuntimeHooks> {
        self.0.hooks.as_ref()
    }

    /// Returns how long it keeps a session after its last line, in microseconds; nothing when it deletes none, or none
    /// that is known of.
    pub fn retention_micros(self, homes: &Homes) -> Option<i64> {
        self.0.retention_micros.and_then(|read| read(homes.of(self)?))
    }

    /// Tells whether it can go on with a session that was written for it.
    pub const fn can_resume(self) -> bool {
        self.0.agent.is_some()
    }

    /// Returns the program that it is started by.
    pub fn program(self) -> Option<&'static str> {
        self.0.agent.as_ref().map(|agent| agent.program)
    }

    /// Returns the lines in which it tells what happens while it works, if its arguments ask for them.
    pub fn dialect(self, arguments: &[OsString]) -> Option<Dialect> {
        Dialect::of(self).filter(|dialect| dialect.is_asked_for(arguments))
    }

    /// Tells whether its arguments ask it to keep no session.
    pub fn is_ephemeral(self, arguments: &[OsString]) -> bool {
        let option = self.0.agent.as_ref().and_then(|agent| agent.ephemeral);
        option.is_some_and(|option| arguments::flags(arguments).any(|flag| flag == option))
    }

    /// Returns where among its arguments those belong that resume a session.
    pub fn resume_at(self, arguments: &[OsString]) -> usize {
        self.0.agent.as_ref().map_or(0, |agent| (agent.resume_at)(arguments))
    }

    /// Returns the command that goes on with a session, if it can be told to.
    pub fn resume_command(self, session: &RuntimeSessionId, path: &Path) -> Option<ResumeCommand> {
        let agent = self.0.agent.as_ref()?;
        Some(ResumeCommand { program: agent.program, arguments: (agent.resume)(session, path).into() })
    }

    /// Returns the directory below which the runtime keeps its sessions, if its home is known and they are files.
    pub fn sessions(self, homes: &Homes) -> Option<PathBuf> {
        Some(homes.of(self)?.join(self.files()?.directories.first()?))
    }

    /// Returns where the runtime looks for a session, if its home is known.
    pub fn place(self, homes: &Homes, name: SessionName<'_>) -> Option<PathBuf> {
        let folder = self.folder(homes, name.directory, name.at)?;
        Some(folder.join((self.0.agent.as_ref()?.file_name)(&name)))
    }

    /// Puts beside a session what the runtime needs to find it, unless it is there.
    pub(crate) fn prepare(self, session: &Path, directory: &Path) -> io::Result<()> {
        match (&self.0.agent, session.parent()) {
            (Some(agent), Some(folder)) => (agent.prepare)(folder, directory),
            _ => Ok(()),
        }
    }

    /// Returns who serves the runtime's models by its arguments and settings, where its sessions name that.
    pub(crate) fn provider(self, homes: &Homes, arguments: &[OsString]) -> Option<String> {
        (self.0.agent.as_ref()?.provider)(homes.of(self)?, arguments)
    }

    /// Returns the directory in which to look for sessions of those who work in a directory, if its home is known.
    pub fn search_folder(self, homes: &Homes, directory: &Path, at: Timestamp) -> Option<PathBuf> {
        match self.files()?.directory {
            DirectorySource::FirstRecord(_) => self.sessions(homes),
            DirectorySource::Records | DirectorySource::Beside(_) => self.folder(homes, directory, at),
        }
    }

    /// Tells whether a file that was found there is of somebody who works in a directory.
    pub fn is_of_directory(self, path: &Path, directory: &Path) -> bool {
        match self.files().map(|files| &files.directory) {
            Some(DirectorySource::FirstRecord(read)) => read(path) == directory,
            Some(DirectorySource::Records | DirectorySource::Beside(_)) | None => true,
        }
    }

    /// Returns the directory that the agent of a file worked in, where that is noted beside the file.
    pub(crate) fn noted_directory(self, path: &Path) -> Option<String> {
        match self.files()?.directory {
            DirectorySource::Beside(read) => read(path),
            DirectorySource::Records | DirectorySource::FirstRecord(_) => None,
        }
    }

    /// Tells whether the files of its sessions say nothing of the directory that their agent worked in.
    pub(crate) fn leaves_out_directory(self) -> bool {
        self.files().is_some_and(|files| matches!(files.directory, DirectorySource::Beside(_)))
    }

    /// Returns the id that the runtime calls a session by that lies in a file.
    pub fn session_of(self, path: &Path) -> Option<GivenSessionId> {
        (self.files()?.session_of)(path).map(GivenSessionId::new)
    }

    /// Returns where the runtime begins a session of those who work in a directory.
    fn folder(self, homes: &Homes, directory: &Path, at: Timestamp) -> Option<PathBuf> {
        Some((self.0.agent.as_ref()?.folder)(homes.of(self)?, directory, at))
    }

    /// Returns what its session files are like, if they are files.
    pub(crate) fn files(self) -> Option<&'static SessionFiles> {
        match &self.0.storage {
            SessionStorage::Files(files) => Some(files),
            SessionStorage::Database(_) => None,
        }
    }

    /// Returns what the session files in a format are like, if a runtime keeps such files.
    pub(crate) fn files_in(format: &Format) -> Option<&'static SessionFiles> {
        Self::ALL.iter().find(|runtime| runtime.format() == *format)?.files()
    }

    /// Returns the places below which it keeps sessions, be there anything or not.
    pub(crate) fn places(self, homes: &Homes) -> Vec<PathBuf> {
        let Some(home) = homes.of(self) else { return Vec::new() };
        match &self.0.storage {
            SessionStorage::Files(files) => files.directories.iter().map(|directory| home.join(directory)).collect(),
            SessionStorage::Database(_) => vec![home.to_owned()],
        }
    }

    /// Tells by its name whether a file in such a place is a database of sessions.
    pub(crate) fn names_database(self, path: &Path) -> bool {
        self.database().is_some_and(|database| (database.is_named)(path))
    }

    /// Returns what its databases of sessions are like, if it keeps sessions in one.
    pub(crate) fn database(self) -> Option<&'static SessionDatabase> {
        match &self.0.storage {
            SessionStorage::Files(_) => None,
            SessionStorage::Database(database) => Some(database),
        }
    }
}

impl PartialEq for Runtime {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Runtime {}

impl PartialOrd for Runtime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Runtime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Runtime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Runtime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
