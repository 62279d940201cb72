//! Where stores are.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{
    postgres::{PostgresUrl, UrlError},
    private::ExposedFile,
    sqlite,
};

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In a directory of this machine.
    Directory(PathBuf),
    /// In a PostgreSQL database.
    Postgres(Box<PostgresUrl>),
}

/// Why a text does not say where a store is.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// It names an engine that this program does not have.
    #[error("{scheme:?} stores are not supported")]
    Scheme {
        /// What stands before `://`.
        scheme: String,
    },
    /// It is no PostgreSQL URL.
    #[error(transparent)]
    Postgres(#[from] UrlError),
}

impl FromStr for Location {
    type Err = LocationError;

    /// Takes a directory, or a URL whose scheme names an engine.
    fn from_str(text: &str) -> Result<Self, LocationError> {
        match text.split_once("://") {
            None => Ok(Self::Directory(PathBuf::from(text))),
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(Box::new(text.parse()?))),
            Some((scheme, _)) => Err(LocationError::Scheme { scheme: scheme.to_owned() }),
        }
    }
}

impl Location {
    /// Returns what others can read of the store's files, if it has files.
    pub fn exposed(&self) -> Vec<ExposedFile> {
        match self {
            Self::Directory(directory) => sqlite::exposed(directory),
            Self::Postgres(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) => write!(f, "{url}"),
        }
    }
}

impl From<&Path> for Location {
    fn from(directory: &Path) -> Self {
        Self::Directory(directory.to_owned())
    }
}

impl From<&Self> for Location {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}
