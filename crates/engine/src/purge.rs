//! Purge: content goes for good; its id, size, time and reason stay, and so does the shape of history.

mod plan;
mod sealed;
mod secret;

use std::collections::BTreeSet;

use contexture_assembly::{Redaction, standard::RedactionState};
use contexture_core::{
    Annotation, ArtifactId, CommitId, EnvelopeId, Fingerprint, HeadName, Machine, RuntimeSessionId, SecretFinding,
    SummaryText,
};
use contexture_store::{
    Erasure, Tx, annotation,
    artifact::{self, Removed},
    commit::ArtifactUse,
    event, finding, search, source,
    withheld_text::{self, ReplaceMode, TextReplacement},
};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::{Instrument as _, debug_span};

use self::sealed::ReducedOriginal;
use crate::{
    Contexture, Result,
    assemble::{RemovedContent, RemovedSecret, of_removal},
};

/// What stands in the place of what was said about purged content.
const PURGED: &str = "[purged]";

/// What to purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PurgeTarget {
    /// The content of a commit.
    Commit(CommitId),
    /// The content of the commits that lead to a head.
    Head {
        /// The head.
        name: HeadName,
        /// How far back.
        reach: HeadReach,
    },
    /// The content of all commits of a session, side chains included.
    Session(RuntimeSessionId),
    /// An artifact.
    Artifact(ArtifactId),
    /// One secret, wherever it occurs.
    Secret(Fingerprint),
}

/// How far back the commits of a head are purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadReach {
    /// To where the history of another head joins.
    Own,
    /// To the root.
    All,
}

/// What a purge takes, and whom it concerns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PurgePlan {
    /// Commits that lose their content, or a secret in it.
    pub commits: Vec<CommitId>,
    /// Those of them that were not named, and lose it because they share it.
    pub sharing_commits: Vec<CommitId>,
    /// Artifacts that go whole.
    pub artifacts: u64,
    /// Bytes of their content.
    pub bytes: u64,
    /// Artifacts that lose a secret.
    pub masked_artifacts: u64,
    /// Artifacts of which the encrypted original of a secret goes.
    #[serde(default)]
    pub sealed_artifacts: u64,
    /// Those of them that this machine cannot open, so that all of their originals go.
    #[serde(default)]
    pub unopened_artifacts: u64,
    /// Envelopes that were made from it and lose their inputs and renderings, or a secret in them.
    pub envelopes: Vec<EnvelopeId>,
    /// Heads whose histories have a hole then, or a secret less.
    pub heads: Vec<HeadName>,
    /// Statements about commits in which the secret is.
    pub annotations: u64,
    /// Injections, gaps and events in which the secret is.
    pub records: u64,
    /// Commits that were meant and stay, because other heads lead to them too.
    pub kept_commits: u64,
    /// The files that the content came from, which stay where they are.
    pub files: Vec<PurgedFile>,
}

/// A file that purged content came from. It is not the store's, so it stays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PurgedFile {
    /// The machine that it lies on.
    pub machine: Machine,
    /// Where it lies there.
    pub path: String,
}

/// All that a purge does, ready to be done.
#[derive(Debug, Default)]
struct PurgeWork {
    plan: PurgePlan,
    reason: String,
    source: String,
    /// Artifacts that go whole.
    whole: Vec<ArtifactId>,
    /// Artifacts that lose a secret.
    masked: Vec<MaskedArtifact>,
    /// Artifacts whose encrypted originals lose a secret.
    reduced: Vec<ReducedOriginal>,
    /// The commits of all of them.
    commits: Vec<ArtifactUse>,
    /// What is replaced beside content.
    replacement: Option<TextReplacement>,
    secret: Option<RemovedSecret>,
}

/// An artifact and what will be shown for it.
#[derive(Debug)]
struct MaskedArtifact {
    id: ArtifactId,
    substitute: ArtifactId,
    /// What else was found secret, where it lies in the substitute.
    findings: Vec<SecretFinding>,
}

/// How far a purge has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purging {
    /// Artifacts that were looked into.
    pub done: u64,
    /// Artifacts that there are.
    pub total: u64,
}

impl PurgePlan {
    /// Tells whether there is nothing to purge.
    pub fn is_empty(&self) -> bool {
        let artifacts = self.artifacts + self.masked_artifacts + self.sealed_artifacts;
        artifacts == 0 && self.annotations == 0 && self.records == 0
    }
}

impl Contexture {
    /// Says what a purge would take. Nothing is changed.
    pub async fn plan_purge(
        &self,
        target: &PurgeTarget,
        progress: &mut (dyn FnMut(Purging) + Send),
    ) -> Result<PurgePlan> {
        Ok(self.purge_work(target, "", PurgeMode::Look, progress).await?.plan)
    }

    /// Removes content for good, in one transaction. What the engine's files still hold of it then,
    /// [`erase_purged`](Self::erase_purged) overwrites.
    pub async fn purge(
        &self,
        target: &PurgeTarget,
        reason: &str,
        progress: &mut (dyn FnMut(Purging) + Send),
    ) -> Result<PurgePlan> {
        let work = self.purge_work(target, reason, PurgeMode::Change, progress).await?;
        let purging = self.store.write(self.scope(), work, |tx, work| apply(tx, work).boxed());
        purging.instrument(debug_span!("purge")).await
    }

    /// Overwrites what was purged, in all files of the store.
    pub async fn erase_purged(&self) -> Result<Erasure> {
        Ok(self.store.erase().instrument(debug_span!("erase_purged")).await?)
    }

    async fn purge_work(
        &self,
        target: &PurgeTarget,
        reason: &str,
        mode: PurgeMode,
        progress: &mut (dyn FnMut(Purging) + Send),
    ) -> Result<PurgeWork> {
        let mut work = match target {
            PurgeTarget::Secret(fingerprint) => self.secret_work(*fingerprint, mode, progress).await?,
            PurgeTarget::Commit(_) | PurgeTarget::Head { .. } | PurgeTarget::Session(_) | PurgeTarget::Artifact(_) => {
                self.content_work(target).await?
            }
        };
        reason.clone_into(&mut work.reason);
        work.source = self.source();
        Ok(work)
    }
}

/// Whether a purge is only looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PurgeMode {
    Look,
    Change,
}

async fn apply(tx: &mut Tx<'_>, work: &PurgeWork) -> Result<PurgePlan> {
    let mut parts = BTreeSet::new();
    let mut left: Vec<ArtifactId> = work.whole.clone();
    while let Some(id) = left.pop() {
        let Removed { parts: had, shown } = artifact::withhold(tx, &id, &work.reason, None).await?;
        artifact::supersede(tx, &id, None).await?;
        parts.extend(had);
        // What was shown instead of content is content too.
        left.extend(shown);
        source::forget_content_of(tx, &id).await?;
        tell(tx, work, id, RedactionState::Removed).await?;
    }
    for MaskedArtifact { id, substitute, findings } in &work.masked {
        let Removed { parts: had, shown } = artifact::withhold(tx, id, &work.reason, Some(substitute)).await?;
        artifact::supersede(tx, id, Some(substitute)).await?;
        finding::add(tx, substitute, findings).await?;
        parts.extend(had);
        if let Some(shown) = shown.filter(|shown| shown != substitute) {
            parts.extend(artifact::withhold(tx, &shown, &work.reason, None).await?.parts);
        }
        tell(tx, work, *id, RedactionState::Masked).await?;
    }
    sealed::apply(tx, &work.reduced).await?;
    for ReducedOriginal { id, .. } in &work.reduced {
        tell(tx, work, *id, RedactionState::Masked).await?;
    }
    let purged = SummaryText::new(PURGED)?;
    let statement = SummaryText::new(format!("[purged: {}]", work.reason)).unwrap_or_else(|_| purged.clone());
    let whole: BTreeSet<ArtifactId> = work.whole.iter().copied().collect();
    for ArtifactUse { commit, place, artifact } in &work.commits {
        search::forget(tx, *place).await?;
        if whole.contains(artifact) {
            annotation::withhold(tx, commit, &purged).await?;
            // Lists show what is said about commits, so they say this too.
            annotation::add(tx, commit, Annotation::Summary { text: statement.clone() }).await?;
        }
    }
    if let Some(replacement) = &work.replacement {
        for place in withheld_text::replace(tx, replacement, ReplaceMode::Change).await?.commits {
            let place = contexture_store::commit::require(tx, &place).await?;
            search::forget(tx, place).await?;
        }
        // What is left of the commits comes into the index again.
        search::condemn(tx).await?;
    }
    artifact::remove_unused(tx, parts).await?;
    Ok(work.plan.clone())
}

/// Tells of a removal as the standard does.
async fn tell(tx: &mut Tx<'_>, work: &PurgeWork, artifact: ArtifactId, state: RedactionState) -> Result<()> {
    let policies = work.secret.iter().map(|secret| secret.rule.to_string()).collect();
    let redaction = Redaction { state, method: Some("purge".to_owned()), policies };
    let removed = RemovedContent { artifact, reason: &work.reason, redaction, secret: work.secret.clone() };
    let event = of_removal(&removed, work.source.clone(), tx.now())?;
    event::append(tx, &[event]).await?;
    Ok(())
}
