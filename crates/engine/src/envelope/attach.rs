//! The artifacts that go with an envelope: large ones are stored before its transaction, small ones in it.

use std::io::{self, Read};

use contexture_core::ArtifactId;
use contexture_store::artifact::{self, Hot, MAX_HOT_BYTES};
use futures_util::FutureExt as _;

use crate::{CheckpointContent, Contexture, Error, Result, pieces};

/// Bytes of small artifacts that are held for the envelope's transaction. Beyond that they are stored before it, as
/// large ones are, so that memory does not grow with the envelope.
const MAX_HELD_BYTES: u64 = 4 * 1024 * 1024;

/// An artifact that belongs to an envelope.
pub struct Attachment {
    id: ArtifactId,
    content: CheckpointContent,
}

impl Attachment {
    /// Attaches bytes.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { id: ArtifactId::of(&bytes), content: CheckpointContent::Bytes(bytes) }
    }

    /// Attaches what a reader yields, which must be the artifact of this id.
    pub fn stream(id: ArtifactId, reader: Box<dyn Read + Send>) -> Self {
        Self { id, content: CheckpointContent::Stream(reader) }
    }

    /// Attaches an artifact that is stored already.
    pub fn stored(id: ArtifactId) -> Self {
        Self { id, content: CheckpointContent::Stored(id) }
    }

    /// Returns which artifact it is.
    pub fn id(&self) -> &ArtifactId {
        &self.id
    }
}

/// Artifacts that wait for the envelope's transaction.
#[derive(Default)]
pub(super) struct Attached {
    small: Vec<Hot>,
    bytes: u64,
}

impl Attached {
    pub(super) fn small(&self) -> &[Hot] {
        &self.small
    }
}

impl Contexture {
    /// Makes sure that an artifact is stored, or will be in the envelope's transaction.
    pub(super) async fn attach(&self, attachment: Attachment, attached: &mut Attached) -> Result<ArtifactId> {
        let Attachment { id: given, content } = attachment;
        let found = match content {
            CheckpointContent::Stored(id) => id,
            CheckpointContent::Bytes(bytes) => self.attach_start(bytes, Box::new(io::empty()), attached).await?,
            CheckpointContent::Stream(reader) => {
                let (start, rest) = pieces::read_start(reader).await?;
                self.attach_start(start, rest, attached).await?
            }
        };
        if found == given { Ok(given) } else { Err(Error::OtherContent { given, found }) }
    }

    async fn attach_start(
        &self,
        start: Vec<u8>,
        rest: Box<dyn Read + Send>,
        attached: &mut Attached,
    ) -> Result<ArtifactId> {
        if start.len() > MAX_HOT_BYTES {
            let whole = io::Cursor::new(start).chain(rest);
            return Ok(artifact::put_stream(&self.store, &self.scope(), whole).await?.id);
        }
        let hot = Hot::encode(start);
        let id = *hot.id();
        attached.bytes += hot.size();
        attached.small.push(hot);
        if attached.bytes > MAX_HELD_BYTES {
            self.store_ahead(std::mem::take(attached)).await?;
        }
        Ok(id)
    }

    async fn store_ahead(&self, attached: Attached) -> Result<()> {
        let storing =
            self.store.write(self.scope(), attached.small, |tx, small| artifact::ensure_all(tx, small).boxed());
        Ok(storing.await?)
    }
}
