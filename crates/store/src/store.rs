//! The store: opens an engine and runs jobs on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Foresight, Location, Result,
    job::{Job, JobFn, Pending, ReadJob, Reading},
    postgres::Postgres,
    sql::{Dialect, Scope},
    sqlite::{self, Sqlite},
    stats::Footprint,
};

/// Whether what was removed is out of the engine's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Erasure {
    /// It is.
    Complete,
    /// Somebody else reads or locks the store, so that its files could not be written anew.
    InUse,
    /// The user does not own the tables, so they could not be written anew.
    NoRights,
}

/// A durable store. Clones share its connections.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
}

#[derive(Clone)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    /// Opens a store, making it if need be.
    ///
    /// Refuses, by name, what a newer program wrote and what is not a store.
    pub async fn open(location: impl Into<Location>) -> Result<Self> {
        let engine = match location.into() {
            Location::Directory(directory) => {
                let opened = tokio::task::spawn_blocking(move || Sqlite::open(&directory)).await;
                Engine::Sqlite(opened.map_err(|_| Error::Closed)??)
            }
            Location::Postgres(url) => Engine::Postgres(Postgres::open(*url).await?),
        };
        Ok(Self { engine })
    }

    /// Opens a store for one caller, who does one thing after the other: an engine that need not leave the calling thread
    /// does not.
    ///
    /// That is faster for a program that is soon over, and nothing that would be done beside something else.
    pub async fn open_alone(location: impl Into<Location>) -> Result<Self> {
        let engine = match location.into() {
            Location::Directory(directory) => Engine::Sqlite(Sqlite::open_alone(&directory)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::open(*url).await?),
        };
        Ok(Self { engine })
    }

    /// Tells whether jobs run on the thread that calls.
    pub fn is_alone(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(engine) => engine.is_alone(),
            Engine::Postgres(_) => false,
        }
    }

    /// Runs a job on one moment of the store. A job may run again when the engine lost its connection.
    ///
    /// Jobs, these and the others, work on rows. Content is read outside of them ([`artifact::read`](crate::artifact::read)):
    /// a transaction does not stay open for bytes that come from afar.
    pub async fn read<A, T, E>(&self, scope: Scope, args: A, work: JobFn<A, T, E>) -> Result<T, E>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (job, findings) = Reading::new(args, work);
        self.run_reading(scope, Box::new(job)).await?;
        findings.take()
    }

    /// Runs a job that looks at a few rows of one moment of the store.
    ///
    /// An engine may do so on the calling thread, so the job must not walk, nor locate content, which comes with its row.
    pub async fn glance<A, T, E>(&self, scope: Scope, args: A, work: JobFn<A, T, E>) -> Result<T, E>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (mut job, findings) = Reading::new(args, work);
        match &self.engine {
            Engine::Sqlite(engine) => engine.glance(&scope, &mut job).await?,
            Engine::Postgres(engine) => engine.read(&scope, &mut job).await?,
        }
        findings.take()
    }

    /// Runs a job that changes the store, whole or not at all. It is durable when this returns.
    ///
    /// Jobs that wait at the same time share one transaction and one fsync. A job may run again when the engine had to
    /// give up on the transaction, so it borrows its arguments and keeps nothing.
    pub async fn write<A, T, E>(&self, scope: Scope, args: A, work: JobFn<A, T, E>) -> Result<T, E>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.write_foreseen(scope, Foresight::default(), args, work).await
    }

    /// Runs a job like [`Store::write`] and tells beforehand what it will look for.
    pub async fn write_foreseen<A, T, E>(
        &self,
        scope: Scope,
        foresight: Foresight,
        args: A,
        work: JobFn<A, T, E>,
    ) -> Result<T, E>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (job, answer) = Pending::new(scope, foresight, args, work);
        self.submit(Box::new(job)).await?;
        answer.await.map_err(|_| Error::Closed)?
    }

    async fn run_reading(&self, scope: Scope, mut job: Box<dyn ReadJob>) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.read(scope, job).await,
            Engine::Postgres(engine) => engine.read(&scope, &mut *job).await,
        }
    }

    /// Hands a job to whoever writes, who answers it once it is durable.
    async fn submit(&self, job: Box<dyn Job>) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.submit(job).await,
            Engine::Postgres(engine) => {
                engine.submit(job);
                Ok(())
            }
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match &self.engine {
            Engine::Sqlite(_) => Dialect::Sqlite,
            Engine::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Measures what the store takes on disk, with all its spaces.
    pub async fn footprint(&self) -> Result<Footprint> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.footprint(),
            Engine::Postgres(engine) => engine.footprint().await,
        }
    }

    /// Lets those write who wait, where the engine has no queue for them.
    pub(crate) async fn make_way(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(_) => sqlite::make_way().await,
            // Whoever waits for the lock of a space is served in order.
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Returns how many bytes of the store's file hold nothing; nothing where the engine gives them back by itself.
    pub async fn spare_bytes(&self) -> Result<Option<u64>> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.spare_bytes().await.map(Some),
            Engine::Postgres(_) => Ok(None),
        }
    }

    /// Gives what holds nothing back to the disk, by writing all that is stored anew. Nobody else can write meanwhile.
    ///
    /// Does nothing where the engine does so by itself.
    pub async fn shrink(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.shrink().await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Gives the store up where the program ends: what was acknowledged is durable, and nothing is tidied unless leaving it
    /// so would cost the next program time.
    pub fn leave(self) {
        match self.engine {
            Engine::Sqlite(engine) => engine.leave(),
            Engine::Postgres(engine) => drop(engine),
        }
    }

    /// Removes the store with everything in it, for good.
    ///
    /// Nobody else may be using it.
    pub async fn destroy(self) -> Result<()> {
        match self.engine {
            Engine::Sqlite(engine) => engine.destroy(),
            Engine::Postgres(engine) => engine.destroy().await,
        }
    }

    /// Overwrites what was removed, as far as the engine's own files hold it still.
    ///
    /// It writes the whole database anew, which takes as long as copying it. Others may go on meanwhile; whoever reads an
    /// older state keeps it from being finished.
    pub async fn erase(&self) -> Result<Erasure> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.erase().await,
            Engine::Postgres(engine) => engine.erase().await,
        }
    }

    /// Asks the engine to check itself and returns what it finds wrong.
    pub(crate) async fn integrity_problems(&self) -> Result<Vec<String>> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.integrity_problems().await,
            Engine::Postgres(engine) => engine.integrity_problems().await,
        }
    }
}
