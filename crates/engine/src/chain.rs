//! The parts of a chain: which commits a conversation is made of, and their bytes in order.

use std::{collections::VecDeque, sync::Arc};

use contexture_core::{CommitId, CommitKind, Format};
use contexture_formats::{Checker, Concatenation, JoinError};
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    artifact::{self, ArtifactReader, CommitArtifact, LocatedArtifact, WithheldContent},
    commit::{self, LineSegment, StoredCommit},
};
use futures_util::FutureExt as _;
use tokio::task::JoinHandle;
use tracing::{Instrument as _, debug_span};

use crate::{Contexture, Error, Result, Stop};

/// Commits whose artifacts are read in one query.
const COMMITS_PER_PAGE: u32 = 64;

/// The commits to walk, known before the first of them is read.
#[derive(Debug, Default, Clone)]
pub(crate) struct Route {
    /// The stretches, oldest first.
    pub(crate) segments: VecDeque<LineSegment>,
    /// How many commits there are.
    pub(crate) commits: u64,
    /// Whether older commits come before the first, which then is no beginning.
    pub(crate) begins_inside: bool,
}

/// What to walk, and what kinds of content there are on the way.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) route: Route,
    /// The formats of the commits whose bytes are part of the result.
    pub(crate) formats: Vec<Format>,
    /// Commits whose bytes are part of the result.
    pub(crate) parts: u64,
}

impl Contexture {
    /// Finds the way from a commit back to a stop. It takes no longer for more commits.
    pub(crate) async fn route(&self, commit: CommitId, stop: Stop) -> Result<Route> {
        self.store.read(self.scope(), (commit, stop), |tx, &(commit, stop)| route(tx, commit, stop).boxed()).await
    }

    /// Plans the walk from a commit back to a stop; no commit is a walk over nothing. It looks at every commit.
    pub(crate) async fn plan(&self, commit: Option<CommitId>, stop: Stop) -> Result<Plan> {
        let Some(id) = commit else { return Ok(Plan::default()) };
        let planning = self.store.read(self.scope(), (id, stop), |tx, &(id, stop)| plan(tx, id, stop).boxed());
        planning.instrument(debug_span!("plan", commit = %id)).await
    }

    /// Starts to read the parts of a route.
    pub(crate) fn parts(&self, route: &Route, detail: Detail) -> CommitParts {
        let mut parts = CommitParts::new(self.store.clone(), self.scope(), route.segments.clone(), detail);
        parts.at_start = !route.begins_inside;
        parts
    }
}

impl Route {
    /// Returns the way over the newest commits of this one; the count of all is kept.
    pub(crate) fn newest(&self, commits: u64) -> Self {
        let mut left = commits.cast_signed();
        let mut segments = VecDeque::new();
        for segment in self.segments.iter().rev() {
            if left <= 0 {
                break;
            }
            let first = segment.first.max(segment.last - left + 1);
            segments.push_front(LineSegment { first, ..*segment });
            left -= segment.last - first + 1;
        }
        Self { segments, commits: self.commits, begins_inside: commits < self.commits }
    }
}

async fn route(tx: &mut Tx<'_>, id: CommitId, stop: Stop) -> Result<Route> {
    let tip = commit::show(tx, &id).await?;
    let mut segments = match stop {
        Stop::Root => commit::segments(tx, tip.place).await?,
        Stop::Compaction => match tip.reset {
            None => commit::segments(tx, tip.place).await?,
            Some(reset) => commit::ancestry(tx, tip.place, reset)
                .await?
                .ok_or_else(|| StoreError::Damaged { what: format!("the reset of {id} is not among its ancestors") })?,
        },
        Stop::At(stop) => {
            let place = commit::require(tx, &stop).await?;
            commit::ancestry(tx, tip.place, place).await?.ok_or(Error::NotAnAncestor { stop, commit: id })?
        }
    };
    segments.reverse();
    let commits = segments.iter().map(|segment| (segment.last - segment.first + 1).cast_unsigned()).sum();
    Ok(Route { segments: segments.into(), commits, begins_inside: false })
}

/// Where a compaction or snapshot counts is decided here and in [`CommitParts`]: only where the walk begins, because what comes
/// after it in the walk is the history that it would repeat.
async fn plan(tx: &mut Tx<'_>, id: CommitId, stop: Stop) -> Result<Plan> {
    let route = route(tx, id, stop).await?;
    let mut formats: Vec<Format> = Vec::new();
    let mut parts = 0;
    if let Some(oldest) = route.segments.front() {
        let first = commit::at(tx, commit::CommitPlace { line: oldest.line, position: oldest.first }).await?;
        if first.commit.kind != CommitKind::Delta {
            formats.push(first.commit.format);
            parts += 1;
        }
    }
    for segment in &route.segments {
        for (format, deltas) in commit::deltas_by_format(tx, *segment).await? {
            parts += deltas;
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
    }
    Ok(Plan { route, formats, parts })
}

/// A commit whose bytes are part of the result.
pub(crate) struct ChainPart {
    pub(crate) commit: CommitId,
    /// The whole commit, where [`Detail::Commits`] asks for it.
    pub(crate) stored: Option<StoredCommit>,
    pub(crate) body: Body,
    /// What was taken away of its content, or never came: all of it, or some.
    pub(crate) withheld: Option<Arc<WithheldContent>>,
}

/// The bytes of a commit.
pub(crate) enum Body {
    /// All of them, proved.
    Whole(Vec<u8>),
    /// Too many to hold: where they are.
    Large(LocatedArtifact),
    /// None, because the content was taken away or never came.
    Withheld(Arc<WithheldContent>),
}

impl Body {
    /// Returns how many bytes there are.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Large(located) => located.size,
            Self::Withheld(_) => 0,
        }
    }
}

/// How much is read of each commit beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Its id.
    Ids,
    /// All of it.
    Commits,
}

type ChainPage = JoinHandle<contexture_store::Result<Vec<(CommitArtifact, Option<StoredCommit>)>>>;

/// The parts of a route, page by page: the next page is located while the bytes of one are read and joined.
pub(crate) struct CommitParts {
    store: Store,
    scope: Scope,
    whole: VecDeque<LineSegment>,
    left: VecDeque<LineSegment>,
    detail: Detail,
    ready: std::vec::IntoIter<(CommitArtifact, Option<StoredCommit>)>,
    coming: Option<ChainPage>,
    at_start: bool,
    /// Whether compactions and snapshots in the middle are parts too.
    with_resets: bool,
}

impl CommitParts {
    fn new(store: Store, scope: Scope, segments: VecDeque<LineSegment>, detail: Detail) -> Self {
        Self {
            store,
            scope,
            left: segments.clone(),
            whole: segments,
            detail,
            ready: Vec::new().into_iter(),
            coming: None,
            at_start: true,
            with_resets: false,
        }
    }

    /// Takes compactions and snapshots in the middle for parts too, so that everything that was stored comes.
    pub(crate) fn with_resets(mut self) -> Self {
        self.with_resets = true;
        self
    }

    /// Returns the same parts from the start.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.store.clone(), self.scope.clone(), self.whole.clone(), self.detail)
    }

    /// Returns the next commit whose bytes belong to the result, with its bytes.
    pub(crate) async fn next(&mut self) -> Result<Option<ChainPart>> {
        match self.next_located().await? {
            Some((payload, stored)) => self.part(payload, stored).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the next commit whose bytes belong to the result, with where they are.
    pub(crate) async fn next_located(&mut self) -> Result<Option<(CommitArtifact, Option<StoredCommit>)>> {
        loop {
            if let Some((payload, stored)) = self.ready.next() {
                let keep = payload.kind == CommitKind::Delta || self.at_start || self.with_resets;
                self.at_start = false;
                if keep {
                    return Ok(Some((payload, stored)));
                }
                continue;
            }
            let Some(page) = self.coming.take().or_else(|| self.fetch()) else {
                return Ok(None);
            };
            self.ready = page.await.map_err(|_| StoreError::Closed)??.into_iter();
            self.coming = self.fetch();
        }
    }

    /// Returns all bytes of a commit.
    pub(crate) async fn whole(&self, body: Body) -> Result<Vec<u8>> {
        match body {
            Body::Whole(bytes) => Ok(bytes),
            Body::Large(located) => Ok(artifact::read(&self.store, &self.scope, located).await?),
            Body::Withheld(content) => Err(StoreError::Withheld(content).into()),
        }
    }

    pub(crate) fn reader(&self, located: LocatedArtifact) -> ArtifactReader {
        ArtifactReader::of(&self.store, &self.scope, located)
    }

    /// Reads a commit's bytes, unless they come in several pieces. Here and not where they were located: buffers that are
    /// filled on one thread and freed on another cost more than the second thread gains.
    pub(crate) async fn part(&self, payload: CommitArtifact, stored: Option<StoredCommit>) -> Result<ChainPart> {
        let CommitArtifact { commit, artifact, located, .. } = payload;
        let located = located.ok_or(Error::AbsentArtifact { commit, artifact })?;
        let withheld = located.withheld().cloned();
        let body = if let Some(content) = withheld.clone().filter(|_| located.is_gone()) {
            Body::Withheld(content)
        } else if located.is_one_piece() {
            Body::Whole(artifact::read(&self.store, &self.scope, located).await?)
        } else {
            Body::Large(located)
        };
        Ok(ChainPart { commit, stored, body, withheld })
    }

    /// Starts to read the next page, if there is one.
    fn fetch(&mut self) -> Option<ChainPage> {
        let segment = self.left.front_mut()?;
        let page = *segment;
        segment.first += i64::from(COMMITS_PER_PAGE);
        if segment.first > segment.last {
            self.left.pop_front();
        }
        let (store, scope, detail) = (self.store.clone(), self.scope.clone(), self.detail);
        Some(tokio::spawn(async move {
            store.read(scope, (page, detail), |tx, &(page, detail)| read_page(tx, page, detail).boxed()).await
        }))
    }

    /// Counts the elements of all parts, which a CBOR array must announce.
    pub(crate) async fn count_elements(mut self) -> Result<u64> {
        let mut elements = 0;
        while let Some(ChainPart { commit, body, .. }) = self.next().await? {
            let unjoinable = |source| Error::Unjoinable { commit, source: JoinError::Part { part: 1, source } };
            let mut checker = Checker::new(Concatenation::CborArray);
            match body {
                Body::Whole(bytes) => checker.push(&bytes).map_err(unjoinable)?,
                Body::Large(located) => {
                    let mut reader = self.reader(located);
                    while let Some(piece) = reader.next().await? {
                        checker.push(&piece).map_err(unjoinable)?;
                    }
                }
                Body::Withheld(_) => continue,
            }
            elements += checker.finish().map_err(unjoinable)?.messages.unwrap_or(0);
        }
        Ok(elements)
    }
}

impl Drop for CommitParts {
    fn drop(&mut self) {
        if let Some(page) = &self.coming {
            page.abort();
        }
    }
}

async fn read_page(
    tx: &mut Tx<'_>,
    page: LineSegment,
    detail: Detail,
) -> contexture_store::Result<Vec<(CommitArtifact, Option<StoredCommit>)>> {
    let payloads = artifact::payloads(tx, page, COMMITS_PER_PAGE).await?;
    if detail == Detail::Ids {
        return Ok(payloads.into_iter().map(|payload| (payload, None)).collect());
    }
    let mut commits = commit::page_forward(tx, page, COMMITS_PER_PAGE).await?.into_iter().peekable();
    let described = |payload: CommitArtifact| {
        let stored = commits.next_if(|stored| stored.id == payload.commit);
        (payload, stored)
    };
    Ok(payloads.into_iter().map(described).collect())
}
