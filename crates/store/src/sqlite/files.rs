//! Whether the files that are open are those that lie where the store is.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{log_file, wal_index_file};
use crate::{Error, Result};

/// The files of a store as they were when it was opened.
///
/// A file that is deleted or replaced while it is open takes what is written and keeps none of it for those who open the
/// store later, so nothing is acknowledged before they were looked at. A file that goes away between that and the answer is
/// not noticed.
#[derive(Debug, Clone)]
pub(super) struct OpenFiles {
    files: Arc<[(PathBuf, Option<FileIdentity>)]>,
}

/// What tells a file from every other as long as it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
}

impl OpenFiles {
    /// Looks at the files of a database that was opened and read from.
    pub(super) fn of(database: &Path) -> Result<Self> {
        let paths = [database.to_owned(), log_file(database), wal_index_file(database)];
        let looking = paths.into_iter().map(|path| Ok((FileIdentity::at(&path)?, path)));
        let files = looking.map(|found| found.map(|(identity, path)| (path, identity))).collect::<io::Result<_>>();
        let files: Arc<[_]> = files.map_err(|source| Error::Open { path: database.to_owned(), source })?;
        match &*files {
            [(path, None), ..] => Err(Error::Replaced { path: path.clone() }),
            _ => Ok(Self { files }),
        }
    }

    /// Fails unless each file lies where it was. One that could not be found then is not looked for.
    pub(super) fn check(&self) -> Result<()> {
        for (path, opened) in &*self.files {
            let Some(opened) = opened else { continue };
            match FileIdentity::at(path) {
                Ok(Some(found)) if found == *opened => {}
                // What cannot be looked at cannot be relied on either.
                Ok(_) | Err(_) => return Err(Error::Replaced { path: path.clone() }),
            }
        }
        Ok(())
    }
}

impl FileIdentity {
    /// Returns that of the file at a path, if there is one.
    #[cfg(target_os = "linux")]
    fn at(path: &Path) -> io::Result<Option<Self>> {
        use rustix::{
            fs::{self as system, AtFlags, CWD, StatxFlags},
            io::Errno,
        };

        // Nothing but this is asked for: a log whose times somebody has looked at must keep the next ones exactly, and
        // each commit would write them down.
        match system::statx(CWD, path, AtFlags::empty(), StatxFlags::INO) {
            Ok(found) => {
                let device = system::makedev(found.stx_dev_major, found.stx_dev_minor);
                Ok(Some(Self { device, inode: found.stx_ino }))
            }
            Err(Errno::NOENT) => Ok(None),
            // An older system, or one that is told to know nothing of it.
            Err(Errno::NOSYS) => Self::by_metadata(path),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns that of the file at a path, if there is one.
    #[cfg(not(target_os = "linux"))]
    fn at(path: &Path) -> io::Result<Option<Self>> {
        Self::by_metadata(path)
    }

    fn by_metadata(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(|metadata| Some(Self::of(&metadata))),
        }
    }

    #[cfg(unix)]
    fn of(metadata: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;

        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Elsewhere a file that is open cannot be taken away.
    #[cfg(not(unix))]
    fn of(_: &fs::Metadata) -> Self {
        Self {}
    }
}
