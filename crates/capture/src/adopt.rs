//! Adoption: a session that is written from a chain is known before its runtime adds to it, so that what is added goes
//! onto that chain.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    ops::Range,
    path::Path,
    sync::Arc,
};

use contexture::SecretGuard;
use contexture_core::{CommitId, Format, GivenSessionId, HeadName, Trigger};
use contexture_formats::{Concatenation, Framing, codec};
use contexture_store::{
    artifact,
    source::{self, SourceSegment, TranscriptSource},
};
use futures_util::FutureExt as _;

use crate::{
    Capture, Error, ImportSettings, Result,
    input::{InputTail, SessionInput, id_in_name},
    lines::Lines,
    steps::{CapturedContent, Repetition, StepSource, Steps},
};

/// Bytes of a session that are stored as one artifact.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;

/// Which commits the bytes of a session were made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grafts {
    /// Where the bytes of each commit end, in order; those of the last one end with the session.
    pub(crate) ends: Vec<(u64, CommitId)>,
    /// The head that goes on with the session as long as nobody else moves it.
    pub(crate) follow: Option<HeadName>,
}

impl Grafts {
    /// Returns the commit that a stretch of bytes was made of: the last that ends there, or else the one around it.
    ///
    /// A runtime notes what belongs to the next turn before that turn begins, so a stretch may reach into the next commit.
    pub(crate) fn commit_at(&self, stretch: Range<u64>) -> Option<CommitId> {
        let ended = self.ends.partition_point(|(end, _)| *end <= stretch.end);
        let is_there = |(end, _): &&(u64, CommitId)| *end > stretch.start;
        let last = self.ends[..ended].last().filter(is_there);
        last.or(self.ends.get(ended)).or(self.ends.last()).map(|(_, commit)| *commit)
    }
}

/// A session that is written and not in its place yet.
pub(crate) struct AdoptedDraft<'d> {
    /// Where it is written.
    pub(crate) written: &'d Path,
    /// Where it will be.
    pub(crate) place: &'d Path,
    /// How it is written.
    pub(crate) format: Format,
}

/// How far a session is known.
struct Primed {
    session: Option<GivenSessionId>,
    state: String,
    size: u64,
    tail: [u8; 32],
}

impl Capture<'_> {
    /// Takes a session for known: all of it was made of commits.
    pub(crate) async fn adopt(self, draft: AdoptedDraft<'_>, grafts: Grafts, settings: &ImportSettings) -> Result<()> {
        let AdoptedDraft { written, place, format } = draft;
        let unnamed = id_in_name(place).unwrap_or_else(|| GivenSessionId::new(""));
        let guard = self.engine.guard().await?;
        let origin = StepSource { format: format.clone(), framing: Framing::Lines, guard: Arc::clone(&guard) };
        let steps = Steps::new(origin, settings.clone(), unnamed, self.engine.now());
        let (path, kind) = (written.to_owned(), format.clone());
        let priming = tokio::task::spawn_blocking(move || prime(&path, &kind, steps, grafts));
        let primed = priming.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        let Primed { session, state, size, tail } = primed.map_err(unread)?;
        let source = TranscriptSource {
            machine: settings.machine.clone(),
            path: place.to_string_lossy().into_owned(),
            format,
            session: id_in_name(place).or(session),
            size,
            tail,
            state,
            taken_at: self.engine.now(),
        };
        let segments = self.keep_pieces(written, &guard).await?;
        let saving = self.engine.store().write(self.engine.scope(), (source, segments), |tx, (source, segments)| {
            source::save(tx, source, segments).boxed()
        });
        Ok(saving.await?)
    }

    /// Stores the bytes of a session as they are, so that it can be given back like any other.
    async fn keep_pieces(self, path: &Path, guard: &Arc<SecretGuard>) -> Result<Vec<SourceSegment>> {
        let mut file = BufReader::new(File::open(path).map_err(unread)?);
        let (mut segments, mut start) = (Vec::new(), 0);
        loop {
            let mut piece = Vec::new();
            file.by_ref().take(PIECE_BYTES).read_to_end(&mut piece).map_err(unread)?;
            if piece.is_empty() {
                return Ok(segments);
            }
            // Secrets lie within lines.
            file.read_until(b'\n', &mut piece).map_err(unread)?;
            let length = piece.len() as u64;
            let content = CapturedContent::of(guard.screen(piece, Concatenation::Lines), Repetition::Likely);
            segments.push(SourceSegment { start, length, artifact: *content.id(), part_start: 0 });
            start += length;
            let taken = (content, Arc::clone(guard));
            let storing = self.engine.store().write(self.engine.scope(), taken, |tx, (content, guard)| {
                async move {
                    guard.settle(tx).await?;
                    // What is told of the file refers to it later.
                    artifact::freshen_all(tx, &[*content.id()]).await?;
                    content.put(tx, guard).await
                }
                .boxed()
            });
            storing.await?;
        }
    }
}

fn unread(source: io::Error) -> Error {
    Error::Io { attempt: "read the session that was written", source }
}

/// Reads a session as an import would, only that its commits are known.
fn prime(path: &Path, format: &Format, mut steps: Steps, grafts: Grafts) -> io::Result<Primed> {
    let codec = codec(format).ok_or_else(|| io::Error::other("its format is not understood"))?;
    steps.graft(grafts);
    let mut lines = Lines::new(SessionInput::open(path)?, 0);
    let (mut size, mut tail) = (0, InputTail::default());
    while let Some(line) = lines.next()? {
        match codec.outline(line.bytes.trim_ascii()) {
            Ok(outline) => steps.take(&outline, line.bytes, Some(line.start)),
            Err(_) => steps.take_unknown(line.bytes, Some(line.start)),
        }
        tail.push(line.bytes);
        size = line.start + line.bytes.len() as u64;
        if line.goes_on {
            let rest = lines.follow(&mut |bytes| {
                tail.push(bytes);
                Ok(())
            })?;
            size += rest.bytes;
        }
    }
    steps.finish(Trigger::TurnBoundary);
    let session = steps.session();
    let state = serde_json::to_string(&steps.state()).map_err(io::Error::other)?;
    Ok(Primed { session, state, size, tail: tail.digest() })
}
