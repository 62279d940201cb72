//! A secret that is stored encrypted: its original goes, and the placeholder stays.

use contexture_core::{ArtifactId, ByteReplacement, SecretFinding};
use contexture_store::{
    Scope, Tx,
    artifact::{self, SealedPatch},
};
use futures_util::FutureExt as _;

use super::PurgeWork;
use crate::{
    Contexture, Result,
    secrets::{ReducedPatch, SealKey},
};

/// A sealed artifact and what is kept of what was taken out of it.
#[derive(Debug)]
pub(super) struct ReducedOriginal {
    pub(super) id: ArtifactId,
    pub(super) patch: SealedPatch,
}

impl Contexture {
    /// Finds what becomes of the patch of an artifact in which a secret was found at some places, if it has one that holds
    /// it. Without the key all of the patch goes.
    pub(super) async fn reduce_original(
        &self,
        key: Option<&SealKey>,
        id: ArtifactId,
        findings: &[SecretFinding],
        work: &mut PurgeWork,
    ) -> Result<()> {
        let kept = self.store.read(self.scope(), id, |tx, id| artifact::original(tx, id).boxed()).await?;
        let Some(SealedPatch::Kept(patch)) = kept else { return Ok(()) };
        let places: Vec<u64> = findings.iter().map(|finding| finding.start).collect();
        let reduced = key.and_then(|key| key.reduce(&id, &patch, &places, &self.secret_means().entropy));
        let patch = match reduced {
            Some(ReducedPatch::Same) => return Ok(()),
            Some(ReducedPatch::Less(patch)) => SealedPatch::Kept(patch),
            Some(ReducedPatch::Empty) => SealedPatch::Destroyed,
            None => {
                work.plan.unopened_artifacts += 1;
                SealedPatch::Destroyed
            }
        };
        work.plan.sealed_artifacts += 1;
        work.reduced.push(ReducedOriginal { id, patch });
        Ok(())
    }

    /// Returns the originals of a secret that this machine can open.
    pub(super) async fn opened_originals(
        &self,
        scope: &Scope,
        key: Option<&SealKey>,
        id: ArtifactId,
        findings: &[SecretFinding],
    ) -> Result<Vec<Vec<u8>>> {
        let Some(key) = key else { return Ok(Vec::new()) };
        let kept = self.store.read(scope.clone(), id, |tx, id| artifact::original(tx, id).boxed()).await?;
        let Some(SealedPatch::Kept(patch)) = kept else { return Ok(Vec::new()) };
        let originals = contexture_store::OpenSealed::open(key, &id, &patch).unwrap_or_default();
        let is_it = |original: &ByteReplacement| findings.iter().any(|finding| finding.start == original.start);
        Ok(originals.into_iter().filter(is_it).map(|original| original.bytes).collect())
    }
}

/// Puts what is left of patches in their places.
pub(super) async fn apply(tx: &mut Tx<'_>, reduced: &[ReducedOriginal]) -> Result<()> {
    for ReducedOriginal { id, patch } in reduced {
        artifact::replace_original(tx, id, patch).await?;
    }
    Ok(())
}
