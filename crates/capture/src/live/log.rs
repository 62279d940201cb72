//! The log of live capture: what went wrong where nobody could be told. `ctx doctor` shows it.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use contexture_core::{GivenSessionId, Timestamp};
use contexture_store::private;
use serde::{Deserialize, Serialize};

/// Size at which the log is put aside and begun anew, so that it never grows without end.
const MAX_BYTES: u64 = 256 * 1024;

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// When.
    pub at: Timestamp,
    /// What was being done, such as `hook claude-code Stop`.
    pub during: String,
    /// In which session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<GivenSessionId>,
    /// What went wrong, and why.
    pub problem: String,
    /// Whether what was at stake is in the spool.
    #[serde(default)]
    pub is_spooled: bool,
}

/// Where it is written down.
#[derive(Debug, Clone)]
pub struct TroubleLog {
    path: PathBuf,
}

impl TroubleLog {
    /// Uses a file, which is made when something is written down.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Uses the log of live capture that is at work in a directory.
    pub fn in_state(directory: &Path) -> Self {
        Self::at(directory.join("capture.log"))
    }

    /// Writes something down, as well as possible.
    pub fn write(&self, trouble: &Trouble) {
        // There is nobody to tell when that fails too.
        _ = self.append(trouble);
    }

    /// Returns what was written down at or after a time, in that order. Lines that cannot be read are left out.
    pub fn since(&self, time: Timestamp) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        for file in [self.aside(), self.path.clone()] {
            let lines = fs::read(file).unwrap_or_default();
            let read = lines.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
            troubles.extend(read.filter(|trouble: &Trouble| trouble.at >= time));
        }
        troubles
    }

    fn append(&self, trouble: &Trouble) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            private::create_directory(directory)?;
        }
        let mut line = serde_json::to_vec(trouble)?;
        line.push(b'\n');
        let mut file = private::file().create(true).append(true).open(&self.path)?;
        if file.metadata()?.len() > MAX_BYTES {
            fs::rename(&self.path, self.aside())?;
            file = private::file().create(true).append(true).open(&self.path)?;
        }
        file.write_all(&line)
    }

    fn aside(&self) -> PathBuf {
        self.path.with_extension("log.1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_aside_is_told_too_and_what_is_old_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let log = TroubleLog::at(directory.path().join("capture.log"));
        let trouble = |at: &str, problem: &str| Trouble {
            at: at.parse().unwrap(),
            during: "hook pi turn_end".to_owned(),
            session: None,
            problem: problem.to_owned(),
            is_spooled: true,
        };
        let (long, short) = ("x".repeat(300 * 1024), "short");
        let all = [
            trouble("2026-11-01T00:00:00Z", "old"),
            trouble("2026-11-14T00:00:00Z", &long),
            trouble("2026-11-15T00:00:00Z", short),
        ];
        for trouble in &all {
            log.write(trouble);
        }
        fs::write(
            directory.path().join("capture.log"),
            [fs::read(directory.path().join("capture.log")).unwrap(), b"{\n".to_vec()].concat(),
        )
        .unwrap();
        assert_eq!(log.since("2026-11-08T00:00:00Z".parse().unwrap()), all[1..]);
    }
}
