//! Artifacts of any size on their way in, in bounded memory.

use std::io::{self, Read};

use contexture_core::ArtifactId;
use fastcdc::v2020::StreamCDC;
use futures_util::FutureExt as _;
use tokio::sync::mpsc;

use super::{Hot, MAX_HOT_BYTES, compose, put, put_all};
use crate::{
    Error, Result, Store,
    commit::Inserted,
    sql::{Scope, Tx},
};

/// Bounds of a content-defined chunk: smallest, usual, largest.
pub(super) const CHUNK_BYTES: (usize, usize, usize) = (8 * 1024, 64 * 1024, 256 * 1024);
/// Chunks that are stored in one transaction.
const BATCH_CHUNKS: usize = 64;
/// Batches that may wait for the writer.
const BATCHES_WAITING: usize = 2;

/// A stored piece of a large artifact.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactPart {
    // Not its key: that holds only within a transaction, because what nothing refers to yet may be removed.
    pub(super) id: ArtifactId,
    pub(super) size: u64,
}

impl ArtifactPart {
    pub(super) fn of(hot: &Hot) -> Self {
        Self { id: *hot.id(), size: hot.size() }
    }
}

/// An artifact that is durable now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredArtifact {
    /// Its id.
    pub id: ArtifactId,
    /// Its size.
    pub size: u64,
    /// Bytes of it that were not stored before.
    pub new_bytes: u64,
}

impl StoredArtifact {
    /// Returns the same once it is known whether it was stored before.
    #[must_use]
    pub fn inserted(self, inserted: Inserted) -> Self {
        match inserted {
            Inserted::New => self,
            Inserted::AlreadyThere => Self { new_bytes: 0, ..self },
        }
    }
}

/// Content that was read to its end. Parts of it may be stored already; the artifact itself is not.
#[derive(Debug)]
pub struct StreamedContent {
    stored: StoredArtifact,
    pieces: StreamedPieces,
}

/// What content consists of.
#[derive(Debug)]
enum StreamedPieces {
    /// One row, not stored yet.
    Whole(Hot),
    /// Parts that are stored.
    Parts(Vec<ArtifactPart>),
}

impl StreamedContent {
    /// Returns what the artifact will be, once it is stored.
    pub fn artifact(&self) -> StoredArtifact {
        self.stored
    }
}

/// What the splitter makes of a stream.
enum Pieces {
    /// All of it, small enough for one row.
    Whole(Hot),
    /// Some of its parts.
    Parts(Vec<Hot>),
}

/// Stores whatever a reader yields and returns its id. The journal does not tell of it; a commit that refers to it will.
pub async fn put_stream(store: &Store, scope: &Scope, reader: impl Read + Send + 'static) -> Result<StoredArtifact> {
    let streamed = read_stream(store, scope, reader).await?;
    let stored = streamed.artifact();
    let inserted = store.write(scope.clone(), streamed, |tx, streamed| put_streamed(tx, streamed).boxed()).await?;
    Ok(stored.inserted(inserted))
}

/// Reads content of any size to its end, and stores its parts if it has several.
///
/// Each batch of parts is durable by itself; the artifact exists once [`put_streamed`] was committed. A failure in between
/// leaves parts that nothing refers to, which the next try reuses.
pub async fn read_stream(store: &Store, scope: &Scope, reader: impl Read + Send + 'static) -> Result<StreamedContent> {
    let (pieces, mut waiting) = mpsc::channel(BATCHES_WAITING);
    let splitter = tokio::task::spawn_blocking(move || split(reader, &pieces));
    let mut parts = Vec::new();
    let mut new_bytes = 0;
    while let Some(pieces) = waiting.recv().await {
        match pieces {
            Pieces::Whole(hot) => {
                let (id, size) = (*hot.id(), hot.size());
                let stored = StoredArtifact { id, size, new_bytes: size };
                return Ok(StreamedContent { stored, pieces: StreamedPieces::Whole(hot) });
            }
            Pieces::Parts(batch) => {
                parts.extend(batch.iter().map(ArtifactPart::of));
                new_bytes += store.write(scope.clone(), batch, |tx, batch| put_all(tx, batch).boxed()).await?;
            }
        }
    }
    let id = splitter.await.map_err(|_| Error::Closed)?.map_err(Error::Input)?;
    let size = parts.iter().map(|part| part.size).sum();
    let stored = StoredArtifact { id, size, new_bytes };
    Ok(StreamedContent { stored, pieces: StreamedPieces::Parts(parts) })
}

/// Stores the artifact that was read.
pub async fn put_streamed(tx: &mut Tx<'_>, streamed: &StreamedContent) -> Result<Inserted> {
    match &streamed.pieces {
        StreamedPieces::Whole(hot) => put(tx, hot).await,
        StreamedPieces::Parts(parts) => compose(tx, &streamed.stored.id, parts).await,
    }
}

/// Cuts a stream into parts and sends them in batches. Content up to the hot limit is one part.
fn split(mut reader: impl Read, pieces: &mpsc::Sender<Pieces>) -> io::Result<ArtifactId> {
    let mut start = Vec::new();
    reader.by_ref().take(MAX_HOT_BYTES as u64 + 1).read_to_end(&mut start)?;
    if start.len() <= MAX_HOT_BYTES {
        let hot = Hot::encode(start);
        let id = *hot.id();
        send(pieces, Pieces::Whole(hot))?;
        return Ok(id);
    }
    let mut whole = blake3::Hasher::new();
    let (min, usual, max) = CHUNK_BYTES;
    let mut batch = Vec::with_capacity(BATCH_CHUNKS);
    for chunk in StreamCDC::new(io::Cursor::new(start).chain(reader), min, usual, max) {
        let chunk = chunk.map_err(io::Error::from)?;
        whole.update(&chunk.data);
        batch.push(Hot::encode(chunk.data));
        if batch.len() == BATCH_CHUNKS {
            send(pieces, Pieces::Parts(std::mem::replace(&mut batch, Vec::with_capacity(BATCH_CHUNKS))))?;
        }
    }
    if !batch.is_empty() {
        send(pieces, Pieces::Parts(batch))?;
    }
    Ok(whole.finalize().into())
}

fn send(waiting: &mpsc::Sender<Pieces>, pieces: Pieces) -> io::Result<()> {
    // The receiver goes away only when storing failed, and that failure is what the caller sees.
    waiting.blocking_send(pieces).map_err(|_| io::ErrorKind::BrokenPipe.into())
}
