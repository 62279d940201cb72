//! The way from a directory to what is named in it, one handle after the other, so that nothing on it can be exchanged.
//!
//! The kernel of Linux could do it in one call (`openat2`), but older ones, sandboxes and other systems cannot, and two
//! ways would have to agree.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{self as system, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

use super::{ConfinedDirectory, FileKind, FileRefusal};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;
/// More parts than any path has that can be typed; links could make a way longer than that.
const MAX_STEPS: usize = 4096;

/// A step of the way.
enum Step {
    Into(OsString),
    Up,
}

/// The way as far as it was gone, and what is left of it.
struct Walk<'w> {
    root: &'w ConfinedDirectory,
    /// The directories below the root that were entered.
    entered: Vec<OwnedFd>,
    /// The steps that are left, the next one last.
    left: Vec<Step>,
    links: usize,
}

/// Opens what is at the end of the way, without waiting for anybody.
pub(super) fn to_file(root: &ConfinedDirectory, name: &Path) -> Result<OwnedFd, FileRefusal> {
    let mut walk = Walk::new(root, name)?;
    while let Some(step) = walk.left.pop() {
        match step {
            Step::Up => walk.leave()?,
            Step::Into(name) if walk.left.is_empty() => {
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
                if let Some(file) = walk.open(&name, flags)? {
                    return Ok(file);
                }
            }
            Step::Into(name) => walk.enter(&name)?,
        }
    }
    Err(FileRefusal::NotRegular(FileKind::Directory))
}

/// Opens the directory at the end of the way.
pub(super) fn to_directory(root: &ConfinedDirectory, name: &Path) -> Result<OwnedFd, FileRefusal> {
    let mut walk = Walk::new(root, name)?;
    while let Some(step) = walk.left.pop() {
        match step {
            Step::Up => walk.leave()?,
            Step::Into(name) => walk.enter(&name)?,
        }
    }
    match walk.entered.pop() {
        Some(directory) => Ok(directory),
        None => Ok(root.handle.try_clone().map_err(FileRefusal::Unreadable)?),
    }
}

impl<'w> Walk<'w> {
    fn new(root: &'w ConfinedDirectory, name: &Path) -> Result<Self, FileRefusal> {
        let mut walk = Self { root, entered: Vec::new(), left: Vec::new(), links: 0 };
        walk.go_on_by(name)?;
        Ok(walk)
    }

    /// Puts a path before what is left. An absolute one begins at the root again, if it leads there.
    fn go_on_by(&mut self, path: &Path) -> Result<(), FileRefusal> {
        let path = if path.is_absolute() {
            self.entered.clear();
            path.strip_prefix(&self.root.path).map_err(|_| FileRefusal::LeadsOut)?
        } else {
            path
        };
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.left.push(Step::Into(name.to_owned())),
                Component::ParentDir => self.left.push(Step::Up),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(FileRefusal::LeadsOut),
            }
        }
        if self.left.len() > MAX_STEPS { Err(FileRefusal::TooManyLinks) } else { Ok(()) }
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), FileRefusal> {
        if let Some(directory) = self.open(name, OFlags::RDONLY | OFlags::DIRECTORY)? {
            self.entered.push(directory);
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), FileRefusal> {
        self.entered.pop().map(drop).ok_or(FileRefusal::LeadsOut)
    }

    /// Opens what has a name here; nothing where that is a link, which is what is left of the way then.
    fn open(&mut self, name: &OsStr, flags: OFlags) -> Result<Option<OwnedFd>, FileRefusal> {
        let refused = match system::openat(self.here(), name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        {
            Ok(opened) => return Ok(Some(opened)),
            Err(refused) => refused,
        };
        // Systems disagree on what to say of a link that is not followed.
        if matches!(refused, Errno::LOOP | Errno::NOTDIR | Errno::MLINK)
            && let Ok(target) = system::readlinkat(self.here(), name, Vec::new())
        {
            self.links += 1;
            if self.links > MAX_LINKS {
                return Err(FileRefusal::TooManyLinks);
            }
            self.go_on_by(&PathBuf::from(OsString::from_vec(target.into_bytes())))?;
            return Ok(None);
        }
        // A socket cannot be opened, so it has to be looked at to say what it is.
        let kind = system::statat(self.here(), name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kind = kind.and_then(|stat| FileKind::of(FileType::from_raw_mode(stat.st_mode)));
        Err(match kind {
            Some(kind) if kind != FileKind::Directory => FileRefusal::NotRegular(kind),
            _ => refused.into(),
        })
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.entered.last().unwrap_or(&self.root.handle).as_fd()
    }
}
