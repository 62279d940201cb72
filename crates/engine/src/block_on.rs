//! For programs that have no executor of their own.

use std::io;

/// Runs an operation to its end on this thread.
///
/// A thread that the operation has left behind, such as one that still waits for input, is not waited for.
pub fn block_on<F: Future>(operation: F) -> io::Result<F::Output> {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = executor.block_on(operation);
    executor.shutdown_background();
    Ok(outcome)
}
