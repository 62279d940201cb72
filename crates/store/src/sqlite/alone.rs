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
    Result,
    job::{Job, ReadJob},
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

    pub(super) async fn read(&self, scope: &Scope, job: &mut dyn ReadJob) -> Result<()> {
        let (looked, ended) = look(&mut *self.connection().await?, scope, job).await;
        // There is no other connection, so one that is stuck in its transaction is of no use to whoever calls.
        ended?;
        looked
    }

    pub(super) async fn write(&self, job: Box<dyn Job>) -> Result<()> {
        serve_group(&mut *self.connection().await?, &self.path, vec![job]).await;
        Ok(())
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
