//! Where the clients are.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// What the pinned clients were to be installed from. An installation keeps a copy of what it was made from.
const PINNED: &str = include_str!("../../clients/package-lock.json");
/// The same of the newest.
const NEWEST: &str = include_str!("../../clients-newest/packages.lock");
/// Names the release that tests run which ask for none.
const VARIABLE: &str = "CTX_TEST_CLIENTS";

/// Which released versions of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientRelease {
    /// Those that all tests are written for.
    Pinned,
    /// Those that were the newest when somebody last looked.
    Newest,
}

impl ClientRelease {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Pinned, Self::Newest];

    /// Returns what tests run that ask for none: the pinned, unless `CTX_TEST_CLIENTS` is `newest`.
    pub fn chosen() -> Self {
        match env::var(VARIABLE).as_deref() {
            Err(_) | Ok("pinned") => Self::Pinned,
            Ok("newest") => Self::Newest,
            Ok(other) => panic!("{VARIABLE} is {other:?}, which is neither `pinned` nor `newest`"),
        }
    }

    /// Returns the directory `node_modules`, if the clients are installed at these versions.
    pub(super) fn modules(self) -> Option<PathBuf> {
        let (place, copy, lock) = match self {
            Self::Pinned => ("clients", "installed.json", PINNED),
            Self::Newest => ("clients-newest", "installed.lock", NEWEST),
        };
        let place = target_directory()?.join(place);
        let installed = fs::read_to_string(place.join(copy)).ok()?;
        (installed == lock).then(|| place.join("node_modules"))
    }
}

/// Returns the Node.js that was installed with the pinned clients, or the one on the path where there is none to install.
pub(super) fn node() -> PathBuf {
    let pinned = ClientRelease::Pinned.modules().map(|modules| modules.join(".bin/node"));
    pinned.filter(|node| node.exists()).unwrap_or_else(|| "node".into())
}

/// Cargo marks the directory that it builds in, and this program was built there.
fn target_directory() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists()).map(Path::to_owned)
}
