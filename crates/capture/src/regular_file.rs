//! Files of others, opened so that none of them can keep the program waiting or filling its memory.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use rustix::fs::OFlags;

/// Most bytes of a file that says something beside a session: settings, a mark, a list of directories.
const MAX_SMALL_BYTES: u64 = 4 * 1024 * 1024;

/// Opens a file to read it, if it is a regular one. A pipe or a device has no end, or waits for somebody.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    // Opening some devices does something, so it is asked before what is there, and after what was opened.
    let regular = |is_file: bool| if is_file { Ok(()) } else { Err(io::Error::other("it is no regular file")) };
    regular(fs::metadata(path)?.is_file())?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    regular(file.metadata()?.is_file())?;
    Ok(file)
}

/// Reads a small file, such as settings, if it is a regular one; one that is long is none of those that are meant.
pub fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(MAX_SMALL_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SMALL_BYTES {
        return Err(io::Error::other("it is longer than such a file is"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_of_a_usual_size_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("settings.json");
        fs::write(&path, "{}").unwrap();
        assert_eq!(read_small(&path).unwrap(), b"{}");
        File::options().write(true).open(&path).unwrap().set_len(MAX_SMALL_BYTES + 1).unwrap();
        assert!(read_small(&path).is_err());
        for odd in [directory.path(), Path::new("/dev/zero")] {
            assert_eq!(open_regular(odd).unwrap_err().to_string(), "it is no regular file");
        }
        let absent = open_regular(&directory.path().join("absent")).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }
}
