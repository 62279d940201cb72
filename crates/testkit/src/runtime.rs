//! Running asynchronous code where a test is not asynchronous.

/// Runs a future to its end on a runtime of its own, such as in a property.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts").block_on(future)
}
