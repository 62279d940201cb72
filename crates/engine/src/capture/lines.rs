//! The lines of a file, with where they are.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// Bytes at the end of what was taken in that tell whether a file was rewritten.
const TAIL_BYTES: u64 = 64 * 1024;
/// Read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// A line of a file.
pub(super) struct Line<'l> {
    /// Its bytes, the line feed included.
    pub(super) bytes: &'l [u8],
    /// Where it starts in the file.
    pub(super) start: u64,
    /// Whether it ends with a line feed.
    pub(super) is_whole: bool,
}

/// Reads a file line by line from some byte on. Memory holds one line.
pub(super) struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    start: u64,
}

impl Lines {
    pub(super) fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        Ok(Self { reader: BufReader::with_capacity(BUFFER_BYTES, file), line: Vec::new(), start: from })
    }

    /// Returns the next line; nothing at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.start += self.line.len() as u64;
        self.line.clear();
        // A line of unusual length must not keep its memory for the rest of the file.
        self.line.shrink_to(BUFFER_BYTES);
        if self.reader.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let is_whole = self.line.last() == Some(&b'\n');
        Ok(Some(Line { bytes: &self.line, start: self.start, is_whole }))
    }
}

/// Returns the digest of the last bytes before a place in a file; nothing when the file is shorter.
pub(super) fn tail_digest(path: &Path, size: u64) -> io::Result<Option<[u8; 32]>> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < size {
        return Ok(None);
    }
    let start = size.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(size - start).read_to_end(&mut tail)?;
    Ok((tail.len() as u64 == size - start).then(|| *blake3::hash(&tail).as_bytes()))
}
