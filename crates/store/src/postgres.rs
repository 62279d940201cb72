//! The shared engine: a schema of a PostgreSQL database, and any number of programs that use it.
//!
//! Everything that only PostgreSQL needs is in this module.

mod batch;
mod connection;
mod encryption;
mod foresight;
pub(crate) mod inspect;
mod memory;
mod one_statement;
mod password;
mod password_file;
mod rights;
mod schema;
mod service;
mod tls;
mod trouble;
mod url;
mod value;
mod writer;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use contexture_core::SpaceName;
use tokio::sync::SemaphorePermit;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    Erasure, Error, Result,
    job::{Job, ReadJob},
    pool::Pool,
    sql::{Connection as _, NO_SPACE, Scope, Tx},
    stats::Footprint,
};
use connection::PgConnection;
use memory::Memory;
use trouble::{ABSENCE_LIMIT, OPEN_LIMIT, Patience, Remedy, Trouble};
use writer::Writers;

pub use password::Password;
pub use password_file::PasswordFile;
pub use service::PostgresService;
pub use url::{AddressDefaults, PostgresUrl, UrlError};

/// Most connections that one program uses at once.
const MAX_CONNECTIONS: usize = 8;

/// Measures the tables of a schema.
const FOOTPRINT: &str = "\
SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class c \
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ?1 AND c.relkind = 'r'";

/// The tables that may hold what was removed.
const ERASED: [&str; 10] = [
    "artifacts",
    "findings",
    "sealed_originals",
    "annotations",
    "injections",
    "missing",
    "events",
    "sources",
    "passages",
    "renderings",
];

/// A store in a schema of a database.
#[derive(Clone)]
pub(crate) struct Postgres {
    server: Arc<Server>,
    writers: Arc<Writers>,
}

/// The way to the server.
struct Server {
    url: Arc<PostgresUrl>,
    tls: MakeRustlsConnect,
    pool: Pool<PgConnection>,
    /// Keys of the spaces seen so far. They never change.
    spaces: Mutex<HashMap<SpaceName, i64>>,
    memory: Memory,
}

/// A connection in use, and the turn that lets it be.
struct Lease<'s> {
    connection: PgConnection,
    server: &'s Server,
    _turn: SemaphorePermit<'s>,
}

impl Postgres {
    /// Opens the store in a schema, making both if need be.
    pub(crate) async fn open(url: PostgresUrl) -> Result<Self> {
        let server = Server::new(url)?;
        server.migrate().await?;
        Ok(Self { server: Arc::new(server), writers: Arc::default() })
    }

    /// Runs a job in a read transaction: it sees one moment of the store.
    pub(crate) async fn read(&self, scope: &Scope, job: &mut dyn ReadJob) -> Result<()> {
        let mut patience = Patience::new(self.server.url.retry);
        loop {
            let trouble = match self.server.lease().await {
                Err(trouble) => trouble,
                Ok(mut lease) => {
                    lease.connection.begin_read();
                    let looked = self.server.read(&mut lease.connection, scope, job).await;
                    match lease.connection.trouble() {
                        Some(trouble) if trouble.remedy != Remedy::None => trouble,
                        Some(_) => return looked,
                        None => {
                            lease.connection.end_read();
                            lease.give_back();
                            return looked;
                        }
                    }
                }
            };
            self.server.mend(&trouble);
            patience.after(trouble).await?;
        }
    }

    /// Hands a job over to run in a write transaction. It is answered once it is durable.
    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        self.writers.submit(&self.server, job);
    }

    /// Measures the tables, their indexes and what they hold outside their rows.
    pub(crate) async fn footprint(&self) -> Result<Footprint> {
        let rows = self.server.ask(FOOTPRINT).await?;
        let bytes = rows.first().ok_or_else(|| Error::damaged("the server has no tables"))?.integer(0)?;
        Ok(Footprint { database_bytes: bytes.cast_unsigned(), log_bytes: None })
    }

    /// Removes the schema with everything in it.
    pub(crate) async fn destroy(self) -> Result<()> {
        // Readers that have just ended may not have told the server yet.
        self.server.pool.clear();
        let mut lease = self.server.lease().await.map_err(|trouble| trouble.error)?;
        let drop = format!("SET client_min_messages = error; DROP SCHEMA {} CASCADE", self.server.url.schema());
        lease.connection.batch("remove its schema", &drop).await.map_err(|trouble| trouble.error)
    }

    /// Writes the tables anew that held what was removed. What the server keeps elsewhere (its log, copies, backups) is its
    /// keeper's to remove.
    pub(crate) async fn erase(&self) -> Result<Erasure> {
        let sql = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = ?1 AND c.relkind = 'r' AND NOT pg_has_role(c.relowner, 'USAGE')";
        let rows = self.server.ask(sql).await?;
        if rows.first().map_or(Ok(0), |row| row.integer(0))? > 0 {
            return Ok(Erasure::NoRights);
        }
        let mut lease = self.server.lease().await.map_err(|trouble| trouble.error)?;
        let attempt = "overwrite what was removed";
        let wait = "SET lock_timeout = '5s'";
        lease.connection.batch(attempt, wait).await.map_err(|trouble| trouble.error)?;
        for table in ERASED {
            let vacuum = format!("VACUUM (FULL) {table}");
            match lease.connection.batch(attempt, &vacuum).await {
                Ok(()) => {}
                Err(trouble) if matches!(trouble.error, Error::Database { .. } | Error::Busy(_)) => {
                    return Ok(Erasure::InUse);
                }
                Err(trouble) => return Err(trouble.error),
            }
        }
        // The connection, which waits less than others, is not given back.
        Ok(Erasure::Complete)
    }

    /// Asks PostgreSQL which of the store's indexes it does not trust.
    pub(crate) async fn integrity_problems(&self) -> Result<Vec<String>> {
        let sql = "SELECT CAST(c.relname AS TEXT) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
                   JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = ?1 AND NOT (i.indisvalid AND i.indisready AND i.indislive)";
        let rows = self.server.ask(sql).await?;
        rows.iter().map(|row| Ok(format!("index {} is not valid", row.text(0)?))).collect()
    }
}

impl Server {
    fn new(url: PostgresUrl) -> Result<Self> {
        let unreachable = |source| Error::Unreachable { server: url.server(), source: Arc::new(source) };
        let tls = tls::connector(url.proof()).map_err(unreachable)?;
        Ok(Self {
            url: Arc::new(url),
            tls,
            pool: Pool::new(MAX_CONNECTIONS),
            spaces: Mutex::default(),
            memory: Memory::default(),
        })
    }

    /// Runs a job in the open read transaction.
    async fn read(&self, connection: &mut PgConnection, scope: &Scope, job: &mut dyn ReadJob) -> Result<()> {
        let known = self.spaces.lock().unwrap_or_else(PoisonError::into_inner).get(&scope.space).copied();
        let mut tx = match known {
            Some(space) => Tx::reading_in(connection, scope, space),
            None => Tx::reading(connection, scope).await?,
        };
        if known.is_none() && tx.space != NO_SPACE {
            self.spaces.lock().unwrap_or_else(PoisonError::into_inner).insert(scope.space.clone(), tx.space);
        }
        job.run(&mut tx).await;
        Ok(())
    }

    /// Asks about the store's schema, whose name is the statement's parameter.
    async fn ask(&self, sql: &str) -> Result<Vec<crate::sql::Row>> {
        let mut patience = Patience::new(self.url.retry);
        loop {
            let trouble = match self.lease().await {
                Err(trouble) => trouble,
                Ok(mut lease) => match lease.connection.query(sql, &[self.url.schema().into()]).await {
                    Ok(rows) => {
                        lease.give_back();
                        return Ok(rows);
                    }
                    Err(error) => lease.connection.trouble().unwrap_or_else(|| Trouble::hopeless(error)),
                },
            };
            self.mend(&trouble);
            patience.after(trouble).await?;
        }
    }

    /// Waits for a turn and for a connection: one that is idle, or a new one.
    async fn lease(&self) -> Result<Lease<'_>, Trouble> {
        let turn = self.pool.turn().await.map_err(Trouble::hopeless)?;
        while let Some(connection) = self.pool.take() {
            if !connection.is_closed() {
                return Ok(Lease { connection, server: self, _turn: turn });
            }
        }
        Ok(Lease { connection: self.connect().await?, server: self, _turn: turn })
    }

    async fn connect(&self) -> Result<PgConnection, Trouble> {
        // The driver's own limit ends where the server accepts the call, whether it then says anything or not.
        let login = self.url.login();
        let connecting = tokio::time::timeout(self.url.patience(), login.connect(self.tls.clone())).await;
        let connected = connecting.map_err(|_| Trouble::silent(&self.url))?;
        let (client, connection) = connected.map_err(|error| Trouble::of_connection(&self.url, error))?;
        // What ends the connection is reported to whoever waits for an answer on it.
        tokio::spawn(async move { drop(connection.await) });
        Ok(PgConnection::new(client, Arc::clone(&self.url)))
    }

    /// Prepares the tables, waiting for a server that is just starting, and a moment for one that may be about to.
    async fn migrate(&self) -> Result<()> {
        let mut patience = Patience::new(OPEN_LIMIT);
        let mut hope = Patience::new(ABSENCE_LIMIT.min(self.url.retry));
        loop {
            let trouble = match self.lease().await {
                Err(trouble) if trouble.remedy == Remedy::Reconnect => {
                    hope.after(trouble).await?;
                    continue;
                }
                Err(trouble) => trouble,
                Ok(mut lease) => match schema::migrate(&mut lease.connection, &self.url).await {
                    Ok(()) => {
                        lease.give_back();
                        return Ok(());
                    }
                    Err(trouble) => trouble,
                },
            };
            self.mend(&trouble);
            patience.after(trouble).await?;
        }
    }

    /// Forgets what a lost connection makes doubtful: one that broke is seldom the only one.
    fn mend(&self, trouble: &Trouble) {
        if trouble.remedy == Remedy::Reconnect {
            self.pool.clear();
            self.memory.clear();
            self.spaces.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

impl Lease<'_> {
    /// Lets others use the connection. One that is not given back is closed, and its transaction rolled back.
    fn give_back(self) {
        self.server.pool.give_back(self.connection);
    }
}
