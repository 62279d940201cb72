//! Looking for secrets in what was stored before anybody looked, or before a rule was known.

use std::sync::Arc;

use contexture_core::{ArtifactId, Timestamp};
use contexture_store::{
    annotation::{self, StoredAnnotation},
    artifact::{self, ArtifactReader},
};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    guard::{SecretGuard, SecretRecord},
    handle::Secrets,
    marker::SecretMarker,
};
use crate::{Contexture, Result};

/// Artifacts that are listed at once.
const PAGE: u32 = 256;

/// What a scan found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScannedSecrets {
    /// Artifacts that were looked through.
    pub artifacts: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Places of secrets that were not known before.
    pub new_findings: u64,
    /// Artifacts that they are in.
    pub artifacts_with_new: u64,
    /// Summaries, labels and losses that were masked.
    #[serde(default)]
    pub masked_annotations: u64,
    /// Artifacts that were left out, because their content is not here or damaged.
    pub unread: u64,
}

impl Secrets<'_> {
    /// Looks for secrets in all that the space holds, or in what was stored since an instant. Tells how many artifacts are
    /// done.
    pub async fn scan(
        &self,
        since: Option<Timestamp>,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<ScannedSecrets> {
        let engine = self.engine;
        let exact = engine.exact().await?;
        let guard = engine.guard().await?;
        let (mut scanned, mut after) = (ScannedSecrets::default(), 0);
        loop {
            let listing = engine.store.read(engine.scope(), (after, since), |tx, (after, since)| {
                artifact::after(tx, *after, *since, PAGE).boxed()
            });
            let page = listing.await?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            for (_, id) in page {
                match self.look_through(&exact, &guard, id).await {
                    Ok((bytes, new)) => {
                        scanned.bytes += bytes;
                        scanned.new_findings += new;
                        scanned.artifacts_with_new += u64::from(new > 0);
                    }
                    Err(_) => scanned.unread += 1,
                }
                scanned.artifacts += 1;
                progress(scanned.artifacts);
            }
        }
        scanned.masked_annotations = self.mask_stored_annotations(&guard, since).await?;
        if scanned.new_findings + scanned.masked_annotations > 0 {
            // It is made of what was shown before.
            engine.discard_index().await?;
        }
        Ok(scanned)
    }

    /// Masks what was said about commits, as it would be masked now. Returns how many statements say something else.
    async fn mask_stored_annotations(&self, guard: &Arc<SecretGuard>, since: Option<Timestamp>) -> Result<u64> {
        let engine = self.engine;
        let (mut masked, mut after): (u64, Option<StoredAnnotation>) = (0, None);
        loop {
            let listing = engine.store.read(engine.scope(), (after, since), |tx, (after, since)| {
                annotation::page(tx, after.as_ref(), *since, PAGE).boxed()
            });
            let page = listing.await?;
            after = page.last().cloned();
            let is_last = page.len() < PAGE as usize;
            let mut changed = Vec::new();
            for stored in page {
                let now = guard.mask_annotation(stored.annotation.clone())?;
                if now != stored.annotation {
                    changed.push(stored.saying(now));
                }
            }
            masked += changed.len() as u64;
            if !changed.is_empty() {
                let taken = (Arc::clone(guard), changed);
                let replacing = engine.store.write(engine.scope(), taken, |tx, (guard, changed)| {
                    async move {
                        guard.settle(tx).await?;
                        for stored in changed {
                            annotation::replace(tx, stored).await?;
                        }
                        Ok(())
                    }
                    .boxed()
                });
                engine.heeding_policy(replacing).await?;
            }
            if is_last {
                return Ok(masked);
            }
        }
    }

    /// Looks through one artifact. Returns how many bytes it has, and how many findings are new.
    async fn look_through(&self, exact: &Contexture, guard: &Arc<SecretGuard>, id: ArtifactId) -> Result<(u64, u64)> {
        let mut reader = ArtifactReader::open(&exact.store, &exact.scope(), id).await?;
        let (mut marker, mut bytes) = (SecretMarker::new(guard), 0);
        while let Some(piece) = reader.next().await? {
            bytes += piece.len() as u64;
            marker.push(&piece);
        }
        let findings = marker.finish();
        if findings.is_empty() {
            return Ok((bytes, 0));
        }
        let record = SecretRecord { findings, originals: Vec::new() };
        let engine = self.engine;
        let taken = (Arc::clone(guard), id, record);
        let keeping = engine.store.write(engine.scope(), taken, |tx, (guard, id, record)| {
            async move {
                guard.settle(tx).await?;
                guard.keep_findings(tx, id, &record.findings).await
            }
            .boxed()
        });
        Ok((bytes, engine.heeding_policy(keeping).await?))
    }
}
