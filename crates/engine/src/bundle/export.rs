//! Writing a bundle.

use std::{collections::HashSet, io::Write};

use contexture_core::{ArtifactId, CommitId, HeadName, Noted};
use contexture_store::{
    Disclosure, Error as StoreError, Scope, Tx, annotation,
    commit::{self, LineSegment, StoredCommit},
    head,
};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::{Instrument as _, debug_span};

use super::{
    artifacts::{BundledArtifact, BundledContents},
    envelopes::{BundledCoverage, Loose},
    frame::{AnnotationFrame, FrameWriter, HeadFrame, Holds},
};
use crate::{
    Contexture, Error, Result,
    bundle::is_zero,
    lines::{Direction, Lines, Reach, reach},
};

/// Commits that are read in one transaction.
const COMMITS_PER_BATCH: usize = 64;
/// Heads that are listed at once.
const HEADS_PER_PAGE: u32 = 256;
/// Ends of lines that are listed at once.
const TIPS_PER_PAGE: u32 = 256;

/// What a bundle holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportSummary {
    /// Commits.
    pub commits: u64,
    /// Artifacts, each once.
    pub artifacts: u64,
    /// Bytes of the artifacts.
    pub artifact_bytes: u64,
    /// Annotations.
    pub annotations: u64,
    /// Heads.
    pub heads: u64,
    /// Envelopes, with their injections, what they miss and their events.
    pub envelopes: u64,
    /// Artifacts whose content is left out, because it has secrets in it or is not here. The masked content of those that
    /// have some is counted with the artifacts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_artifacts: u64,
}

/// What becomes of secrets in what a bundle holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BundledSecrets {
    /// They go along if the handle shows content as it is, and are refused if not.
    AsShown,
    /// Their artifacts are left out, and go along masked.
    Masked,
}

impl Contexture {
    /// Writes commits and heads with all that leads to them and the envelopes that were made from it, so that another
    /// store can take them in. Content with secrets in it goes along only where this handle shows content as it is.
    pub async fn export<W: Write + Send>(
        &self,
        commits: &[CommitId],
        heads: &[HeadName],
        sink: W,
    ) -> Result<ExportSummary> {
        let starts = Starts { commits: commits.to_vec(), heads: heads.to_vec(), loose: Loose::LeftOut };
        let exporting = self.export_from(starts, BundledSecrets::AsShown, sink);
        exporting.instrument(debug_span!("export", commits = commits.len())).await
    }

    /// Does the same without the secrets: of content in which some were found only the id goes along, and its masked form
    /// beside it.
    pub async fn export_masked<W: Write + Send>(
        &self,
        commits: &[CommitId],
        heads: &[HeadName],
        sink: W,
    ) -> Result<ExportSummary> {
        let starts = Starts { commits: commits.to_vec(), heads: heads.to_vec(), loose: Loose::LeftOut };
        let exporting = self.export_from(starts, BundledSecrets::Masked, sink);
        exporting.instrument(debug_span!("export_masked", commits = commits.len())).await
    }

    /// Writes every commit, whether a head leads to it or not, every head, and what was assembled or is missing without a
    /// commit.
    pub async fn export_all<W: Write + Send>(&self, sink: W) -> Result<ExportSummary> {
        let starts = self.everything().await?;
        self.export_from(starts, BundledSecrets::AsShown, sink).instrument(debug_span!("export_all")).await
    }

    /// Does the same without the secrets.
    pub async fn export_all_masked<W: Write + Send>(&self, sink: W) -> Result<ExportSummary> {
        let starts = self.everything().await?;
        self.export_from(starts, BundledSecrets::Masked, sink).instrument(debug_span!("export_all_masked")).await
    }

    async fn everything(&self) -> Result<Starts> {
        let mut heads: Vec<HeadName> = Vec::new();
        loop {
            let page = self.heads("", heads.last(), HEADS_PER_PAGE).await?;
            let is_last = page.len() < HEADS_PER_PAGE as usize;
            heads.extend(page.into_iter().map(|head| head.name));
            if is_last {
                break;
            }
        }
        let mut commits = Vec::new();
        let mut after = 0;
        loop {
            let paging = self.store.read(self.scope(), after, |tx, after| {
                async move { commit::tips(tx, *after, TIPS_PER_PAGE).await }.boxed()
            });
            let page = paging.await?;
            let Some((last, _)) = page.last() else { break };
            after = last.line;
            commits.extend(page.into_iter().map(|(_, tip)| tip));
        }
        Ok(Starts { commits, heads, loose: Loose::Included })
    }

    async fn export_from<W: Write + Send>(
        &self,
        starts: Starts,
        secrets: BundledSecrets,
        sink: W,
    ) -> Result<ExportSummary> {
        let disclosure = match secrets {
            BundledSecrets::AsShown => self.disclosure(),
            BundledSecrets::Masked => Disclosure::Masked,
        };
        // Ids are those of what is stored: what is sealed stays so.
        let scope = Scope { disclosure, opener: None, ..self.scope() };
        let planning = self.store.read(scope.clone(), starts, |tx, starts| plan(tx, starts).boxed());
        let ExportPlan { mut lines, heads, coverage, has_envelopes, contents } = planning.await?;
        let found = contents.secrets.len() as u64;
        let is_masking = match (secrets, disclosure) {
            (BundledSecrets::AsShown, Disclosure::Masked) if found > 0 => {
                return Err(Error::SecretsInside { secrets: found });
            }
            (BundledSecrets::AsShown, _) => false,
            (BundledSecrets::Masked, _) => found > 0,
        };
        let holds = match (contents.is_partial || is_masking, has_envelopes) {
            (true, _) => Holds::LeftOut,
            (false, true) => Holds::Envelopes,
            (false, false) => Holds::Chains,
        };
        let mut bundle = Writing {
            frames: FrameWriter::start(sink, holds)?,
            holds,
            summary: ExportSummary::default(),
            seen: HashSet::new(),
        };
        loop {
            let mut batch = Vec::new();
            while batch.len() < COMMITS_PER_BATCH
                && let Some(stored) = lines.next(&self.store, &scope).await?
            {
                let is_new_artifact = bundle.seen.insert(stored.commit.artifact);
                batch.push((stored, is_new_artifact));
            }
            if batch.is_empty() {
                break;
            }
            for Item { stored, artifact, annotations } in self.read_batch(&scope, batch).await? {
                if let Some(located) = artifact {
                    bundle.artifact(&self.store, &scope, located).await?;
                }
                bundle.frames.commit(&stored.commit)?;
                bundle.summary.commits += 1;
                for noted in annotations {
                    bundle.frames.annotation(&AnnotationFrame { commit: stored.id, noted })?;
                    bundle.summary.annotations += 1;
                }
            }
        }
        for head in &heads {
            bundle.frames.head(head)?;
            bundle.summary.heads += 1;
        }
        if has_envelopes {
            self.export_envelopes(&scope, &coverage, &mut bundle).await?;
        }
        bundle.frames.finish()?;
        Ok(bundle.summary)
    }

    /// Reads what belongs to some commits, each of which comes with whether its artifact is needed.
    async fn read_batch(&self, scope: &Scope, batch: Vec<(StoredCommit, bool)>) -> Result<Vec<Item>> {
        let reading = self.store.read(scope.clone(), batch, |tx, batch| {
            async move {
                let mut items = Vec::with_capacity(batch.len());
                for (stored, with_artifact) in batch {
                    let artifact = if *with_artifact { Some(locate(tx, stored).await?) } else { None };
                    let annotations = annotation::history(tx, stored.place).await?;
                    items.push(Item { stored: stored.clone(), artifact, annotations });
                }
                Ok(items)
            }
            .boxed()
        });
        reading.await
    }
}

/// A commit with what is written beside it.
struct Item {
    stored: StoredCommit,
    artifact: Option<BundledArtifact>,
    annotations: Vec<Noted>,
}

async fn locate(tx: &mut Tx<'_>, stored: &StoredCommit) -> Result<BundledArtifact> {
    BundledArtifact::locate(tx, stored.commit.artifact).await.map_err(|error| match error {
        StoreError::NoArtifact(artifact) => Error::AbsentArtifact { commit: stored.id, artifact },
        other => other.into(),
    })
}

/// Where an export starts.
struct Starts {
    commits: Vec<CommitId>,
    heads: Vec<HeadName>,
    loose: Loose,
}

struct ExportPlan {
    lines: Lines,
    heads: Vec<HeadFrame>,
    coverage: BundledCoverage,
    has_envelopes: bool,
    contents: BundledContents,
}

/// A bundle that is being written.
pub(super) struct Writing<W: Write> {
    pub(super) frames: FrameWriter<W>,
    pub(super) holds: Holds,
    pub(super) summary: ExportSummary,
    /// The artifacts that are in it.
    pub(super) seen: HashSet<ArtifactId>,
}

/// Finds the lines that the bundle covers, where its heads point, and whether there are envelopes to go along.
async fn plan(tx: &mut Tx<'_>, starts: &Starts) -> Result<ExportPlan, StoreError> {
    let mut commits = starts.commits.clone();
    let mut heads = Vec::new();
    for name in &starts.heads {
        let commit = head::find(tx, name).await?.ok_or_else(|| StoreError::NoHead(name.clone()))?;
        commits.push(commit);
        heads.push(HeadFrame { name: name.clone(), commit });
    }
    let reach = with_merged(tx, commits).await?;
    let mut contents = BundledContents::default();
    for (line, last) in &reach {
        contents.add_commits(tx, LineSegment { line: *line, first: 0, last: *last }).await?;
    }
    let lines = Lines::merge(tx, &reach, Direction::OldestFirst).await?;
    let coverage = BundledCoverage::new(tx, reach, starts.loose).await?;
    let has_envelopes = !coverage.is_empty(tx).await?;
    coverage.add_contents(tx, &mut contents).await?;
    Ok(ExportPlan { lines, heads, coverage, has_envelopes, contents })
}

/// Returns how far the histories of some commits reach, those of the commits they merge included.
async fn with_merged(tx: &mut Tx<'_>, mut starts: Vec<CommitId>) -> Result<Reach, StoreError> {
    let mut covered = Reach::new();
    while !starts.is_empty() {
        let mut merged = Vec::new();
        for (line, last) in reach(tx, &starts).await? {
            // Only what was not covered before can merge something new.
            let first = covered.get(&line).map_or(0, |covered| covered + 1);
            if first <= last {
                covered.insert(line, last);
                merged.extend(commit::merged_in(tx, LineSegment { line, first, last }).await?);
            }
        }
        starts = merged;
    }
    Ok(covered)
}
