//! Import: one session file becomes chains of commits, in one pass, as far as it is not here yet.

mod session_heads;

use std::{io, path::Path, sync::Arc};

use contexture::SecretGuard;
pub use contexture::wire::{BadLine, FileOutcome, ImportedFile};
use contexture_core::{Annotation, CommitId, Format, Machine, Principal, Template, Thread, Ticket, Trigger};
use contexture_store::{
    Tx, annotation, artifact,
    commit::{self, Inserted},
    head,
    source::{self, SourceMark, SourceSegment, TranscriptSource},
};
use futures_util::FutureExt as _;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tracing::{Instrument as _, debug_span, field};

use crate::{
    Capture, Error, Result,
    import_files::SessionFile,
    input::{Piece, id_in_name, known_as},
    reading::{Done, KnownSource, Message, ReadingJob, ReadingReport, Unread, read},
    steps::{CapturedContent, StepBatch, StepTiming},
    storing_record::StoringRecord,
};

/// Batches that may wait for the store.
const BATCHES_WAITING: usize = 2;
/// Stretches that are read at once.
const SEGMENTS_PER_PAGE: u32 = 1024;
/// Times that a file is looked at again because somebody else took it in at the same moment.
const MAX_TRIES: u32 = 16;

/// Whose sessions are taken in, and as what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportSettings {
    /// Who ran the agents.
    pub principal: Option<Principal>,
    /// Where the files lie.
    pub machine: Machine,
    /// What the runtime is called in templates.
    pub runtime: String,
    /// The role that the agent has, which is the template of its commits; without one, the runtime and its version are. A
    /// session that goes on keeps the one that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Template>,
    /// The agent inside the session that the whole file belongs to, if it is not the main one.
    pub agent: Option<String>,
    /// The ticket that is worked on.
    pub ticket: Option<Ticket>,
    /// The thread that the work belongs to.
    pub thread: Option<Thread>,
    /// The directory that the agent works in, as its hooks say, where its files do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

impl ImportSettings {
    /// Describes sessions of a runtime on a machine, of nobody in particular.
    pub fn new(machine: Machine, runtime: impl Into<String>) -> Self {
        Self {
            principal: None,
            machine,
            runtime: runtime.into(),
            role: None,
            agent: None,
            ticket: None,
            thread: None,
            directory: None,
        }
    }
}

/// Why a session is looked at, and how much of it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureReason {
    /// What ends the last step that is taken in.
    pub trigger: Trigger,
    /// Bytes of the session that count, when not all do.
    pub until: Option<u64>,
    /// Whether this is what the principal does now, which its head `principal/…` tells.
    pub is_live: bool,
    /// Whether somebody is writing to the session: then a line without an end is left for the next time.
    pub goes_on: bool,
    /// How the session ended, which its last commit will tell.
    pub ending: Option<String>,
}

impl CaptureReason {
    /// Something happens in a session that the principal is in.
    pub fn live(trigger: Trigger) -> Self {
        Self { trigger, is_live: true, goes_on: true, ..Self::default() }
    }

    /// A session is over.
    pub fn ended(ending: impl Into<String>) -> Self {
        Self { trigger: Trigger::SessionEnd, ending: Some(ending.into()), ..Self::default() }
    }
}

impl Default for CaptureReason {
    /// Somebody takes in what is there.
    fn default() -> Self {
        Self { trigger: Trigger::TurnBoundary, until: None, is_live: false, goes_on: false, ending: None }
    }
}

impl Capture<'_> {
    /// Takes in a session file as far as it is not here yet. The file is only read.
    ///
    /// A line that a live session is still writing is left for the next time.
    pub async fn import_session(
        self,
        path: &Path,
        format: Format,
        settings: &ImportSettings,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<ImportedFile> {
        let file = SessionFile { path: path.to_owned(), format, settings: settings.clone() };
        self.capture_from(&file, &CaptureReason::default(), None, progress).await
    }

    /// Takes in what a session has come to hold since the last time.
    pub async fn capture(self, file: &SessionFile, reason: &CaptureReason) -> Result<ImportedFile> {
        self.capture_from(file, reason, None, &mut |_| {}).await
    }

    /// Takes in a session, from its file or from a piece of it, once nobody else does so at the same moment.
    pub(crate) async fn capture_from(
        self,
        file: &SessionFile,
        reason: &CaptureReason,
        piece: Option<&Piece>,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<ImportedFile> {
        let (mut tries, mut timing) = (1, StepTiming::Last);
        loop {
            let span = debug_span!("capture", tries, tip = field::Empty, new_commits = field::Empty);
            match self.capture_once(file, reason, piece, timing, progress).instrument(span.clone()).await {
                Err(Error::Overtaken { .. } | Error::Engine(contexture::Error::PolicyChanged)) if tries < MAX_TRIES => {
                    tries += 1;
                }
                // An older version has taken it in, so its commits go on as that version began them.
                Ok(None) => timing = StepTiming::First,
                Ok(Some(file)) => {
                    span.record("tip", file.tip.map(field::display)).record("new_commits", file.new_commits);
                    return Ok(file);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes in a session. Returns nothing when it is here already with its commits as an older version timed them.
    async fn capture_once(
        self,
        file: &SessionFile,
        reason: &CaptureReason,
        piece: Option<&Piece>,
        timing: StepTiming,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<ImportedFile>> {
        let SessionFile { path, format, mut settings } = file.clone();
        let known = self.known_source(&settings.machine, &path).await?.map(KnownSource::from);
        let segments = match &known {
            Some(known) => self.record_segments(known).await?,
            None => Vec::new(),
        };
        let (base, forked_from) = match (&known, piece) {
            (None, None) => self.base_of(&path, &format).await?,
            (None, Some(_)) if path.exists() => self.base_of(&path, &format).await?,
            (None, Some(_)) | (Some(_), _) => (None, None),
        };
        if settings.role.is_none() {
            settings.role = match &known {
                Some(known) => known.role(),
                None => self.role_in_store(&path, base.as_ref().and_then(|base| base.tip)).await?,
            };
        }
        let guard = self.engine.guard().await?;
        let expected = Expected { file: file.clone(), mark: known.as_ref().map(|known| known.source.mark()) };
        let job = ReadingJob {
            path: path.clone(),
            format: format.clone(),
            settings: settings.clone(),
            known,
            segments,
            base,
            forked_from: forked_from.clone(),
            reason: reason.clone(),
            timing,
            piece: piece.cloned(),
            guard: Arc::clone(&guard),
        };
        let mut taking = Taking {
            capture: self,
            guard,
            expected,
            reason,
            long_record: None,
            stored: StoredSteps::default(),
            done: None,
        };
        let unread = |unread| match unread {
            Unread::Io(source) => Error::Io { attempt: "read the session", source },
            Unread::Discontinuous => Error::Discontinuous { path: file.path.clone() },
        };
        if self.engine.store().is_alone() && job.is_short() {
            let mut messages = Vec::new();
            read(job, &mut |message| {
                if matches!(message, Message::Piece(..)) {
                    return Err(io::Error::other("it has grown much while it was read"));
                }
                messages.push(message);
                Ok(())
            })
            .map_err(unread)?;
            for message in messages {
                let Some(at) = taking.take(message).await? else { return Ok(None) };
                progress(at);
            }
        } else {
            let (messages, mut waiting) = mpsc::channel(BATCHES_WAITING);
            let reader = tokio::task::spawn_blocking(move || {
                // The receiver goes away only when storing failed, and that failure is what the caller sees.
                read(job, &mut |message| messages.blocking_send(message).map_err(|_| io::ErrorKind::BrokenPipe.into()))
            });
            while let Some(message) = waiting.recv().await {
                let Some(at) = taking.take(message).await? else {
                    drop(waiting);
                    // Whoever reads gives up when nobody waits.
                    _ = reader.await;
                    return Ok(None);
                };
                progress(at);
            }
            // All of it is stored, and the turn of large records ends.
            drop(reader.await.map_err(|_| contexture_store::Error::Closed)?.map_err(unread)?);
        }
        let Taking { stored: StoredSteps { new_commits, known_commits, purged_artifacts }, done, .. } = taking;
        let (outcome, size, tip, report) = done.ok_or(contexture_store::Error::Closed)?;
        let ReadingReport { lanes, lines, bytes, bad_lines, bad_lines_left_out, damage } = report;
        Ok(Some(ImportedFile {
            path,
            format,
            outcome,
            new_commits,
            known_commits,
            purged_artifacts,
            lanes,
            lines,
            bytes,
            bad_lines,
            bad_lines_left_out,
            damage,
            forked_from,
            tip,
            size,
        }))
    }

    pub(crate) async fn known_source(self, machine: &Machine, path: &Path) -> Result<Option<TranscriptSource>> {
        let place = (machine.clone(), known_as(path).to_string_lossy().into_owned());
        let finding = self
            .engine
            .store()
            .glance(self.engine.scope(), place, |tx, (machine, path)| source::find(tx, machine, path).boxed());
        Ok(finding.await?)
    }

    /// Returns the stretches of a document that are records.
    async fn record_segments(self, known: &KnownSource) -> Result<Vec<SourceSegment>> {
        let taken = known.state.as_ref().and_then(|state| state.taken.as_ref());
        let Some(taken) = taken else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        loop {
            let from = found.last().map_or(0, |last: &SourceSegment| last.start + last.length);
            if from >= taken.end {
                return Ok(found);
            }
            let place = (known.source.machine.clone(), known.source.path.clone(), from);
            let paging = self.engine.store().read(self.engine.scope(), place, |tx, (machine, path, from)| {
                source::segments(tx, machine, path, *from, SEGMENTS_PER_PAGE).boxed()
            });
            let page = paging.await?;
            let is_record = |segment: &SourceSegment| segment.start + segment.length <= taken.end;
            let is_last = page.is_empty() || !page.iter().all(is_record);
            // A page begins with the stretch that its first byte lies in.
            let page = page.into_iter().filter(|segment| segment.start >= from);
            found.extend(page.filter(is_record));
            if is_last {
                return Ok(found);
            }
        }
    }

    async fn is_stored(self, id: CommitId) -> Result<bool> {
        let looking = self.engine.store().glance(self.engine.scope(), id, |tx, id| {
            async move { commit::find_place(tx, id).await.map(|place| place.is_some()) }.boxed()
        });
        let found: Result<bool, contexture_store::Error> = looking.await;
        Ok(found?)
    }

    /// Stores commits with their heads, and how far the file was taken in.
    async fn store_steps(
        self,
        expected: &Expected,
        guard: &Arc<SecretGuard>,
        batch: StepBatch,
        saved: Option<Saved>,
    ) -> Result<StoredSteps> {
        if batch.is_empty() && saved.is_none() {
            return Ok(StoredSteps::default());
        }
        let taken = (expected.clone(), Arc::clone(guard), batch, saved);
        let storing = self.engine.store().write(self.engine.scope(), taken, |tx, (expected, guard, batch, saved)| {
            let store = async move {
                expected.check(tx).await?;
                guard.settle(tx).await?;
                let stored = store(tx, batch, guard).await?;
                if let Some(Saved { source, segments, replaces }) = saved {
                    if *replaces {
                        source::forget(tx, &source.machine, &source.path).await?;
                    }
                    source::save(tx, source, segments).await?;
                }
                Ok(stored)
            };
            store.boxed()
        });
        let stored: Result<StoredSteps> = storing.await;
        if let Err(Error::Engine(contexture::Error::PolicyChanged)) = stored {
            self.engine.forget_guard();
        }
        stored
    }
}

/// Stores what a session becomes, message by message.
struct Taking<'t> {
    capture: Capture<'t>,
    guard: Arc<SecretGuard>,
    expected: Expected,
    reason: &'t CaptureReason,
    /// A record that is being stored piece by piece.
    long_record: Option<StoringRecord>,
    stored: StoredSteps,
    done: Option<(FileOutcome, u64, Option<CommitId>, ReadingReport)>,
}

/// What storing steps came to.
#[derive(Debug, Clone, Copy, Default)]
struct StoredSteps {
    /// Commits that were not here before.
    new_commits: u64,
    /// Commits that were.
    known_commits: u64,
    /// Artifacts whose content was purged here and stays so.
    purged_artifacts: u64,
}

impl Taking<'_> {
    /// Stores what was read. Returns how far in the session that is; nothing when an older version has stored it.
    async fn take(&mut self, message: Message) -> Result<Option<u64>> {
        let (batch, saved, at) = match message {
            Message::Batch(batch, at) => (batch, None, at),
            Message::Piece(bytes, at) => {
                self.store_piece(bytes).await?;
                return Ok(Some(at));
            }
            Message::PieceEnd(waiting) => {
                if let Some(record) = self.long_record.take() {
                    // Whoever reads has given up when it does not wait.
                    _ = waiting.send(record.finish().await?);
                }
                return Ok(Some(0));
            }
            Message::Done(last) => self.finish(*last),
        };
        if let Some(earlier) = batch.by_first_record
            && self.capture.is_stored(earlier).await?
        {
            return Ok(None);
        }
        let stored = self.capture.store_steps(&self.expected, &self.guard, batch, saved).await?;
        self.stored.new_commits += stored.new_commits;
        self.stored.known_commits += stored.known_commits;
        self.stored.purged_artifacts += stored.purged_artifacts;
        Ok(Some(at))
    }

    async fn store_piece(&mut self, bytes: Vec<u8>) -> Result<()> {
        let (engine, format) = (self.capture.engine, &self.expected.file.format);
        let storing = self.long_record.get_or_insert_with(|| StoringRecord::begin(engine, format));
        storing.push(bytes).await
    }

    fn finish(&mut self, last: Done) -> (StepBatch, Option<Saved>, u64) {
        let Done { mut batch, outcome, replaces, session, state, is_restamped, size, tail, segments, tip, report } =
            last;
        let SessionFile { path, format, settings } = &self.expected.file;
        let source = TranscriptSource {
            machine: settings.machine.clone(),
            path: known_as(path).to_string_lossy().into_owned(),
            format: format.clone(),
            session: id_in_name(path).or(session),
            size,
            tail,
            state,
            taken_at: self.capture.engine.now(),
        };
        let is_new = outcome != FileOutcome::Unchanged;
        batch.tell_reason(self.reason, tip);
        if is_new {
            let principal = settings.live_head().filter(|_| self.reason.is_live);
            batch.move_heads(principal.into_iter().chain(settings.thread_head()), tip);
        }
        self.done = Some((outcome, size, tip, report));
        let saved = match (is_new, is_restamped) {
            (true, _) => Some(Saved { source, segments, replaces }),
            (false, true) => Some(Saved { source, segments: Vec::new(), replaces: false }),
            (false, false) => None,
        };
        (batch, saved, size)
    }
}

/// How far a file was taken in when it was looked at. Who finds it elsewhere in the end was overtaken, and what it made
/// would be in the store twice.
#[derive(Clone)]
struct Expected {
    file: SessionFile,
    mark: Option<SourceMark>,
}

impl Expected {
    async fn check(&self, tx: &mut Tx<'_>) -> Result<()> {
        let path = known_as(&self.file.path);
        let mark = source::mark(tx, &self.file.settings.machine, &path.to_string_lossy()).await?;
        if mark == self.mark { Ok(()) } else { Err(Error::Overtaken { path: self.file.path.clone() }) }
    }
}

/// How far a file was taken in, and which stored bytes it is.
struct Saved {
    source: TranscriptSource,
    segments: Vec<SourceSegment>,
    replaces: bool,
}

async fn store(tx: &mut Tx<'_>, batch: &StepBatch, guard: &SecretGuard) -> Result<StoredSteps> {
    let mut stored = StoredSteps::default();
    for aside in &batch.asides {
        aside.put(tx, guard).await?;
    }
    for made in &batch.commits {
        made.content.put(tx, guard).await?;
        let (id, inserted) = commit::insert(tx, &made.commit).await?;
        debug_assert_eq!(id, made.id);
        match inserted {
            Inserted::AlreadyThere => stored.known_commits += 1,
            Inserted::New => {
                stored.new_commits += 1;
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
    }
    for claim in &batch.heads {
        session_heads::settle(tx, claim).await?;
    }
    for (name, tip) in &batch.moved_heads {
        let origin = head::find(tx, name).await?;
        head::advance(tx, name, origin, *tip).await?;
    }
    for (commit, said) in &batch.notes {
        note_once(tx, commit, said).await?;
    }
    let contents = batch.asides.iter().chain(batch.commits.iter().map(|made| &made.content));
    let contents: Vec<_> = contents.map(CapturedContent::prepared).collect();
    stored.purged_artifacts = artifact::count_purged_in(tx, &contents).await?;
    Ok(stored)
}

/// Says something of a commit unless its label is there.
pub(crate) async fn note_once(tx: &mut Tx<'_>, commit: &CommitId, said: &Annotation) -> Result<()> {
    let Annotation::Label { key, .. } = said else { return Ok(()) };
    if !commit::show(tx, commit).await?.annotations.labels.contains_key(key) {
        annotation::add(tx, commit, said.clone()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
