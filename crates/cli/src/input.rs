//! Files to read, or standard input.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::builder::{PathBufValueParser, TypedValueParser};
use contexture::{FileKind, FileRefusal, open_named};

use crate::error::{Error, Result};

/// Where content comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Standard input.
    Stdin,
    /// A file that a person named: a regular one, or a pipe that a shell handed over as `<(…)`.
    File(PathBuf),
}

/// Content that is ready to be read.
pub(crate) struct OpenInput {
    pub(crate) reader: Box<dyn Read + Send>,
    /// How many bytes there are, where that can be known.
    pub(crate) size: Option<u64>,
}

impl Input {
    /// Reads `-` as standard input and everything else as a path, which may be any bytes.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        PathBufValueParser::new().map(|path| if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path) })
    }

    /// Opens the content.
    pub(crate) fn open(&self) -> Result<OpenInput> {
        match self {
            Self::Stdin => Ok(OpenInput { reader: Box::new(io::stdin()), size: None }),
            Self::File(path) => {
                let (file, size) = self.open_file(path)?;
                Ok(OpenInput { reader: Box::new(file), size })
            }
        }
    }

    /// Opens the content so that it can be read again; what arrives on standard input goes to a temporary file first.
    pub(crate) fn open_seekable(&self) -> Result<(File, Option<u64>)> {
        match self {
            Self::File(path) => self.open_file(path),
            Self::Stdin => {
                let spooled = tempfile::tempfile().and_then(|mut spool| {
                    io::copy(&mut io::stdin(), &mut spool)?;
                    io::Seek::rewind(&mut spool)?;
                    Ok(spool)
                });
                let file = spooled.map_err(|source| self.unreadable(source))?;
                let size = file.metadata().map_err(|source| self.unreadable(source))?.len();
                Ok((file, Some(size)))
            }
        }
    }

    /// Reads all of a content that must not have more than so many bytes; nothing when it has.
    pub(crate) fn read_up_to(&self, max_bytes: u64) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let mut reader = self.open()?.reader.take(max_bytes.saturating_add(1));
        reader.read_to_end(&mut bytes).map_err(|source| self.unreadable(source))?;
        Ok((bytes.len() as u64 <= max_bytes).then_some(bytes))
    }

    fn open_file(&self, path: &Path) -> Result<(File, Option<u64>)> {
        let file = open_named(path).map_err(|refusal| self.refused(refusal))?;
        let metadata = file.metadata().map_err(|source| self.unreadable(source))?;
        Ok((file, metadata.is_file().then_some(metadata.len())))
    }

    /// Says why it is not read.
    pub(crate) fn refused(&self, refusal: FileRefusal) -> Error {
        match (refusal, self) {
            (FileRefusal::Unreadable(source), _) => self.unreadable(source),
            (FileRefusal::NotRegular(FileKind::Directory), Self::File(path)) => Error::Directory { path: path.clone() },
            (source, _) => Error::Refused { input: self.clone(), source },
        }
    }

    fn unreadable(&self, source: io::Error) -> Error {
        Error::Read { input: self.clone(), source }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
