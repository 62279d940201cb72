//! The store: opens an engine and runs jobs on it.

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;

use crate::{
    Error, Result,
    sql::{Scope, Tx},
    sqlite::Sqlite,
};

/// A durable store. Clones share one writer and one pool of readers.
#[derive(Clone)]
pub struct Store {
    engine: Sqlite,
}

impl Store {
    /// Opens the store in a directory, making it if need be.
    ///
    /// Refuses, by name, what a newer program wrote and what is not a store.
    pub async fn open(directory: &Path) -> Result<Self> {
        let directory: PathBuf = directory.to_owned();
        let opened = tokio::task::spawn_blocking(move || Sqlite::open(&directory)).await;
        Ok(Self { engine: opened.map_err(|_| Error::Closed)?? })
    }

    /// Runs a job on one moment of the store.
    pub async fn read<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        self.engine.read(scope, job).await
    }

    /// Runs a job that looks at a few rows of one moment of the store.
    ///
    /// An engine may do so on the calling thread, so the job must not walk or fetch content.
    pub async fn glance<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        self.engine.glance(scope, job).await
    }

    /// Runs a job that changes the store, whole or not at all. It is durable when this returns.
    ///
    /// Jobs that wait at the same time share one transaction and one fsync. A job may run again when the engine had to
    /// give up on the transaction, so it borrows what it needs and keeps nothing.
    pub async fn write<T, E, F>(&self, scope: Scope, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        self.engine.write(scope, job).await
    }

    /// Returns the file that holds the store.
    pub fn path(&self) -> &Path {
        self.engine.path()
    }

    /// Asks the engine to check its own files and returns what it finds wrong.
    pub(crate) async fn integrity_problems(&self) -> Result<Vec<String>> {
        self.engine.integrity_problems().await
    }
}
