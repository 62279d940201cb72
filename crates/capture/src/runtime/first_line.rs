//! How a session begins.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::Path,
};

use serde::de::DeserializeOwned;

/// Reads the first line of a session. One that cannot be read says nothing.
pub(super) fn first_line<T: DeserializeOwned + Default>(path: &Path) -> T {
    let mut line = Vec::new();
    let read = File::open(path).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
    read.ok().and_then(|_| serde_json::from_slice(&line).ok()).unwrap_or_default()
}
