//! The embedded engine: one SQLite file, one writer thread, a pool of readers; or one connection for one caller.
//!
//! Everything that only SQLite needs is in this module.

mod alone;
mod connection;
mod files;
pub(crate) mod inspect;
mod schema;
mod syncer;
mod wait;
mod writer;

use std::{
    fs, io, mem,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use crate::{
    Erasure, Error, Result,
    job::{Job, ReadJob},
    pool::Pool,
    private::{self, ExposedFile},
    sql::{Scope, Tx},
    stats::Footprint,
};
use alone::Alone;
use connection::SqliteConnection;
use files::OpenFiles;
use writer::Writer;

/// Name of the database file in the store's directory.
const DATABASE_FILE: &str = "contexture.db";
/// Most readers that run at once; further ones wait their turn.
const MAX_READERS: usize = 4;
/// Size of the write-ahead log, in bytes, beyond which closing the store folds it in.
///
/// The next program to open the store reads the whole log, so it must not be left long.
const MAX_LOG_LEFT: u64 = 1024 * 1024;

/// A store in a directory.
#[derive(Clone)]
pub(crate) struct Sqlite {
    path: Arc<Path>,
    files: OpenFiles,
    access: Access,
}

/// How its connections are used.
#[derive(Clone)]
enum Access {
    /// By many callers at once: writes go through one thread, reads have connections of their own.
    Shared { writer: Arc<Writer>, readers: Arc<Pool<SqliteConnection>> },
    /// By one caller, who waits for each call anyway.
    Alone(Arc<Alone>),
}

impl Sqlite {
    /// Opens the store in a directory for many callers, making both if need be.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let Prepared { connection, path, files } = prepare(directory)?;
        let started = Writer::start(connection, path.clone(), files.clone());
        let writer = Arc::new(started.map_err(|source| Error::Open { path: directory.to_owned(), source })?);
        let access = Access::Shared { writer, readers: Arc::new(Pool::new(MAX_READERS)) };
        Ok(Self { path: path.into(), files, access })
    }

    /// Does the same for one caller.
    pub(crate) fn open_alone(directory: &Path) -> Result<Self> {
        let Prepared { connection, path, files } = prepare(directory)?;
        let alone = Alone::new(connection, path.clone(), files.clone());
        Ok(Self { path: path.into(), files, access: Access::Alone(Arc::new(alone)) })
    }

    /// Runs a job in a read transaction: it sees one moment of the store.
    pub(crate) async fn read(&self, scope: Scope, mut job: Box<dyn ReadJob>) -> Result<()> {
        let read = match &self.access {
            Access::Alone(alone) => alone.read(&scope, &mut *job).await,
            Access::Shared { readers, .. } => {
                let _turn = readers.turn().await?;
                let (readers, place) = (Arc::clone(readers), self.clone());
                let reading = move || wait::to_end(place.read_from(&readers, &scope, &mut *job));
                tokio::task::spawn_blocking(reading).await.map_err(|_| Error::Closed)?
            }
        };
        // It explains what else may have gone wrong.
        self.files.check().and(read)
    }

    /// Runs a job that looks at a few rows, right here: changing threads would cost more than the look.
    pub(crate) async fn glance(&self, scope: &Scope, job: &mut dyn ReadJob) -> Result<()> {
        let read = match &self.access {
            Access::Alone(alone) => alone.read(scope, job).await,
            Access::Shared { readers, .. } => {
                let _turn = readers.turn().await?;
                self.read_from(readers, scope, job).await
            }
        };
        self.files.check().and(read)
    }

    /// Runs a job in a read transaction of an idle connection, or of a new one.
    async fn read_from(&self, readers: &Pool<SqliteConnection>, scope: &Scope, job: &mut dyn ReadJob) -> Result<()> {
        let mut connection = if let Some(connection) = readers.take() {
            connection
        } else {
            // Opening would make a new file.
            self.files.check()?;
            SqliteConnection::open(&self.path)?
        };
        let (looked, ended) = look(&mut connection, scope, job).await;
        // A connection that cannot leave its transaction is dropped, not handed to the next reader.
        if ended.is_ok() {
            readers.give_back(connection);
        }
        looked
    }

    /// Hands a job over to run in a write transaction. It is answered once it is durable.
    pub(crate) async fn submit(&self, job: Box<dyn Job>) -> Result<()> {
        match &self.access {
            Access::Alone(alone) => alone.write(job).await,
            Access::Shared { writer, .. } => writer.submit(job),
        }
    }

    /// Tells whether jobs run on the thread that calls.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self.access, Access::Alone(_))
    }

    /// Measures the database file and its log.
    pub(crate) fn footprint(&self) -> Result<Footprint> {
        footprint(&self.path)
    }

    /// Returns how many bytes of the file hold nothing.
    pub(crate) async fn spare_bytes(&self) -> Result<u64> {
        let path = Arc::clone(&self.path);
        let work = move || SqliteConnection::open(&path)?.spare_bytes();
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }

    /// Writes the file anew without what holds nothing.
    pub(crate) async fn shrink(&self) -> Result<()> {
        let path = Arc::clone(&self.path);
        let work = move || SqliteConnection::open(&path)?.shrink();
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }

    /// Leaves everything open for the end of the program to close, unless the log is so long that it must be folded in.
    pub(crate) fn leave(self) {
        if !is_log_long(&self.path) {
            mem::forget(self);
        }
    }

    /// Removes the database and its log.
    pub(crate) fn destroy(self) -> Result<()> {
        let Self { path, access, .. } = self;
        drop(access);
        for file in [path.to_path_buf(), log_file(&path), wal_index_file(&path)] {
            match fs::remove_file(&file) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Open { path: file, source });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Writes the database anew without what was removed, and empties its log.
    pub(crate) async fn erase(&self) -> Result<Erasure> {
        let (path, size) = (Arc::clone(&self.path), self.footprint()?.database_bytes);
        let work = move || {
            let mut connection = SqliteConnection::open(&path)?;
            match connection.erase(size) {
                Err(Error::Busy(_)) => Ok(Erasure::InUse),
                erased => erased,
            }
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }

    /// Asks SQLite to check its own file and returns what it finds wrong.
    pub(crate) async fn integrity_problems(&self) -> Result<Vec<String>> {
        let path = Arc::clone(&self.path);
        let work = move || SqliteConnection::open(&path)?.integrity_problems();
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)?
    }
}

/// Returns what others can reach of the store in a directory. The directory counts if nothing else lies in it.
pub(crate) fn exposed(directory: &Path) -> Vec<ExposedFile> {
    let files = [DATABASE_FILE, "contexture.db-wal", "contexture.db-shm"];
    let names = directory.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_own =
        directory.join(DATABASE_FILE).exists() && names.into_iter().all(|name| files.iter().any(|file| name == *file));
    private::exposed(directory, &files, is_own)
}

/// Waits longer than other programs sleep between two tries for the lock. SQLite has no queue, so who takes the lock again
/// at once keeps them out.
pub(crate) async fn make_way() -> Result<()> {
    let waiting = || thread::sleep(2 * connection::BUSY_SLEEP);
    tokio::task::spawn_blocking(waiting).await.map_err(|_| Error::Closed)
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

/// Returns where SQLite keeps the index of the write-ahead log, by which programs take turns.
fn wal_index_file(database: &Path) -> PathBuf {
    database.with_extension("db-shm")
}

/// Runs a job in a read transaction of a connection. Returns whether it could, and whether the transaction was left.
async fn look(connection: &mut SqliteConnection, scope: &Scope, job: &mut dyn ReadJob) -> (Result<()>, Result<()>) {
    if let Err(error) = connection.begin_read() {
        return (Err(error), Ok(()));
    }
    let looking = async {
        let mut tx = Tx::reading(connection, scope).await?;
        job.run(&mut tx).await;
        Ok(())
    };
    let looked = looking.await;
    (looked, connection.end_read())
}

/// A database that is ready.
struct Prepared {
    connection: SqliteConnection,
    path: PathBuf,
    files: OpenFiles,
}

/// Opens the database in a directory and brings it to the newest schema.
fn prepare(directory: &Path) -> Result<Prepared> {
    private::create_directory(directory).map_err(|source| Error::Open { path: directory.to_owned(), source })?;
    let path = directory.join(DATABASE_FILE);
    if !path.exists() {
        // SQLite gives its logs the mode of the database. What keeps the file from being made, it says itself.
        drop(private::file().write(true).create_new(true).open(&path));
    }
    let mut connection = SqliteConnection::open(&path)?;
    schema::migrate(&mut connection, directory, &path)?;
    // Its last look has opened the log as well.
    let files = OpenFiles::of(&path)?;
    Ok(Prepared { connection, path, files })
}

/// Tells whether the log of a database is so long that it must not be left so.
fn is_log_long(database: &Path) -> bool {
    log_file(database).metadata().is_ok_and(|log| log.len() > MAX_LOG_LEFT)
}
