//! What PostgreSQL says when something goes wrong, sorted by what can be done about it.

use std::{
    fmt, io,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio_postgres::error::{DbError, SqlState};

use super::{encryption::Proof, rights::Right, url::PostgresUrl};
use crate::{Error, Result, error::Cause};

/// How long a server that is not ready is asked again when a store is opened.
pub(super) const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// How long a server that nobody finds is looked for when a store is opened: a restart takes about a second.
pub(super) const ABSENCE_LIMIT: Duration = Duration::from_secs(3);
/// How long a writer waits for others; the sessions' `lock_timeout`.
const LOCK_LIMIT: Duration = Duration::from_mins(1);
/// Pause before the second retry; the first comes at once, and each further pause is longer.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A failure, and whether the same may work another time.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) error: Error,
    pub(super) remedy: Remedy,
}

/// What can be done about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// The transaction was rolled back; running it again may work.
    Rerun,
    /// The connection is gone, and with it the knowledge of what the server did last.
    Reconnect,
    /// The server takes no connection at this moment.
    Wait,
    /// Nothing that this program could do.
    None,
}

impl Trouble {
    pub(super) fn hopeless(error: Error) -> Self {
        Self { error, remedy: Remedy::None }
    }

    /// Says the same once more.
    pub(super) fn again(&self) -> Self {
        Self { error: self.error.again(), remedy: self.remedy }
    }

    /// Says which right is lacking, if that is the trouble.
    pub(super) fn lacking(self, right: Right, url: &PostgresUrl) -> Self {
        match self.error {
            Error::Denied { store, user, source, .. } => {
                Self { error: Error::Denied { store, user, grant: right.grant(url), source }, ..self }
            }
            _ => self,
        }
    }

    /// Sorts what went wrong with a statement.
    pub(super) fn of_statement(url: &PostgresUrl, attempt: &'static str, error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code().cloned() else {
            if is_connection(&error) {
                return Self::lost(url, error);
            }
            return Self::hopeless(Error::Database { attempt, source: cause(error) });
        };
        if code == SqlState::LOCK_NOT_AVAILABLE {
            return Self::hopeless(Error::Busy(LOCK_LIMIT));
        }
        if is_shutdown(&code) {
            return Self::lost(url, error);
        }
        // Everything happens under the lock on its space, but two may make the same space.
        let is_contended =
            [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED, SqlState::UNIQUE_VIOLATION];
        let remedy = if is_contended.contains(&code) { Remedy::Rerun } else { Remedy::None };
        Self { error: Self::statement_error(url, attempt, &code, cause(error)), remedy }
    }

    fn statement_error(url: &PostgresUrl, attempt: &'static str, code: &SqlState, source: Cause) -> Error {
        match code {
            &SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly,
            &SqlState::DISK_FULL => Error::DiskFull,
            &SqlState::IO_ERROR => Error::Disk { source },
            // A schema that the user may not use is none to the server when it looks where to make a table.
            &SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::INVALID_SCHEMA_NAME => {
                let (user, grant) = (url.user().to_owned(), Right::UseTables.grant(url));
                Error::Denied { store: url.to_string(), user, grant, source }
            }
            &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => {
                Error::damaged(format!("the database could not {attempt}: {source}"))
            }
            _ => Error::Database { attempt, source },
        }
    }

    /// Sorts what went wrong with a new connection.
    pub(super) fn of_connection(url: &PostgresUrl, error: tokio_postgres::Error) -> Self {
        let (server, user) = (url.server(), url.user().to_owned());
        let Some(code) = error.code().cloned() else {
            let remedy = if is_encryption(&error) { Remedy::None } else { Remedy::Reconnect };
            if remedy == Remedy::None && url.proof() != Proof::None {
                return Self::hopeless(Error::Unproven { server, source: cause(error) });
            }
            // Whatever is neither the network's fault nor encryption's is about how to log in.
            if remedy == Remedy::None || is_connection(&error) || is_timeout(&error) {
                return Self { error: Error::Unreachable { server, source: cause(error) }, remedy };
            }
            return Self::hopeless(Error::Login { server, user, source: cause(error) });
        };
        match code {
            SqlState::INVALID_PASSWORD
            | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | SqlState::INSUFFICIENT_PRIVILEGE => Self::hopeless(Error::Login { server, user, source: cause(error) }),
            SqlState::UNDEFINED_DATABASE => {
                Self::hopeless(Error::NoDatabase { server, database: url.database().to_owned() })
            }
            code if code == SqlState::TOO_MANY_CONNECTIONS || is_shutdown(&code) => {
                Self { error: Error::Unreachable { server, source: cause(error) }, remedy: Remedy::Wait }
            }
            _ => Self::hopeless(Error::Database { attempt: "let the user in", source: cause(error) }),
        }
    }

    /// Says that nobody answered a new connection in time.
    pub(super) fn silent(url: &PostgresUrl) -> Self {
        let source = Arc::new(io::Error::new(io::ErrorKind::TimedOut, "it does not answer"));
        Self { error: Error::Unreachable { server: url.server(), source }, remedy: Remedy::Reconnect }
    }

    fn lost(url: &PostgresUrl, error: tokio_postgres::Error) -> Self {
        let error = Error::Lost { server: url.server(), limit: url.retry, source: cause(error) };
        Self { error, remedy: Remedy::Reconnect }
    }
}

/// Tells whether the server ended the connection, or is not ready to take one.
fn is_shutdown(code: &SqlState) -> bool {
    // 57P05 is what a session says that was idle for too long inside a transaction, 25P03 its older form.
    let codes = ["57P01", "57P02", "57P03", "57P05", "25P03"];
    codes.contains(&code.code()) || code.code().starts_with("08")
}

fn is_connection(error: &tokio_postgres::Error) -> bool {
    let is_io = |error: &(dyn std::error::Error + 'static)| error.is::<std::io::Error>();
    error.is_closed() || std::error::Error::source(error).is_some_and(is_io)
}

fn is_encryption(error: &tokio_postgres::Error) -> bool {
    error.to_string().contains("TLS")
}

fn is_timeout(error: &tokio_postgres::Error) -> bool {
    error.to_string().contains("timeout")
}

/// Returns what the server or the system said, without the driver's words around it.
fn cause(error: tokio_postgres::Error) -> Cause {
    match error.as_db_error().cloned() {
        Some(said) => Arc::new(ServerMessage(said)),
        None if std::error::Error::source(&error).is_some() => {
            error.into_source().map_or_else(|| Arc::new(Error::Closed) as Cause, Arc::from)
        }
        None => Arc::new(error),
    }
}

/// What a server said, in one line and without the names of its parts.
#[derive(Debug)]
struct ServerMessage(DbError);

impl fmt::Display for ServerMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.message())?;
        self.0.detail().map_or(Ok(()), |detail| write!(f, ": {}", detail.replace('\n', " ")))
    }
}

impl std::error::Error for ServerMessage {}

/// How long and how often to try again.
pub(super) struct Patience {
    deadline: Instant,
    pause: Option<Duration>,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit, pause: None }
    }

    /// Waits before another try; fails when there is none left or none can help.
    pub(super) async fn after(&mut self, trouble: Trouble) -> Result<()> {
        // An idle connection that the server has closed meanwhile is no reason to fail, so one retry there always is.
        let is_over = self.pause.is_some() && Instant::now() >= self.deadline;
        if trouble.remedy == Remedy::None || is_over {
            return Err(trouble.error);
        }
        match self.pause {
            None => self.pause = Some(FIRST_PAUSE),
            Some(pause) => {
                tokio::time::sleep(pause).await;
                self.pause = Some((pause * 2).min(LONGEST_PAUSE));
            }
        }
        Ok(())
    }
}
