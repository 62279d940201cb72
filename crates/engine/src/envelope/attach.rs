//! The artifacts that go with an envelope: they are stored in its transaction, as far as they can be held for it.

use std::io::{self, Read};

use contexture_core::ArtifactId;
use contexture_store::{
    Result as StoreResult, Tx,
    artifact::{self, Hot, MAX_HOT_BYTES, PreparedContent},
};
use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use crate::{Contexture, Error, Result, StoreError, piece_reader};

/// Bytes of artifacts that are held for the envelope's transaction. Beyond that they are stored before it, so that memory
/// does not grow with the envelope.
const MAX_HELD_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes that are compressed sooner than another thread takes them up.
const MAX_INLINE_BYTES: usize = 32 * 1024;

/// An artifact that belongs to an envelope.
pub struct Attachment {
    id: ArtifactId,
    content: AttachmentContent,
}

enum AttachmentContent {
    /// It is hashed and compressed.
    Ready(PreparedContent),
    /// It is being hashed and compressed.
    Preparing(JoinHandle<PreparedContent>),
    /// It is still to be read.
    Stream(Box<dyn Read + Send>),
    /// It is in the store.
    Stored,
}

impl Attachment {
    /// Attaches bytes, which are hashed and compressed here.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        if bytes.len() as u64 > MAX_HELD_BYTES {
            let id = ArtifactId::of(&bytes);
            return Self { id, content: AttachmentContent::Stream(Box::new(io::Cursor::new(bytes))) };
        }
        let ready = prepare(bytes);
        Self { id: *ready.id(), content: AttachmentContent::Ready(ready) }
    }

    /// Attaches bytes of this id, which are hashed and compressed beside what the caller does next.
    pub(crate) fn preparing(id: ArtifactId, bytes: Vec<u8>) -> Self {
        if bytes.len() <= MAX_INLINE_BYTES || bytes.len() as u64 > MAX_HELD_BYTES {
            return Self::bytes(bytes);
        }
        Self { id, content: AttachmentContent::Preparing(tokio::task::spawn_blocking(move || prepare(bytes))) }
    }

    /// Attaches what a reader yields, which must be the artifact of this id.
    pub fn stream(id: ArtifactId, reader: Box<dyn Read + Send>) -> Self {
        Self { id, content: AttachmentContent::Stream(reader) }
    }

    /// Attaches an artifact that is stored already.
    pub fn stored(id: ArtifactId) -> Self {
        Self { id, content: AttachmentContent::Stored }
    }

    /// Returns which artifact it is.
    pub fn id(&self) -> &ArtifactId {
        &self.id
    }
}

fn prepare(bytes: Vec<u8>) -> PreparedContent {
    if bytes.len() <= MAX_HOT_BYTES { PreparedContent::Row(Hot::encode(bytes)) } else { PreparedContent::of(bytes) }
}

/// Artifacts that wait for the envelope's transaction.
#[derive(Default)]
pub(super) struct Attached {
    rows: Vec<Hot>,
    split: Vec<PreparedContent>,
    bytes: u64,
}

impl Attached {
    /// Stores them, new or not.
    pub(super) async fn put(&self, tx: &mut Tx<'_>) -> StoreResult<()> {
        artifact::ensure_all(tx, &self.rows).await?;
        for content in &self.split {
            artifact::put_content(tx, content).await?;
        }
        Ok(())
    }

    fn hold(&mut self, content: PreparedContent) {
        match content {
            PreparedContent::Row(hot) => {
                self.bytes += hot.size();
                self.rows.push(hot);
            }
            PreparedContent::Stored(_) => {}
            PreparedContent::Parts { id, parts } => {
                self.bytes += parts.iter().map(Hot::size).sum::<u64>();
                self.split.push(PreparedContent::Parts { id, parts });
            }
        }
    }
}

impl Contexture {
    /// Makes sure that an artifact is stored, or will be in the envelope's transaction.
    pub(super) async fn attach(&self, attachment: Attachment, attached: &mut Attached) -> Result<ArtifactId> {
        let Attachment { id: given, content } = attachment;
        let ready = match content {
            AttachmentContent::Stored => return Ok(given),
            AttachmentContent::Ready(ready) => ready,
            AttachmentContent::Preparing(task) => task.await.map_err(|_| StoreError::Closed)?,
            AttachmentContent::Stream(reader) => {
                let (start, rest) = piece_reader::read_start(reader).await?;
                if start.len() > MAX_HOT_BYTES {
                    let whole = io::Cursor::new(start).chain(rest);
                    let found = artifact::put_stream(&self.store, &self.scope(), whole).await?.id;
                    return if found == given { Ok(given) } else { Err(Error::OtherContent { given, found }) };
                }
                PreparedContent::Row(Hot::encode(start))
            }
        };
        let found = *ready.id();
        if found != given {
            return Err(Error::OtherContent { given, found });
        }
        attached.hold(ready);
        if attached.bytes > MAX_HELD_BYTES {
            let ahead = std::mem::take(attached);
            self.store.write(self.scope(), ahead, |tx, ahead| ahead.put(tx).boxed()).await?;
        }
        Ok(given)
    }
}
