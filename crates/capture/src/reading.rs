//! Reading: from the bytes of a session to the commits that they become.

mod first_session;
mod long_record;

use std::{fs, io, mem, path::PathBuf, sync::Arc, time::SystemTime};

use contexture::SecretGuard;
use contexture_core::{ArtifactId, CommitId, Format, GivenSessionId, Template, Timestamp};
use contexture_formats::{Framing, RecordProblem, codec, codec::MAX_RECORD_BYTES};
use contexture_store::source::{SourceMark, SourceSegment, TranscriptSource};
use tokio::sync::oneshot;

use self::long_record::LongRecord;
use crate::{
    DatabaseEntry, Runtime,
    file_stamp::FileStamp,
    held_document::{DocumentInput, DocumentRecords, HeldDocument},
    import::{BadLine, CaptureReason, FileOutcome, ImportSettings},
    input::{InputTail, Piece, SessionInput, is_compressed, known_as},
    lines::Lines,
    links,
    reading_budget::LargeReadTurn,
    steps::{Base, State, StepBatch, StepSource, StepTiming, Steps},
};

/// Bytes of content that are stored in one transaction, about.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// What becomes of a record that is too large.
const KEPT: &str = "kept as it is, not read";
/// Most lines that a report names.
const MAX_BAD_LINES: usize = 20;
/// Bytes that are read in less time than it takes to have another thread do it.
const SHORT_BYTES: u64 = 1024 * 1024;

/// What is handed over, in order.
pub(crate) enum Message {
    Batch(StepBatch, u64),
    /// The next bytes of a record that is not held whole, and how far in the session that is.
    Piece(Vec<u8>, u64),
    /// The end of such a record, with who waits for what it is stored as.
    PieceEnd(oneshot::Sender<ArtifactId>),
    Done(Box<Done>),
}

pub(crate) struct Done {
    pub(crate) batch: StepBatch,
    pub(crate) outcome: FileOutcome,
    /// Whether the stretches take the place of those that are known.
    pub(crate) replaces: bool,
    pub(crate) session: Option<GivenSessionId>,
    pub(crate) state: String,
    /// Whether only the stamp in the state is another one.
    pub(crate) is_restamped: bool,
    pub(crate) size: u64,
    pub(crate) tail: [u8; 32],
    pub(crate) segments: Vec<SourceSegment>,
    pub(crate) tip: Option<CommitId>,
    pub(crate) report: ReadingReport,
}

#[derive(Default)]
pub(crate) struct ReadingReport {
    pub(crate) lanes: u64,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) bad_lines: Vec<BadLine>,
    pub(crate) bad_lines_left_out: u64,
    pub(crate) damage: Option<String>,
}

/// What is to be read.
pub(crate) struct ReadingJob {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) settings: ImportSettings,
    pub(crate) known: Option<KnownSource>,
    /// The stretches of a document that was taken in before, as far as its records go.
    pub(crate) segments: Vec<SourceSegment>,
    /// What the session goes on from, if it holds only a reference to it.
    pub(crate) base: Option<Base>,
    /// The session that this one continues and that is not here.
    pub(crate) forked_from: Option<GivenSessionId>,
    pub(crate) reason: CaptureReason,
    /// Which record of a commit says when it was made, where no earlier import has said so.
    pub(crate) timing: StepTiming,
    /// The bytes of the file that are at hand, when the file is not what is read.
    pub(crate) piece: Option<Piece>,
    /// Who looks through what is read.
    pub(crate) guard: Arc<SecretGuard>,
}

/// What is known of a file that was taken in before.
pub(crate) struct KnownSource {
    pub(crate) source: TranscriptSource,
    /// What is needed to go on; nothing when it cannot be read, and then the file is read anew.
    pub(crate) state: Option<State>,
}

impl KnownSource {
    /// Returns the role that the agent had when the file was taken in the last time.
    pub(crate) fn role(&self) -> Option<Template> {
        self.state.as_ref()?.role.clone()
    }
}

impl From<TranscriptSource> for KnownSource {
    fn from(mut source: TranscriptSource) -> Self {
        let state = serde_json::from_str(&mem::take(&mut source.state)).ok();
        Self { source, state }
    }
}

/// Takes what a file becomes.
type Sink<'s> = dyn FnMut(Message) -> io::Result<()> + 's;

/// Why a session was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    /// Input or output failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A piece of it does not continue what is known.
    #[error("it does not continue what is known")]
    Discontinuous,
}

/// Reads a file and hands over what becomes of it. Large records have taken a turn, which ends when all that was handed
/// over is stored.
pub(crate) fn read(job: ReadingJob, messages: &mut Sink<'_>) -> Result<Option<LargeReadTurn>, Unread> {
    let framing = codec(&job.format).map_or(Framing::Lines, contexture_formats::Codec::framing);
    // The beginning of a first line looks like a document, but nobody writes documents bit by bit.
    if job.piece.is_some() || job.reason.goes_on && framing == Framing::Lines {
        return read_lines(job, messages);
    }
    match HeldDocument::read(&mut SessionInput::open(&job.path)?, &job.format)? {
        DocumentInput::Held(document) => {
            read_document(&document, job, messages)?;
            Ok(document.turn)
        }
        DocumentInput::TooLong => {
            long_record::keep_document(&job, messages)?;
            Ok(None)
        }
        DocumentInput::Lines => read_lines(job, messages),
    }
}

fn read_lines(mut job: ReadingJob, messages: &mut Sink<'_>) -> Result<Option<LargeReadTurn>, Unread> {
    let decoder = codec(&job.format).filter(|codec| codec.framing() == Framing::Lines);
    let stamps = Stamps::of(&job);
    let Resumed { input, from, mut tail, outcome, state } = job.resume()?;
    let mut steps = job.steps(Framing::Lines)?;
    match (state, &decoder) {
        (Some(state), _) => steps.resume(state),
        (None, Some(decoder)) => {
            if let Some(id) = first_session::first_session(&job, *decoder) {
                steps.named(id);
            }
        }
        (None, None) => {}
    }
    if outcome == FileOutcome::Rewritten {
        steps.is_rewritten();
    }
    let mut report = ReadingReport::default();
    let is_compressed = input.is_compressed();
    let mut lines = Lines::in_turns(input, from);
    let (mut size, mut batched) = (from, from);
    let mut is_broken_off = false;
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(damage) if is_compressed => {
                report.damage = Some(damage.to_string());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        if job.reason.until.is_some_and(|until| line.start >= until) {
            break;
        }
        if !line.is_whole && job.reason.goes_on {
            break;
        }
        report.lines += 1;
        if line.goes_on {
            let before = (line.start, tail.clone());
            let kept = LongRecord::keep_line(&mut lines, &mut tail, messages);
            let is_writing = |kept: &LongRecord| job.reason.goes_on && !kept.is_whole;
            match kept {
                Ok(kept) if !is_writing(&kept) => {
                    report.bad_line(&RecordProblem::too_long(kept.bytes, MAX_RECORD_BYTES));
                    steps.take_kept(kept.bytes, kept.artifact, before.0);
                    size = before.0 + kept.bytes;
                    batched = size;
                    messages(Message::Batch(steps.batch(), size))?;
                    continue;
                }
                Ok(_) => {}
                Err(damage) if is_compressed => report.damage = Some(damage.to_string()),
                Err(error) => return Err(error.into()),
            }
            (_, tail) = before;
            break;
        }
        let text = line.bytes.trim_ascii();
        let outline = match (&decoder, text) {
            (None, _) | (_, []) => None,
            (Some(decoder), text) => Some(decoder.outline(text)),
        };
        match outline {
            Some(Ok(outline)) => steps.take(&outline, line.bytes, Some(line.start)),
            // Somebody may be in the middle of writing it.
            Some(Err(problem)) if !line.is_whole && !problem.is_too_large() => {
                is_broken_off = true;
                break;
            }
            Some(Err(problem)) => {
                report.bad_line(&problem);
                steps.take_unknown(line.bytes, Some(line.start));
            }
            None => steps.take_unknown(line.bytes, Some(line.start)),
        }
        tail.push(line.bytes);
        size = line.start + line.bytes.len() as u64;
        if size - batched >= BATCH_BYTES {
            batched = size;
            messages(Message::Batch(steps.batch(), size))?;
        }
    }
    steps.finish(job.reason.trigger);
    report.bytes = size - from;
    report.lanes = steps.lanes() as u64;
    let tip = steps.tip();
    let outcome = if outcome == FileOutcome::Grown && size == from { FileOutcome::Unchanged } else { outcome };
    let replaces = outcome == FileOutcome::Rewritten;
    steps.settle_heads();
    let batch = steps.batch();
    let session = steps.session();
    let is_whole = if is_compressed { report.damage.is_none() && !is_broken_off } else { stamps.is_all(size) };
    let (state, is_restamped) = stamps.state(steps.state(), outcome == FileOutcome::Unchanged, is_whole)?;
    let segments = steps.into_segments();
    let tail = tail.digest();
    let done = Done { batch, outcome, replaces, session, state, is_restamped, size, tail, segments, tip, report };
    messages(Message::Done(Box::new(done)))?;
    Ok(lines.into_turn())
}

/// Takes in a document: the records that follow those that are known, or all of them when those have changed.
fn read_document(document: &HeldDocument, job: ReadingJob, messages: &mut Sink<'_>) -> io::Result<()> {
    let (size, tail) = (document.bytes.len() as u64, *blake3::hash(&document.bytes).as_bytes());
    let decoder = codec(&job.format).ok_or_else(|| io::Error::other("its format is not understood"))?;
    let mut steps = job.steps(document.framing())?;
    let stamps = Stamps::of(&job);
    let is_known = job.known.is_some();
    let known = job.known.filter(|known| known.source.format == job.format);
    let mark = known.as_ref().map(|known| known.source.mark());
    let state = known.and_then(|known| known.state);
    let mut report = ReadingReport::default();
    if mark == Some(SourceMark { size, tail }) {
        steps.resume(state.unwrap_or_default());
        report.lanes = steps.lanes() as u64;
        let (outcome, segments) = (FileOutcome::Unchanged, Vec::new());
        let (state, is_restamped) = stamps.state(State::default(), true, true)?;
        let (batch, replaces, session, tip) = (steps.batch(), false, steps.session(), steps.tip());
        let done = Done { batch, outcome, replaces, session, state, is_restamped, size, tail, segments, tip, report };
        return messages(Message::Done(Box::new(done)));
    }
    let taken = state.as_ref().and_then(|state| state.taken.clone());
    let DocumentRecords { records, damage } = document.records(taken.as_ref());
    let unchanged = taken.filter(|taken| {
        let count = usize::try_from(taken.records).unwrap_or(usize::MAX);
        document.taken(&records, count).as_ref() == Some(taken)
    });
    let is_whole = document.is_whole();
    let outcome = match (is_known, &unchanged) {
        (false, _) => FileOutcome::New,
        (true, None) if !is_whole => FileOutcome::Rewritten,
        (true, _) => FileOutcome::Grown,
    };
    if outcome == FileOutcome::Rewritten {
        steps.is_rewritten();
    }
    if let Some(state) = state.filter(|_| is_whole || unchanged.is_some()) {
        steps.resume(state);
    }
    let known_records = unchanged.map_or(0, |taken| usize::try_from(taken.records).unwrap_or(usize::MAX));
    let mut batched = 0;
    for record in &records[known_records.min(records.len())..] {
        report.lines += 1;
        report.bytes += record.bytes.len() as u64;
        match decoder.outline(record.bytes.trim_ascii()) {
            Ok(outline) if is_whole => steps.take_whole(&outline, &record.bytes),
            Ok(outline) => steps.take(&outline, &record.bytes, record.start),
            Err(problem) if is_whole => return Err(io::Error::other(problem.to_string())),
            Err(problem) => {
                report.bad_line(&problem);
                steps.take_unknown(&record.bytes, record.start);
            }
        }
        if report.bytes - batched >= BATCH_BYTES {
            batched = report.bytes;
            messages(Message::Batch(steps.batch(), batched))?;
        }
    }
    steps.finish(job.reason.trigger);
    report.damage = damage.map(|problem| problem.to_string());
    report.lanes = steps.lanes() as u64;
    let session = steps.session();
    let mut state = steps.state();
    state.taken = if is_whole { None } else { document.taken(&records, records.len()) };
    let (state, is_restamped) = stamps.state(state, false, report.damage.is_none())?;
    // Only stretches that are in the document as they are stay where they were.
    let kept = if known_records > 0 { job.segments } else { Vec::new() };
    steps.fill_gaps(&document.bytes, kept);
    steps.settle_heads();
    let (batch, tip) = (steps.batch(), steps.tip());
    let segments = steps.into_segments();
    let replaces = is_known;
    let done = Done { batch, outcome, replaces, session, state, is_restamped, size, tail, segments, tip, report };
    messages(Message::Done(Box::new(done)))
}

/// What a file is before it is read, so that a change while it is read is noticed the next time.
struct Stamps {
    now: Option<FileStamp>,
    /// The state that is known, with the stamp of now, when that is another one.
    restamped: Option<State>,
}

impl Stamps {
    fn of(job: &ReadingJob) -> Self {
        let is_all = job.piece.is_none() && job.reason.until.is_none() && !job.reason.goes_on;
        let now = is_all.then(|| FileStamp::of(&job.path)).flatten();
        let known = job.known.as_ref().and_then(|known| known.state.as_ref());
        let restamped = known.filter(|known| now.is_some() && known.stamp != now);
        let restamped = restamped.map(|known| known.clone().stamped(now));
        Self { now, restamped }
    }

    /// Tells whether so many bytes are all of the file.
    fn is_all(&self, size: u64) -> bool {
        self.now.is_some_and(|stamp| stamp.has_bytes(size))
    }

    /// Returns the state to be kept, stamped if the file was taken in whole, and whether nothing else is new in it.
    fn state(self, state: State, is_unchanged: bool, is_whole: bool) -> io::Result<(String, bool)> {
        let (state, is_restamped) = match self.restamped {
            Some(restamped) if is_unchanged && is_whole => (restamped, true),
            _ => (state.stamped(self.now.filter(|_| is_whole)), false),
        };
        Ok((serde_json::to_string(&state).map_err(io::Error::other)?, is_restamped))
    }
}

impl ReadingJob {
    fn steps(&self, framing: Framing) -> io::Result<Steps> {
        let file = DatabaseEntry::at(&self.path).map_or_else(|| self.path.clone(), |entry| entry.database);
        let written_at = match &self.piece {
            Some(piece) => piece.at,
            None => timestamp(fs::metadata(file)?.modified().unwrap_or(SystemTime::UNIX_EPOCH)),
        };
        let stem = known_as(&self.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let source = StepSource { format: self.format.clone(), framing, guard: Arc::clone(&self.guard) };
        let session = GivenSessionId::new(stem.unwrap_or_default());
        let mut steps = Steps::new(source, self.settings.clone(), session, written_at);
        steps.go_by(self.timing);
        let runtime = Runtime::named(&self.settings.runtime);
        let noted = runtime.and_then(|runtime| runtime.noted_directory(&self.path));
        if let Some(directory) = noted.or_else(|| self.settings.directory.clone()) {
            steps.works_in(directory);
        }
        if let Some(base) = &self.base {
            steps.go_on_from(base.clone());
        }
        if let Some(session) = &self.forked_from {
            steps.continues(session.clone());
        }
        if self.settings.agent.is_some()
            && let Some(call) = links::spawn_call(&self.path)
        {
            steps.started_by(call);
        }
        Ok(steps)
    }

    /// Tells whether little is to be read.
    pub(crate) fn is_short(&self) -> bool {
        let known = self.known.as_ref().map_or(0, |known| known.source.size);
        let size = match &self.piece {
            Some(piece) => piece.bytes.len() as u64,
            None => fs::metadata(&self.path).map_or(u64::MAX, |file| file.len().saturating_sub(known)),
        };
        // The size of a compressed file says nothing.
        size <= SHORT_BYTES && (self.piece.is_some() || !is_compressed(&self.path))
    }

    /// Opens the session where the last import ended, if it has only grown since.
    fn resume(&mut self) -> Result<Resumed, Unread> {
        let open =
            || self.piece.as_ref().map_or_else(|| SessionInput::open(&self.path), |piece| Ok(piece.clone().into()));
        let mut input = open()?;
        let fresh = |input, outcome| Resumed { input, from: 0, tail: InputTail::default(), outcome, state: None };
        let Some(KnownSource { source, state }) = &mut self.known else {
            return Ok(fresh(input, FileOutcome::New));
        };
        match (input.skip_to(source.size)?, state.take()) {
            (Some(tail), state @ Some(_)) if tail.digest() == source.tail && source.format == self.format => {
                Ok(Resumed { input, from: source.size, tail, outcome: FileOutcome::Grown, state })
            }
            _ if self.piece.is_some() => Err(Unread::Discontinuous),
            _ => Ok(fresh(open()?, FileOutcome::Rewritten)),
        }
    }
}

impl ReadingReport {
    fn bad_line(&mut self, problem: &RecordProblem) {
        if self.bad_lines.len() < MAX_BAD_LINES {
            let reason = if problem.is_too_large() { format!("{problem}; {KEPT}") } else { problem.to_string() };
            self.bad_lines.push(BadLine { line: self.lines, is_kept: problem.is_too_large(), reason });
        } else {
            self.bad_lines_left_out += 1;
        }
    }
}

/// A session from where there is something new.
struct Resumed {
    input: SessionInput,
    from: u64,
    tail: InputTail,
    outcome: FileOutcome,
    state: Option<State>,
}

fn timestamp(time: SystemTime) -> Timestamp {
    let micros = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros());
    i64::try_from(micros)
        .ok()
        .and_then(Timestamp::from_micros)
        .unwrap_or_else(|| Timestamp::from_micros(0).expect("1970 is a time"))
}
