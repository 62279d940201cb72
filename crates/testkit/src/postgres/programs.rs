//! Where PostgreSQL's programs are.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Debian keeps each version in a directory of its own here, outside of everybody's path.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Returns the directory of the programs of the newest version that is installed.
pub(super) fn directory() -> Option<PathBuf> {
    newest(Path::new(DEBIAN)).or_else(on_path)
}

fn newest(versions: &Path) -> Option<PathBuf> {
    let numbered = fs::read_dir(versions).ok()?.flatten().filter_map(|version| {
        let number: u32 = version.file_name().to_str()?.parse().ok()?;
        let programs = version.path().join("bin");
        programs.join("initdb").exists().then_some((number, programs))
    });
    numbered.max().map(|(_, programs)| programs)
}

fn on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let initdb = env::split_paths(&path).find_map(|directory| directory.join("initdb").canonicalize().ok())?;
    initdb.parent().map(Path::to_owned)
}
