//! What live capture is told by whoever runs it, because it reads no environment and no clock of its own.

use std::{
    path::{self, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use contexture::{Contexture, Location, Options, PostgresUrl, core::GivenSessionId};

use crate::{DeclaredSession, Error, Homes, LiveSession, Result, SessionOwner};

/// Adds to the address of a store what lets the user in there, if that is known.
pub type PostgresLogin = Arc<dyn Fn(PostgresUrl) -> PostgresUrl + Send + Sync>;

/// Where live capture works, for which store, and in which run of an agent.
#[derive(Clone)]
pub struct CaptureConfig {
    /// The store that sessions go to, in whose name, and what tells the time.
    pub store: Options,
    /// Whether somebody chose that store. Otherwise a session that goes on is found whatever its store is.
    pub is_store_chosen: bool,
    /// Lets the user in at the PostgreSQL server of a session that is listed without a password.
    pub postgres_login: PostgresLogin,
    /// Where it is kept what live capture is at: the sessions that go on, the spool and the log.
    pub state_directory: PathBuf,
    /// The directory that the caller works in.
    pub directory: Option<PathBuf>,
    /// What agents have told the caller of themselves.
    pub declared: Vec<DeclaredSession>,
    /// Where agents keep the sessions that they tell of, and whose those are.
    pub kept_sessions: Option<(Homes, SessionOwner)>,
    /// The run of an agent that the caller was started in.
    pub run: Option<GivenSessionId>,
    /// Where that run can be asked.
    pub socket: Option<PathBuf>,
    /// The clock that files are dated by.
    pub file_clock: fn() -> SystemTime,
}

impl CaptureConfig {
    /// Returns the same for the store that a session goes to, unless somebody chose another one.
    pub fn for_session(&self, session: &LiveSession) -> Result<Self> {
        if self.is_store_chosen {
            return Ok(self.clone());
        }
        let location = match session.store.parse().map_err(Error::Location)? {
            Location::Postgres(url) => Location::Postgres(Box::new((self.postgres_login)(*url))),
            directory @ Location::Directory(_) => directory,
        };
        let store = Options { location, space: session.space.clone(), ..self.store.clone() };
        Ok(Self { store, is_store_chosen: true, ..self.clone() })
    }

    /// Opens the store for somebody who keeps what it cannot take: a server that is away is not waited for.
    pub async fn open_promptly(&self) -> Result<Contexture> {
        Ok(Contexture::open(self.prompt_options()).await?)
    }

    /// Does the same for one thing to be done, after which the program ends.
    pub(crate) async fn open_alone(&self) -> Result<Contexture> {
        Ok(Contexture::open_alone(self.prompt_options()).await?)
    }

    /// Names the store so that it is found from any directory.
    pub(crate) fn store_name(&self) -> String {
        match &self.store.location {
            Location::Directory(path) => path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
            location @ Location::Postgres(_) => location.to_string(),
        }
    }

    fn prompt_options(&self) -> Options {
        let location = match self.store.location.clone() {
            Location::Postgres(url) => Location::Postgres(Box::new(url.without_retries())),
            directory @ Location::Directory(_) => directory,
        };
        Options { location, ..self.store.clone() }
    }
}
