//! Files of others: the one place where they are opened.
//!
//! What a stranger names is looked for in a [`ConfinedDirectory`] and never found outside of it. What a person names may
//! lie anywhere, and so may what a program finds by itself. Each is opened without waiting and looked at once it is open, so nobody can change it in between; only
//! a regular file is read, and so much of it at most.

mod found;
mod person;
mod project;
mod refusal;
mod walk;
mod worktrees;

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::ffi::OsStringExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{self as system, Dir, Mode, OFlags};

pub use found::{open_found, read_found};
pub use person::{open_named, read_named};
pub use project::ProjectDirectory;
pub use refusal::{FileKind, FileRefusal};

/// A directory that what is named in it does not lead out of, be it by `..`, by a link or by an absolute path.
#[derive(Debug)]
pub struct ConfinedDirectory {
    handle: OwnedFd,
    /// Where it is, without links.
    path: PathBuf,
}

impl ConfinedDirectory {
    /// Opens a directory. It is the same one from then on, whatever its path comes to mean.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let handle = system::open(&path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { handle, path })
    }

    /// Returns where it is, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file by a name from here. Links are followed as long as they stay inside.
    pub fn open_file(&self, name: &Path) -> Result<File, FileRefusal> {
        let file = File::from(walk::to_file(self, name)?);
        refusal::check_regular(&file)?;
        Ok(file)
    }

    /// Reads a regular file by a name from here, unless it has more bytes than that.
    pub fn read(&self, name: &Path, max_bytes: u64) -> Result<Vec<u8>, FileRefusal> {
        read_all(self.open_file(name)?, max_bytes)
    }

    /// Lists what is in a directory by a name from here, unless there are more names than that.
    pub fn names(&self, name: &Path, max_names: usize) -> Result<Vec<OsString>, FileRefusal> {
        let directory = walk::to_directory(self, name)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory).map_err(FileRefusal::from)? {
            let entry = OsString::from_vec(entry.map_err(FileRefusal::from)?.file_name().to_bytes().to_owned());
            if entry == "." || entry == ".." {
                continue;
            }
            if names.len() == max_names {
                return Err(FileRefusal::TooMany { max_names });
            }
            names.push(entry);
        }
        Ok(names)
    }
}

/// Reads an open file to its end, wherever that is meanwhile.
fn read_all(file: File, max_bytes: u64) -> Result<Vec<u8>, FileRefusal> {
    let announced = file.metadata().map_err(FileRefusal::Unreadable)?.len();
    if announced > max_bytes {
        return Err(FileRefusal::TooLarge { max_bytes });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(announced).unwrap_or(0));
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(FileRefusal::Unreadable)?;
    if bytes.len() as u64 > max_bytes { Err(FileRefusal::TooLarge { max_bytes }) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests;
