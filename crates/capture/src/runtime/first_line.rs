//! How a session begins.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
};

use contexture::open_found;
use serde::de::DeserializeOwned;

/// Longest first line that is looked at.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Reads the first line of a session. One that cannot be read says nothing.
pub(super) fn first_line<T: DeserializeOwned + Default>(path: &Path) -> T {
    let mut line = Vec::new();
    let read = open_found(path).and_then(|file| BufReader::new(file.take(MAX_BYTES)).read_until(b'\n', &mut line));
    read.ok().and_then(|_| serde_json::from_slice(&line).ok()).unwrap_or_default()
}
