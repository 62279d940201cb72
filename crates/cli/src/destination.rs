//! Files to write, or standard output.

use std::{
    fmt,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::builder::{PathBufValueParser, TypedValueParser};
use contexture::{DurableFile, Error as EngineError, FileAccess, NameTaken};

use crate::{
    error::{Error, Result},
    output::{Output, Shape},
};

/// Where content goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// A file that appears under its name once it is whole.
pub(crate) enum DraftFile {
    /// A file beside the one it will replace.
    Beside { file: DurableFile, path: PathBuf },
    /// A device or pipe, which cannot be replaced.
    Direct { file: File, path: PathBuf },
}

impl Destination {
    /// Reads `-` as standard output and everything else as a path, which may be any bytes.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        PathBufValueParser::new().map(|path| if path.as_os_str() == "-" { Self::Stdout } else { Self::File(path) })
    }

    /// Refuses to mix content with documents about it on one stream.
    pub(crate) fn check(&self, output: &Output, content: &'static str) -> Result<()> {
        match (self, output.shape()) {
            (Self::Stdout, Shape::Json) => Err(Error::JsonBesideContent { content }),
            (Self::Stdout, Shape::Text) | (Self::File(_), _) => Ok(()),
        }
    }

    /// Names the place where an operation failed because of it.
    pub(crate) fn failed(&self, error: EngineError) -> Error {
        match (self, error) {
            (Self::Stdout, EngineError::Io { source, .. }) => Error::Stdout(source),
            (Self::File(path), EngineError::Io { source, .. }) => Error::Write { path: path.clone(), source },
            (_, other) => other.into(),
        }
    }
}

impl DraftFile {
    /// Starts a file that is its owner's alone. Nothing appears under the name until [`DraftFile::publish`].
    pub(crate) fn start(path: &Path) -> Result<Self> {
        Self::start_for(path, FileAccess::Private)
    }

    /// Does the same for whoever may read it.
    pub(crate) fn start_for(path: &Path, access: FileAccess) -> Result<Self> {
        let unwritable = |source| Error::Write { path: path.to_owned(), source };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(unwritable(io::ErrorKind::IsADirectory.into())),
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(path).map_err(unwritable)?;
                return Ok(Self::Direct { file, path: path.to_owned() });
            }
            // A file is replaced where it really is, a name that does not exist yet is made.
            Ok(_) | Err(_) => {}
        }
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::metadata(directory).map_err(unwritable)?;
        // The error carries the name of the temporary file, which says nothing to the user; its kind says enough.
        let refused = |error: io::Error| unwritable(error.kind().into());
        let file = DurableFile::begin(directory, access).map_err(refused)?;
        Ok(Self::Beside { file, path })
    }

    /// Borrows what the content is written to.
    pub(crate) fn file(&mut self) -> &mut File {
        match self {
            Self::Beside { file, .. } => file.as_file_mut(),
            Self::Direct { file, .. } => file,
        }
    }

    /// Writes content that is at hand.
    pub(crate) fn write_all(&mut self, content: &[u8]) -> Result<()> {
        let written = self.file().write_all(content);
        written.map_err(|source| Error::Write { path: self.path().to_owned(), source })
    }

    fn path(&self) -> &Path {
        match self {
            Self::Beside { path, .. } | Self::Direct { path, .. } => path,
        }
    }

    /// Makes the file durable and puts it under its name, in the place of what was there.
    pub(crate) fn publish(self) -> Result<()> {
        match self {
            Self::Direct { mut file, path } => file.flush().map_err(|source| Error::Write { path, source }),
            Self::Beside { file, path } => {
                file.publish(&path, NameTaken::Replace).map_err(|source| Error::Write { path, source })
            }
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
