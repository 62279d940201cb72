//! Proof that the store gives back a source file, byte for byte.

use std::{
    collections::VecDeque,
    io::{self, BufRead as _, Read as _},
    path::{Path, PathBuf},
};

pub use contexture::wire::{UnreadTail, Verified};
use contexture_core::{ArtifactId, Format, Machine};
use contexture_formats::{Codec, Framing, codec};
use contexture_store::{
    artifact::ArtifactReader,
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
        if line.is_whole || is_record() {
            unread.bytes += line.bytes.len() as u64;
            unread.lines += 1;
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
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(reading)?;
            let is_same = bytes.len() as u64 == known.size && *blake3::hash(&bytes).as_bytes() == known.tail;
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
            theirs.resize(ours.bytes.len(), 0);
            if file.read_exact(&mut theirs).is_err() || theirs != ours.bytes {
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
            let length = ours.bytes.len().min(left.len());
            if ours.bytes[..length] != left[..length] {
                return Ok(false);
            }
            left = &left[length..];
        }
        Ok(true)
    }

    pub(crate) async fn whole_artifact(self, id: ArtifactId) -> Result<Vec<u8>> {
        let mut reader = ArtifactReader::open(self.engine.store(), &self.engine.scope(), id).await?;
        let mut bytes = Vec::new();
        while let Some(piece) = reader.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}

/// What the store holds of a file, stretch by stretch and without a gap, from a place on.
struct StoredBytes<'s> {
    capture: Capture<'s>,
    source: &'s TranscriptSource,
    /// Where the next stretch starts.
    at: u64,
    page: VecDeque<SourceSegment>,
    /// Steps are bounded, so the artifact of one fits into memory; neighbours are often of the same.
    held: Option<(ArtifactId, Vec<u8>)>,
}

/// A stretch of a file as the store holds it.
struct VerifiedStretch<'s> {
    start: u64,
    bytes: &'s [u8],
}

impl<'s> StoredBytes<'s> {
    fn of(capture: Capture<'s>, source: &'s TranscriptSource, at: u64) -> Self {
        Self { capture, source, at, page: VecDeque::new(), held: None }
    }

    async fn next(&mut self) -> Result<Option<VerifiedStretch<'_>>> {
        if self.at >= self.source.size {
            return Ok(None);
        }
        if self.page.is_empty() {
            let place = (self.source.machine.clone(), self.source.path.clone(), self.at);
            let paging =
                self.capture.engine.store().read(self.capture.engine.scope(), place, |tx, (machine, path, from)| {
                    source::segments(tx, machine, path, *from, SEGMENTS_PER_PAGE).boxed()
                });
            self.page = paging.await?.into();
        }
        let Some(segment) = self.page.pop_front().filter(|segment| segment.start <= self.at) else {
            return Ok(None);
        };
        let bytes = match self.held.take() {
            Some((id, bytes)) if id == segment.artifact => bytes,
            _ => self.capture.whole_artifact(segment.artifact).await?,
        };
        let (_, bytes) = self.held.insert((segment.artifact, bytes));
        let start = self.at;
        let offset = segment.part_start.saturating_add(start - segment.start);
        let end = segment.part_start.saturating_add(segment.length);
        let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
        let stretch = range.and_then(|(offset, end)| bytes.get(offset..end));
        self.at = segment.start + segment.length;
        Ok(stretch.map(|bytes| VerifiedStretch { start, bytes }))
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
