//! Files that appear under their names once they are whole.

use std::{
    fs::{File, Permissions},
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// A file that has no name yet: whoever looks for its name finds all of its content or what was there before.
///
/// It is removed when it is dropped without having been published.
#[derive(Debug)]
pub struct DurableFile {
    draft: NamedTempFile,
}

/// Who may read a new file, whatever the mask of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAccess {
    /// Its owner.
    Private,
    /// Its owner, who may run it too.
    PrivateProgram,
    /// Whoever could read the file of somebody else whose place it takes.
    Like(Permissions),
}

/// What happens to a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameTaken {
    /// The new one takes its place.
    Replace,
    /// It stays, and the new one is not published.
    Refuse,
}

impl DurableFile {
    /// Begins a file in the directory where it will get its name.
    pub fn begin(directory: &Path, access: FileAccess) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ctx-");
        #[cfg(unix)]
        if access == FileAccess::PrivateProgram {
            builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700));
        }
        let draft = builder.tempfile_in(directory)?;
        if let FileAccess::Like(permissions) = access {
            // Nothing is in it yet.
            draft.as_file().set_permissions(permissions)?;
        }
        Ok(Self { draft })
    }

    /// Returns where the content is until it has its name.
    pub fn draft_path(&self) -> &Path {
        self.draft.path()
    }

    /// Borrows what the content is written to.
    pub fn as_file_mut(&mut self) -> &mut File {
        self.draft.as_file_mut()
    }

    /// Makes the content durable, before it has its name.
    pub fn sync(&self) -> io::Result<()> {
        self.draft.as_file().sync_all()
    }

    /// Gives the file its name and makes both durable.
    pub fn publish(self, path: &Path, taken: NameTaken) -> io::Result<()> {
        self.sync()?;
        match taken {
            NameTaken::Replace => self.draft.persist(path),
            NameTaken::Refuse => self.draft.persist_noclobber(path),
        }
        .map_err(|refused| refused.error)?;
        sync_directory(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
    }

    /// Gives the file its name, in place of what has it, and leaves it to the system when both become durable: for what
    /// may be lost, but not be seen in part.
    pub fn publish_unsynced(self, path: &Path) -> io::Result<()> {
        self.draft.persist(path).map(drop).map_err(|refused| refused.error)
    }
}

impl Write for DurableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.draft.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.draft.flush()
    }
}

/// Makes the names in a directory durable, where the system knows how.
#[cfg_attr(not(unix), expect(unused_variables, clippy::unnecessary_wraps))]
fn sync_directory(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn nothing_has_the_name_before_the_file_is_published() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("it");
        let mut file = DurableFile::begin(directory.path(), FileAccess::Private).unwrap();
        file.write_all(b"new").unwrap();
        assert!(!path.exists());
        file.publish(&path, NameTaken::Refuse).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_name_that_is_taken_is_replaced_or_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("it");
        fs::write(&path, "old").unwrap();
        let begin = || DurableFile::begin(directory.path(), FileAccess::Private).unwrap();
        let refused = begin().publish(&path, NameTaken::Refuse).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        begin().publish(&path, NameTaken::Replace).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        fs::write(&path, "old").unwrap();
        begin().publish_unsynced(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("it");
        let file = DurableFile::begin(directory.path(), FileAccess::Private).unwrap();
        file.publish(&path, NameTaken::Replace).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_takes_the_place_of_anothers_is_read_by_the_same() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().unwrap();
        let mode = |access| {
            let path = directory.path().join("it");
            DurableFile::begin(directory.path(), access).unwrap().publish(&path, NameTaken::Replace).unwrap();
            fs::metadata(&path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(FileAccess::Like(Permissions::from_mode(0o664))), 0o664);
        assert_eq!(mode(FileAccess::PrivateProgram), 0o700);
    }
}
