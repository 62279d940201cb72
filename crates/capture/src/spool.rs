//! The spool: what could not be handed to the store, kept on disk in its order until the store is back.
//!
//! An entry is a file: a line of JSON that says what it is, then a stretch of a session. The stretch begins a little
//! before what is new, so that it can be told whether it continues what the store holds.

mod held;

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use contexture::open_found;
pub use contexture::wire::Drained;
use contexture_core::Timestamp;
use contexture_store::{DurableFile, FileAccess, NameTaken, private};
use serde::{Deserialize, Serialize};
use tracing::{Instrument as _, debug_span};

pub use self::held::SpooledPiece;
use crate::{
    Capture, CaptureReason, Error, Result, SessionFile,
    input::{Piece, TAIL_BYTES},
};

/// Most bytes of a session that an entry holds. Whatever comes after them is in the session's own file only.
const MAX_PIECE_BYTES: u64 = 32 * 1024 * 1024;
/// Longest line that says what an entry is.
const MAX_HEADER_BYTES: u64 = 1024 * 1024;
/// Most bytes of all entries. What they have no room for is in the sessions' own files only.
const MAX_SPOOL_BYTES: u64 = 512 * 1024 * 1024;
/// Most entries.
const MAX_ENTRIES: usize = 4096;
/// Where entries go that continue nothing that is known.
const KEPT: &str = "kept";

/// The entries for one store and space.
#[derive(Debug, Clone)]
pub struct Spool {
    directory: PathBuf,
}

/// What an entry says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SpoolHeader {
    file: SessionFile,
    #[serde(rename = "occasion")]
    reason: CaptureReason,
    /// Where its bytes start in the session.
    start: u64,
    at: Timestamp,
}

struct Entry {
    header: SpoolHeader,
    piece: Piece,
}

impl Spool {
    /// Uses a directory, which is made when something is added.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Keeps what a session holds after its first `captured` bytes, durably.
    ///
    /// Returns how far the session is kept now.
    pub fn add(&self, file: &SessionFile, reason: &CaptureReason, captured: u64, at: Timestamp) -> io::Result<u64> {
        let mut session = open_found(&file.path)?;
        // A session that has shrunk is another one.
        let captured = if session.metadata()?.len() < captured { 0 } else { captured };
        let start = captured.saturating_sub(TAIL_BYTES as u64);
        session.seek(SeekFrom::Start(start))?;
        private::create_directory(&self.directory)?;
        let piece = session.metadata()?.len().saturating_sub(start).min(MAX_PIECE_BYTES);
        self.check_room(piece)?;
        let mut draft = DurableFile::begin(&self.directory, FileAccess::Private)?;
        let header = SpoolHeader { file: file.clone(), reason: reason.clone(), start, at };
        serde_json::to_writer(&mut draft, &header)?;
        draft.write_all(b"\n")?;
        let copied = io::copy(&mut session.take(MAX_PIECE_BYTES), &mut draft)?;
        draft.publish(&self.next_place(at), NameTaken::Refuse)?;
        Ok(start + copied)
    }

    /// Tells whether there is room for an entry of some bytes more.
    fn check_room(&self, bytes: u64) -> io::Result<()> {
        let files = self.directory.read_dir()?.flatten();
        let (mut held, mut count) = (bytes, 0);
        for file in files.filter_map(|file| file.metadata().ok()) {
            held += file.len();
            count += 1;
        }
        if held > MAX_SPOOL_BYTES || count >= MAX_ENTRIES {
            let mebibytes = MAX_SPOOL_BYTES >> 20;
            let limits = format!("the spool is full ({mebibytes} MiB or {MAX_ENTRIES} entries)");
            return Err(io::Error::other(format!("{limits}; what is new is in the session's own file only")));
        }
        Ok(())
    }

    /// Returns where the entries are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns how many entries wait.
    pub fn waiting(&self) -> usize {
        self.entries().len()
    }

    /// Returns since when the first of them waits.
    pub fn waiting_since(&self) -> Option<Timestamp> {
        self.entries().first().and_then(|entry| number(entry)).and_then(Timestamp::from_micros)
    }

    /// Returns the entries that were kept aside.
    pub fn kept(&self) -> Vec<PathBuf> {
        listed(&self.directory.join(KEPT))
    }

    /// Lists the entries in the order in which they were added.
    fn entries(&self) -> Vec<PathBuf> {
        listed(&self.directory)
    }

    /// Returns a name that sorts after those of earlier entries.
    fn next_place(&self, at: Timestamp) -> PathBuf {
        let last = self.entries().pop();
        let after = last.as_deref().and_then(number).map_or(i64::MIN, |last| last.saturating_add(1));
        let number = at.as_micros().max(after).max(0);
        self.directory.join(format!("{number:020}-{}.entry", std::process::id()))
    }

    fn keep_aside(&self, entry: &Path) -> io::Result<()> {
        let aside = self.directory.join(KEPT);
        private::create_directory(&aside)?;
        fs::rename(entry, aside.join(entry.file_name().unwrap_or_default()))
    }
}

impl Entry {
    fn read(path: &Path) -> io::Result<Self> {
        let mut file = BufReader::new(open_found(path)?);
        let mut line = Vec::new();
        file.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)?;
        let damaged = |source| io::Error::new(io::ErrorKind::InvalidData, source);
        let header: SpoolHeader = serde_json::from_slice(&line).map_err(damaged)?;
        let mut bytes = Vec::new();
        file.take(MAX_PIECE_BYTES).read_to_end(&mut bytes)?;
        // A line that was still being written when it was kept is in the entry after this one.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
        let piece = Piece { start: header.start, bytes: Arc::from(bytes), at: header.at };
        Ok(Self { header, piece })
    }
}

impl Capture<'_> {
    /// Takes in what a spool holds, in order. What was taken in leaves the spool.
    pub async fn drain(self, spool: &Spool) -> Result<Drained> {
        let unread = |source| Error::Io { attempt: "read the spool", source };
        let mut drained = Drained::default();
        for path in spool.entries() {
            let entry = match Entry::read(&path) {
                Ok(entry) => entry,
                // Somebody else took it in.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    spool.keep_aside(&path).map_err(unread)?;
                    drained.kept += 1;
                    continue;
                }
                Err(error) => return Err(unread(error)),
            };
            if self.take_entry(&entry).instrument(debug_span!("drain", taken = drained.taken)).await? {
                drained.taken += 1;
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unread(error)),
                    _ => {}
                }
            } else {
                spool.keep_aside(&path).map_err(unread)?;
                drained.kept += 1;
            }
        }
        Ok(drained)
    }

    /// Takes in the bytes of an entry, from the entry or from the session where it still is as it was. Tells whether the
    /// store holds them now.
    async fn take_entry(self, entry: &Entry) -> Result<bool> {
        let Entry { header: SpoolHeader { file, reason, start, .. }, piece } = entry;
        let end = start + piece.bytes.len() as u64;
        let reason = CaptureReason { until: Some(end), ..reason.clone() };
        let taken = if *start == 0 || self.known_source(&file.settings.machine, &file.path).await?.is_some() {
            self.capture_from(file, &reason, Some(piece), &mut |_| {}).await
        } else {
            self.capture(file, &reason).await
        };
        match taken {
            // A session that is gone adds nothing; what the store holds decides.
            Ok(_) | Err(Error::Io { .. }) => {}
            // The session itself may hold what lies between.
            Err(Error::Discontinuous { .. }) => match self.capture(file, &reason).await {
                Ok(_) | Err(Error::Io { .. }) => {}
                Err(error) => return Err(error),
            },
            Err(error) => return Err(error),
        }
        match self.known_source(&file.settings.machine, &file.path).await? {
            Some(known) => self.holds(&known, *start, &piece.bytes).await,
            None => Ok(false),
        }
    }
}

/// Returns when an entry was added, about: no two of a spool have the same number.
fn number(entry: &Path) -> Option<i64> {
    entry.file_stem()?.to_str()?.split('-').next()?.parse().ok()
}

/// Lists the entries in a directory by name.
fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = directory.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut entries: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "entry")).collect();
    entries.sort();
    entries
}
