//! What a person names: it may lie anywhere.

use std::{fs::File, path::Path};

use rustix::{
    fs::{self as system, FileType, Mode, OFlags},
    io::Errno,
};

use super::{FileKind, FileRefusal, read_all, refusal};

/// Where a process finds what it was handed open, as a shell's `<(…)` names it, and the device that is always empty.
const OWN_DESCRIPTORS: [&str; 4] = ["/dev/stdin", "/dev/fd", "/proc/self/fd", "/dev/null"];

/// Opens a file that a person named: a regular one, wherever it lies, or what this process was handed open.
pub fn open_named(path: &Path) -> Result<File, FileRefusal> {
    let is_own = OWN_DESCRIPTORS.iter().any(|own| path.starts_with(own));
    // Somebody writes to a pipe that was handed over, and reading it must wait for them; nobody may ever write to another.
    let waiting = if is_own { OFlags::empty() } else { OFlags::NONBLOCK };
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC | waiting;
    let opened = system::open(path, flags, Mode::empty()).map_err(|refused| match refused {
        Errno::NXIO => FileRefusal::NotRegular(kind_at(path)),
        other => other.into(),
    });
    let file = File::from(opened?);
    match refusal::check_regular(&file) {
        Err(FileRefusal::NotRegular(FileKind::Pipe | FileKind::Device)) if is_own => Ok(file),
        // Who asks for what the kernel says knows what they ask for, and it is not more than is read.
        Ok(()) | Err(FileRefusal::NotRegular(FileKind::Kernel)) => Ok(file),
        Err(refused) => Err(refused),
    }
}

/// Reads a file that a person named, unless it has more bytes than that.
pub fn read_named(path: &Path, max_bytes: u64) -> Result<Vec<u8>, FileRefusal> {
    read_all(open_named(path)?, max_bytes)
}

/// Returns what cannot be opened.
fn kind_at(path: &Path) -> FileKind {
    let kind = system::stat(path).ok().and_then(|stat| FileKind::of(FileType::from_raw_mode(stat.st_mode)));
    kind.unwrap_or(FileKind::Other)
}
