//! Taking in a bundle.

use std::{
    io::{self, Read, Seek},
    sync::Arc,
};

use contexture_core::{ArtifactId, Commit, CommitId, EnvelopeId, HeadName, Noted, SecretFinding};
use contexture_store::{
    Scope, Tx, annotation,
    artifact::{self, Hot, LeftOut, MAX_HOT_BYTES},
    commit::{self, Inserted},
    head::{self, Expect},
    missing::{self, Missing},
};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tracing::{Instrument as _, debug_span};

use super::{
    envelopes::Kept,
    frame::{AnnotationFrame, Frame, FrameReader, HeadFrame, LeftOutFrame},
    is_zero,
    screening::{Placeholders, Screening},
    verify_bundle,
};
use crate::{Contexture, Error, FrameProblem, Result, SecretGuard, piece_reader::PieceReader};

/// Bytes and records that are stored in one transaction.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
const BATCH_RECORDS: usize = 512;
/// Frames that may wait to be stored.
const FRAMES_WAITING: usize = 64;

/// What taking in a bundle changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportSummary {
    /// Commits in the bundle.
    pub commits: u64,
    /// Commits that were not here before.
    pub new_commits: u64,
    /// Annotations that were not here before.
    pub new_annotations: u64,
    /// Envelopes in the bundle.
    pub envelopes: u64,
    /// Envelopes that were not here before.
    pub new_envelopes: u64,
    /// Artifacts that came with content that was purged here, and stay without it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub purged_artifacts: u64,
    /// Artifacts in the bundle whose content was left out. Those that have secrets in them came with masked content.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_artifacts: u64,
    /// Heads that were made or moved forward.
    pub moved_heads: Vec<HeadName>,
    /// Heads that stayed because they point to something that the bundle does not continue.
    pub kept_heads: Vec<HeadName>,
}

impl Contexture {
    /// Takes in a bundle. Nothing is stored before all of it is proven whole; taking it in again changes nothing.
    pub async fn import_bundle(&self, bundle: impl Read + Seek + Send + 'static) -> Result<ImportSummary> {
        let (frames, mut waiting) = mpsc::channel(FRAMES_WAITING);
        let reading = tokio::task::spawn_blocking(move || send_frames(bundle, &frames));
        let imported = self.store_frames(&mut waiting).instrument(debug_span!("import_bundle")).await;
        // The reader stops when nobody waits for its frames.
        drop(waiting);
        let read = reading.await.map_err(|_| contexture_store::Error::Closed)?;
        let summary = imported?;
        read?;
        Ok(summary)
    }

    async fn store_frames(&self, waiting: &mut mpsc::Receiver<Frame>) -> Result<ImportSummary> {
        let (scope, guard) = (self.scope(), self.guard().await?);
        let mut summary = ImportSummary::default();
        let mut placeholders = Placeholders::default();
        let mut batch = ImportBatch::default();
        while let Some(frame) = waiting.recv().await {
            // The annotations of a commit stay together, and so do the events of an envelope: only then can those already
            // here be told from repetitions.
            if batch.is_full() && !follows_another(&frame) {
                self.store_batch(&scope, &guard, std::mem::take(&mut batch), &mut summary).await?;
            }
            placeholders.expect(&frame)?;
            match frame {
                Frame::Artifact { id, size } if size <= MAX_HOT_BYTES as u64 => {
                    let content = collect(waiting, size).await?;
                    let mut screening = Screening::begin(&guard, placeholders.take());
                    screening.push(&content);
                    let hot = Hot::encode(content);
                    let findings = screening.finish(&id)?;
                    batch.bytes += size;
                    batch.records.push(Record::Artifact(hot, findings));
                }
                Frame::Artifact { id, size } => {
                    let counting = self.store.read(scope.clone(), id, |tx, id| {
                        async move { artifact::count_purged(tx, &[*id]).await }.boxed()
                    });
                    let purged = counting.await?;
                    summary.purged_artifacts += purged;
                    if purged == 0 {
                        let screening = Screening::begin(&guard, placeholders.take());
                        self.store_large(&scope, waiting, LargeArtifact { id, size, screening }, &guard).await?;
                    } else {
                        placeholders.take();
                        skip(waiting, size).await?;
                    }
                }
                Frame::Bytes(_) => return Err(FrameProblem::StrayBytes.into()),
                Frame::Placeholders(more) => placeholders.add(more)?,
                Frame::LeftOut(LeftOutFrame { artifact, size, reason, substitute }) => {
                    summary.left_out_artifacts += 1;
                    batch.records.push(Record::LeftOut(LeftOut { id: artifact, size, reason, substitute }));
                }
                Frame::Commit(commit) => batch.records.push(Record::Commit(commit)),
                Frame::Annotation(AnnotationFrame { commit, noted }) => {
                    let annotation = guard.mask_annotation(noted.annotation)?;
                    batch.annotate(AnnotationFrame { commit, noted: Noted { annotation, ..noted } });
                }
                Frame::Head(head) => batch.records.push(Record::Head(head)),
                Frame::Envelope(envelope) => batch.records.push(Record::Envelope(Box::new(Kept::new(envelope)))),
                Frame::Missing(missing) if missing.envelope.is_none() => batch.records.push(Record::Missing(missing)),
                Frame::Injection(injection) => batch.kept(Some(injection.envelope))?.injections.push(injection),
                Frame::Missing(missing) => batch.kept(missing.envelope)?.missing.push(missing),
                Frame::Event(event) => batch.kept(event.envelope)?.events.push(event),
            }
        }
        // A bundle that is refused sends no frame, and must not even make the space.
        if !batch.records.is_empty() {
            self.store_batch(&scope, &guard, batch, &mut summary).await?;
        }
        Ok(summary)
    }

    async fn store_large(
        &self,
        scope: &Scope,
        waiting: &mut mpsc::Receiver<Frame>,
        large: LargeArtifact,
        guard: &Arc<SecretGuard>,
    ) -> Result<()> {
        let LargeArtifact { id, size, mut screening } = large;
        let (pieces, receiver) = mpsc::channel(FRAMES_WAITING);
        let feeding = async move {
            let mut left = size;
            while left > 0 {
                let piece = piece(waiting, left).await?;
                left -= piece.len() as u64;
                screening.push(&piece);
                // When the storing side is gone, its own error is what the caller sees.
                if pieces.send(piece).await.is_err() {
                    break;
                }
            }
            screening.finish(&id)
        };
        let reading = artifact::read_stream(&self.store, scope, PieceReader::new(receiver));
        let (findings, streamed) = tokio::join!(feeding, reading);
        // What could not be stored ends the feeding too, and says why.
        let taken = (streamed?, findings?, Arc::clone(guard));
        let storing = self.store.write(scope.clone(), taken, |tx, (streamed, findings, guard)| {
            async move {
                guard.settle(tx).await?;
                artifact::put_streamed(tx, streamed).await?;
                keep_findings(tx, guard, &streamed.artifact().id, findings).await
            }
            .boxed()
        });
        self.heeding_policy(storing).await
    }

    async fn store_batch(
        &self,
        scope: &Scope,
        guard: &Arc<SecretGuard>,
        batch: ImportBatch,
        summary: &mut ImportSummary,
    ) -> Result<()> {
        let taken = (batch.records, Arc::clone(guard));
        let writing = self.store.write(scope.clone(), taken, |tx, (records, guard)| write(tx, records, guard).boxed());
        let part = self.heeding_policy(writing).await?;
        summary.commits += part.commits;
        summary.new_commits += part.new_commits;
        summary.new_annotations += part.new_annotations;
        summary.purged_artifacts += part.purged_artifacts;
        summary.envelopes += part.envelopes;
        summary.new_envelopes += part.new_envelopes;
        summary.moved_heads.extend(part.moved_heads);
        summary.kept_heads.extend(part.kept_heads);
        Ok(())
    }
}

#[derive(Default)]
struct ImportBatch {
    records: Vec<Record>,
    bytes: u64,
}

enum Record {
    Artifact(Hot, Vec<SecretFinding>),
    LeftOut(LeftOut),
    Commit(Box<Commit>),
    Annotations(CommitId, Vec<Noted>),
    Head(HeadFrame),
    Envelope(Box<Kept>),
    Missing(Missing),
}

/// An artifact that is too large for a batch.
struct LargeArtifact {
    id: ArtifactId,
    size: u64,
    screening: Screening,
}

/// Tells whether a frame belongs to a record that came before it.
fn follows_another(frame: &Frame) -> bool {
    match frame {
        Frame::Annotation(_) | Frame::Injection(_) | Frame::Event(_) => true,
        Frame::Missing(missing) => missing.envelope.is_some(),
        Frame::Artifact { .. }
        | Frame::Bytes(_)
        | Frame::Placeholders(_)
        | Frame::LeftOut(_)
        | Frame::Commit(_)
        | Frame::Head(_)
        | Frame::Envelope(_) => false,
    }
}

impl ImportBatch {
    fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES || self.records.len() >= BATCH_RECORDS
    }

    fn annotate(&mut self, AnnotationFrame { commit, noted }: AnnotationFrame) {
        match self.records.last_mut() {
            Some(Record::Annotations(same, notes)) if *same == commit => notes.push(noted),
            _ => self.records.push(Record::Annotations(commit, vec![noted])),
        }
    }

    /// Returns the envelope that came last, to which a frame says that it belongs.
    fn kept(&mut self, envelope: Option<EnvelopeId>) -> Result<&mut Kept> {
        match self.records.last_mut() {
            Some(Record::Envelope(kept)) if Some(kept.id()) == envelope => Ok(kept),
            _ => Err(FrameProblem::OtherEnvelope.into()),
        }
    }
}

async fn write(tx: &mut Tx<'_>, records: &[Record], guard: &SecretGuard) -> Result<ImportSummary> {
    guard.settle(tx).await?;
    let mut summary = ImportSummary::default();
    let artifact_id = |record: &Record| match record {
        Record::Artifact(hot, _) => Some(*hot.id()),
        Record::LeftOut(left_out) => Some(left_out.id),
        _ => None,
    };
    // The commit of an artifact may come with a later batch.
    artifact::freshen_all(tx, &records.iter().filter_map(artifact_id).collect::<Vec<_>>()).await?;
    for record in records {
        match record {
            Record::Artifact(hot, findings) => {
                artifact::put(tx, hot).await?;
                summary.purged_artifacts += artifact::count_purged(tx, &[*hot.id()]).await?;
                keep_findings(tx, guard, hot.id(), findings).await?;
            }
            Record::LeftOut(left_out) => drop(artifact::leave_out(tx, left_out).await?),
            Record::Commit(commit) => {
                let (_, inserted) = commit::insert(tx, commit).await?;
                summary.commits += 1;
                summary.new_commits += u64::from(inserted == Inserted::New);
            }
            Record::Annotations(commit, notes) => {
                summary.new_annotations += annotation::restore(tx, commit, notes).await?;
            }
            Record::Head(head) => write_head(tx, head, &mut summary).await?,
            Record::Envelope(kept) => {
                let inserted = kept.write(tx).await?;
                summary.envelopes += 1;
                summary.new_envelopes += u64::from(inserted == Inserted::New);
            }
            Record::Missing(missing) => missing::restore(tx, missing).await?,
        }
    }
    Ok(summary)
}

/// Stores what was found in an artifact, unless that was purged.
async fn keep_findings(
    tx: &mut Tx<'_>,
    guard: &SecretGuard,
    id: &ArtifactId,
    findings: &[SecretFinding],
) -> Result<()> {
    if !findings.is_empty() && artifact::count_purged(tx, &[*id]).await? == 0 {
        guard.keep_findings(tx, id, findings).await?;
    }
    Ok(())
}

/// Makes a head or moves it forward; one that points elsewhere stays.
async fn write_head(tx: &mut Tx<'_>, frame: &HeadFrame, summary: &mut ImportSummary) -> Result<()> {
    let HeadFrame { name, commit } = frame;
    let forward = match head::find(tx, name).await? {
        None => true,
        Some(at) if at == *commit => return Ok(()),
        Some(at) => {
            let (from, to) = (commit::require(tx, commit).await?, commit::require(tx, &at).await?);
            commit::ancestry(tx, from, to).await?.is_some()
        }
    };
    if forward {
        head::set(tx, name, *commit, Expect::Anything).await?;
        summary.moved_heads.push(name.clone());
    } else {
        summary.kept_heads.push(name.clone());
    }
    Ok(())
}

/// Proves that a bundle is whole, then reads it again and sends its frames.
fn send_frames(mut bundle: impl Read + Seek, frames: &mpsc::Sender<Frame>) -> Result<()> {
    let failed = |source| Error::Io { attempt: "read the bundle", source };
    let start = bundle.stream_position().map_err(failed)?;
    verify_bundle(&mut bundle)?;
    bundle.seek(io::SeekFrom::Start(start)).map_err(failed)?;
    let mut reader = FrameReader::start(io::BufReader::new(bundle))?;
    while let Some(frame) = reader.next()? {
        if frames.blocking_send(frame).is_err() {
            break;
        }
    }
    Ok(())
}

/// Collects the bytes of a small artifact.
async fn collect(waiting: &mut mpsc::Receiver<Frame>, size: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    while (content.len() as u64) < size {
        content.extend(piece(waiting, size - content.len() as u64).await?);
    }
    Ok(content)
}

/// Passes over the bytes of an artifact.
async fn skip(waiting: &mut mpsc::Receiver<Frame>, size: u64) -> Result<()> {
    let mut left = size;
    while left > 0 {
        left -= piece(waiting, left).await?.len() as u64;
    }
    Ok(())
}

/// Takes the next bytes of an artifact of which so many are left.
async fn piece(waiting: &mut mpsc::Receiver<Frame>, left: u64) -> Result<Vec<u8>> {
    match waiting.recv().await {
        Some(Frame::Bytes(bytes)) if bytes.len() as u64 <= left && !bytes.is_empty() => Ok(bytes),
        _ => Err(FrameProblem::ArtifactSize.into()),
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{RecipeName, Stream, Timestamp};
    use contexture_store::envelope::EnvelopeRecord;

    use super::*;
    use crate::BundleProblem;

    #[test]
    fn a_record_belongs_to_the_envelope_before_it() {
        let envelope = |content: &[u8]| EnvelopeRecord {
            document: ArtifactId::of(content),
            stream: Stream::new("main").unwrap(),
            recipe: RecipeName::new("turn").unwrap(),
            commit: None,
            created_at: Timestamp::from_micros(0).unwrap(),
            artifacts: Vec::new(),
        };
        let id = EnvelopeId::of(b"one");
        let mut batch = ImportBatch::default();
        assert!(batch.kept(Some(id)).is_err(), "nothing came before");
        batch.records.push(Record::Envelope(Box::new(Kept::new(envelope(b"one")))));
        assert_eq!(batch.kept(Some(id)).unwrap().id(), id);
        batch.records.push(Record::Envelope(Box::new(Kept::new(envelope(b"two")))));
        let error = batch.kept(Some(id)).map(drop).unwrap_err();
        assert!(
            matches!(error, Error::Bundle { problem: BundleProblem::Frame(FrameProblem::OtherEnvelope) }),
            "{error:?}"
        );
    }
}
