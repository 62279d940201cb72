//! The handle through which everything is done.

use std::{fmt, path::PathBuf, str::FromStr, sync::Arc};

use contexture_core::{Actor, SpaceName, Timestamp};
use contexture_store::{Scope, Store, spaces};
use futures_util::FutureExt as _;

use crate::{Error, Result};

/// Tells the time. The library never reads a clock of its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In a directory of this machine.
    Directory(PathBuf),
}

/// How to open a store.
#[derive(Clone)]
pub struct Options {
    /// Where it is.
    pub location: Location,
    /// The tenant to work in.
    pub space: SpaceName,
    /// Who works, as the journal records it.
    pub actor: Actor,
    /// What tells the time.
    pub clock: Clock,
}

/// A handle on one space of a store. Clones share the store.
#[derive(Clone)]
pub struct Contexture {
    pub(crate) store: Store,
    space: SpaceName,
    actor: Actor,
    clock: Clock,
}

impl Contexture {
    /// Opens a store, making it if need be.
    pub async fn open(options: Options) -> Result<Self> {
        let Options { location, space, actor, clock } = options;
        let Location::Directory(directory) = location;
        Ok(Self { store: Store::open(&directory).await?, space, actor, clock })
    }

    /// Returns the file that holds the store.
    pub fn store_path(&self) -> &std::path::Path {
        self.store.path()
    }

    /// Returns the tenants of the store.
    pub async fn spaces(&self) -> Result<Vec<spaces::Space>> {
        Ok(self.store.read(self.scope(), |tx| spaces::list(tx).boxed()).await?)
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope { space: self.space.clone(), actor: self.actor.clone(), now: self.now() }
    }
}

impl FromStr for Location {
    type Err = Error;

    /// Takes a directory; a URL names an engine.
    fn from_str(text: &str) -> Result<Self> {
        match text.split_once("://") {
            Some((scheme, _)) => Err(Error::Scheme { url: text.to_owned(), scheme: scheme.to_owned() }),
            None => Ok(Self::Directory(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
        }
    }
}
