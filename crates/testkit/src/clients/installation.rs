//! Where the clients are.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// What the clients were to be installed from. An installation keeps a copy of what it was made from.
const LOCK: &str = include_str!("../../clients/package-lock.json");

/// Returns the directory `node_modules`, if the clients are installed at the versions that the tests are written for.
pub(super) fn modules() -> Option<PathBuf> {
    let place = target_directory()?.join("clients");
    let installed = fs::read_to_string(place.join("installed.json")).ok()?;
    (installed == LOCK).then(|| place.join("node_modules"))
}

/// Returns the Node.js that was installed with the clients, or the one on the path where there is none to install.
pub(super) fn node(modules: &Path) -> PathBuf {
    let pinned = modules.join(".bin/node");
    if pinned.exists() { pinned } else { "node".into() }
}

/// Cargo marks the directory that it builds in, and this program was built there.
fn target_directory() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists()).map(Path::to_owned)
}
