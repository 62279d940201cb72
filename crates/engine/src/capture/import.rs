//! Import: one session file becomes chains of commits, in one pass, as far as it is not here yet.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use contexture_core::{Annotation, CommitId, Format, HeadName, Machine, Principal, Timestamp};
use contexture_formats::{Framing, RecordProblem, codec};
use contexture_store::{
    Tx, annotation, artifact,
    commit::{self, Inserted},
    head,
    source::{self, Segment, Source},
};
use futures_util::FutureExt as _;
use serde::Serialize;
use tokio::sync::mpsc;

use super::{
    document::{Document, Records},
    input::{Input, Tail, id_in_name, known_as},
    lines::Lines,
    links, opencode,
    steps::{Base, Batch, State, Steps},
};
use crate::{Contexture, Error, Result};

/// Bytes of content that are stored in one transaction, about.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// Batches that may wait for the store.
const BATCHES_WAITING: usize = 2;
/// Stretches that are read at once.
const SEGMENTS_PER_PAGE: u32 = 1024;
/// Most lines that a report names.
const MAX_BAD_LINES: usize = 20;

/// Whose sessions are taken in, and as what.
#[derive(Debug, Clone)]
pub struct ImportSettings {
    /// Who ran the agents.
    pub principal: Option<Principal>,
    /// Where the files lie.
    pub machine: Machine,
    /// What the runtime is called in templates.
    pub runtime: String,
    /// The agent inside the session that the whole file belongs to, if it is not the main one.
    pub agent: Option<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedFile {
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub format: Format,
    /// What it was to the store.
    pub outcome: FileOutcome,
    /// Commits that were not here before.
    pub new_commits: u64,
    /// Commits that were.
    pub known_commits: u64,
    /// Conversations in it: the main one, branches and side chains.
    pub lanes: u64,
    /// Lines that were read, or records of a document.
    pub lines: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Lines that are no records, with the reason; they are kept all the same.
    pub bad_lines: Vec<BadLine>,
    /// How many further such lines there are.
    pub bad_lines_left_out: u64,
    /// Why the rest of a compressed file or of a document cannot be read; what comes before it was taken in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// The session that this one continues by reference, when it is not here: then it is a chain of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
}

/// What a file was to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOutcome {
    /// It was not known.
    New,
    /// It had grown.
    Grown,
    /// All of it was here.
    Unchanged,
    /// It had become another file of the same name.
    Rewritten,
}

/// A line, or an element of a document, that is no record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Its number among those that were read; the first is 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What the reading thread hands over.
enum Message {
    Batch(Batch, u64),
    Done(Box<Done>),
}

struct Done {
    batch: Batch,
    outcome: FileOutcome,
    /// Whether the stretches take the place of those that are known.
    replaces: bool,
    session: Option<String>,
    state: String,
    size: u64,
    tail: [u8; 32],
    segments: Vec<Segment>,
    report: Report,
}

#[derive(Default)]
struct Report {
    lanes: u64,
    lines: u64,
    bytes: u64,
    bad_lines: Vec<BadLine>,
    bad_lines_left_out: u64,
    damage: Option<String>,
}

/// What is to be read.
struct Job {
    path: PathBuf,
    format: Format,
    settings: ImportSettings,
    known: Option<Source>,
    /// The stretches of a document that was taken in before, as far as its records go.
    segments: Vec<Segment>,
    /// What the session goes on from, if it holds only a reference to it.
    base: Option<Base>,
    /// The session that this one continues and that is not here.
    forked_from: Option<String>,
}

impl Contexture {
    /// Takes in a session file as far as it is not here yet. The file is only read.
    ///
    /// A line that a live session is still writing is left for the next time.
    pub async fn import_session(
        &self,
        path: &Path,
        format: Format,
        settings: &ImportSettings,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<ImportedFile> {
        let known = self.known_source(&settings.machine, path).await?;
        let segments = match &known {
            Some(known) => self.record_segments(known).await?,
            None => Vec::new(),
        };
        let (messages, mut waiting) = mpsc::channel(BATCHES_WAITING);
        let (base, forked_from) = match &known {
            None => self.base_of(path, &format).await?,
            Some(_) => (None, None),
        };
        let (path, format, settings) = (path.to_owned(), format, settings.clone());
        let job = Job {
            path: path.clone(),
            format: format.clone(),
            settings: settings.clone(),
            known,
            segments,
            base,
            forked_from: forked_from.clone(),
        };
        let reader = tokio::task::spawn_blocking(move || read(job, &messages));
        let (mut new_commits, mut known_commits) = (0, 0);
        let mut count =
            |(new, known): (u64, u64)| (new_commits, known_commits) = (new_commits + new, known_commits + known);
        let mut done = None;
        while let Some(message) = waiting.recv().await {
            match message {
                Message::Batch(batch, at) => {
                    count(self.store_steps(batch, None).await?);
                    progress(at);
                }
                Message::Done(last) => {
                    let Done { batch, outcome, replaces, session, state, size, tail, segments, report } = *last;
                    let source = Source {
                        machine: settings.machine.clone(),
                        path: known_as(&path).to_string_lossy().into_owned(),
                        format: format.clone(),
                        session: id_in_name(&path).or(session),
                        size,
                        tail,
                        state,
                        taken_at: self.now(),
                    };
                    let saved = (outcome != FileOutcome::Unchanged).then_some(Saved { source, segments, replaces });
                    count(self.store_steps(batch, saved).await?);
                    progress(size);
                    done = Some((outcome, report));
                }
            }
        }
        let reading = |source| Error::Io { attempt: "read the session", source };
        reader.await.map_err(|_| contexture_store::Error::Closed)?.map_err(reading)?;
        let (outcome, report) = done.ok_or(contexture_store::Error::Closed)?;
        let Report { lanes, lines, bytes, bad_lines, bad_lines_left_out, damage } = report;
        Ok(ImportedFile {
            path,
            format,
            outcome,
            new_commits,
            known_commits,
            lanes,
            lines,
            bytes,
            bad_lines,
            bad_lines_left_out,
            damage,
            forked_from,
        })
    }

    pub(super) async fn known_source(&self, machine: &Machine, path: &Path) -> Result<Option<Source>> {
        let (machine, path) = (machine.clone(), known_as(path).to_string_lossy().into_owned());
        let finding = self.store.glance(self.scope(), move |tx| {
            let (machine, path) = (machine.clone(), path.clone());
            async move { source::find(tx, &machine, &path).await }.boxed()
        });
        Ok(finding.await?)
    }

    /// Returns the stretches of a document that are records.
    async fn record_segments(&self, known: &Source) -> Result<Vec<Segment>> {
        let Some(taken) = serde_json::from_str::<State>(&known.state).ok().and_then(|state| state.taken) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        loop {
            let (machine, path) = (known.machine.clone(), known.path.clone());
            let from = found.last().map_or(0, |last: &Segment| last.start + last.length);
            let paging = self.store.read(self.scope(), move |tx| {
                let (machine, path) = (machine.clone(), path.clone());
                async move { source::segments(tx, &machine, &path, from, SEGMENTS_PER_PAGE).await }.boxed()
            });
            let page = paging.await?;
            let is_record = |segment: &Segment| segment.start + segment.length <= taken.end;
            let is_last = page.is_empty() || !page.iter().all(is_record);
            found.extend(page.into_iter().filter(is_record));
            if is_last {
                return Ok(found);
            }
        }
    }

    /// Stores commits with their heads, and how far the file was taken in. Returns how many were new and how many known.
    async fn store_steps(&self, batch: Batch, saved: Option<Saved>) -> Result<(u64, u64)> {
        if batch.is_empty() && saved.is_none() {
            return Ok((0, 0));
        }
        let stored = Arc::new((batch, saved));
        let storing = self.store.write(self.scope(), move |tx| {
            let stored = Arc::clone(&stored);
            let store = async move {
                let counts = store(tx, &stored.0).await?;
                if let Some(Saved { source, segments, replaces }) = &stored.1 {
                    if *replaces {
                        source::forget(tx, &source.machine, &source.path).await?;
                    }
                    source::save(tx, source, segments).await?;
                }
                Ok(counts)
            };
            store.boxed()
        });
        storing.await
    }
}

/// How far a file was taken in, and which stored bytes it is.
struct Saved {
    source: Source,
    segments: Vec<Segment>,
    replaces: bool,
}

async fn store(tx: &mut Tx<'_>, batch: &Batch) -> Result<(u64, u64)> {
    let (mut new, mut known) = (0, 0);
    for aside in &batch.asides {
        artifact::put_content(tx, aside).await?;
    }
    let mut heads: Vec<(&HeadName, CommitId)> = Vec::new();
    for made in &batch.commits {
        artifact::put_content(tx, &made.content).await?;
        let (id, inserted) = commit::insert(tx, &made.commit).await?;
        debug_assert_eq!(id, made.id);
        match inserted {
            Inserted::AlreadyThere => known += 1,
            Inserted::New => {
                new += 1;
                for said in &made.annotations {
                    annotation::add(tx, &id, said.clone()).await?;
                }
                if let Some(name) = &made.follow
                    && head::find(tx, name).await? == made.commit.parent
                {
                    head::advance(tx, name, made.commit.parent, id).await?;
                }
            }
        }
        if let Some(head) = &made.head {
            heads.retain(|(name, _)| *name != head);
            heads.push((head, id));
        }
    }
    for (head, tip) in &batch.moved {
        if !heads.iter().any(|(name, _)| *name == head) {
            heads.push((head, *tip));
        }
    }
    for (name, tip) in heads {
        let origin = head::find(tx, name).await?;
        head::advance(tx, name, origin, tip).await?;
    }
    for (commit, said) in &batch.notes {
        note_once(tx, commit, said).await?;
    }
    Ok((new, known))
}

/// Says something of a commit unless its label is there.
pub(super) async fn note_once(tx: &mut Tx<'_>, commit: &CommitId, said: &Annotation) -> Result<()> {
    let Annotation::Label { key, .. } = said else { return Ok(()) };
    if !commit::show(tx, commit).await?.annotations.labels.contains_key(key) {
        annotation::add(tx, commit, said.clone()).await?;
    }
    Ok(())
}

/// Reads a file and hands over what becomes of it.
fn read(job: Job, messages: &mpsc::Sender<Message>) -> io::Result<()> {
    match Document::read(&mut Input::open(&job.path)?, &job.format)? {
        Some(document) => read_document(&document, job, messages),
        None => read_lines(&job, messages),
    }
}

fn read_lines(job: &Job, messages: &mpsc::Sender<Message>) -> io::Result<()> {
    let decoder = codec(&job.format).filter(|codec| codec.framing() == Framing::Lines);
    let Resumed { input, from, mut tail, outcome, state } = resume(&job.path, &job.format, job.known.as_ref())?;
    let mut steps = job.steps(Framing::Lines)?;
    if let Some(state) = state {
        steps.resume(state);
    }
    let mut report = Report::default();
    let is_compressed = input.is_compressed();
    let mut lines = Lines::new(input, from);
    let (mut size, mut batched) = (from, from);
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(damage) if is_compressed => {
                report.damage = Some(damage.to_string());
                break;
            }
            Err(error) => return Err(error),
        };
        report.lines += 1;
        let text = line.bytes.trim_ascii();
        let outline = match (&decoder, text) {
            (None, _) | (_, []) => None,
            (Some(decoder), text) => Some(decoder.outline(text)),
        };
        match outline {
            Some(Ok(outline)) => steps.take(&outline, line.bytes, Some(line.start)),
            // Somebody may be in the middle of writing it.
            Some(Err(_)) if !line.is_whole => break,
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
            send(messages, Message::Batch(steps.batch(), size))?;
        }
    }
    steps.finish();
    report.bytes = size - from;
    report.lanes = steps.lanes() as u64;
    let outcome = if outcome == FileOutcome::Grown && size == from { FileOutcome::Unchanged } else { outcome };
    let replaces = outcome == FileOutcome::Rewritten;
    let batch = steps.batch();
    let session = steps.session();
    let state = serde_json::to_string(&steps.state()).map_err(io::Error::other)?;
    let segments = steps.into_segments();
    let done = Done { batch, outcome, replaces, session, state, size, tail: tail.digest(), segments, report };
    send(messages, Message::Done(Box::new(done)))
}

/// Takes in a document: the records that follow those that are known, or all of them when those have changed.
fn read_document(document: &Document, job: Job, messages: &mpsc::Sender<Message>) -> io::Result<()> {
    let (size, tail) = (document.bytes.len() as u64, *blake3::hash(&document.bytes).as_bytes());
    let decoder = codec(&job.format).ok_or_else(|| io::Error::other("its format is not understood"))?;
    let mut steps = job.steps(document.framing())?;
    let is_known = job.known.is_some();
    let known = job.known.filter(|known| known.format == job.format);
    let state = known.as_ref().map(|known| serde_json::from_str::<State>(&known.state).unwrap_or_default());
    let mut report = Report::default();
    if known.is_some_and(|known| known.size == size && known.tail == tail) {
        steps.resume(state.unwrap_or_default());
        report.lanes = steps.lanes() as u64;
        let (outcome, state, segments) = (FileOutcome::Unchanged, String::new(), Vec::new());
        let done =
            Done { batch: steps.batch(), outcome, replaces: false, session: None, state, size, tail, segments, report };
        return send(messages, Message::Done(Box::new(done)));
    }
    let Records { records, damage } = document.records();
    let taken = state.as_ref().and_then(|state| state.taken.clone());
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
            send(messages, Message::Batch(steps.batch(), batched))?;
        }
    }
    steps.finish();
    report.damage = damage.map(|problem| problem.to_string());
    report.lanes = steps.lanes() as u64;
    let session = steps.session();
    let mut state = steps.state();
    state.taken = if is_whole { None } else { document.taken(&records, records.len()) };
    let state = serde_json::to_string(&state).map_err(io::Error::other)?;
    // Only stretches that are in the document as they are stay where they were.
    let kept = if known_records > 0 { job.segments } else { Vec::new() };
    steps.fill_gaps(&document.bytes, kept);
    let batch = steps.batch();
    let segments = steps.into_segments();
    let done = Done { batch, outcome, replaces: is_known, session, state, size, tail, segments, report };
    send(messages, Message::Done(Box::new(done)))
}

impl Job {
    fn steps(&self, framing: Framing) -> io::Result<Steps> {
        let file = opencode::in_database(&self.path).map_or_else(|| self.path.clone(), |(database, _)| database);
        let written_at = fs::metadata(file)?.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let stem = known_as(&self.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let (format, settings) = (self.format.clone(), self.settings.clone());
        let mut steps = Steps::new(format, framing, settings, stem.unwrap_or_default(), timestamp(written_at));
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
}

impl Report {
    fn bad_line(&mut self, problem: &RecordProblem) {
        if self.bad_lines.len() < MAX_BAD_LINES {
            self.bad_lines.push(BadLine { line: self.lines, reason: problem.to_string() });
        } else {
            self.bad_lines_left_out += 1;
        }
    }
}

/// A session from where there is something new.
struct Resumed {
    input: Input,
    from: u64,
    tail: Tail,
    outcome: FileOutcome,
    state: Option<State>,
}

/// Opens a session where the last import ended, if it has only grown since.
fn resume(path: &Path, format: &Format, known: Option<&Source>) -> io::Result<Resumed> {
    let mut input = Input::open(path)?;
    let fresh = |input, outcome| Resumed { input, from: 0, tail: Tail::default(), outcome, state: None };
    let Some(known) = known else {
        return Ok(fresh(input, FileOutcome::New));
    };
    match input.skip_to(known.size)? {
        Some(tail) if tail.digest() == known.tail && known.format == *format => {
            let state = Some(serde_json::from_str(&known.state).unwrap_or_default());
            Ok(Resumed { input, from: known.size, tail, outcome: FileOutcome::Grown, state })
        }
        _ => Ok(fresh(Input::open(path)?, FileOutcome::Rewritten)),
    }
}

fn send(messages: &mpsc::Sender<Message>, message: Message) -> io::Result<()> {
    // The receiver goes away only when storing failed, and that failure is what the caller sees.
    messages.blocking_send(message).map_err(|_| io::ErrorKind::BrokenPipe.into())
}

fn timestamp(time: SystemTime) -> Timestamp {
    let micros = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros());
    i64::try_from(micros)
        .ok()
        .and_then(Timestamp::from_micros)
        .unwrap_or_else(|| Timestamp::from_micros(0).expect("1970 is a time"))
}
