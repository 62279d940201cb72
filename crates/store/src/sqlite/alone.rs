//! One connection for one caller: everything is done on the thread that calls.
//!
//! A program that takes in a few lines and ends spends longer on threads and further connections than on its work.

use std::path::PathBuf;

use tokio::sync::{Mutex, MutexGuard};

use super::{
    connection::SqliteConnection,
    files::OpenFiles,
    look,
    writer::{WritePlace, fold_long_log, serve_group},
};
use crate::{
    Result,
    job::{Job, ReadJob},
    sql::Scope,
};

/// The connection. Callers on several threads take turns.
pub(super) struct Alone {
    place: Mutex<WritePlace>,
}

impl Alone {
    pub(super) fn new(connection: SqliteConnection, path: PathBuf, files: OpenFiles) -> Self {
        Self { place: Mutex::new(WritePlace { connection, path, files }) }
    }

    pub(super) async fn read(&self, scope: &Scope, job: &mut dyn ReadJob) -> Result<()> {
        let (looked, ended) = look(&mut self.place().await?.connection, scope, job).await;
        // There is no other connection, so one that is stuck in its transaction is of no use to whoever calls.
        ended?;
        looked
    }

    pub(super) async fn write(&self, job: Box<dyn Job>) -> Result<()> {
        serve_group(&mut *self.place().await?, vec![job]).await;
        Ok(())
    }

    /// Takes the connection, out of the transaction of a caller who went away in it.
    async fn place(&self) -> Result<MutexGuard<'_, WritePlace>> {
        let mut place = self.place.lock().await;
        place.connection.leave_transaction()?;
        Ok(place)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let WritePlace { connection, path, .. } = self.place.get_mut();
        fold_long_log(connection, path);
    }
}
