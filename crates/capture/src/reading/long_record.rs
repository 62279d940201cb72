//! Records that are longer than what is read: they are handed over piece by piece and kept as they are.

use std::io::{self, BufRead as _};

use contexture_core::ArtifactId;
use contexture_formats::{Framing, RecordProblem, codec::MAX_DOCUMENT_BYTES};
use contexture_store::source::SourceMark;
use tokio::sync::oneshot;

use super::{Done, Message, ReadingJob, ReadingReport, Sink};
use crate::{
    import::FileOutcome,
    input::{BUFFER_BYTES, InputTail, SessionInput},
    lines::Lines,
};

/// A record that was handed over.
pub(super) struct LongRecord {
    pub(super) bytes: u64,
    pub(super) artifact: ArtifactId,
    /// Whether it ends with a line feed.
    pub(super) is_whole: bool,
}

/// A record on its way.
struct Handover<'h, 's> {
    messages: &'h mut Sink<'s>,
    bytes: u64,
    start: u64,
}

impl Handover<'_, '_> {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(BUFFER_BYTES) {
            self.bytes += piece.len() as u64;
            (self.messages)(Message::Piece(piece.to_vec(), self.start + self.bytes))?;
        }
        Ok(())
    }

    /// Ends the record and returns what it is stored as.
    fn finish(self) -> io::Result<ArtifactId> {
        let (waiting, stored) = oneshot::channel();
        (self.messages)(Message::PieceEnd(waiting))?;
        // Who stores it goes away only when that failed, and that failure is what the caller sees.
        stored.blocking_recv().map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl LongRecord {
    /// Hands over the line that was begun last.
    pub(super) fn keep_line(lines: &mut Lines, tail: &mut InputTail, messages: &mut Sink<'_>) -> io::Result<Self> {
        let (begun, start) = lines.begun();
        let begun = begun.to_vec();
        let mut handover = Handover { messages, bytes: 0, start };
        tail.push(&begun);
        handover.push(&begun)?;
        drop(begun);
        let followed = lines.follow(&mut |bytes| {
            tail.push(bytes);
            handover.push(bytes)
        });
        let bytes = handover.bytes;
        // Whoever stores it must not wait for more of one that is damaged.
        let artifact = handover.finish()?;
        Ok(Self { bytes, artifact, is_whole: followed?.is_whole })
    }
}

/// Keeps a document that is too long to be read, unless it is here as it is.
pub(super) fn keep_document(job: &ReadingJob, messages: &mut Sink<'_>) -> io::Result<()> {
    let (mut digest, mut size) = (blake3::Hasher::new(), 0);
    each_piece(job, &mut |bytes| {
        digest.update(bytes);
        size += bytes.len() as u64;
        Ok(())
    })?;
    let tail = *digest.finalize().as_bytes();
    let mut steps = job.steps(Framing::Document)?;
    let is_known = job.known.is_some();
    let known = job.known.as_ref().filter(|known| known.source.format == job.format);
    let is_here = known.is_some_and(|known| known.source.mark() == SourceMark { size, tail });
    if let Some(state) = known.and_then(|known| known.state.clone()) {
        steps.resume(state);
    }
    let mut report = ReadingReport::default();
    let outcome = match (is_here, is_known) {
        (true, _) => FileOutcome::Unchanged,
        (false, true) => FileOutcome::Grown,
        (false, false) => FileOutcome::New,
    };
    if !is_here {
        (report.lines, report.bytes) = (1, size);
        report.bad_line(&RecordProblem::too_long(size, MAX_DOCUMENT_BYTES));
        let mut handover = Handover { messages, bytes: 0, start: 0 };
        let mut again = blake3::Hasher::new();
        each_piece(job, &mut |bytes| {
            again.update(bytes);
            handover.push(bytes)
        })?;
        let artifact = handover.finish()?;
        if *again.finalize().as_bytes() != tail {
            return Err(io::Error::other("it changed while it was read"));
        }
        steps.take_kept_document(size, artifact);
    }
    steps.finish(job.reason.trigger);
    report.lanes = steps.lanes() as u64;
    steps.settle_heads();
    let (batch, session, tip) = (steps.batch(), steps.session(), steps.tip());
    let state = serde_json::to_string(&steps.state()).map_err(io::Error::other)?;
    let segments = steps.into_segments();
    let done = Done {
        batch,
        outcome,
        replaces: is_known,
        session,
        state,
        is_restamped: false,
        size,
        tail,
        segments,
        tip,
        report,
    };
    messages(Message::Done(Box::new(done)))
}

fn each_piece(job: &ReadingJob, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut input = SessionInput::open(&job.path)?;
    loop {
        let bytes = input.fill_buf()?;
        let count = bytes.len();
        if count == 0 {
            return Ok(());
        }
        take(bytes)?;
        input.consume(count);
    }
}
