//! Artifacts by themselves: put, get, stat.

use std::io::{Read, Write};

use contexture_core::ArtifactId;
use contexture_store::artifact::{self, ArtifactReader, ArtifactStat, StoredArtifact};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span, field};

use crate::{Contexture, Error, Result};

impl Contexture {
    /// Stores what a reader yields, of any size, in bounded memory.
    pub async fn put_artifact(&self, reader: impl Read + Send + 'static) -> Result<StoredArtifact> {
        let span = debug_span!("put_artifact", artifact = field::Empty);
        let stored = artifact::put_alone(&self.store, &self.scope(), reader).instrument(span.clone()).await?;
        span.record("artifact", field::display(stored.id));
        Ok(stored)
    }

    /// Writes an artifact, checked piece by piece, in bounded memory. Returns its size.
    pub async fn get_artifact(&self, id: ArtifactId, sink: &mut (dyn Write + Send)) -> Result<u64> {
        let failed = |source| Error::Io { attempt: "write the artifact", source };
        let span = debug_span!("get_artifact", artifact = %id);
        let mut reader = ArtifactReader::open(&self.store, &self.scope(), id).instrument(span).await?;
        let mut size = 0;
        while let Some(piece) = reader.next().await? {
            sink.write_all(&piece).map_err(failed)?;
            size += piece.len() as u64;
        }
        sink.flush().map_err(failed)?;
        Ok(size)
    }

    /// Returns what is known of an artifact without reading it.
    pub async fn stat_artifact(&self, id: ArtifactId) -> Result<ArtifactStat> {
        Ok(self.store.read(self.scope(), id, |tx, id| artifact::stat(tx, id).boxed()).await?)
    }
}
