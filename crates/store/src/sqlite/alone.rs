//! One connection for one caller: everything is done on the thread that calls.
//!
//! A program that takes in a few lines and ends spends longer on threads and further connections than on its work.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    connection::SqliteConnection,
    look,
    writer::{fold_long_log, serve_group},
};
use crate::{
    Error, Foresight, Result,
    job::{JobFn, Pending},
    sql::Scope,
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

    pub(super) fn read<A, T, E>(&self, scope: &Scope, args: &A, work: JobFn<A, T, E>) -> Result<T, E>
    where
        E: From<Error>,
    {
        let (outcome, ended) = look(&mut self.connection(), scope, args, work);
        // There is no other connection, so one that is stuck in its transaction is of no use to whoever calls.
        ended?;
        outcome
    }

    pub(super) async fn write<A, T, E>(
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
        let (pending, answer) = Pending::new(scope, foresight, args, work);
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
