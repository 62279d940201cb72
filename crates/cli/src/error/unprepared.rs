//! Why agents cannot be set up to call this program.

use std::{io, path::PathBuf};

use contexture_capture::Runtime;

use super::hint::any_of;
use crate::setup::Misfit;

/// Why agents cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unprepared {
    /// No agent is on this machine.
    #[error("no agent was found on this machine")]
    NoAgents,
    /// An agent keeps its settings in a home, and there is none.
    #[error("there is no home directory with the settings of {}", runtime.title())]
    NoSettings { runtime: Runtime },
    /// Hooks cannot be put into settings, or taken out.
    #[error("cannot change the hooks in {}", path.display())]
    Settings { path: PathBuf, runtime: Runtime, source: Misfit },
    /// Somebody else's file has the name of one of ours.
    #[error("{} was not written by ctx", path.display())]
    NotOurs { path: PathBuf },
    /// A file cannot be moved aside.
    #[error("cannot move {} to {}, which is there already", path.display(), aside.display())]
    Occupied { path: PathBuf, aside: PathBuf },
    /// Somebody changed a file that was to be changed.
    #[error("{} was changed meanwhile", path.display())]
    Overtaken { path: PathBuf },
    /// Nobody can be asked.
    #[error("nothing was changed, because nobody can be asked")]
    Unconfirmed,
    /// The program does not know itself.
    #[error("cannot tell where this program is")]
    NoProgram(#[source] io::Error),
    /// Settings are text, and this is not.
    #[error("cannot write {what} into settings, because it is not UTF-8")]
    NotText { what: &'static str },
    /// The address of the store holds a password, and would be written into settings that others can read.
    #[error("the address of the store holds a password, which would stand in settings and command lines")]
    PasswordInAddress { configuration: PathBuf },
}

impl Unprepared {
    /// Returns what to do next.
    pub(super) fn hint(&self) -> Option<String> {
        let hint: &str = match self {
            Self::NoAgents => &format!("name one: {}", any_of("ctx init --runtime", Runtime::hooked())),
            Self::NoSettings { .. } => "set HOME, or use `--project`",
            Self::Settings { runtime, .. } => &format!(
                "`ctx init --runtime {} --dry-run --diff` prints what to write there by hand; `--runtime` names other agents",
                runtime.as_str()
            ),
            Self::NotOurs { .. } => "give that file another name",
            Self::Occupied { .. } => "remove one of them, or join them by hand",
            Self::Overtaken { .. } => "run the same command again",
            Self::Unconfirmed => "`--yes` makes the changes, `--dry-run` only shows them",
            Self::PasswordInAddress { configuration } => &format!(
                "leave it out, and keep it in a file of mode 0600: the whole address as `store = \"…\"` in {}, \
                 the password in ~/.pgpass or what PGPASSFILE names, or a service that PGSERVICE or \
                 `postgres://?service=NAME` names",
                configuration.display()
            ),
            Self::NoProgram(_) | Self::NotText { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
