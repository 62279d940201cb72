//! Who was given content as it is, secrets included: the journal tells.

use contexture_core::{JournalKind, Mutation};
use contexture_store::{Disclosure, journal};
use futures_util::FutureExt as _;

use crate::{Contexture, Result};

impl Contexture {
    /// Records that content was handed out as it is, by a handle that is [`disclosing`](Contexture::disclosing) it.
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
