//! What a program finds by itself, where agents and tools keep their files.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::fs::{self as system, FileType, Mode, OFlags};

use super::{FileKind, FileRefusal, read_all, refusal};

/// Most bytes of a file that says something beside a session: settings, a mark, a list of directories.
const MAX_SMALL_BYTES: u64 = 4 * 1024 * 1024;

/// Opens a file that was found, if it is a regular one. A pipe or a device has no end, or waits for somebody.
pub fn open_found(path: &Path) -> io::Result<File> {
    // Opening some devices does something, so it is asked before what is there, and after what was opened.
    if let Some(kind) = FileKind::of(FileType::from_raw_mode(fs::metadata(path)?.mode())) {
        return Err(FileRefusal::NotRegular(kind).into());
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(system::open(path, flags, Mode::empty())?);
    refusal::check_regular(&file)?;
    Ok(file)
}

/// Reads a small file that was found, such as settings; one that is long is none of those that are meant.
pub fn read_found(path: &Path) -> io::Result<Vec<u8>> {
    Ok(read_all(open_found(path)?, MAX_SMALL_BYTES)?)
}
