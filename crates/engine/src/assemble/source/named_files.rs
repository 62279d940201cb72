//! Where the files of an assembly are looked for, by who names them.

use std::{
    io,
    path::{Path, PathBuf},
};

use contexture_assembly::recipe::FileNamer;

use crate::{Assemble, FileRefusal, ProjectDirectory, read_named};

/// A longer file is not read: no window takes it.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The files that an assembly names.
pub(in crate::assemble) struct NamedFiles {
    /// Who names those of the recipe.
    pub(super) recipe: FileNamer,
    /// Where names begin.
    directory: PathBuf,
    project: io::Result<ProjectDirectory>,
}

impl NamedFiles {
    pub(in crate::assemble) fn of(request: &Assemble) -> Self {
        Self {
            recipe: request.provenance.file_namer(),
            directory: request.directory.clone(),
            project: ProjectDirectory::around(&request.directory),
        }
    }

    /// Reads a file that somebody names.
    pub(super) fn read(&self, file: &Path, namer: FileNamer) -> Result<Vec<u8>, FileRefusal> {
        match (namer, &self.project) {
            (FileNamer::Person, _) => read_named(&self.directory.join(file), MAX_FILE_BYTES),
            (FileNamer::Project, Ok(project)) => project.read(file, MAX_FILE_BYTES),
            (FileNamer::Project, Err(error)) => Err(FileRefusal::Unreadable(again(error))),
        }
    }
}

/// Returns the same error for another file of the project.
fn again(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}
