//! What reading sessions may hold: a budget in bytes that is the program's, however many sessions are read at once.
//!
//! Each session has a share of it by its size, so many ordinary ones are read at once and few long ones. A large record is
//! not in the share: one session at a time reads such, with a part of the memory that is kept for it. So nobody who has a
//! share waits for more of the budget, and whoever waits comes to it.

use std::{
    fs,
    path::Path,
    sync::{Condvar, Mutex, PoisonError},
};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::input::is_compressed;

/// From so many bytes on a record, or a document, is large.
pub(crate) const LARGE_BYTES: usize = 4 * 1024 * 1024;
/// All that sessions may hold which are read at once, beside a large record.
const ALL_BYTES: u32 = 64 * 1024 * 1024;
/// Most that one of them holds: what was read of it waits for the store in batches, of which there are few. A long session
/// is read alone, because what it has given back is not at once the system's.
const MOST_BYTES: u32 = ALL_BYTES;
/// How often a session that is shorter than that is held on its way: as a line, in a step, cut into rows and in a batch.
const COPIES: u32 = 4;
/// What any session takes: buffers and a thread.
const LEAST_BYTES: u32 = 512 * 1024;

static BUDGET: Semaphore = Semaphore::const_new(ALL_BYTES as usize);

/// What one session may hold while it is read, until it is dropped.
#[derive(Debug)]
pub(crate) struct ReadingShare {
    _held: Option<SemaphorePermit<'static>>,
}

impl ReadingShare {
    /// Waits until a session of so many bytes may be read.
    pub(crate) async fn of(bytes: u32) -> Self {
        // The budget is never closed, so a permit comes.
        Self { _held: BUDGET.acquire_many(share(bytes)).await.ok() }
    }
}

/// Returns how long a session is, as far as that can be known before it is read.
pub(crate) fn known_length(path: &Path) -> u32 {
    match fs::metadata(path) {
        // The size of a compressed file says nothing, and what is in a database is not measured.
        Ok(file) if !is_compressed(path) => u32::try_from(file.len()).unwrap_or(u32::MAX),
        Ok(_) | Err(_) => u32::MAX,
    }
}

fn share(bytes: u32) -> u32 {
    bytes.saturating_mul(COPIES).saturating_add(LEAST_BYTES).min(MOST_BYTES)
}

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn many_ordinary_sessions_fit_or_a_long_one() {
        const MIB: u32 = 1024 * 1024;
        let at_once = |bytes| ALL_BYTES / share(bytes);
        assert_eq!([MIB / 8, MIB, 4 * MIB, 8 * MIB, u32::MAX].map(at_once), [64, 14, 3, 1, 1]);
    }

    #[tokio::test]
    async fn whoever_waits_for_a_share_comes_to_it() {
        let readers = (0..100).map(|number| async move {
            let _share = ReadingShare::of(if number % 3 == 0 { u32::MAX } else { number }).await;
            tokio::task::yield_now().await;
        });
        let waited = tokio::time::timeout(Duration::from_secs(30), futures_util::future::join_all(readers)).await;
        assert_eq!(waited.map(|read| read.len()), Ok(100));
    }
}
