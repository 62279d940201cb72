//! One run of the program: where it works, as whom, and when.

use std::{env, ffi::OsStr, path::PathBuf, time::SystemTime};

use contexture::{
    Contexture, Location, Options,
    core::{GivenSessionId, Principal, SpaceName, Timestamp},
};
use contexture_capture::{CaptureConfig, Git, Recorder};

use crate::{
    args::Globals,
    environment::Environment,
    error::{Error, Result},
    keys,
};

/// What every command needs to know beside its own arguments.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) environment: Environment,
    pub(crate) globals: Globals,
}

impl Invocation {
    /// Returns where the store is: the flag, else `CTX_STORE`, else the user's data directory.
    pub(crate) fn location(&self) -> Result<Location> {
        match (&self.globals.store, &self.environment.store) {
            (Some(flag), _) => self.located("--store", flag),
            (None, Some(variable)) => self.located("CTX_STORE", variable),
            (None, None) => Ok(Location::Directory(self.environment.data_directory()?)),
        }
    }

    /// Tells whether somebody says where the store is.
    pub(crate) fn names_store(&self) -> bool {
        self.globals.store.is_some() || self.environment.store.is_some()
    }

    /// Takes a text for the place of a store.
    pub(crate) fn located(&self, origin: &'static str, place: &OsStr) -> Result<Location> {
        // Only a path can be text of another encoding.
        let Some(text) = place.to_str() else {
            return Ok(Location::Directory(PathBuf::from(place)));
        };
        match text.parse().map_err(|source| Error::Location { origin, source })? {
            Location::Postgres(url) => Ok(Location::Postgres(Box::new(match &self.environment.postgres_password {
                Some(password) => url.or_password(&password.to_string_lossy()),
                None => *url,
            }))),
            directory @ Location::Directory(_) => Ok(directory),
        }
    }

    /// Returns the tenant to work in: the flag, else `CTX_SPACE`, else `default`.
    pub(crate) fn space(&self) -> Result<SpaceName> {
        match &self.globals.space {
            Some(space) => Ok(space.clone()),
            None => self.environment.space(),
        }
    }

    /// Tells a newcomer that there is nothing to see yet, and what to do about it.
    pub(crate) fn emptiness(&self) -> Result<String> {
        let (space, location) = (self.space()?, self.location()?);
        Ok(format!("Space {space} of the store at {location} is empty; `ctx demo` shows what to do."))
    }

    /// Opens the store as whoever runs the program.
    pub(crate) async fn open(&self) -> Result<Contexture> {
        self.open_as(None).await
    }

    /// Opens the store for a principal that was named.
    pub(crate) async fn open_as(&self, principal: Option<&Principal>) -> Result<Contexture> {
        Ok(Contexture::open(self.options(principal)?).await?)
    }

    /// Returns what live capture is told.
    pub(crate) fn capture_config(&self) -> Result<CaptureConfig> {
        let environment = &self.environment;
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        Ok(CaptureConfig {
            state_directory: environment.state_directory()?,
            store: self.options(None)?,
            is_store_chosen: self.names_store(),
            postgres_password: environment.postgres_password.as_deref().map(text),
            directory: env::current_dir().ok(),
            run: environment.session.as_deref().map(text).map(GivenSessionId::new),
            socket: environment.socket.clone(),
            file_clock: SystemTime::now,
        })
    }

    /// Returns what records sessions for the store.
    pub(crate) fn recorder(&self) -> Result<Recorder> {
        Ok(Recorder::new(&self.capture_config()?))
    }

    /// Returns the git that is asked.
    pub(crate) fn git() -> Git {
        Git::new("git")
    }

    fn options(&self, principal: Option<&Principal>) -> Result<Options> {
        Ok(Options {
            location: self.location()?,
            space: self.space()?,
            actor: self.environment.actor(principal)?,
            clock: self.environment.clock()?,
            secrets: keys::means(self.environment.config_directory.as_deref()),
        })
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> Result<Timestamp> {
        Ok(self.environment.clock()?())
    }
}
