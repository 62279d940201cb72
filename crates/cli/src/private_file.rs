//! Files of the user that may hold a password.

use std::{
    fs::{File, Metadata},
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Result},
    input::Input,
};

/// Longest file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// A file that was read, and who could read it beside the user.
#[derive(Debug)]
pub(crate) struct PrivateFile {
    path: PathBuf,
    metadata: Metadata,
}

impl PrivateFile {
    /// Reads a file; nothing, if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<(Self, String)>> {
        let unreadable = |source| Error::Read { input: Input::File(path.to_owned()), source };
        let is_file = match path.metadata() {
            Ok(metadata) => metadata.is_file(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(source) => return Err(unreadable(source)),
        };
        // `/dev/null` is how some say that they have no such file.
        if !is_file {
            return Ok(None);
        }
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let mut text = String::new();
        // The system's words about a file that is no text may hold some of it.
        let read = file.take(MAX_BYTES).read_to_string(&mut text);
        read.map_err(|source| unreadable(source.kind().into()))?;
        Ok(Some((Self { path: path.to_owned(), metadata }, text)))
    }

    /// Refuses a file that others can read.
    pub(crate) fn demand_secrecy(&self) -> Result<()> {
        self.refuse(0o077)
    }

    /// Refuses a file that others can change.
    pub(crate) fn demand_authorship(&self) -> Result<()> {
        self.refuse(0o022)
    }

    fn refuse(&self, rights: u32) -> Result<()> {
        let mode = self.metadata.mode() & 0o777;
        // Whatever the superuser wrote is as good as what the user did.
        let is_own = [0, rustix::process::geteuid().as_raw()].contains(&self.metadata.uid());
        if mode & rights == 0 && is_own {
            return Ok(());
        }
        Err(Error::ExposedPassword { path: self.path.clone(), mode, is_own })
    }
}
