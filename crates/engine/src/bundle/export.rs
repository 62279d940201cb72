//! Writing a bundle.

use std::{collections::HashSet, io::Write, sync::Arc};

use contexture_core::{CommitId, HeadName, Noted};
use contexture_store::{
    Error as StoreError, Scope, Tx, annotation,
    artifact::{self, ArtifactReader, Encoded},
    commit::{self, Segment, StoredCommit},
    head,
};
use futures_util::FutureExt as _;
use serde::Serialize;

use super::frame::{AnnotationFrame, FrameWriter, HeadFrame};
use crate::{
    Contexture, Error, Result,
    lines::{Direction, Lines, Reach, reach},
};

/// Commits that are read in one transaction.
const COMMITS_PER_BATCH: usize = 64;

/// What a bundle holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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
}

impl Contexture {
    /// Writes commits and heads with all that leads to them, so that another store can take them in.
    pub async fn export<W: Write + Send>(
        &self,
        commits: &[CommitId],
        heads: &[HeadName],
        sink: W,
    ) -> Result<ExportSummary> {
        let scope = self.scope();
        let starts = (commits.to_vec(), heads.to_vec());
        let planning = self.store.read(scope.clone(), move |tx| {
            let (commits, heads) = starts.clone();
            async move { plan(tx, commits, heads).await }.boxed()
        });
        let (mut lines, heads) = planning.await?;
        let mut writer = FrameWriter::start(sink)?;
        let mut summary = ExportSummary::default();
        let mut seen = HashSet::new();
        loop {
            let mut batch = Vec::new();
            while batch.len() < COMMITS_PER_BATCH
                && let Some(stored) = lines.next(&self.store, &scope).await?
            {
                let is_new_artifact = seen.insert(stored.commit.artifact);
                batch.push((stored, is_new_artifact));
            }
            if batch.is_empty() {
                break;
            }
            for Item { stored, artifact, annotations } in self.read_batch(&scope, batch).await? {
                if let Some(row) = artifact {
                    let mut reader = ArtifactReader::of(&self.store, &scope, row);
                    writer.artifact(&stored.commit.artifact, reader.size())?;
                    while let Some(piece) = reader.next().await? {
                        writer.bytes(&piece)?;
                        summary.artifact_bytes += piece.len() as u64;
                    }
                    summary.artifacts += 1;
                }
                writer.commit(&stored.commit)?;
                summary.commits += 1;
                for noted in annotations {
                    writer.annotation(&AnnotationFrame { commit: stored.id, noted })?;
                    summary.annotations += 1;
                }
            }
        }
        for head in &heads {
            writer.head(head)?;
            summary.heads += 1;
        }
        writer.finish()?;
        Ok(summary)
    }

    /// Reads what belongs to some commits, each of which comes with whether its artifact is needed.
    async fn read_batch(&self, scope: &Scope, batch: Vec<(StoredCommit, bool)>) -> Result<Vec<Item>> {
        let batch = Arc::new(batch);
        let reading = self.store.read(scope.clone(), move |tx| {
            let batch = Arc::clone(&batch);
            async move {
                let mut items = Vec::with_capacity(batch.len());
                for (stored, with_artifact) in batch.iter() {
                    let artifact = if *with_artifact { Some(fetch(tx, stored).await?) } else { None };
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
    artifact: Option<Encoded>,
    annotations: Vec<Noted>,
}

async fn fetch(tx: &mut Tx<'_>, stored: &StoredCommit) -> Result<Encoded> {
    artifact::fetch(tx, &stored.commit.artifact).await.map_err(|error| match error {
        StoreError::NoArtifact(artifact) => Error::AbsentArtifact { commit: stored.id, artifact },
        other => other.into(),
    })
}

/// Finds the lines that the bundle covers and where its heads point.
async fn plan(
    tx: &mut Tx<'_>,
    commits: Vec<CommitId>,
    heads: Vec<HeadName>,
) -> Result<(Lines, Vec<HeadFrame>), StoreError> {
    let mut starts = commits;
    let mut pointers = Vec::new();
    for name in heads {
        let commit = head::find(tx, &name).await?.ok_or_else(|| StoreError::NoHead(name.clone()))?;
        starts.push(commit);
        pointers.push(HeadFrame { name, commit });
    }
    let covered = with_merged(tx, starts).await?;
    Ok((Lines::merge(tx, &covered, Direction::OldestFirst).await?, pointers))
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
                merged.extend(commit::merged_in(tx, Segment { line, first, last }).await?);
            }
        }
        starts = merged;
    }
    Ok(covered)
}
