//! The directory of a run, named for its process, so that a later run can tell whether it is left over.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use super::socket::{SOCKET, connect};
use crate::{
    Process,
    live::process::{own_process, running},
};

const PREFIX: &str = "run-";

/// A directory that only this user may enter. It goes away with the value.
pub(super) struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes one in a place, which is made too, and removes those there whose processes are gone.
    pub(super) fn make(place: &Path) -> io::Result<Self> {
        let process = own_process().ok_or_else(|| io::Error::other("nothing is known of this process"))?;
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        remove_abandoned(place)?;
        let path = place.join(name_of(&process));
        match DirBuilder::new().mode(0o700).create(&path) {
            // A process that runs several tests or agents has several.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::make_further(&path),
            made => made.map(|()| Self { path }),
        }
    }

    fn make_further(first: &Path) -> io::Result<Self> {
        for number in 1..=u16::MAX {
            let mut path = first.as_os_str().to_owned();
            path.push(format!("-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self { path: path.into() }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // What stays is removed by a later run.
        _ = fs::remove_dir_all(&self.path);
    }
}

/// Returns a name that no other process has had, as far as the machine can tell them apart.
fn name_of(process: &Process) -> String {
    let started = blake3::hash(process.started.as_bytes()).to_hex();
    format!("{PREFIX}{}-{}", process.pid, &started.as_str()[..8])
}

fn remove_abandoned(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        // A link leads to what is somebody else's.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A process that is not seen from here, as in a container, answers all the same.
        let is_abandoned = || entry.file_name().to_str().is_some_and(is_abandoned);
        if is_directory && is_abandoned() && connect(&entry.path().join(SOCKET)).is_err() {
            // Another run may do the same at this moment.
            _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Tells whether a name is that of a directory whose process has ended. What was not made here is nobody's to remove.
fn is_abandoned(name: &str) -> bool {
    let Some((pid, _)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')) else { return false };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    running(pid).is_none_or(|process| !name.starts_with(&name_of(&process)))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt as _, process::Command};

    use super::*;

    #[test]
    fn only_directories_of_processes_that_are_gone_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("a/run");
        let first = RunDirectory::make(&place).unwrap();
        let second = RunDirectory::make(&place).unwrap();
        assert_ne!(first.path(), second.path());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(first.path()), mode(second.path())), (0o700, 0o700, 0o700));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let theirs = place.join(name_of(&running(child.id()).unwrap()));
        let reused = place.join(format!("{PREFIX}{}-00000000", std::process::id()));
        let kept = [place.join("notes"), place.join("run-x-y"), place.join("run-file-1")];
        for path in kept.iter().chain([&theirs, &reused]) {
            fs::create_dir(path).unwrap();
        }
        drop(RunDirectory::make(&place).unwrap());
        assert!(first.path().exists() && second.path().exists() && theirs.exists() && !reused.exists());
        assert!(kept.iter().all(|path| path.exists()));
        child.kill().unwrap();
        child.wait().unwrap();
        fs::write(theirs.join("socket"), b"").unwrap();
        drop(RunDirectory::make(&place).unwrap());
        assert!(!theirs.exists());
    }
}
