//! The embedded engine: one SQLite file, one writer thread, a pool of readers.
//!
//! Everything that only SQLite needs is in this module.

mod connection;
pub(crate) mod inspect;
mod schema;
mod writer;

use std::{
    fs::{self, DirBuilder},
    io, mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::{FutureExt as _, future::BoxFuture};

use crate::{
    Error, Foresight, Result,
    pool::Pool,
    sql::{Scope, Tx},
    stats::Footprint,
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
    readers: Arc<Pool<SqliteConnection>>,
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
        Ok(Self { path: path.into(), writer: Arc::new(writer), readers: Arc::new(Pool::new(MAX_READERS)) })
    }

    /// Runs a job in a read transaction: it sees one moment of the store.
    pub(crate) async fn read<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        let _turn = self.readers.turn().await?;
        let (readers, path) = (Arc::clone(&self.readers), Arc::clone(&self.path));
        let work = move || read(&readers, &path, &scope, &job);
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }

    /// Runs a job that looks at a few rows, right here: changing threads would cost more than the look.
    pub(crate) async fn glance<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        E: From<Error>,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>>,
    {
        let _turn = self.readers.turn().await?;
        read(&self.readers, &self.path, &scope, &job)
    }

    /// Runs a job in a write transaction and returns once it is durable.
    pub(crate) async fn write<T, E, F>(&self, scope: Scope, foresight: Foresight, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        self.writer.submit(scope, foresight, job).await
    }

    /// Measures the database file and its log.
    pub(crate) fn footprint(&self) -> Result<Footprint> {
        footprint(&self.path)
    }

    /// Leaves everything open for the end of the program to close, unless the log is so long that it must be folded in.
    pub(crate) fn leave(self) {
        let log = log_file(&self.path).metadata().map_or(0, |log| log.len());
        if log <= writer::MAX_LOG_LEFT {
            mem::forget(self);
        }
    }

    /// Removes the database and its log.
    pub(crate) fn destroy(self) -> Result<()> {
        let Self { path, writer, readers } = self;
        drop((writer, readers));
        for file in [path.to_path_buf(), path.with_extension("db-wal"), path.with_extension("db-shm")] {
            match fs::remove_file(&file) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Open { path: file, source });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Asks SQLite to check its own file and returns what it finds wrong.
    pub(crate) async fn integrity_problems(&self) -> Result<Vec<String>> {
        let path = Arc::clone(&self.path);
        let work = move || SqliteConnection::open(&path)?.integrity_problems();
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }
}

fn footprint(database: &Path) -> Result<Footprint> {
    let measure_error = |source| Error::Open { path: database.to_owned(), source };
    let log_bytes = match log_file(database).metadata() {
        Ok(log) => log.len(),
        // SQLite removes its log when the last program leaves.
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(measure_error(error)),
    };
    let database_bytes = database.metadata().map_err(measure_error)?.len();
    Ok(Footprint { database_bytes, log_bytes: Some(log_bytes) })
}

/// Returns where SQLite keeps the write-ahead log of a database.
fn log_file(database: &Path) -> PathBuf {
    database.with_extension("db-wal")
}

/// Runs a job in a read transaction of an idle connection, or of a new one.
fn read<T, E, F>(readers: &Pool<SqliteConnection>, path: &Path, scope: &Scope, job: &F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>>,
{
    let mut connection = match readers.take() {
        Some(connection) => connection,
        None => SqliteConnection::open(path)?,
    };
    connection.begin_read()?;
    let work = async {
        let mut tx = Tx::reading(&mut connection, scope).await?;
        job(&mut tx).await
    };
    let outcome = work.now_or_never().expect("a job awaits nothing but its transaction, and SQLite answers at once");
    // A connection that cannot leave its transaction is dropped, not handed to the next reader.
    if connection.end_read().is_ok() {
        readers.give_back(connection);
    }
    outcome
}

/// Makes a directory that only its owner may enter: transcripts hold secrets. One that is there stays as it is.
fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}
