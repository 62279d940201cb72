//! Who was given content as it is, secrets included: the journal tells.

use contexture_core::{CommitId, Format, JournalKind, Machine, Mutation};
use contexture_store::{Disclosure, commit, finding, journal};
use futures_util::FutureExt as _;

use crate::{Contexture, Result};

impl Contexture {
    /// Returns in which formats and on which machines the secrets of a chain came into it.
    pub async fn secret_origin(&self, commit: CommitId) -> Result<Vec<(Format, Option<Machine>)>> {
        let reading = self.store.read(self.scope(), commit, |tx, commit| {
            async move {
                let place = commit::require(tx, commit).await?;
                let mut origins = Vec::new();
                for segment in commit::segments(tx, place).await? {
                    origins.extend(finding::origins(tx, segment).await?);
                }
                Ok(origins)
            }
            .boxed()
        });
        reading.await
    }

    /// Records that content was handed out as it is, by a handle that [`Contexture::exact`] gave.
    /// `subject` says which, as somebody would name it. Nothing happens where this handle masks.
    pub async fn record_reveal(&self, subject: impl Into<String>) -> Result<()> {
        if self.disclosure() == Disclosure::Masked {
            return Ok(());
        }
        let revealed = Mutation::of_bytes(JournalKind::ContentRevealed, subject, &[]);
        let writing = self.store.write(self.scope(), revealed, |tx, revealed| {
            async move { journal::append(tx, revealed.clone()).await.map(drop) }.boxed()
        });
        Ok(writing.await?)
    }
}
