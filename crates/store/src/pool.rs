//! Connections that wait to be used again.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{Error, Result};

/// A bounded number of turns, and the connections that nobody uses now.
pub(crate) struct Pool<C> {
    turns: Semaphore,
    idle: Mutex<Vec<C>>,
}

impl<C> Pool<C> {
    pub(crate) fn new(turns: usize) -> Self {
        Self { turns: Semaphore::new(turns), idle: Mutex::default() }
    }

    /// Waits until fewer connections are in use than may be.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        self.turns.acquire().await.map_err(|_| Error::Closed)
    }

    /// Takes the connection that was used last.
    pub(crate) fn take(&self) -> Option<C> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    pub(crate) fn give_back(&self, connection: C) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// Closes the connections that nobody uses now.
    pub(crate) fn clear(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
