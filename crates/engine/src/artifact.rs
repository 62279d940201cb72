//! Artifacts by themselves: put, get, stat.

use std::io::{Read, Write};

use contexture_core::{ArtifactId, Format};
use contexture_formats::Concatenation;
use contexture_store::artifact::{self, ArtifactReader, ArtifactStat, StoredArtifact, WithheldContent};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span, field};

use crate::{Contexture, Error, Result, secrets::ScreenedReader};

/// Whether the journal tells of an artifact, in the transaction that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Announced {
    /// It does.
    Yes,
    /// A commit that refers to it will.
    No,
}

impl Contexture {
    /// Stores what a reader yields, of any size, in bounded memory.
    pub async fn put_artifact(&self, reader: impl Read + Send + 'static) -> Result<StoredArtifact> {
        let span = debug_span!("put_artifact", artifact = field::Empty);
        let storing = self.put_screened(Concatenation::Bytes, Box::new(reader), Announced::Yes);
        let stored = storing.instrument(span.clone()).await?;
        span.record("artifact", field::display(stored.id));
        Ok(stored)
    }

    /// Stores what a reader yields of a format, of any size, for a commit that will refer to it. Returns its id, which is not
    /// that of the bytes where secrets are taken out.
    pub async fn put_content(&self, format: &Format, reader: impl Read + Send + 'static) -> Result<ArtifactId> {
        let rule = Concatenation::of(format);
        Ok(self.put_screened(rule, Box::new(reader), Announced::No).await?.id)
    }

    /// Stores what is to be stored of what a reader yields, and what was found in it.
    pub(crate) async fn put_screened(
        &self,
        rule: Concatenation,
        reader: Box<dyn Read + Send>,
        announced: Announced,
    ) -> Result<StoredArtifact> {
        let guard = self.guard().await?;
        let (screened, found) = ScreenedReader::new(&guard, rule, reader);
        let streamed = artifact::read_stream(&self.store, &self.scope(), screened).await?;
        let stored = streamed.artifact();
        let taken = (guard, streamed, found.take(), announced);
        let keeping = self.store.write(self.scope(), taken, |tx, (guard, streamed, record, announced)| {
            async move {
                guard.settle(tx).await?;
                let (inserted, id) = (artifact::put_streamed(tx, streamed).await?, streamed.artifact().id);
                if *announced == Announced::Yes {
                    artifact::announce_once(tx, &id, inserted).await?;
                }
                guard.keep(tx, &id, record).await?;
                Ok(inserted)
            }
            .boxed()
        });
        Ok(stored.inserted(self.heeding_policy(keeping).await?))
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

    /// Returns what was purged of an artifact, or did not come along; nothing when all of it is here.
    pub async fn withheld_artifact(&self, id: ArtifactId) -> Result<Option<WithheldContent>> {
        Ok(self.store.glance(self.scope(), id, |tx, id| artifact::withheld(tx, id).boxed()).await?)
    }

    /// Returns what is known of an artifact without reading it.
    pub async fn stat_artifact(&self, id: ArtifactId) -> Result<ArtifactStat> {
        Ok(self.store.read(self.scope(), id, |tx, id| artifact::stat(tx, id).boxed()).await?)
    }
}
