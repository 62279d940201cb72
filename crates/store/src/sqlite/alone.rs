//! One connection for one caller: everything is done on the thread that calls.
//!
//! A program that takes in a few lines and ends spends longer on threads and further connections than on its work.

use std::path::PathBuf;

use tokio::sync::{Mutex, MutexGuard};

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

    pub(super) async fn read<A, T, E>(&self, scope: &Scope, args: &A, work: JobFn<A, T, E>) -> Result<T, E>
    where
        E: From<Error>,
    {
        let (outcome, ended) = look(&mut *self.connection().await?, scope, args, work).await;
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
        serve_group(&mut *self.connection().await?, vec![Box::new(pending)]).await;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Takes the connection, out of the transaction of a caller who went away in it.
    async fn connection(&self) -> Result<MutexGuard<'_, SqliteConnection>> {
        let mut connection = self.connection.lock().await;
        connection.leave_transaction()?;
        Ok(connection)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        fold_long_log(self.connection.get_mut(), &self.path);
    }
}
