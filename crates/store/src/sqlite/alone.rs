//! One connection for one caller: everything is done on the thread that calls.
//!
//! A program that takes in a few lines and ends spends longer on threads and further connections than on its work.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_util::future::BoxFuture;

use super::{
    connection::SqliteConnection,
    look,
    writer::{fold_long_log, serve_group},
};
use crate::{
    Error, Foresight, Result,
    job::Pending,
    sql::{Scope, Tx},
};

/// The connection. Callers on several threads take turns.
pub(super) struct Alone {
    connection: Mutex<SqliteConnection>,
    path: PathBuf,
}

impl Alone {
    pub(super) fn new(connection: SqliteConnection, path: PathBuf) -> Self {
        Self { connection: Mutex::new(connection), path }
    }

    pub(super) fn read<T, E, F>(&self, scope: &Scope, job: &F) -> Result<T, E>
    where
        E: From<Error>,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>>,
    {
        let (outcome, ended) = look(&mut self.connection(), scope, job);
        // There is no other connection, so one that is stuck in its transaction is of no use to whoever calls.
        ended?;
        outcome
    }

    pub(super) async fn write<T, E, F>(&self, scope: Scope, foresight: Foresight, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync + 'static,
    {
        let (pending, answer) = Pending::new(scope, foresight, job);
        serve_group(&mut self.connection(), vec![Box::new(pending)]);
        answer.await.map_err(|_| Error::Closed)?
    }

    fn connection(&self) -> MutexGuard<'_, SqliteConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        fold_long_log(connection, &self.path);
    }
}
