//! Proof that the store gives back a source file, byte for byte.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, Read as _},
    ops::Range,
    path::{Path, PathBuf},
};

pub use contexture::wire::{UnreadTail, Verified};
use contexture_core::{ArtifactId, Format, Machine};
use contexture_formats::{Codec, Framing, codec, codec::MAX_RECORD_BYTES};
use contexture_store::{
    artifact::{self, ArtifactReader},
    source::{self, SourceSegment, TranscriptSource},
};
use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::{
    Capture, Error, Result,
    input::{SessionInput, TAIL_BYTES},
    lines::Lines,
    steps::State,
};

/// Stretches that are read at once.
const SEGMENTS_PER_PAGE: u32 = 1024;
/// Bytes of what was purged that are passed over at once.
const PURGED_AT_ONCE: u64 = 256 * 1024;
/// Largest artifact that is made of records that were read.
const MAX_STEP_ARTIFACT: u64 = 2 * MAX_RECORD_BYTES as u64;
/// Files that are compared at the same time.
const FILES_AT_ONCE: usize = 8;

/// How much of a file is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Every byte.
    Whole,
    /// How long it is, and its end. Of a document all of it, by its digest.
    End,
}

/// Counts what an import would take in after the first bytes of a session, without a last line that is still being
/// written.
pub fn unread_after(path: &Path, format: &Format, start: u64) -> io::Result<UnreadTail> {
    let mut input = SessionInput::open(path)?;
    let mut unread = UnreadTail::default();
    if input.skip_to(start)?.is_none() {
        return Ok(unread);
    }
    let decoder = codec(format);
    let mut lines = Lines::new(input, start);
    while let Some(line) = lines.next()? {
        let is_record = || decoder.as_ref().is_some_and(|codec| codec.outline(line.bytes.trim_ascii()).is_ok());
        // One that is too long is taken in whether it ends or not.
        if line.is_whole || line.goes_on || is_record() {
            unread.bytes += line.bytes.len() as u64;
            unread.lines += 1;
        }
        if line.goes_on {
            unread.bytes += lines.follow(&mut |_| Ok(()))?.bytes;
        }
    }
    Ok(unread)
}

impl Capture<'_> {
    /// Compares files with what the store would write in their places, several at once. Returns what was found of each,
    /// in their order, and tells which are done.
    pub async fn verify_sources(
        self,
        machine: &Machine,
        paths: &[PathBuf],
        depth: Depth,
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Result<Verified>> {
        let compare = async |at: usize| {
            let verified = match depth {
                Depth::Whole => self.verify_source(machine, &paths[at]).await,
                Depth::End => self.verify_end(machine, &paths[at]).await,
            };
            done(at);
            verified
        };
        stream::iter(0..paths.len()).map(compare).buffered(FILES_AT_ONCE).collect().await
    }

    /// Has the next import read a file from its first byte, though its end looks as it did.
    pub async fn doubt_source(self, machine: &Machine, path: &Path) -> Result<()> {
        let Some(known) = self.known_source(machine, path).await? else { return Ok(()) };
        // No end has this digest.
        let doubted = TranscriptSource { tail: [0; 32], ..known };
        Ok(self
            .engine
            .store()
            .write(self.engine.scope(), doubted, |tx, doubted| source::save(tx, doubted, &[]).boxed())
            .await?)
    }

    /// Compares how long a file is and its end with what was taken in.
    async fn verify_end(self, machine: &Machine, path: &Path) -> Result<Verified> {
        let Some(known) = self.known_source(machine, path).await? else {
            return Ok(Verified::Unknown);
        };
        let reading = |source| Error::Io { attempt: "read the session", source };
        let mut file = SessionInput::open(path).map_err(reading)?;
        if is_document(&known) {
            let mut digest = blake3::Hasher::new();
            let size = io::copy(&mut file, &mut digest).map_err(reading)?;
            let is_same = size == known.size && *digest.finalize().as_bytes() == known.tail;
            return Ok(if is_same {
                Verified::Same { bytes: known.size, left: 0 }
            } else {
                Verified::Differs { at: 0 }
            });
        }
        match file.skip_to(known.size).map_err(reading)? {
            Some(tail) if tail.digest() == known.tail => {
                Ok(Verified::Same { bytes: known.size, left: rest(&mut file).map_err(reading)? })
            }
            _ => Ok(Verified::Differs { at: known.size.saturating_sub(TAIL_BYTES as u64) }),
        }
    }

    /// Compares a file with what the store would write in its place. Of a compressed file the bytes inside count.
    pub async fn verify_source(self, machine: &Machine, path: &Path) -> Result<Verified> {
        Capture::new(&self.engine.exact().await?).compare_source(machine, path).await
    }

    async fn compare_source(self, machine: &Machine, path: &Path) -> Result<Verified> {
        let Some(known) = self.known_source(machine, path).await? else {
            return Ok(Verified::Unknown);
        };
        let reading = |source| Error::Io { attempt: "read the session", source };
        let mut file = SessionInput::open(path).map_err(reading)?;
        let mut stored = StoredBytes::of(self, &known, 0);
        let mut theirs = Vec::new();
        while let Some(ours) = stored.next().await? {
            theirs.resize(ours.length, 0);
            // What was purged cannot be compared.
            if file.read_exact(&mut theirs).is_err() || ours.bytes.is_some_and(|ours| theirs != ours) {
                return Ok(Verified::Differs { at: ours.start });
            }
        }
        if stored.at < known.size {
            return Ok(Verified::Differs { at: stored.at });
        }
        Ok(Verified::Same { bytes: stored.at, left: rest(&mut file).map_err(reading)? })
    }

    /// Tells whether the store holds some bytes as what a file has at a place.
    pub(crate) async fn holds(self, known: &TranscriptSource, start: u64, bytes: &[u8]) -> Result<bool> {
        let exact = self.engine.exact().await?;
        let mut stored = StoredBytes::of(Capture::new(&exact), known, start);
        let mut left = bytes;
        while !left.is_empty() {
            let Some(ours) = stored.next().await? else { return Ok(false) };
            let length = ours.length.min(left.len());
            if ours.bytes.is_some_and(|ours| ours[..length] != left[..length]) {
                return Ok(false);
            }
            left = &left[length..];
        }
        Ok(true)
    }

    /// Returns an artifact that holds records: no bytes when it is one that is too long to be read, nothing when it was
    /// purged, also in part.
    pub(crate) async fn step_artifact(self, id: ArtifactId) -> Result<Option<Vec<u8>>> {
        let Some(mut reader) = self.open_artifact(id).await? else { return Ok(None) };
        if reader.size() > MAX_STEP_ARTIFACT {
            return Ok(Some(Vec::new()));
        }
        let mut bytes = Vec::new();
        while let Some(piece) = reader.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(Some(bytes))
    }

    /// Starts to read an artifact; nothing when it was purged, also in part.
    async fn open_artifact(self, id: ArtifactId) -> Result<Option<ArtifactReader>> {
        let (store, scope) = (self.engine.store(), self.engine.scope());
        let located = store.read(scope.clone(), id, |tx, id| artifact::locate(tx, id).boxed()).await?;
        Ok(located.withheld().is_none().then(|| ArtifactReader::of(store, &scope, located)))
    }
}

/// What the store holds of a file, stretch by stretch and without a gap, from a place on.
struct StoredBytes<'s> {
    capture: Capture<'s>,
    source: &'s TranscriptSource,
    /// Where the next stretch starts.
    at: u64,
    page: VecDeque<SourceSegment>,
    /// The stretch that is being read, and how much of it is left. Neighbours are often of the same artifact.
    left: u64,
    /// Nothing where the stretch was purged.
    open: Option<OpenArtifact>,
}

/// An artifact that is read from its start on.
struct OpenArtifact {
    id: ArtifactId,
    reader: ArtifactReader,
    /// Where in the artifact the piece at hand starts.
    start: u64,
    piece: Vec<u8>,
    /// Where in the artifact the next bytes are wanted.
    at: u64,
}

/// A stretch of a file as the store holds it.
struct VerifiedStretch<'s> {
    start: u64,
    length: usize,
    /// Its bytes, unless they were purged.
    bytes: Option<&'s [u8]>,
}

impl<'s> StoredBytes<'s> {
    fn of(capture: Capture<'s>, source: &'s TranscriptSource, at: u64) -> Self {
        Self { capture, source, at, page: VecDeque::new(), left: 0, open: None }
    }

    async fn next(&mut self) -> Result<Option<VerifiedStretch<'_>>> {
        if self.left == 0 && !self.begin_stretch().await? {
            return Ok(None);
        }
        let start = self.at;
        let Some(open) = &mut self.open else {
            let length = self.left.min(PURGED_AT_ONCE);
            self.left -= length;
            self.at += length;
            let length = usize::try_from(length).expect("it is bounded");
            return Ok(Some(VerifiedStretch { start, length, bytes: None }));
        };
        let Some(range) = open.next(self.left).await? else { return Ok(None) };
        let length = range.len();
        self.left -= length as u64;
        self.at += length as u64;
        Ok(Some(VerifiedStretch { start, length, bytes: Some(&open.piece[range]) }))
    }

    /// Goes to the stretch that comes next; tells whether there is one.
    async fn begin_stretch(&mut self) -> Result<bool> {
        if self.at >= self.source.size {
            return Ok(false);
        }
        let store = self.capture.engine.store();
        if self.page.is_empty() {
            let place = (self.source.machine.clone(), self.source.path.clone(), self.at);
            let paging = store.read(self.capture.engine.scope(), place, |tx, (machine, path, from)| {
                source::segments(tx, machine, path, *from, SEGMENTS_PER_PAGE).boxed()
            });
            self.page = paging.await?.into();
        }
        let Some(segment) = self.page.pop_front().filter(|segment| segment.start <= self.at) else {
            return Ok(false);
        };
        let skipped = self.at - segment.start;
        let Some(left) = segment.length.checked_sub(skipped).filter(|left| *left > 0) else { return Ok(false) };
        let at = segment.part_start.saturating_add(skipped);
        // What comes before the piece at hand is only to be had from the start.
        let open = match self.open.take() {
            Some(open) if open.id == segment.artifact && open.start <= at => Some(open),
            _ => {
                let reader = self.capture.open_artifact(segment.artifact).await?;
                reader.map(|reader| OpenArtifact { id: segment.artifact, reader, start: 0, piece: Vec::new(), at })
            }
        };
        self.open = open.map(|open| OpenArtifact { at, ..open });
        self.left = left;
        Ok(true)
    }
}

impl OpenArtifact {
    /// Returns where in the piece at hand the next bytes are, at most so many; nothing when there are none.
    async fn next(&mut self, most: u64) -> Result<Option<Range<usize>>> {
        while self.start + self.piece.len() as u64 <= self.at {
            self.start += self.piece.len() as u64;
            match self.reader.next().await? {
                Some(piece) => self.piece = piece,
                None => return Ok(None),
            }
        }
        let offset = usize::try_from(self.at - self.start).unwrap_or(usize::MAX);
        let length = (self.piece.len() - offset).min(usize::try_from(most).unwrap_or(usize::MAX));
        self.at += length as u64;
        Ok(Some(offset..offset + length))
    }
}

/// Tells whether a file was taken in as one document, so that its digest is that of all of it.
fn is_document(known: &TranscriptSource) -> bool {
    let is_lines = codec(&known.format).is_none_or(|codec| Codec::framing(codec) == Framing::Lines);
    let had_elements = || serde_json::from_str::<State>(&known.state).is_ok_and(|state| state.taken.is_some());
    !is_lines || had_elements()
}

/// Counts the bytes that are left.
fn rest(input: &mut SessionInput) -> io::Result<u64> {
    let is_compressed = input.is_compressed();
    let mut left = 0;
    loop {
        let read = match input.fill_buf() {
            Ok([]) => return Ok(left),
            // Import has told of the damage.
            Err(_) if is_compressed => return Ok(left),
            read => read?.len(),
        };
        left += read as u64;
        input.consume(read);
    }
}
