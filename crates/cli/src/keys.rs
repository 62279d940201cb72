//! The keys of sealed spaces, which lie beside the user's settings.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use contexture::{SealKey, SealRecipient, SecretMeans};

/// Where keys lie below the user's configuration.
const DIRECTORY: &str = "keys";
/// A longer file is no key.
const MAX_KEY_BYTES: u64 = 4096;

/// Returns what the library makes keys with and where it finds them.
pub(crate) fn means(config: Option<&Path>) -> SecretMeans {
    let directory = config.map(|config| config.join(DIRECTORY));
    SecretMeans {
        entropy: Arc::new(|bytes| getrandom::fill(bytes).expect("the system has random bytes")),
        keyring: Arc::new(move |recipient| find(directory.as_deref()?, recipient)),
    }
}

/// Returns the file that a key lies in.
pub(crate) fn place(config: &Path, recipient: &SealRecipient) -> PathBuf {
    config.join(DIRECTORY).join(format!("{}.key", recipient.short()))
}

/// Looks for a key; a file that holds another is none.
fn find(directory: &Path, recipient: &SealRecipient) -> Option<SealKey> {
    let path = directory.join(format!("{}.key", recipient.short()));
    let is_short = fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MAX_KEY_BYTES);
    let text = is_short.then(|| fs::read_to_string(&path).ok()).flatten()?;
    text.parse().ok().filter(|key: &SealKey| key.recipient() == *recipient)
}
