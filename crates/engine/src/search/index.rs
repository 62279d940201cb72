//! Indexing: the index follows the journal, in bounded steps, each of which is durable by itself.

use contexture_core::{CommitId, CommitKind, Format, JournalKind, JournalRecord};
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    artifact::{self, ArtifactReader, LocatedArtifact},
    commit::{self, CommitPlace},
    journal,
    search::{self, Cursor, IndexChange, Moved, RULES, Spot},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use super::document::{self, Extractor, SearchDocument};
use crate::{Contexture, Error, Result};

/// Most journal records that one step takes in.
const MAX_RECORDS: u32 = 512;
/// Bytes of content after which a step ends.
const STEP_BYTES: u64 = 4 * 1024 * 1024;
/// Passages that one step drops of an index that is made anew.
const DROPPED_PER_STEP: u32 = 4096;

/// How far indexing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexing {
    /// Journal records that are in the index.
    pub done: u64,
    /// Journal records that there are.
    pub total: u64,
}

/// How the index stands to the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Indexed {
    /// Passages that can be found.
    pub passages: u64,
    /// Bytes of text that they have.
    pub bytes: u64,
    /// Journal records that the index does not know yet, because it cannot be written.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records_behind: u64,
    /// Commits whose content could not be read just now. A check of the store says why.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable_commits: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Contexture {
    /// Takes into the index what has happened since it was last brought up to date.
    ///
    /// Where the store cannot be written it stays as it is, and the answer says how far it is behind. Several programs
    /// may do this at once; what one has taken in the others do not.
    pub async fn update_index(&self, progress: &mut (dyn FnMut(Indexing) + Send)) -> Result<Indexed> {
        let mut indexer = Indexer { store: &self.store, scope: self.scope(), unreadable: 0 };
        match indexer.follow(progress).instrument(debug_span!("update_index")).await {
            Ok(()) | Err(Error::Store(StoreError::ReadOnly | StoreError::Denied { .. })) => {}
            Err(error) => return Err(error),
        }
        let (cursor, tip) = indexer.look().await?;
        // One that is about to be made anew holds nothing that can be relied on.
        let (seq, passages, bytes) = match cursor {
            Some(cursor) if cursor.rules >= RULES => (cursor.seq, cursor.passages, cursor.bytes),
            _ => (0, 0, 0),
        };
        let records_behind = tip.saturating_sub(seq);
        Ok(Indexed { passages, bytes, records_behind, unreadable_commits: indexer.unreadable })
    }

    /// Says that the index is to be made anew, which the next [`update_index`](Self::update_index) does.
    pub async fn discard_index(&self) -> Result<()> {
        let indexer = Indexer { store: &self.store, scope: self.scope(), unreadable: 0 };
        // One whose row cannot be read is one all the same.
        if !matches!(indexer.look().await, Ok((None, _))) {
            indexer.condemn().await?;
        }
        Ok(())
    }
}

/// Tells of a failure of a statement that touches nothing but the index.
pub(super) fn of_index(error: StoreError) -> Error {
    match error {
        StoreError::Damaged { .. } | StoreError::Database { .. } => Error::SearchIndex(error),
        other => Error::Store(other),
    }
}

fn contradiction(what: &str) -> Error {
    Error::SearchIndex(StoreError::Damaged { what: what.to_owned() })
}

fn too_far_inside() -> Error {
    contradiction("it has more of a record than there is in it")
}

struct Indexer<'e> {
    store: &'e Store,
    scope: Scope,
    unreadable: u64,
}

/// A journal record, and what it brings into the index.
struct News {
    seq: u64,
    subject: Subject,
}

enum Subject {
    /// Nothing that is searched.
    Nothing,
    /// The content of a commit.
    Content { place: CommitPlace, format: Format, located: LocatedArtifact },
    /// What is said about a commit now.
    Notes { place: CommitPlace, documents: Vec<SearchDocument> },
    /// A commit whose content is not there.
    Absent,
}

/// What a record brings into the index, with its bytes if they come in one piece.
enum ReadSubject {
    Nothing,
    Content { place: CommitPlace, format: Format, bytes: Vec<u8> },
    Large { place: CommitPlace, format: Format, located: LocatedArtifact },
    Notes { place: CommitPlace, documents: Vec<SearchDocument> },
    Unreadable,
}

impl Indexer<'_> {
    /// Brings the index to the end of the journal.
    async fn follow(&mut self, progress: &mut (dyn FnMut(Indexing) + Send)) -> Result<()> {
        let mut stepped_from = None;
        loop {
            // Where the index is, is asked anew each time: others move it too, and a step whose end was not heard of may
            // have been taken or not.
            let (cursor, tip) = self.look().await?;
            match cursor {
                _ if tip == 0 => return Ok(()),
                None => {
                    let begun = self.store.write(self.scope.clone(), (), |tx, ()| search::begin(tx).boxed()).await;
                    begun.map_err(of_index)?;
                }
                Some(cursor) if cursor.rules < RULES => {
                    let dropping = self
                        .store
                        .write(self.scope.clone(), (), |tx, ()| search::drop_some(tx, DROPPED_PER_STEP).boxed());
                    dropping.await.map_err(of_index)?;
                }
                // A newer program's index is left to newer programs.
                Some(cursor) if cursor.rules > RULES || cursor.seq == tip => return Ok(()),
                // It is of a journal that went on otherwise, as after a restored copy.
                Some(cursor) if cursor.seq > tip => self.condemn().await?,
                // Whoever moves it moves it on.
                Some(cursor) if stepped_from == Some(cursor) => {
                    return Err(contradiction("it does not get on in the journal"));
                }
                Some(cursor) => {
                    stepped_from = Some(cursor);
                    progress(Indexing { done: cursor.seq, total: tip });
                    self.step(cursor).await?;
                }
            }
        }
    }

    async fn look(&self) -> Result<(Option<Cursor>, u64)> {
        self.store.glance(self.scope.clone(), (), |tx, ()| look(tx).boxed()).await.map_err(of_index)
    }

    async fn condemn(&self) -> Result<()> {
        let condemning = self.store.write(self.scope.clone(), (), |tx, ()| search::condemn(tx).boxed());
        condemning.await.map_err(of_index)
    }

    /// Takes in the next records. When somebody else does so at the same time, that is left to them.
    async fn step(&mut self, mut cursor: Cursor) -> Result<()> {
        let from = cursor.seq;
        let page = self.store.read(self.scope.clone(), from, |tx, from| news(tx, *from).boxed()).await?;
        let Some(last) = page.last().map(|news| news.seq) else {
            return Ok(());
        };
        let mut read = Vec::with_capacity(page.len());
        for News { seq, subject } in page {
            read.push((seq, self.read(subject).await?));
        }
        let store = self.store.clone();
        let cutting = move || read.into_iter().map(|(seq, subject)| (seq, cut_news(&store, subject))).collect();
        let page: Vec<(u64, PassageCut)> =
            tokio::task::spawn_blocking(cutting).await.map_err(|_| StoreError::Closed)?;
        let mut skipped = usize::try_from(cursor.inside).unwrap_or(usize::MAX);
        let mut changes = Vec::new();
        for (seq, cut) in page {
            match cut {
                PassageCut::Changes(found) if found.len() < skipped => return Err(too_far_inside()),
                PassageCut::Changes(found) => changes.extend(found.into_iter().skip(skipped)),
                PassageCut::Unreadable => self.unreadable += 1,
                PassageCut::Large { place, format, located } => {
                    let inside = if seq == cursor.seq + 1 { cursor.inside } else { 0 };
                    if !self.advance(&mut cursor, seq - 1, inside, &mut changes).await?
                        || !self.take_large(&mut cursor, place, &format, located).await?
                    {
                        return Ok(());
                    }
                }
            }
            skipped = 0;
        }
        self.advance(&mut cursor, last, 0, &mut changes).await.map(drop)
    }

    /// Reads the content that a record brings, unless it comes in several pieces.
    async fn read(&self, subject: Subject) -> Result<ReadSubject> {
        Ok(match subject {
            Subject::Nothing => ReadSubject::Nothing,
            Subject::Absent => ReadSubject::Unreadable,
            Subject::Notes { place, documents } => ReadSubject::Notes { place, documents },
            Subject::Content { place, format, located } if !located.is_one_piece() => {
                ReadSubject::Large { place, format, located }
            }
            Subject::Content { place, format, located } => {
                match artifact::read(self.store, &self.scope, located).await {
                    Ok(bytes) => ReadSubject::Content { place, format, bytes },
                    Err(error) if is_damage(&error) => ReadSubject::Unreadable,
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }

    /// Takes in a large content piece by piece. Tells whether nobody else did meanwhile.
    async fn take_large(
        &mut self,
        cursor: &mut Cursor,
        place: CommitPlace,
        format: &Format,
        located: LocatedArtifact,
    ) -> Result<bool> {
        let mut extractor = Extractor::new(format);
        let mut reader = ArtifactReader::of(self.store, &self.scope, located);
        let (mut changes, mut skipped, mut inside) = (Vec::new(), cursor.inside, 0);
        loop {
            let (is_over, is_whole) = match reader.next().await {
                Ok(Some(piece)) => {
                    extractor.push(&piece);
                    (false, true)
                }
                Ok(None) => (true, true),
                Err(error) if is_damage(&error) => {
                    self.unreadable += 1;
                    (true, false)
                }
                Err(error) => return Err(error.into()),
            };
            if is_over {
                extractor.finish();
            }
            let before = changes.len();
            cut(self.store, place, &extractor.take(), &mut changes);
            let found = (changes.len() - before) as u64;
            let taken = skipped.min(found);
            inside += found;
            skipped -= taken;
            let taken = usize::try_from(taken).unwrap_or(usize::MAX);
            changes.drain(before..before + taken);
            if is_over && is_whole && skipped > 0 {
                return Err(too_far_inside());
            }
            if is_over {
                let next = cursor.seq + 1;
                return self.advance(cursor, next, 0, &mut changes).await;
            }
            if bytes(&changes) >= STEP_BYTES {
                let seq = cursor.seq;
                if !self.advance(cursor, seq, inside, &mut changes).await? {
                    return Ok(false);
                }
            }
        }
    }

    /// Makes changes durable and moves the index on. Tells whether it was where it was thought to be.
    async fn advance(
        &self,
        cursor: &mut Cursor,
        seq: u64,
        inside: u64,
        changes: &mut Vec<IndexChange>,
    ) -> Result<bool> {
        if (seq, inside) == (cursor.seq, cursor.inside) && changes.is_empty() {
            return Ok(true);
        }
        let step = (*cursor, (seq, inside), std::mem::take(changes));
        let writing = self
            .store
            .write(self.scope.clone(), step, |tx, (from, to, changes)| search::advance(tx, from, *to, changes).boxed());
        let moved: Moved = writing.await.map_err(of_index)?;
        (cursor.seq, cursor.inside) = (seq, inside);
        Ok(moved == Moved::Here)
    }
}

/// What a record brings, ready to be written.
enum PassageCut {
    Changes(Vec<IndexChange>),
    /// Content that is taken in piece by piece.
    Large {
        place: CommitPlace,
        format: Format,
        located: LocatedArtifact,
    },
    Unreadable,
}

fn cut_news(store: &Store, subject: ReadSubject) -> PassageCut {
    let mut changes = Vec::new();
    match subject {
        ReadSubject::Nothing => {}
        ReadSubject::Unreadable => return PassageCut::Unreadable,
        ReadSubject::Notes { place, documents } => {
            changes.push(IndexChange::ForgetNotes { place });
            cut(store, place, &documents, &mut changes);
        }
        ReadSubject::Large { place, format, located } => return PassageCut::Large { place, format, located },
        ReadSubject::Content { place, format, bytes } => {
            let mut extractor = Extractor::new(&format);
            extractor.push(&bytes);
            extractor.finish();
            cut(store, place, &extractor.take(), &mut changes);
        }
    }
    PassageCut::Changes(changes)
}

/// Cuts documents into passages.
fn cut(store: &Store, place: CommitPlace, documents: &[SearchDocument], changes: &mut Vec<IndexChange>) {
    for SearchDocument { entry, part, role, kind, text } in documents {
        for (passage, number) in search::passages(store, text).into_iter().zip(0..) {
            let spot = Spot { entry: *entry, part: *part, passage: number, role: *role, kind: *kind };
            changes.push(IndexChange::Add { place, spot, passage });
        }
    }
}

fn bytes(changes: &[IndexChange]) -> u64 {
    let size = |change: &IndexChange| match change {
        IndexChange::Add { passage, .. } => passage.range.len() as u64,
        IndexChange::ForgetNotes { .. } => 0,
    };
    changes.iter().map(size).sum()
}

fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged { .. } | StoreError::DamagedArtifact(_) | StoreError::NoArtifact(_))
}

async fn look(tx: &mut Tx<'_>) -> Result<(Option<Cursor>, u64), StoreError> {
    let tip = journal::tip(tx).await?.map_or(0, |(seq, _)| seq);
    Ok((search::cursor(tx).await?, tip))
}

/// Returns what the next records bring, until their content is enough for a step.
async fn news(tx: &mut Tx<'_>, from: u64) -> Result<Vec<News>, StoreError> {
    let mut page = Vec::new();
    let mut content_bytes = 0;
    for record in journal::after(tx, from, MAX_RECORDS).await? {
        let seq = record.seq;
        let subject = subject(tx, &record).await?;
        if let Subject::Content { located, .. } = &subject {
            content_bytes += located.size;
        }
        page.push(News { seq, subject });
        if content_bytes >= STEP_BYTES {
            break;
        }
    }
    Ok(page)
}

async fn subject(tx: &mut Tx<'_>, record: &JournalRecord) -> Result<Subject, StoreError> {
    let is_noted = matches!(record.kind, JournalKind::CommitAnnotated | JournalKind::AnnotationWithheld);
    if record.kind != JournalKind::CommitCreated && !is_noted {
        return Ok(Subject::Nothing);
    }
    let Ok(id) = record.subject.parse::<CommitId>() else {
        return Ok(Subject::Absent);
    };
    let stored = match commit::show(tx, &id).await {
        Ok(stored) => stored,
        // A commit that is gone, or whose row is broken, has nothing to search.
        Err(StoreError::NoCommit(_) | StoreError::Damaged { .. }) => return Ok(Subject::Absent),
        Err(error) => return Err(error),
    };
    let place = stored.place;
    if is_noted {
        return Ok(Subject::Notes { place, documents: document::notes(&stored.annotations) });
    }
    // A snapshot says once more what its ancestors say.
    if stored.commit.kind == CommitKind::Snapshot && stored.commit.parent.is_some() {
        return Ok(Subject::Nothing);
    }
    match artifact::locate(tx, &stored.commit.artifact).await {
        Ok(located) if located.is_gone() => Ok(Subject::Nothing),
        Ok(located) => Ok(Subject::Content { place, format: stored.commit.format, located }),
        Err(error) if is_damage(&error) => Ok(Subject::Absent),
        Err(error) => Err(error),
    }
}
