//! Turns of those who read large records: their memory is the program's, however many sessions are read at once.

use std::sync::{Condvar, Mutex, PoisonError};

/// From so many bytes on a record, or a document, is large.
pub(crate) const LARGE_BYTES: usize = 4 * 1024 * 1024;

static IS_TAKEN: Mutex<bool> = Mutex::new(false);
static IS_FREE: Condvar = Condvar::new();

/// The turn of a session with large records. It lasts until the value is dropped, when all of the session is stored.
///
/// One session has it at a time: a large record is held several times on its way into the store, and a few sessions of such
/// records would take more than a program may have.
#[derive(Debug)]
pub(crate) struct LargeReadTurn(());

impl LargeReadTurn {
    /// Waits for the turn, on a thread of its own. Who has it needs nobody who waits, so it comes.
    pub(crate) fn wait() -> Self {
        let is_taken = IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_taken = IS_FREE.wait_while(is_taken, |is_taken| *is_taken).unwrap_or_else(PoisonError::into_inner);
        *is_taken = true;
        Self(())
    }
}

impl Drop for LargeReadTurn {
    fn drop(&mut self) {
        *IS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = false;
        IS_FREE.notify_one();
    }
}
