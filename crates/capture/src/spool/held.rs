//! What the spool holds of sessions that are to be removed for good.

use std::{
    ffi::OsStr,
    fs,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use contexture::open_found;

use super::{KEPT, MAX_HEADER_BYTES, MAX_PIECE_BYTES, Spool, SpoolHeader, listed};

/// An entry of the spool, whether it waits or was kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpooledPiece {
    /// The entry.
    pub path: PathBuf,
    /// The session's file; an entry that cannot be read has none.
    pub session: Option<PathBuf>,
}

impl Spool {
    /// Returns all entries, those too that were kept aside.
    pub fn pieces(&self) -> Vec<SpooledPiece> {
        let paths = self.entries().into_iter().chain(listed(&self.directory.join(KEPT)));
        paths.map(|path| SpooledPiece { session: session_of(&path), path }).collect()
    }
}

impl SpooledPiece {
    /// Tells whether it is of the file of a session, by the path of one or by the session's id in its name.
    pub fn is_of(&self, files: &[&Path], session: Option<&str>) -> bool {
        let Some(file) = &self.session else { return false };
        let named = file.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        files.contains(&file.as_path()) || session.is_some_and(|id| named.ends_with(id))
    }

    /// Returns all that it holds.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_found(&self.path)?.take(MAX_HEADER_BYTES + MAX_PIECE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Removes it. One that is gone already is no failure.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn session_of(path: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    BufReader::new(open_found(path).ok()?).take(MAX_HEADER_BYTES).read_until(b'\n', &mut line).ok()?;
    Some(serde_json::from_slice::<SpoolHeader>(&line).ok()?.file.path)
}
