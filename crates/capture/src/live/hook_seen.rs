//! When the hooks of each runtime were last heard of.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use contexture_core::Timestamp;
use contexture_store::private;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, Runtime};

/// How exactly it is noted.
const MOMENT: Duration = Duration::from_secs(20);

/// The last time that a runtime called its hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookSeen {
    /// When.
    pub at: Timestamp,
    /// Because of what.
    pub event: String,
}

impl HookSeen {
    /// Returns the last time that a runtime called its hook. What cannot be read was not noted.
    pub fn last(state: &Path, runtime: Runtime) -> Option<Self> {
        serde_json::from_slice(&fs::read(place(state, runtime)).ok()?).ok()
    }

    /// Notes that a hook was called, unless one was noted a moment before it.
    pub fn note(&self, state: &Path, runtime: Runtime) -> Result<()> {
        self.write(state, runtime).map_err(Error::State)
    }

    fn write(&self, state: &Path, runtime: Runtime) -> io::Result<()> {
        let place = place(state, runtime);
        if Self::last(state, runtime).is_some_and(|last| last.is_moment_before(self)) {
            return Ok(());
        }
        private::create_directory(place.parent().unwrap_or(state))?;
        private::file().write(true).create(true).truncate(true).open(place)?.write_all(&serde_json::to_vec(self)?)
    }

    /// Tells whether a call came soon after this one. A clock may have been set back in between.
    fn is_moment_before(&self, next: &Self) -> bool {
        let since = u64::try_from(next.at.as_micros() - self.at.as_micros());
        since.is_ok_and(|micros| Duration::from_micros(micros) < MOMENT)
    }
}

fn place(state: &Path, runtime: Runtime) -> PathBuf {
    state.join("fired").join(runtime.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_of_each_runtime_is_known_to_the_moment() {
        let state = tempfile::tempdir().unwrap();
        let last = |runtime| HookSeen::last(state.path(), runtime);
        let seen = |at: &str, event: &str| HookSeen { at: at.parse().unwrap(), event: event.to_owned() };
        let first = seen("2026-11-15T20:10:00Z", "turn_end");
        assert_eq!(last(Runtime::PI), None);
        first.note(state.path(), Runtime::PI).unwrap();
        seen("2026-11-15T20:10:19Z", "agent_end").note(state.path(), Runtime::PI).unwrap();
        assert_eq!(last(Runtime::PI), Some(first));
        for later in [seen("2026-11-15T20:10:20Z", "agent_end"), seen("2026-11-15T20:10:19Z", "turn_end")] {
            later.note(state.path(), Runtime::PI).unwrap();
            assert_eq!(last(Runtime::PI), Some(later));
        }
        assert_eq!(last(Runtime::CODEX), None);
    }
}
