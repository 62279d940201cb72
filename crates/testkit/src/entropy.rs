//! Keys that are the same each time.

use std::sync::atomic::{AtomicU64, Ordering};

use contexture::SecretMeans;

/// Returns what makes keys that nobody need guess: each is another, and those of each run are the same.
pub fn known_secrets() -> SecretMeans {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    SecretMeans::without_keys(|bytes| {
        *bytes = blake3::derive_key("contexture test keys v1", &DRAWN.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    })
}
