//! Files and directories that only their owner may read, whatever the mask of the process: transcripts hold secrets.

use std::{
    fs::{self, DirBuilder, OpenOptions, Permissions},
    io,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Begins to open a file that is its owner's alone if it is made.
pub fn file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a directory, and those above it that are not there, which only their owner may enter. One that is there stays
/// as it is.
pub fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// A file or directory that others can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExposedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its mode, in octal.
    pub mode: String,
    /// Who can reach it.
    pub readers: Readers,
}

/// Who can reach a file beside its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Readers {
    /// Whoever belongs to its group.
    Group,
    /// Everybody on the machine.
    Everybody,
}

impl ExposedFile {
    /// Makes it its owner's alone.
    pub fn close(&self) -> io::Result<()> {
        let mode = mode(&self.path)? & 0o700;
        set_mode(&self.path, mode)
    }
}

/// Returns what others can reach of some files in a directory, and the directory itself if `is_own` says that nothing
/// else lies in it. What cannot be looked at is left out.
pub fn exposed(directory: &Path, names: &[&str], is_own: bool) -> Vec<ExposedFile> {
    let Ok(entry) = mode(directory) else { return Vec::new() };
    let mut found: Vec<_> = is_own.then(|| exposure(directory, 0o777)).flatten().into_iter().collect();
    found.extend(names.iter().filter_map(|name| exposure(&directory.join(name), entry)));
    found
}

/// Returns what others can reach of everything in a directory, and the directory itself. Links are not followed.
pub fn exposed_below(directory: &Path) -> Vec<ExposedFile> {
    let mut found = Vec::new();
    walk(directory, 0o777, &mut found);
    found
}

fn walk(path: &Path, entry: u32, found: &mut Vec<ExposedFile>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if metadata.is_symlink() {
        return;
    }
    found.extend(exposure(path, entry));
    if metadata.is_dir() {
        let entry = entry & mode(path).unwrap_or(0);
        let mut inside: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inside.sort();
        for path in &inside {
            walk(path, entry, found);
        }
    }
}

/// Returns who can reach a file in a directory that may be entered so.
fn exposure(path: &Path, entry: u32) -> Option<ExposedFile> {
    let mode = mode(path).ok()?;
    let reaches = |who: u32| mode & (0o7 * who) != 0 && entry & who != 0;
    let readers = match (reaches(0o1), reaches(0o10)) {
        (true, _) => Readers::Everybody,
        (false, true) => Readers::Group,
        (false, false) => return None,
    };
    Some(ExposedFile { path: path.to_owned(), mode: format!("{mode:o}"), readers })
}

#[cfg(unix)]
fn mode(path: &Path) -> io::Result<u32> {
    Ok(std::os::unix::fs::PermissionsExt::mode(&fs::symlink_metadata(path)?.permissions()) & 0o777)
}

#[cfg(not(unix))]
fn mode(path: &Path) -> io::Result<u32> {
    fs::symlink_metadata(path).map(|_| 0o700)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, <Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_lies_behind_a_closed_directory_cannot_be_reached() {
        let place = tempfile::tempdir().unwrap();
        let (directory, inner) = (place.path().join("a"), place.path().join("a/b"));
        create_directory(&inner).unwrap();
        let file = inner.join("it");
        fs::write(&file, "").unwrap();
        let shown = |modes: [u32; 3]| {
            for (path, mode) in [(&directory, modes[0]), (&inner, modes[1]), (&file, modes[2])] {
                set_mode(path, mode).unwrap();
            }
            let found = exposed_below(&directory);
            let name = |path: &Path| path.strip_prefix(place.path()).unwrap().display().to_string();
            found.iter().map(|it| format!("{} {} {:?}", name(&it.path), it.mode, it.readers)).collect::<Vec<_>>()
        };
        assert_eq!(shown([0o700, 0o755, 0o644]), [""; 0]);
        assert_eq!(shown([0o711, 0o755, 0o600]), ["a 711 Everybody", "a/b 755 Everybody"]);
        assert_eq!(shown([0o750, 0o755, 0o644]), ["a 750 Group", "a/b 755 Group", "a/b/it 644 Group"]);
        assert_eq!(shown([0o755, 0o700, 0o666]), ["a 755 Everybody"]);
        let named = exposed(&inner, &["it", "absent"], false);
        assert_eq!(named, []);
        set_mode(&inner, 0o755).unwrap();
        let named = exposed(&inner, &["it", "absent"], false);
        assert_eq!(named.iter().map(|it| &it.path).collect::<Vec<_>>(), [&file]);
        named[0].close().unwrap();
        assert_eq!(mode(&file).unwrap(), 0o600);
    }
}
