//! What the table holds of a runtime.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use contexture_core::{RuntimeSessionId, Timestamp, Trigger};
use contexture_store::private;

use super::{SessionName, StreamEvent};
use crate::{HookInput, database::SessionDatabase, detect::FormatSigns, fork::ReadPrefix, held_document::OldDocument};

/// Microseconds of a day, by which retention is counted.
pub(super) const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// A row of the table.
pub(crate) struct RuntimeDescriptor {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// What people call it.
    pub(super) title: &'static str,
    /// What it writes and how that is recognised: the format of its sessions first, then that of what it says while it
    /// works.
    pub(super) formats: &'static [FormatSigns],
    /// Where it keeps its settings and sessions.
    pub(super) home: HomeDirectory,
    /// Variables in which it tells the programs that it starts which session they work for, the narrowest
    /// first.
    pub(super) session_variables: &'static [&'static str],
    /// The variable in which it tells them which call of a tool started them.
    pub(super) call_variable: Option<&'static str>,
    /// How sessions lie there.
    pub(super) storage: SessionStorage,
    /// Reads in its home how long it keeps a session, in microseconds.
    pub(super) retention_micros: Option<fn(home: &Path) -> Option<i64>>,
    /// How it tells hooks what it does.
    pub(super) hooks: Option<RuntimeHooks>,
    /// How it is started and told to go on. Sessions of others are only read.
    pub(super) agent: Option<AgentProgram>,
    /// How it tells what happens while it works.
    pub(super) stream: Option<EventStream>,
}

/// Where a runtime keeps what is its own.
pub(super) struct HomeDirectory {
    /// The variable that names it.
    pub(super) variable: &'static str,
    /// Where it is when the variable is not set.
    pub(super) usual: UsualHome,
}

/// A place that users have.
pub(super) enum UsualHome {
    /// Below the user's home.
    User(&'static str),
    /// Below the directory for the data of programs.
    Data(&'static str),
}

/// How sessions lie in a home.
pub(super) enum SessionStorage {
    /// A file each.
    Files(SessionFiles),
    /// Many in a database. The home may be the database itself.
    Database(SessionDatabase),
}

/// What session files are like.
pub(crate) struct SessionFiles {
    /// The directories of the home below which they lie, that of new ones first.
    pub(super) directories: &'static [&'static str],
    /// Tells by its name whether a file there may be a session.
    pub(crate) is_session: fn(path: &Path) -> bool,
    /// Where in the path of a file the id of its session stands.
    pub(crate) id_place: IdPlace,
    /// Returns the id that the runtime calls the session of a file by.
    pub(super) session_of: fn(path: &Path) -> Option<String>,
    /// What tells in which directory the agent of a file worked.
    pub(super) directory: DirectorySource,
    /// Reads in the first line of a file which part of another session it continues, where a fork does not hold that.
    pub(crate) continues: Option<ReadPrefix>,
    /// How older versions wrote a session before they wrote lines.
    pub(crate) old_document: Option<OldDocument>,
}

/// What tells in which directory the agent of a session file worked.
pub(super) enum DirectorySource {
    /// The records of the file, and the place where it lies.
    Records,
    /// Its first record; files of all directories lie together.
    FirstRecord(fn(path: &Path) -> PathBuf),
    /// What lies beside the file, if anything; else the hooks, if they are told of it.
    Beside(fn(path: &Path) -> Option<String>),
}

/// Where the path of a file names its session.
pub(crate) enum IdPlace {
    /// The name of the file ends with the id.
    Name,
    /// It ends with so many letters that the id begins with.
    Letters(usize),
    /// The directory is called like the session; older files are themselves.
    Directory,
}

/// How a runtime is started, and told to go on with a session that was written for it.
pub(super) struct AgentProgram {
    /// The program.
    pub(super) program: &'static str,
    /// The packages that it comes in, by owner and name.
    pub(super) packages: &'static [(&'static str, &'static str)],
    /// The option that asks it to keep no session.
    pub(super) ephemeral: Option<&'static str>,
    /// Returns the arguments that go on with a session.
    pub(super) resume: fn(session: &RuntimeSessionId, path: &Path) -> [OsString; 2],
    /// Returns where among other arguments they belong.
    pub(super) resume_at: fn(arguments: &[OsString]) -> usize,
    /// Returns the directory in which a session is begun of those who work in a directory.
    pub(super) folder: fn(home: &Path, directory: &Path, at: Timestamp) -> PathBuf,
    /// Returns what its file is called.
    pub(super) file_name: fn(name: &SessionName<'_>) -> String,
    /// Makes that directory with what the runtime needs to find sessions there.
    pub(super) prepare: fn(folder: &Path, directory: &Path) -> io::Result<()>,
    /// Returns who serves its models by its arguments and the settings in its home, where its sessions name that.
    pub(super) provider: fn(home: &Path, arguments: &[OsString]) -> Option<String>,
}

/// Lines of JSON that a runtime writes while it works.
pub(super) struct EventStream {
    /// Their format.
    pub(super) format: &'static str,
    /// Tells whether the arguments of its program ask for them.
    pub(super) is_asked_for: fn(arguments: &[OsString]) -> bool,
    /// Tells whether a line is the first of them.
    pub(super) is_first_line: fn(line: &[u8]) -> bool,
    /// Reads a line.
    pub(super) hear: fn(line: &[u8]) -> serde_json::Result<StreamEvent>,
}

/// How a runtime is told to tell hooks what it does.
#[derive(Debug)]
pub struct RuntimeHooks {
    /// The file in the runtime's home that registers hooks for all projects.
    pub in_home: &'static str,
    /// The file in a project that does so for the project.
    pub in_project: &'static str,
    /// What the file is.
    pub registration: HookRegistration,
    /// Returns what an event means by its name, be it registered by us or by somebody else.
    pub moment: fn(event: &str) -> Option<HookMoment>,
    /// Returns what of an event the session's file will hold itself, where that tells that the file has caught up.
    pub echo: Option<fn(event: &HookInput) -> Option<String>>,
    /// Whether the session's file names calls by the ids that events have.
    pub writes_call_ids: bool,
    /// What a person has to do before hooks in the home are called.
    pub caution: Option<&'static str>,
    /// The same for those in a project.
    pub project_caution: Option<&'static str>,
    /// When hooks that are registered are not called, as the end of a sentence; empty where nothing is known.
    pub silent_while: &'static str,
    /// The event after which its agent has done all that it was asked.
    pub rests_after: &'static str,
    /// The tools that are agents: who is called so works in the name of the session while the call is under way.
    pub agent_tools: &'static [&'static str],
}

/// The file that registers hooks.
#[derive(Debug)]
pub enum HookRegistration {
    /// Settings in JSON that hold much else, and these events.
    Settings(&'static [HookEvent]),
    /// A file of JSON that holds hooks and nothing else, those of others too, for each of these events a list.
    HookFile(&'static [HookEvent]),
    /// A program that holds nothing else.
    Extension(HookExtension),
}

/// An event that a runtime tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEvent {
    /// Its name.
    pub name: &'static str,
    /// Which of them, where a runtime wants that said.
    pub matcher: Option<&'static str>,
    /// How long the runtime waits for us, in its own unit.
    pub timeout: u32,
}

/// What an event means for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMoment {
    /// It begins, or goes on after it was left.
    Start,
    /// Somebody asks; what is asked will be in the file with the answer.
    Question,
    /// A tool is about to be called.
    Call,
    /// Something happened that is worth a checkpoint.
    Checkpoint(Trigger),
    /// It is over.
    End,
}

/// A program that a runtime loads and that tells of events.
#[derive(Debug)]
pub struct HookExtension {
    /// The events that it tells of.
    pub events: &'static [&'static str],
    /// Writes it, to call a command.
    pub write: fn(command: &[String]) -> String,
    /// Tells whether a file is one that was written so.
    pub is_ours: fn(text: &str) -> bool,
    /// Tells whether one that was written so tells of an event.
    pub tells_of: fn(text: &str, event: &str) -> bool,
    /// Returns the command that one calls which was written so.
    pub command: fn(text: &str) -> Option<Vec<String>>,
}

impl HookRegistration {
    /// Returns the events that are registered.
    pub fn events(&self) -> Vec<&'static str> {
        match self {
            Self::Settings(events) | Self::HookFile(events) => events.iter().map(|event| event.name).collect(),
            Self::Extension(extension) => extension.events.to_vec(),
        }
    }
}

impl HookEvent {
    /// Describes an event.
    pub(super) const fn new(name: &'static str, timeout: u32) -> Self {
        Self { name, matcher: None, timeout }
    }

    /// Describes an event of tools, of all of them.
    pub(super) const fn of_tools(name: &'static str, timeout: u32) -> Self {
        Self { name, matcher: Some("*"), timeout }
    }
}

impl SessionFiles {
    /// Tells by its path whether a file is that of a session.
    pub(crate) fn is_named(&self, path: &Path, session: &str) -> bool {
        let ends = |part: Option<&OsStr>, id: &str| part.and_then(OsStr::to_str).is_some_and(|part| part.ends_with(id));
        match self.id_place {
            IdPlace::Name => ends(path.file_stem(), session),
            IdPlace::Letters(letters) => ends(path.file_stem(), session.get(..letters).unwrap_or(session)),
            IdPlace::Directory => {
                let directory = path.parent().and_then(Path::file_name);
                directory.is_some_and(|name| name == session) || ends(path.file_stem(), session)
            }
        }
    }
}

/// Makes a directory in which nothing else is needed.
pub(super) fn make_folder(folder: &Path, _directory: &Path) -> io::Result<()> {
    private::create_directory(folder)
}

/// Writes a time as it stands in the names of files, to the second.
pub(super) fn file_time(at: Timestamp) -> String {
    let at = at.to_string();
    at.get(..19).unwrap_or(&at).replace(':', "-")
}

/// Returns the UUID that a file's name ends with, as far as its length tells.
pub(super) fn id_at_end(path: &Path) -> Option<String> {
    const UUID_LENGTH: usize = 36;
    let stem = path.file_stem()?.to_str()?;
    stem.len().checked_sub(UUID_LENGTH).and_then(|start| stem.get(start..)).map(str::to_owned)
}
