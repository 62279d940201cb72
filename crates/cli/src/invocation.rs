//! One run of the program: where it works, as whom, and when.

use std::{env, ffi::OsStr, path::PathBuf, sync::Arc, time::SystemTime};

use contexture::{
    Contexture, Location, Options, PostgresUrl, ProjectDirectory, ProjectScope,
    core::{GivenSessionId, Principal, SpaceName, Timestamp},
};
use contexture_capture::{CaptureConfig, CheckpointInterval, Git, PostgresLogin, Recorder, SessionOwner};

use crate::{
    args::Globals,
    configuration::{self, Configuration},
    environment::Environment,
    error::{Error, Result},
    keys,
    output::Output,
};

/// What every command needs to know beside its own arguments.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) environment: Environment,
    pub(crate) globals: Globals,
}

impl Invocation {
    /// Returns where the store is: the flag, else `CTX_STORE`, else the user's configuration, else the user's data
    /// directory.
    pub(crate) fn location(&self) -> Result<Location> {
        match (&self.globals.store, &self.environment.store) {
            (Some(flag), _) => self.located("--store", flag),
            (None, Some(variable)) => self.located("CTX_STORE", variable),
            (None, None) => match self.configured_location()? {
                Some(location) => Ok(location),
                None => Ok(Location::Directory(self.environment.data_directory()?)),
            },
        }
    }

    /// Returns how often sessions are captured: as a flag says, else `CTX_EVERY`, else the user's configuration, else at each
    /// call.
    pub(crate) fn interval(&self, flag: Option<CheckpointInterval>) -> Result<CheckpointInterval> {
        if let Some(every) = flag {
            return Ok(every);
        }
        if let Some(variable) = &self.environment.every {
            return variable.to_string_lossy().parse().map_err(|source| Error::Interval { source });
        }
        let directory = self.environment.config_directory.as_deref();
        let configured = directory.map(Configuration::read).transpose()?.flatten();
        Ok(configured.and_then(|(_, configuration)| configuration.capture.every).unwrap_or_default())
    }

    fn configured_location(&self) -> Result<Option<Location>> {
        let directory = self.environment.config_directory.as_deref();
        let Some((file, configuration)) = directory.map(Configuration::read).transpose()?.flatten() else {
            return Ok(None);
        };
        let Some(store) = configuration.store else { return Ok(None) };
        let location = self.located(configuration::FILE, OsStr::new(&store))?;
        if location.is_secret() {
            file.demand_secrecy()?;
        }
        Ok(Some(location))
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
        let defaults = self.environment.postgres.defaults(text)?;
        match Location::with_defaults(text, &defaults).map_err(|source| Error::Location { origin, source })? {
            Location::Postgres(url) => Ok(Location::Postgres(Box::new(self.environment.postgres.let_in(*url)?))),
            directory @ Location::Directory(_) => Ok(directory),
        }
    }

    /// Says that others can see the password in an address that was typed.
    pub(crate) fn warn_of_password(&self, origin: &'static str, place: &OsStr, output: &mut Output) {
        if self.located(origin, place).is_ok_and(|location| location.is_secret()) {
            output.status(format_args!(
                "The password in {origin} can be seen by others on this machine while this runs; `ctx store --help` says where to keep it."
            ));
        }
    }

    /// Returns what `CTX_STORE` is to say to programs that are started, if it holds a password, which is not theirs.
    pub(crate) fn inherited_store(&self) -> Result<Option<String>> {
        let variable = self.environment.store.as_deref();
        Ok(match variable.map(|variable| self.located("CTX_STORE", variable)).transpose()? {
            Some(Location::Postgres(url)) if url.is_secret() => Some(url.address().to_owned()),
            Some(_) | None => None,
        })
    }

    /// Returns what lets the user in at the stores of sessions: what is known of this run's own store, or what
    /// PostgreSQL's variables and files say.
    fn postgres_login(&self, store: &Location) -> PostgresLogin {
        let variables = self.environment.postgres.clone();
        let own = match store {
            Location::Postgres(url) => Some((**url).clone()),
            Location::Directory(_) => None,
        };
        Arc::new(move |url| {
            let known = own.as_ref().filter(|own| own.is_same_login(&url)).and_then(PostgresUrl::password);
            match known {
                Some(password) => url.or_password(password),
                // Without a password the server says what is wrong.
                None => variables.let_in(url.clone()).unwrap_or(url),
            }
        })
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

    /// Opens the store for one caller who does one thing.
    pub(crate) async fn open_alone(&self) -> Result<Contexture> {
        Ok(Contexture::open_alone(self.options(None)?).await?.standing_in(project()))
    }

    /// Opens the store to show secrets as they are, or masked.
    pub(crate) async fn open_disclosing(&self, reveals: bool) -> Result<Contexture> {
        let engine = self.open().await?;
        Ok(if reveals { engine.exact().await? } else { engine })
    }

    /// Opens the store for a principal that was named.
    pub(crate) async fn open_as(&self, principal: Option<&Principal>) -> Result<Contexture> {
        Ok(Contexture::open(self.options(principal)?).await?.standing_in(project()))
    }

    /// Returns what live capture is told.
    pub(crate) fn capture_config(&self) -> Result<CaptureConfig> {
        let environment = &self.environment;
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        let store = self.options(None)?;
        Ok(CaptureConfig {
            state_directory: environment.state_directory()?,
            postgres_login: self.postgres_login(&store.location),
            store,
            is_store_chosen: self.names_store(),
            directory: env::current_dir().ok(),
            declared: environment.declared.clone(),
            kept_sessions: Some((
                environment.homes.clone(),
                SessionOwner { role: environment.template()?, ..environment.session_owner()? },
            )),
            run: environment.session.as_deref().map(text).map(GivenSessionId::new),
            socket: environment.socket.clone(),
            file_clock: SystemTime::now,
        })
    }

    /// Returns what records sessions for the store.
    pub(crate) fn recorder(&self) -> Result<Recorder> {
        Ok(Recorder::new(&self.capture_config()?))
    }

    /// Returns what records sessions. Nobody without a home leaves anything behind.
    pub(crate) fn recorder_if_any(&self) -> Result<Option<Recorder>> {
        match self.recorder() {
            Ok(recorder) => Ok(Some(recorder)),
            Err(Error::NoHome) => Ok(None),
            Err(error) => Err(error),
        }
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

    /// Opens the store standing in this directory, be it a repository or not.
    pub(crate) async fn open_here(&self) -> Result<Contexture> {
        let engine = self.open().await?;
        let here = || env::current_dir().and_then(|here| here.canonicalize()).ok();
        Ok(if engine.project().is_some() { engine } else { engine.standing_in(here().map(ProjectScope::from)) })
    }

    /// Returns the time.
    pub(crate) fn now(&self) -> Result<Timestamp> {
        Ok(self.environment.clock()?())
    }
}

/// Returns the repository that the program was started in.
fn project() -> Option<ProjectScope> {
    let here = env::current_dir().ok()?;
    let project = ProjectDirectory::around(&here).ok().filter(ProjectDirectory::is_repository)?;
    Some(ProjectScope::from(&project))
}
