//! The keys of sealed spaces, which lie beside the user's settings, each in a file of its own.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use contexture::{DurableFile, FileAccess, NameTaken, SealKey, SealRecipient, SecretMeans, private, read_named};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
};

/// Where keys lie below the user's configuration.
const DIRECTORY: &str = "keys";
/// A longer file is no key.
pub(crate) const MAX_KEY_BYTES: u64 = 4096;

/// Returns what the library makes keys with and where it finds them.
pub(crate) fn means(config: Option<&Path>) -> SecretMeans {
    let directory = config.map(|config| config.join(DIRECTORY));
    SecretMeans {
        entropy: Arc::new(|bytes| getrandom::fill(bytes).expect("the system has random bytes")),
        keyring: Arc::new(move |recipient| find_in(directory.as_deref()?, recipient)),
    }
}

/// Returns the file that a key lies in.
pub(crate) fn place(invocation: &Invocation, recipient: &SealRecipient) -> Result<PathBuf> {
    Ok(directory(invocation)?.join(name(recipient)))
}

/// Looks for a key.
pub(crate) fn find(invocation: &Invocation, recipient: &SealRecipient) -> Option<SealKey> {
    find_in(&directory(invocation).ok()?, recipient)
}

/// Keeps a key, in the place of one that knows less. Returns where.
pub(crate) fn keep(invocation: &Invocation, key: &SealKey) -> Result<PathBuf> {
    let directory = directory(invocation)?;
    let path = directory.join(name(&key.recipient()));
    if find_in(&directory, &key.recipient()).is_some_and(|known| known.can_open() || !key.can_open()) {
        return Ok(path);
    }
    let written = private::create_directory(&directory).and_then(|()| {
        let mut draft = DurableFile::begin(&directory, FileAccess::Private)?;
        draft.write_all(key.to_text().as_bytes())?;
        draft.publish(&path, NameTaken::Replace)
    });
    written.map_err(|source| Error::Write { path: path.clone(), source })?;
    Ok(path)
}

/// Overwrites a key and removes it.
pub(crate) fn destroy(invocation: &Invocation, recipient: &SealRecipient) -> Result<()> {
    let path = place(invocation, recipient)?;
    let overwritten = fs::OpenOptions::new().write(true).open(&path).and_then(|mut file| {
        let length = usize::try_from(file.metadata()?.len().min(MAX_KEY_BYTES)).unwrap_or_default();
        file.write_all(&vec![0; length])?;
        file.sync_all()
    });
    overwritten.and_then(|()| fs::remove_file(&path)).map_err(|source| Error::Write { path, source })
}

fn directory(invocation: &Invocation) -> Result<PathBuf> {
    let config = invocation.environment.config_directory.as_ref().ok_or(Error::NoHome)?;
    Ok(config.join(DIRECTORY))
}

fn name(recipient: &SealRecipient) -> String {
    format!("{}.key", recipient.short())
}

/// Looks for a key; a file that holds another is none.
fn find_in(directory: &Path, recipient: &SealRecipient) -> Option<SealKey> {
    let bytes = read_named(&directory.join(name(recipient)), MAX_KEY_BYTES).ok()?;
    let key: SealKey = std::str::from_utf8(&bytes).ok()?.parse().ok()?;
    (key.recipient() == *recipient).then_some(key)
}
