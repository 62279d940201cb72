//! The recipes of projects that the user trusts: a small file for each, so no two programs can lose what the other adds.

use std::{
    fs::{self, DirBuilder},
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::DirBuilderExt as _},
    path::{Path, PathBuf},
};

use contexture::{DurableFile, FileAccess, NameTaken, core::ArtifactId, read_named};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
};

/// The most bytes that an entry may have: two paths and a digest.
const MAX_ENTRY_BYTES: u64 = 64 * 1024;

/// The recipes of projects that the user trusts.
#[derive(Debug)]
pub(crate) struct TrustedRecipes {
    /// Where that is kept; nothing is trusted where the user has no such place.
    directory: Option<PathBuf>,
}

/// A recipe of a project, and the digest that it had when it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TrustEntry {
    /// The top of the project, without links.
    pub(crate) project: PathBuf,
    /// Its file, from there.
    pub(crate) path: PathBuf,
    /// The digest.
    pub(crate) digest: ArtifactId,
}

impl TrustedRecipes {
    pub(crate) fn of(invocation: &Invocation) -> Self {
        let state = invocation.environment.state_directory.as_ref();
        Self { directory: state.map(|state| state.join("trusted-recipes")) }
    }

    /// Returns the digest that a recipe had when it was trusted.
    pub(crate) fn digest_of(&self, project: &Path, path: &Path) -> Option<ArtifactId> {
        let entry = read(&self.directory.as_ref()?.join(file_name(project, path)))?;
        (entry.project == project && entry.path == path).then_some(entry.digest)
    }

    /// Remembers that a recipe is trusted as it is.
    pub(crate) fn add(&self, entry: &TrustEntry) -> Result<()> {
        let directory = self.directory.as_ref().ok_or(Error::NoHome)?;
        let path = directory.join(file_name(&entry.project, &entry.path));
        let written = || {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            let mut file = DurableFile::begin(directory, FileAccess::Private)?;
            file.write_all(&serde_json::to_vec(entry)?)?;
            file.publish(&path, NameTaken::Replace)
        };
        written().map_err(|source| Error::Write { path: path.clone(), source })
    }

    /// Forgets that a recipe is trusted.
    pub(crate) fn remove(&self, entry: &TrustEntry) -> Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let path = directory.join(file_name(&entry.project, &entry.path));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::Write { path, source: error }),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Lists what is trusted, by project and file.
    pub(crate) fn list(&self) -> Result<Vec<TrustEntry>> {
        let Some(directory) = &self.directory else { return Ok(Vec::new()) };
        let unreadable = |source| Error::Read { input: Input::File(directory.clone()), source };
        let files = match fs::read_dir(directory) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut entries = Vec::new();
        for file in files {
            entries.extend(read(&file.map_err(unreadable)?.path()));
        }
        entries.sort();
        Ok(entries)
    }
}

/// Reads an entry. One that is damaged says nothing, so its recipe has to be trusted again.
fn read(path: &Path) -> Option<TrustEntry> {
    serde_json::from_slice(&read_named(path, MAX_ENTRY_BYTES).ok()?).ok()
}

fn file_name(project: &Path, path: &Path) -> String {
    let (project, path) = (project.as_os_str().as_bytes(), path.as_os_str().as_bytes());
    // No path holds the byte between them.
    format!("{}.json", ArtifactId::of(&[project, &[0], path].concat()))
}
