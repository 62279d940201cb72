//! Checkpoint: bytes become a commit, and a head moves to it, in one transaction.

use std::{
    io::{self, Read},
    sync::{Arc, Mutex, PoisonError},
};

use contexture_core::{
    Annotation, ArtifactId, Commit, CommitId, CommitKind, Count, Format, HeadName, IdempotencyKey, Provenance,
    SummaryText, Timestamp, Trigger, canonical,
};
use contexture_formats::{Checker, Concatenation, FormatError, Measure};
use contexture_store::{
    Foresight, Tx, annotation,
    artifact::{self, Hot, MAX_HOT_BYTES, PreparedContent, StreamedContent},
    commit::{self, Inserted},
    head::{self, Expect},
    request,
};
use futures_util::FutureExt as _;
use serde::Serialize;
use tracing::{
    Instrument as _, debug_span,
    field::{self, display},
};

use crate::{
    Contexture, Error, Result, ScreenedContent, SecretGuard, SecretRecord, piece_reader, secrets::ScreenedReader,
};

/// Separates the digests of requests from every other use of BLAKE3.
const REQUEST_CONTEXT: &str = "contexture checkpoint request v1";

/// What to check in, and where.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// What the content is in relation to the parent.
    pub kind: CommitKind,
    /// How the content is written.
    pub format: Format,
    /// Who made it, where, and for what.
    pub provenance: Provenance,
    /// What caused it.
    pub trigger: Trigger,
    /// The step before. Without one the head's commit is the parent; without either this is a root.
    pub parent: Option<CommitId>,
    /// A head to move to the new commit.
    pub head: Option<HeadName>,
    /// Where the head must be. Without one, a head that is elsewhere than at an explicit parent is a conflict.
    pub expect: Option<Expect>,
    /// Other commits whose conclusion this one brings back.
    pub merges: Vec<CommitId>,
    /// Messages in the content; counted when the format tells how and none is given.
    pub message_count: Option<Count>,
    /// Tokens in the content.
    pub token_count: Option<Count>,
    /// When the step was taken; now when none is given.
    pub created_at: Option<Timestamp>,
    /// What to say about the commit at once.
    pub annotations: Vec<Annotation>,
    /// Makes a retry safe.
    pub key: Option<IdempotencyKey>,
    /// Whether the content must be well formed.
    pub check: Check,
}

/// Whether content must be what its format promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Content that is empty or not well formed is refused.
    WellFormed,
    /// Content is stored as it is.
    Nothing,
}

/// The bytes to check in.
pub enum CheckpointContent {
    /// Bytes at hand.
    Bytes(Vec<u8>),
    /// Bytes of unknown number, read to the end.
    Stream(Box<dyn Read + Send>),
    /// Bytes that are stored already. They are not looked at again.
    Stored(ArtifactId),
}

/// A commit that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpointed {
    /// Its id.
    pub id: CommitId,
    /// Whether this request made it.
    pub outcome: CreateOutcome,
}

/// What became of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateOutcome {
    /// It made a commit.
    Created,
    /// The same commit was there, or the same request had made it.
    AlreadyThere,
}

impl Checkpoint {
    /// Describes a root delta in a format, made now, by nobody in particular.
    pub fn new(format: Format) -> Self {
        Self {
            kind: CommitKind::Delta,
            format,
            provenance: Provenance::default(),
            trigger: Trigger::Explicit,
            parent: None,
            head: None,
            expect: None,
            merges: Vec::new(),
            message_count: None,
            token_count: None,
            created_at: None,
            annotations: Vec::new(),
            key: None,
            check: Check::WellFormed,
        }
    }

    /// Adds a summary.
    #[must_use]
    pub fn summary(mut self, text: SummaryText) -> Self {
        self.annotations.push(Annotation::Summary { text });
        self
    }

    /// Returns the digest of everything asked for. An implied time is left out: a retry happens later.
    fn payload(&self, artifact: &ArtifactId) -> request::RequestDigest {
        #[derive(Serialize)]
        struct Payload<'r> {
            artifact: &'r ArtifactId,
            r#type: CommitKind,
            format: &'r Format,
            #[serde(flatten)]
            provenance: &'r Provenance,
            trigger: Trigger,
            parent: Option<CommitId>,
            head: Option<&'r HeadName>,
            expect: Option<Expect>,
            merges: &'r [CommitId],
            message_count: Option<Count>,
            token_count: Option<Count>,
            created_at: Option<Timestamp>,
            annotations: &'r [Annotation],
        }
        let payload = Payload {
            artifact,
            r#type: self.kind,
            format: &self.format,
            provenance: &self.provenance,
            trigger: self.trigger,
            parent: self.parent,
            head: self.head.as_ref(),
            expect: self.expect,
            merges: &self.merges,
            message_count: self.message_count,
            token_count: self.token_count,
            created_at: self.created_at,
            annotations: &self.annotations,
        };
        let encoded = canonical::to_vec(&payload).expect("a request has text keys and exact numbers only");
        blake3::derive_key(REQUEST_CONTEXT, &encoded)
    }
}

impl Contexture {
    /// Makes a commit of the content, durable when this returns. The head `thread/ID` of the thread that it belongs to moves
    /// there too.
    pub async fn checkpoint(&self, request: Checkpoint, content: CheckpointContent) -> Result<Checkpointed> {
        let span = debug_span!("checkpoint", parent = request.parent.map(display), commit = field::Empty);
        let made = self.make_commit(request, content).instrument(span.clone()).await?;
        span.record("commit", display(made.id));
        Ok(made)
    }

    async fn make_commit(&self, mut request: Checkpoint, content: CheckpointContent) -> Result<Checkpointed> {
        let guard = self.guard().await?;
        let mut prepared = self.prepare(&request, content, &guard).await?;
        request.annotations = guard.mask_annotations(request.annotations)?;
        prepared.key = request.key.clone().map(|key| (key, request.payload(&prepared.artifact.id())));
        let mut foresight = Foresight::default();
        if let Some(head) = &request.head {
            foresight = foresight.head(head.clone());
        }
        if let Some(thread) = thread_head(&request) {
            foresight = foresight.head(thread);
        }
        if let Some(parent) = request.parent {
            foresight = foresight.commit(parent);
        }
        let writing = self.store.write_foreseen(
            self.scope(),
            foresight,
            (request, prepared, guard),
            |tx, (request, prepared, guard)| write(tx, request, prepared, guard).boxed(),
        );
        self.heeding_policy(writing).await
    }

    /// Checks the content and stores what is too large for the commit's own transaction.
    async fn prepare(
        &self,
        request: &Checkpoint,
        content: CheckpointContent,
        guard: &Arc<SecretGuard>,
    ) -> Result<Prepared> {
        let rule = match request.check {
            Check::WellFormed => Concatenation::of(&request.format),
            Check::Nothing => Concatenation::Bytes,
        };
        let malformed = |source| Error::Malformed { format: request.format.clone(), source };
        match content {
            CheckpointContent::Stored(id) => Ok(Prepared::of(Artifact::Stored(id), None)),
            CheckpointContent::Bytes(bytes) if bytes.len() > MAX_HOT_BYTES => {
                self.prepare_stream(request, rule, Box::new(io::Cursor::new(bytes)), guard).await
            }
            CheckpointContent::Bytes(bytes) => {
                if bytes.is_empty() && request.check == Check::WellFormed {
                    return Err(Error::Empty);
                }
                let mut checker = Checker::new(rule);
                let measure = checker.push(&bytes).and_then(|()| checker.finish()).map_err(malformed)?;
                let ScreenedContent { bytes, record } = guard.screen(bytes, rule);
                // Placeholders may take more room than what they stand for.
                let content = if bytes.len() > MAX_HOT_BYTES {
                    PreparedContent::of(bytes)
                } else {
                    PreparedContent::Row(Hot::encode(bytes))
                };
                Ok(Prepared { record, ..Prepared::of(Artifact::Prepared(content), measure.messages) })
            }
            CheckpointContent::Stream(reader) => self.prepare_reader(request, rule, reader, guard).await,
        }
    }

    /// Looks whether a reader's content is small.
    async fn prepare_reader(
        &self,
        request: &Checkpoint,
        rule: Concatenation,
        reader: Box<dyn Read + Send>,
        guard: &Arc<SecretGuard>,
    ) -> Result<Prepared> {
        let (start, reader) = piece_reader::read_start(reader).await?;
        if start.len() <= MAX_HOT_BYTES {
            return Box::pin(self.prepare(request, CheckpointContent::Bytes(start), guard)).await;
        }
        self.prepare_stream(request, rule, Box::new(io::Cursor::new(start).chain(reader)), guard).await
    }

    async fn prepare_stream(
        &self,
        request: &Checkpoint,
        rule: Concatenation,
        reader: Box<dyn Read + Send>,
        guard: &Arc<SecretGuard>,
    ) -> Result<Prepared> {
        let verdict = Arc::new(Mutex::new(None));
        let checked = CheckedReader { reader, checker: Some(Checker::new(rule)), verdict: Arc::clone(&verdict) };
        let (screened, found) = ScreenedReader::new(guard, rule, Box::new(checked));
        let streamed = artifact::read_stream(&self.store, &self.scope(), screened).await;
        let record = found.take();
        let verdict = verdict.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (verdict, streamed) {
            (Some(Err(source)), _) => Err(Error::Malformed { format: request.format.clone(), source }),
            (Some(Ok(measure)), Ok(streamed)) => {
                Ok(Prepared { record, ..Prepared::of(Artifact::Streamed(Box::new(streamed)), measure.messages) })
            }
            (None, Ok(streamed)) => {
                Ok(Prepared { record, ..Prepared::of(Artifact::Streamed(Box::new(streamed)), None) })
            }
            (_, Err(error)) => Err(error.into()),
        }
    }
}

struct Prepared {
    artifact: Artifact,
    messages: Option<u64>,
    /// What was found in it.
    record: SecretRecord,
    /// The idempotency key with the digest of what was asked for.
    key: Option<(IdempotencyKey, request::RequestDigest)>,
}

impl Prepared {
    fn of(artifact: Artifact, messages: Option<u64>) -> Self {
        Self { artifact, messages, record: SecretRecord::default(), key: None }
    }
}

enum Artifact {
    /// To be stored with the commit.
    Prepared(PreparedContent),
    /// Too large for that: its parts are stored.
    Streamed(Box<StreamedContent>),
    /// Stored before.
    Stored(ArtifactId),
}

impl Artifact {
    fn id(&self) -> ArtifactId {
        match self {
            Self::Prepared(content) => *content.id(),
            Self::Streamed(streamed) => streamed.artifact().id,
            Self::Stored(id) => *id,
        }
    }
}

async fn write(
    tx: &mut Tx<'_>,
    request: &Checkpoint,
    prepared: &Prepared,
    guard: &SecretGuard,
) -> Result<Checkpointed> {
    guard.settle(tx).await?;
    if let Some((key, payload)) = &prepared.key
        && let Some(id) = request::find(tx, key, payload).await?
    {
        return Ok(Checkpointed { id, outcome: CreateOutcome::AlreadyThere });
    }
    let origin = match &request.head {
        Some(name) => head::find(tx, name).await?,
        None => None,
    };
    let parent = parent(request, origin)?;
    let commit = Commit {
        parent,
        kind: request.kind,
        artifact: prepared.artifact.id(),
        format: request.format.clone(),
        provenance: request.provenance.clone(),
        trigger: request.trigger,
        merges: request.merges.clone(),
        message_count: request.message_count.or(prepared.messages.map(Count::saturating)),
        token_count: request.token_count,
        created_at: request.created_at.unwrap_or(tx.now()),
    };
    commit.check()?;
    match &prepared.artifact {
        Artifact::Prepared(content) => artifact::put_content(tx, content).await?,
        Artifact::Streamed(streamed) => drop(artifact::put_streamed(tx, streamed).await?),
        Artifact::Stored(_) => {}
    }
    guard.keep(tx, &commit.artifact, &prepared.record).await?;
    let (id, inserted) = commit::insert(tx, &commit).await?;
    if inserted == Inserted::New {
        for annotation in &request.annotations {
            annotation::add(tx, &id, annotation.clone()).await?;
        }
    }
    if let Some(name) = &request.head {
        head::advance(tx, name, origin, id).await?;
    }
    // Whoever repeats a request says nothing new in the thread.
    if let Some(thread) = thread_head(request).filter(|_| inserted == Inserted::New) {
        let origin = head::find(tx, &thread).await?;
        head::advance(tx, &thread, origin, id).await?;
    }
    if let Some((key, payload)) = &prepared.key {
        request::remember(tx, key, payload, &id).await?;
    }
    let outcome = match inserted {
        Inserted::New => CreateOutcome::Created,
        Inserted::AlreadyThere => CreateOutcome::AlreadyThere,
    };
    Ok(Checkpointed { id, outcome })
}

/// Returns the head of the thread that a commit belongs to, unless the request moves it itself.
///
/// Several may speak in a thread at once, each on a chain of its own: its head is where the last one was.
fn thread_head(request: &Checkpoint) -> Option<HeadName> {
    let thread = request.provenance.thread.as_ref().and_then(HeadName::of_thread);
    thread.filter(|thread| request.head.as_ref() != Some(thread))
}

/// Finds the parent and refuses to move a head away from commits that the caller may not know.
fn parent(request: &Checkpoint, origin: Option<CommitId>) -> Result<Option<CommitId>> {
    let Some(name) = &request.head else {
        return Ok(request.parent);
    };
    match (request.expect, request.parent) {
        (Some(expect), _) => expect.check(name, origin)?,
        (None, Some(parent)) if origin.is_some() => Expect::At(parent).check(name, origin)?,
        (None, _) => {}
    }
    Ok(request.parent.or(origin))
}

/// Runs a checker over what passes through.
struct CheckedReader {
    reader: Box<dyn Read + Send>,
    checker: Option<Checker>,
    verdict: Arc<Mutex<Option<Result<Measure, FormatError>>>>,
}

impl Read for CheckedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        match self.checker.take() {
            None => {}
            Some(checker) if buffer.is_empty() => self.checker = Some(checker),
            Some(checker) if count == 0 => self.keep_verdict(checker.finish())?,
            Some(mut checker) => match checker.push(&buffer[..count]) {
                Ok(()) => self.checker = Some(checker),
                Err(error) => self.keep_verdict(Err(error))?,
            },
        }
        Ok(count)
    }
}

impl CheckedReader {
    fn keep_verdict(&self, verdict: Result<Measure, FormatError>) -> io::Result<()> {
        let failed = verdict.is_err();
        *self.verdict.lock().unwrap_or_else(PoisonError::into_inner) = Some(verdict);
        if failed { Err(io::ErrorKind::InvalidData.into()) } else { Ok(()) }
    }
}
