//! The bytes of a session, however they lie on the disk.

mod utf16;

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use contexture::open_found;
use contexture_core::{GivenSessionId, Timestamp};
use flate2::bufread::MultiGzDecoder;

use self::utf16::{ByteOrder, Utf16Text};
use crate::DatabaseEntry;

/// Bytes at the end of what was taken in that tell whether a session was rewritten.
pub(crate) const TAIL_BYTES: usize = 64 * 1024;
/// Read at once.
pub(crate) const BUFFER_BYTES: usize = 256 * 1024;
/// What files begin with that are compressed with zstd.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// What files begin with that are compressed with gzip.
const GZIP_MAGIC: [u8; 3] = [0x1F, 0x8B, 8];

/// Largest window of a compressed file, as a power of two: it is held while the file is read.
const MAX_WINDOW_LOG: u32 = 26;
/// Bytes that any compressed file may become.
const MIN_UNPACKED: u64 = 1 << 30;
/// How many times its size a compressed file may become. Sessions become ten times as much, seldom a hundred.
const MAX_RATIO: u64 = 1000;

/// A session's bytes from the first to the last; those of a compressed file are the ones inside, and those of one in UTF-16
/// are UTF-8.
pub(crate) enum SessionInput {
    /// A file as it is.
    Plain(BufReader<File>),
    /// A file that is compressed or in another encoding.
    Compressed(Box<BufReader<Unpacked>>),
    /// What was written for us.
    Held(Cursor<Vec<u8>>),
    /// A stretch of a file as it was.
    Piece(Cursor<Piece>),
}

/// A stretch of a file that somebody has kept.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Where it starts in the file.
    pub(crate) start: u64,
    /// What it holds.
    pub(crate) bytes: Arc<[u8]>,
    /// When it was kept.
    pub(crate) at: Timestamp,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<Piece> for SessionInput {
    fn from(piece: Piece) -> Self {
        Self::Piece(Cursor::new(piece))
    }
}

impl SessionInput {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if let Some(entry) = DatabaseEntry::at(path) {
            return Ok(Self::Held(Cursor::new(entry.export().map_err(io::Error::other)?)));
        }
        let mut file = open_found(path)?;
        let mut magic = Vec::new();
        Read::by_ref(&mut file).take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        let most = most_unpacked(file.metadata()?.len());
        let file = BufReader::with_capacity(BUFFER_BYTES, file);
        let decoder: Box<dyn Read> = if magic == ZSTD_MAGIC {
            let mut decoder = zstd::Decoder::with_buffer(file)?;
            decoder.window_log_max(MAX_WINDOW_LOG)?;
            Box::new(decoder)
        } else if magic.starts_with(&GZIP_MAGIC) {
            Box::new(MultiGzDecoder::new(file))
        } else if let Some(order) = ByteOrder::of(&magic) {
            Box::new(Utf16Text::new(file, order))
        } else {
            return Ok(Self::Plain(file));
        };
        let unpacked = Unpacked { decoder, left: most, most };
        Ok(Self::Compressed(Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacked))))
    }

    /// Tells whether damage in the middle leaves what comes before it whole.
    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, Self::Compressed(_))
    }

    /// Goes to a place and returns the last bytes before it; nothing when there are not so many bytes.
    pub(crate) fn skip_to(&mut self, place: u64) -> io::Result<Option<InputTail>> {
        let mut tail = InputTail::default();
        let start = match self {
            Self::Compressed(_) | Self::Held(_) => 0,
            Self::Plain(file) => {
                let start = place.saturating_sub(TAIL_BYTES as u64);
                file.seek(SeekFrom::Start(start))?;
                start
            }
            Self::Piece(piece) => {
                let start = place.saturating_sub(TAIL_BYTES as u64);
                let Some(offset) = start.checked_sub(piece.get_ref().start) else { return Ok(None) };
                piece.set_position(offset);
                start
            }
        };
        let mut left = place - start;
        let is_compressed = self.is_compressed();
        while left > 0 {
            let bytes = match self.fill_buf() {
                Ok([]) => return Ok(None),
                // Then this is not what was there before.
                Err(_) if is_compressed => return Ok(None),
                read => read?,
            };
            let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            tail.push(&bytes[..taken]);
            self.consume(taken);
            left -= taken as u64;
        }
        Ok(Some(tail))
    }
}

impl Read for SessionInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Compressed(file) => file.read(buffer),
            Self::Held(bytes) => bytes.read(buffer),
            Self::Piece(piece) => piece.read(buffer),
        }
    }
}

impl BufRead for SessionInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Plain(file) => file.fill_buf(),
            Self::Compressed(file) => file.fill_buf(),
            Self::Held(bytes) => bytes.fill_buf(),
            Self::Piece(piece) => piece.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::Plain(file) => file.consume(amount),
            Self::Compressed(file) => file.consume(amount),
            Self::Held(bytes) => bytes.consume(amount),
            Self::Piece(piece) => piece.consume(amount),
        }
    }
}

/// What a compressed file becomes, as long as that is not out of all proportion.
pub(crate) struct Unpacked {
    decoder: Box<dyn Read>,
    left: u64,
    most: u64,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            let mebibytes = self.most / (1024 * 1024);
            io::Error::other(format!("it unpacks to more than {mebibytes} MiB, out of proportion to its size"))
        })?;
        Ok(count)
    }
}

fn most_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(MAX_RATIO).max(MIN_UNPACKED)
}

/// Tells whether a file is compressed, so that its size says nothing of what it holds.
pub(crate) fn is_compressed(path: &Path) -> bool {
    SessionInput::open(path).is_ok_and(|input| input.is_compressed())
}

/// The last bytes of what was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct InputTail(Vec<u8>);

impl InputTail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.0.len() > 2 * TAIL_BYTES {
            self.0.drain(..self.0.len() - TAIL_BYTES);
        }
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.0[self.0.len().saturating_sub(TAIL_BYTES)..]).as_bytes()
    }
}

/// Returns the path under which a session is known, which stays the same when its runtime compresses the file.
pub(crate) fn known_as(path: &Path) -> PathBuf {
    match path.extension() {
        Some(extension) if ["zst", "zstd", "gz"].iter().any(|packed| extension == *packed) => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// Returns the id that a file's name ends with, by which other files refer to it.
pub(crate) fn id_in_name(path: &Path) -> Option<GivenSessionId> {
    const UUID_LENGTH: usize = 36;
    let path = known_as(path);
    let stem = path.file_stem()?.to_str()?;
    let id = stem.get(stem.len().checked_sub(UUID_LENGTH)?..)?;
    id.split('-').map(str::len).eq([8, 4, 4, 4, 12]).then(|| GivenSessionId::new(id))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn what_unpacks_out_of_all_proportion_is_read_up_to_there() {
        let packed = gzip(&vec![0; 1 << 20]);
        let decoder: Box<dyn Read> = Box::new(MultiGzDecoder::new(Cursor::new(packed)));
        let mut unpacked = Unpacked { decoder, left: 1 << 16, most: 1 << 16 };
        let mut read = Vec::new();
        assert!(unpacked.read_to_end(&mut read).unwrap_err().to_string().contains("out of proportion"));
        assert!(read.len() <= 1 << 16, "{}", read.len());
    }

    #[test]
    fn a_file_is_text_whatever_it_was_written_as() {
        let directory = tempfile::tempdir().unwrap();
        let text = "{\"a\":\"é\"}\n";
        let wide = text.encode_utf16().flat_map(u16::to_be_bytes);
        let twice = [gzip(&text.as_bytes()[..4]), gzip(&text.as_bytes()[4..])].concat();
        for written in [text.as_bytes().to_vec(), gzip(text.as_bytes()), twice, wide.collect()] {
            let path = directory.path().join("session.jsonl");
            std::fs::write(&path, written).unwrap();
            let mut read = String::new();
            SessionInput::open(&path).unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
        assert_eq!(known_as(Path::new("a/b.jsonl.gz")), Path::new("a/b.jsonl"));
    }
}
