//! The registry: which sessions agents are in at this moment, as the hooks and wrappers of one machine tell each other.
//!
//! Nothing here is the truth: that is in the store and in the session files. What is lost of it is found again.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use contexture_core::{GivenSessionId, SpaceName, Timestamp};
use contexture_store::{DurableFile, FileAccess, private};
use serde::{Deserialize, Serialize};

use crate::SessionFile;

/// A session that an agent is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveSession {
    /// Its id.
    pub session: GivenSessionId,
    /// Its file, and whose it is.
    pub file: SessionFile,
    /// The directory that the agent works in.
    pub directory: PathBuf,
    /// The agent's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Process>,
    /// The id that whoever started the agent gave to all that it would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<GivenSessionId>,
    /// The store that it goes to.
    pub store: String,
    /// The space in it.
    pub space: SpaceName,
    /// Bytes of the file that are kept, in the store or in the spool.
    pub captured: u64,
    /// The same of the files of agents that it has started.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<PathBuf, u64>,
    /// The calls of tools that are under way, the last one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<OpenCall>,
    /// Turns that have ended since it was captured the last time.
    #[serde(default)]
    pub turns: u32,
    /// When that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
    /// The last event that was heard of.
    pub event: String,
    /// When.
    pub heard_at: Timestamp,
}

/// A call of a tool that has not been answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its id, which the session's file holds once the call is written down there.
    pub id: String,
    /// The file that tells of it, when an agent made the call that the session has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Whether the tool is another agent, which works while the call is under way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starts_agent: bool,
}

/// A process, told from later ones that get its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in whatever way the machine tells.
    pub started: String,
}

/// Where sessions that go on are listed: one small file each.
#[derive(Debug, Clone)]
pub struct Registry {
    directory: PathBuf,
}

impl Registry {
    /// Uses a directory, which is made when something is listed.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns a session that is listed. What cannot be read is not there.
    pub fn find(&self, session: &GivenSessionId) -> Option<LiveSession> {
        read(&self.place(session)).filter(|found| found.session == *session)
    }

    /// Returns all of them, the one that was heard of last first.
    pub fn all(&self) -> Vec<LiveSession> {
        let entries = self.directory.read_dir().into_iter().flatten().flatten();
        let mut sessions: Vec<LiveSession> = entries.filter_map(|entry| read(&entry.path())).collect();
        sessions.sort_by(|a, b| b.heard_at.cmp(&a.heard_at).then_with(|| a.session.cmp(&b.session)));
        sessions
    }

    /// Lists a session, made from what is known of it. Two programs that do so at once take turns.
    pub fn update(
        &self,
        session: &GivenSessionId,
        change: impl FnOnce(Option<LiveSession>) -> LiveSession,
    ) -> io::Result<LiveSession> {
        private::create_directory(&self.directory)?;
        let lock = self.place(session).with_extension("lock");
        let lock = private::file().write(true).create(true).truncate(true).open(lock)?;
        lock.lock()?;
        let changed = change(self.find(session));
        let mut draft = DurableFile::begin(&self.directory, FileAccess::Private)?;
        draft.write_all(&serde_json::to_vec(&changed)?)?;
        draft.publish_unsynced(&self.place(session))?;
        Ok(changed)
    }

    /// Takes a session off the list.
    pub fn strike(&self, session: &GivenSessionId) -> io::Result<()> {
        for file in [self.place(session), self.place(session).with_extension("lock")] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes what writers have left that were killed: files that list no session and were not touched since a time.
    pub fn tidy(&self, since: SystemTime) {
        for path in self.directory.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()) {
            let is_old = fs::metadata(&path).and_then(|file| file.modified()).is_ok_and(|touched| touched < since);
            if is_old && !path.with_extension("json").exists() {
                // Somebody else may do the same.
                _ = fs::remove_file(path);
            }
        }
    }

    /// Ids are other people's; only their digest is fit to be a file's name.
    fn place(&self, session: &GivenSessionId) -> PathBuf {
        let digest = blake3::hash(session.as_str().as_bytes()).to_hex();
        self.directory.join(format!("{}.json", &digest.as_str()[..32]))
    }
}

fn read(path: &Path) -> Option<LiveSession> {
    // A draft of another process has another name.
    let is_listed = path.extension().is_some_and(|extension| extension == "json");
    serde_json::from_slice(&fs::read(path).ok().filter(|_| is_listed)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImportSettings;
    use contexture_core::{Format, Machine};

    fn session(id: &str) -> LiveSession {
        let settings = ImportSettings::new(Machine::new("laptop").unwrap(), "claude-code");
        LiveSession {
            session: GivenSessionId::new(id),
            file: SessionFile { path: "s.jsonl".into(), format: Format::new("claude-code-v1").unwrap(), settings },
            directory: "/".into(),
            agent: None,
            run: None,
            store: "store".to_owned(),
            space: SpaceName::new("default").unwrap(),
            captured: 0,
            agents: BTreeMap::new(),
            calls: Vec::new(),
            turns: 0,
            captured_at: None,
            event: "Stop".to_owned(),
            heard_at: "2026-11-15T20:10:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn only_what_lists_no_session_and_is_old_is_tidied_away() {
        let directory = tempfile::tempdir().unwrap();
        let registry = Registry::at(directory.path());
        let id = GivenSessionId::new("s-1");
        registry.update(&id, |_| session("s-1")).unwrap();
        for debris in [".tmpAbCdEf", "0123.lock"] {
            fs::write(directory.path().join(debris), "{").unwrap();
        }
        let files = || fs::read_dir(directory.path()).unwrap().count();
        registry.tidy(SystemTime::UNIX_EPOCH);
        assert_eq!(files(), 4);
        registry.tidy(SystemTime::now() + std::time::Duration::from_mins(1));
        assert_eq!((files(), registry.find(&id)), (2, Some(session("s-1"))));
    }
}
