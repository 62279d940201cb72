//! Annotate: say something about a commit after it was made.

use contexture_core::{Annotation, CommitId, Noted};
use contexture_store::{annotation, commit};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{Contexture, Result};

impl Contexture {
    /// Adds statements about a commit, all or none.
    pub async fn annotate(&self, id: CommitId, annotations: Vec<Annotation>) -> Result<()> {
        let guard = self.guard().await?;
        let annotations = guard.mask_annotations(annotations)?;
        let writing = self.store.write(self.scope(), (id, annotations, guard), |tx, (id, annotations, guard)| {
            async move {
                guard.settle(tx).await?;
                commit::require(tx, id).await?;
                for annotation in annotations {
                    annotation::add(tx, id, annotation.clone()).await?;
                }
                Ok(())
            }
            .boxed()
        });
        self.heeding_policy(writing).instrument(debug_span!("annotate", commit = %id)).await
    }

    /// Returns everything that was ever said about a commit, oldest first.
    pub async fn annotation_history(&self, id: CommitId) -> Result<Vec<Noted>> {
        let reading = self.store.read(self.scope(), id, |tx, id| {
            async move {
                let place = commit::require(tx, id).await?;
                annotation::history(tx, place).await
            }
            .boxed()
        });
        Ok(reading.await?)
    }
}
