//! The embedded engine: one SQLite file, one writer thread, a pool of readers.
//!
//! Everything that only SQLite needs is in this module.

mod connection;
mod schema;
mod writer;

use std::{
    fs::DirBuilder,
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{FutureExt as _, future::BoxFuture};
use tokio::sync::Semaphore;

use crate::{
    Error, Result,
    sql::{Scope, Tx},
};
use connection::SqliteConnection;
use writer::Writer;

/// Name of the database file in the store's directory.
const DATABASE_FILE: &str = "contexture.db";
/// Most readers that run at once; further ones wait their turn.
const MAX_READERS: usize = 4;

/// A store in a directory.
#[derive(Clone)]
pub(crate) struct Sqlite {
    path: Arc<Path>,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
}

struct Readers {
    turns: Semaphore,
    idle: Mutex<Vec<SqliteConnection>>,
}

impl Sqlite {
    /// Opens the store in a directory, making both if need be.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let open_error = |source| Error::Open { path: directory.to_owned(), source };
        create_private(directory).map_err(open_error)?;
        let path = directory.join(DATABASE_FILE);
        let mut connection = SqliteConnection::open(&path)?;
        schema::migrate(&mut connection, directory, &path)?;
        let writer = Writer::start(connection, path.clone()).map_err(open_error)?;
        let readers = Readers { turns: Semaphore::new(MAX_READERS), idle: Mutex::default() };
        Ok(Self { path: path.into(), writer: Arc::new(writer), readers: Arc::new(readers) })
    }

    /// Runs a job in a read transaction: it sees one moment of the store.
    pub(crate) async fn read<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        let _turn = self.readers.turns.acquire().await.map_err(|_| Error::Closed)?;
        let (readers, path) = (Arc::clone(&self.readers), Arc::clone(&self.path));
        let work = move || readers.run(&path, &scope, &job);
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }

    /// Runs a job that looks at a few rows, right here: changing threads would cost more than the look.
    pub(crate) async fn glance<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        E: From<Error>,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>>,
    {
        let _turn = self.readers.turns.acquire().await.map_err(|_| Error::Closed)?;
        self.readers.run(&self.path, &scope, &job)
    }

    /// Runs a job in a write transaction and returns once it is durable.
    pub(crate) async fn write<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        self.writer.submit(scope, job).await
    }

    /// Returns the database file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Asks SQLite to check its own file and returns what it finds wrong.
    pub(crate) async fn integrity_problems(&self) -> Result<Vec<String>> {
        let path = Arc::clone(&self.path);
        let work = move || SqliteConnection::open(&path)?.integrity_problems();
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }
}

impl Readers {
    /// Runs a job in a read transaction of an idle connection, or of a new one.
    fn run<T, E, F>(&self, path: &Path, scope: &Scope, job: &F) -> Result<T, E>
    where
        E: From<Error>,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>>,
    {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => SqliteConnection::open(path)?,
        };
        connection.begin_read()?;
        let outcome = run(Tx::reading(&mut connection, scope), job);
        // A connection that cannot leave its transaction is dropped, not handed to the next reader.
        if connection.roll_back().is_ok() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        outcome
    }
}

/// Makes a directory that only its owner may enter: transcripts hold secrets. One that is there stays as it is.
fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Enters a transaction's scope and runs a job in it. SQLite answers at once, so nothing here ever waits.
fn run<'c, T, E, F>(entering: impl Future<Output = Result<Tx<'c>>>, job: &F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'t, 'x> Fn(&'t mut Tx<'x>) -> BoxFuture<'t, Result<T, E>>,
{
    let mut tx = entering.now_or_never().expect("SQLite statements are ready at once")?;
    job(&mut tx).now_or_never().expect("a job awaits nothing but its transaction")
}
