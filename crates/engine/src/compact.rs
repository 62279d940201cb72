//! Compact and snapshot: points where materialization may start.

use contexture_core::{
    Annotation, Commit, CommitId, CommitKind, Count, Coverage, Format, HeadName, LossNote, Provenance, Trigger,
};
use contexture_formats::{self as formats, Checker, Concatenation};
use contexture_store::{
    Tx,
    commit::{self, SegmentTotals},
};
use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tracing::{Instrument as _, debug_span};

use crate::{
    Checkpoint, CheckpointContent, Checkpointed, Contexture, Error, Result, Stop,
    artifact::Announced,
    materialize::{Materialization, MaterializedPiece},
    piece_reader::PieceReader,
};

/// Pieces of a materialization that may wait to be stored.
const PIECES_WAITING: usize = 16;

/// What to put in the place of a history.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// The last commit that the summary replaces.
    pub commit: CommitId,
    /// The summary: in the chain's own format, or plain text, which becomes an entry of that format.
    pub summary: Vec<u8>,
    /// The format of the summary; the chain's own when none is given.
    pub format: Option<Format>,
    /// What the summary is known to leave out.
    pub losses: Vec<LossNote>,
    /// Who made it. Without a template it has that of the commit.
    pub provenance: Provenance,
    /// A head to move from the commit to the compaction.
    pub head: Option<HeadName>,
    /// What to say about the compaction.
    pub annotations: Vec<Annotation>,
}

/// Where to put a snapshot.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The commit to take it of.
    pub commit: CommitId,
    /// Who made it. Without a template it has that of the commit.
    pub provenance: Provenance,
    /// A head to move from the commit to the snapshot.
    pub head: Option<HeadName>,
    /// What to say about the snapshot.
    pub annotations: Vec<Annotation>,
}

impl Contexture {
    /// Records a summary that replaces a history from here on. The history stays reachable.
    pub async fn compact(&self, compaction: Compaction) -> Result<Checkpointed> {
        let span = debug_span!("compact", commit = %compaction.commit);
        self.record_compaction(compaction).instrument(span).await
    }

    async fn record_compaction(&self, compaction: Compaction) -> Result<Checkpointed> {
        let Compaction { commit: id, summary, format, losses, provenance, head, mut annotations } = compaction;
        let covering = self.store.read(self.scope(), id, |tx, id| covered(tx, *id).boxed());
        let (replaced, mut coverage) = covering.await?;
        let Commit { format: chain_format, provenance: replaced, .. } = replaced;
        coverage.losses = losses;
        let format = format.unwrap_or(chain_format);
        let summary = summary_bytes(&format, summary)?;
        annotations.push(Annotation::Coverage { coverage });
        let request = Checkpoint {
            kind: CommitKind::Compaction,
            provenance: of_the_same_kind(provenance, replaced),
            trigger: Trigger::Compaction,
            parent: Some(id),
            head,
            annotations,
            ..Checkpoint::new(format)
        };
        self.checkpoint(request, CheckpointContent::Bytes(summary)).await
    }

    /// Stores what a commit materializes to as one artifact, so that later materializations start there.
    pub async fn snapshot(&self, snapshot: Snapshot) -> Result<Checkpointed> {
        let span = debug_span!("snapshot", commit = %snapshot.commit);
        Box::pin(self.record_snapshot(snapshot)).instrument(span).await
    }

    async fn record_snapshot(&self, snapshot: Snapshot) -> Result<Checkpointed> {
        let Snapshot { commit, provenance, head, annotations } = snapshot;
        let provenance = of_the_same_kind(provenance, self.show(commit).await?.commit.provenance);
        let materialization = self.exact().await?.materialize(Some(commit), Stop::Compaction, None).await?;
        let rule = materialization.format().map_or(Concatenation::Bytes, Concatenation::of);
        let (pieces, waiting) = mpsc::channel(PIECES_WAITING);
        let storing = self.put_screened(rule, Box::new(PieceReader::new(waiting)), Announced::No);
        let (sent, stored) = tokio::join!(send_pieces(materialization, pieces), storing);
        // When storing fails, sending fails too, and only the former says why.
        let artifact = stored?.id;
        let (format, messages) = sent?;
        let request = Checkpoint {
            kind: CommitKind::Snapshot,
            provenance,
            parent: Some(commit),
            head,
            message_count: messages.map(Count::saturating),
            annotations,
            ..Checkpoint::new(format)
        };
        self.checkpoint(request, CheckpointContent::Stored(artifact)).await
    }
}

/// Has who puts something in the place of a history be the kind of agent whose history that is, unless told another.
fn of_the_same_kind(by: Provenance, replaced: Provenance) -> Provenance {
    Provenance { template: by.template.or(replaced.template), ..by }
}

/// Returns a commit and what a compaction after it would cover: all that it materializes to.
async fn covered(tx: &mut Tx<'_>, id: CommitId) -> Result<(Commit, Coverage)> {
    let last = commit::show(tx, &id).await?;
    let segments = match last.reset {
        Some(reset) => commit::ancestry(tx, last.place, reset).await?,
        None => Some(commit::segments(tx, last.place).await?),
    };
    let segments = segments.unwrap_or_default();
    let mut sum = SegmentTotals::default();
    for segment in &segments {
        let part = commit::totals(tx, *segment).await?;
        sum.commits += part.commits;
        sum.bytes += part.bytes;
        sum.messages += part.messages;
    }
    let first = match segments.last() {
        Some(oldest) => commit::at(tx, commit::CommitPlace { line: oldest.line, position: oldest.first }).await?.id,
        None => id,
    };
    let coverage = Coverage {
        first,
        last: id,
        commits: Count::saturating(sum.commits),
        messages: Count::saturating(sum.messages),
        bytes: Count::saturating(sum.bytes),
        losses: Vec::new(),
    };
    Ok((last.commit, coverage))
}

/// Takes a summary in its format as it is and turns plain text into an entry of the format.
fn summary_bytes(format: &Format, summary: Vec<u8>) -> Result<Vec<u8>> {
    if summary.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::Empty);
    }
    let mut checker = Checker::new(Concatenation::of(format));
    let Err(source) = checker.push(&summary).and_then(|()| checker.finish()) else {
        return Ok(summary);
    };
    let looks_structured = summary.trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'{' | b'['));
    match std::str::from_utf8(&summary) {
        Ok(text) if !looks_structured => {
            formats::summary_entry(format, text.trim_end()).ok_or_else(|| Error::NoSummaryEntry(format.clone()))
        }
        _ => Err(Error::Malformed { format: format.clone(), source }),
    }
}

/// Sends a materialization to the thread that stores it and returns its format and messages.
async fn send_pieces(
    mut materialization: Materialization,
    pieces: mpsc::Sender<Vec<u8>>,
) -> Result<(Format, Option<u64>)> {
    loop {
        let (bytes, end) = match materialization.next().await? {
            MaterializedPiece::Bytes(bytes) => (bytes, None),
            MaterializedPiece::End(tail, counted) => (tail, Some(counted)),
        };
        // When the storing side is gone, its own error is what the caller sees.
        let sent = pieces.send(bytes).await;
        if let Some(counted) = end {
            return Ok((counted.format.ok_or(Error::Empty)?, counted.messages));
        }
        if sent.is_err() {
            return Err(contexture_store::Error::Closed.into());
        }
    }
}
