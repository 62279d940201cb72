//! The directory of a run, named for its machine and process, so that a later run can tell whether it is left over.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use super::socket::{SOCKET, connect};
use crate::{
    Process,
    live::process::{host, own_process, running},
};

const PREFIX: &str = "run-";

/// A directory that only this user may enter. It goes away with the value.
pub(super) struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes one in a place, which is made too, and removes those there whose processes are gone. What other machines have
    /// made there, which share a home with this one, is theirs.
    pub(super) fn make(place: &Path) -> io::Result<Self> {
        Self::make_on(&host()?, place)
    }

    fn make_on(host: &str, place: &Path) -> io::Result<Self> {
        let process = own_process().ok_or_else(|| io::Error::other("nothing is known of this process"))?;
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        remove_abandoned(host, place)?;
        let path = place.join(name_of(host, &process));
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

/// Returns a name that no other process has had, as far as machines can tell them apart.
fn name_of(host: &str, process: &Process) -> String {
    format!("{}{}-{}", prefix_of(host), process.pid, mark(&process.started))
}

/// Returns how the names of all that a machine makes begin.
fn prefix_of(host: &str) -> String {
    format!("{PREFIX}{}-", mark(host))
}

fn mark(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

fn remove_abandoned(host: &str, place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        // A link leads to what is somebody else's.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A process that is not seen from here, as in a container, answers all the same.
        let is_abandoned = || entry.file_name().to_str().is_some_and(|name| is_abandoned(host, name));
        if is_directory && is_abandoned() && connect(&entry.path().join(SOCKET)).is_err() {
            // Another run may do the same at this moment.
            _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Tells whether a name is that of a directory whose process has ended. What was not made here is nobody's to remove.
fn is_abandoned(host: &str, name: &str) -> bool {
    let Some((pid, _)) = name.strip_prefix(&prefix_of(host)).and_then(|rest| rest.split_once('-')) else {
        return false;
    };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    running(pid).is_none_or(|process| !name.starts_with(&name_of(host, &process)))
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
        let here = host().unwrap();
        let theirs = place.join(name_of(&here, &running(child.id()).unwrap()));
        let reused = place.join(format!("{}{}-00000000", prefix_of(&here), std::process::id()));
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

    #[test]
    fn what_another_machine_has_made_in_a_shared_home_stays() {
        let root = tempfile::tempdir().unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let gone = running(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let [ours, theirs] = ["here", "there"].map(|host| root.path().join(name_of(host, &gone)));
        fs::create_dir(&ours).unwrap();
        fs::create_dir(&theirs).unwrap();
        drop(RunDirectory::make_on("here", root.path()).unwrap());
        assert_eq!((ours.exists(), theirs.exists()), (false, true));
    }
}
