//! Which directory a project is, from any directory in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{ConfinedDirectory, FileRefusal, worktrees};

/// A project, and a directory in it where names begin.
///
/// The project is the repository that the directory lies in, by the nearest `.git`: what git's own settings say of the
/// working tree comes with the repository and could widen it. Outside a repository nobody answers for what lies above, so
/// the directory is the project.
#[derive(Debug)]
pub struct ProjectDirectory {
    top: ConfinedDirectory,
    way: PathBuf,
    is_repository: bool,
}

impl ProjectDirectory {
    /// Finds the project around a directory.
    pub fn around(directory: &Path) -> io::Result<Self> {
        let directory = directory.canonicalize()?;
        let is_top = |directory: &&Path| fs::symlink_metadata(directory.join(".git")).is_ok();
        let repository = directory.ancestors().find(is_top);
        let top = ConfinedDirectory::open(repository.unwrap_or(&directory))?;
        let way = directory.strip_prefix(top.path()).map(Path::to_owned);
        Ok(Self { top, way: way.map_err(|_| io::ErrorKind::NotFound)?, is_repository: repository.is_some() })
    }

    /// Tells whether it is a repository.
    pub fn is_repository(&self) -> bool {
        self.is_repository
    }

    /// Returns the top of the project.
    pub fn top(&self) -> &ConfinedDirectory {
        &self.top
    }

    /// Returns the tops of the other working trees of the repository, if there are no more than 256.
    pub fn worktrees(&self) -> Vec<PathBuf> {
        if self.is_repository { worktrees::beside(self.top.path()) } else { Vec::new() }
    }

    /// Returns the way from the top to the directory.
    pub fn way(&self) -> &Path {
        &self.way
    }

    /// Reads a file by a name from the directory, if it lies in the project and has no more bytes than that.
    pub fn read(&self, name: &Path, max_bytes: u64) -> Result<Vec<u8>, FileRefusal> {
        self.top.read(&self.way.join(name), max_bytes)
    }
}
