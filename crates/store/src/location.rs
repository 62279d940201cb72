//! Where stores are.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{
    postgres::{AddressDefaults, PostgresUrl, UrlError},
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
    /// It looks like the address of a server, but does not say of which kind. It may hold a password, so it is not shown.
    #[error("it is an address without postgres:// before it")]
    NoScheme,
    /// It is no PostgreSQL URL.
    #[error(transparent)]
    Postgres(#[from] UrlError),
}

impl FromStr for Location {
    type Err = LocationError;

    /// Takes a directory, or a URL whose scheme names an engine.
    fn from_str(text: &str) -> Result<Self, LocationError> {
        Self::with_defaults(text, &AddressDefaults::default())
    }
}

impl Location {
    /// Does the same for a text that may leave something to its environment.
    pub fn with_defaults(text: &str, defaults: &AddressDefaults) -> Result<Self, LocationError> {
        match text.split_once("://") {
            None if is_address(text) => Err(LocationError::NoScheme),
            None => Ok(Self::Directory(PathBuf::from(text))),
            Some(("postgres" | "postgresql", _)) => {
                Ok(Self::Postgres(Box::new(PostgresUrl::with_defaults(text, defaults)?)))
            }
            Some((scheme, _)) if scheme.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
                Err(LocationError::Scheme { scheme: scheme.to_owned() })
            }
            Some(_) => Err(LocationError::NoScheme),
        }
    }

    /// Returns what others can read of the store's files, if it has files.
    pub fn exposed(&self) -> Vec<ExposedFile> {
        match self {
            Self::Directory(directory) => sqlite::exposed(directory),
            Self::Postgres(_) => Vec::new(),
        }
    }

    /// Tells whether it lets in whoever reads it.
    pub fn is_secret(&self) -> bool {
        match self {
            Self::Directory(_) => false,
            Self::Postgres(url) => url.is_secret(),
        }
    }
}

/// Tells whether what has no scheme is an address all the same, of which no directory should be made: its name would
/// hold a password. A path that starts as one is a path.
fn is_address(text: &str) -> bool {
    let is_path = text.starts_with('.') || text.starts_with('/') && !text.starts_with("//");
    let names_user = text.split_once(':').is_some_and(|(_, after)| after.contains('@'));
    !is_path && (names_user || text.contains("password="))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_scheme_is_no_directory() {
        for text in ["postgres:ada:pw@h/w", "postgres:/ada:pw@h", "ada:pw@h/w", "//ada:pw@h/w", "host=h password=pw"] {
            assert!(matches!(text.parse::<Location>(), Err(LocationError::NoScheme)), "{text}");
        }
        for text in ["store", "./a:b@c", "/srv/a:b@c", "C:/store", "me@home", "password", ""] {
            assert_eq!(text.parse::<Location>().unwrap(), Location::Directory(text.into()), "{text}");
        }
        assert!(matches!("a:pw@h://w".parse::<Location>(), Err(LocationError::NoScheme)));
    }
}
