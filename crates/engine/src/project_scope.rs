//! Which directories are one project.

use std::path::{Path, PathBuf};

use crate::ProjectDirectory;

/// The directories of a project: the one that somebody stands in, and the other working trees of its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectScope {
    top: PathBuf,
    worktrees: Vec<PathBuf>,
}

impl ProjectScope {
    /// Returns the directory that somebody stands in.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Tells whether a directory is one of them or lies below one.
    pub fn has(&self, directory: &Path) -> bool {
        directory.starts_with(&self.top) || self.worktrees.iter().any(|tree| directory.starts_with(tree))
    }
}

impl From<PathBuf> for ProjectScope {
    fn from(top: PathBuf) -> Self {
        Self { top, worktrees: Vec::new() }
    }
}

impl From<&ProjectDirectory> for ProjectScope {
    fn from(project: &ProjectDirectory) -> Self {
        Self { top: project.top().path().to_owned(), worktrees: project.worktrees() }
    }
}
