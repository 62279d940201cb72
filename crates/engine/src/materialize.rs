//! Materialize: a chain becomes the conversation it stands for.

use std::{collections::VecDeque, io::Write};

use contexture_core::{CommitId, CommitKind, Format};
use contexture_formats::{Checker, Concatenation, JoinError, JoinPlan, Joiner, Measure};
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    artifact::{self, ArtifactReader, Encoded, Encoding, Payload},
    commit::{self, Segment},
};
use futures_util::FutureExt as _;
use serde::Serialize;
use tokio::task::JoinHandle;

use crate::{Contexture, Error, Result};

/// Commits whose artifacts are read in one query.
const COMMITS_PER_PAGE: u32 = 64;

/// How far back to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// To the nearest compaction or snapshot, which is included; to the root when there is none.
    Compaction,
    /// To the root.
    Root,
    /// To this ancestor, which is included.
    At(CommitId),
}

/// How faithfully a chain was turned into the format that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The same format: the stored bytes, joined.
    Native,
}

/// Something that was in the chain and is not in the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The commit it was in.
    pub commit: CommitId,
    /// What is missing.
    pub what: String,
}

/// A conversation on its way out.
///
/// The stored bytes of the chain are the result; nothing is copied to make it, so it starts at once at any length.
pub struct Materialization {
    format: Option<Format>,
    commits: u64,
    joiner: Option<Joiner>,
    parts: Parts,
    /// The artifact that is being read and the commit it belongs to.
    open: Option<(CommitId, ArtifactReader)>,
}

/// What a materialization gave, counted in the bytes that came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Materialized {
    /// The format; none when there was no commit to take it from.
    pub format: Option<Format>,
    /// How faithful it is.
    pub tier: Tier,
    /// What it leaves out.
    pub losses: Vec<Loss>,
    /// Commits that were walked.
    pub commits: u64,
    /// Messages, where the format says what a message is.
    pub messages: Option<u64>,
    /// Bytes.
    pub bytes: u64,
    /// Tokens, by the counter named beside.
    pub tokens: u64,
    /// How tokens are counted: `chars4` is a fourth of the characters.
    pub token_counter: &'static str,
}

impl Contexture {
    /// Starts to materialize a commit; no commit is a fresh start and gives an empty conversation.
    ///
    /// A compaction or snapshot counts only where the walk begins: what comes after it in the walk is the history it
    /// would repeat.
    pub async fn materialize(
        &self,
        commit: Option<CommitId>,
        stop: Stop,
        format: Option<Format>,
    ) -> Result<Materialization> {
        let scope = self.scope();
        let plan = match commit {
            None => Plan::default(),
            Some(id) => {
                let wanted = format.clone();
                let planning = self.store.read(scope.clone(), move |tx| {
                    let wanted = wanted.clone();
                    async move { plan(tx, id, stop, wanted).await }.boxed()
                });
                planning.await?
            }
        };
        let format = plan.format.or(format);
        let rule = format.as_ref().map_or(Concatenation::Bytes, Concatenation::of);
        let parts = Parts::new(self.store.clone(), scope, plan.segments);
        let join = match rule {
            Concatenation::Lines => JoinPlan::Lines,
            Concatenation::Bytes => JoinPlan::Bytes,
            Concatenation::JsonArray => JoinPlan::JsonArray { parts: plan.parts },
            Concatenation::CborArray => {
                JoinPlan::CborArray { parts: plan.parts, elements: parts.again().count_elements().await? }
            }
        };
        Ok(Materialization { format, commits: plan.commits, joiner: Some(Joiner::new(join)), parts, open: None })
    }
}

impl Materialization {
    /// Returns the next bytes of the conversation, in pieces of bounded size, or what was counted at the end.
    pub async fn next(&mut self) -> Result<Piece> {
        loop {
            if let Some((commit, reader)) = &mut self.open {
                let commit = *commit;
                if let Some(piece) = reader.next().await? {
                    return self.join(commit, piece);
                }
                self.open = None;
                self.end_part(commit)?;
            }
            match self.parts.next().await? {
                None => return self.end(),
                Some((commit, Body::Large(row))) => self.open = Some((commit, self.parts.reader(row))),
                Some((commit, Body::Whole(bytes))) => {
                    let piece = self.join(commit, bytes)?;
                    self.end_part(commit)?;
                    return Ok(piece);
                }
            }
        }
    }

    /// Writes the whole conversation and returns what was counted in it.
    pub async fn write_to(mut self, sink: &mut (dyn Write + Send)) -> Result<Materialized> {
        let failed = |source| Error::Io { attempt: "write the conversation", source };
        loop {
            match self.next().await? {
                Piece::Bytes(bytes) => sink.write_all(&bytes).map_err(failed)?,
                Piece::End(tail, counted) => {
                    sink.write_all(&tail).and_then(|()| sink.flush()).map_err(failed)?;
                    return Ok(counted);
                }
            }
        }
    }

    /// Adds bytes of a commit to the conversation.
    fn join(&mut self, commit: CommitId, bytes: Vec<u8>) -> Result<Piece> {
        let joined = self.joiner().push(&bytes).map_err(|source| Error::Unjoinable { commit, source })?;
        Ok(Piece::Bytes(if joined.glue.is_empty() && joined.body.len() == bytes.len() {
            bytes
        } else {
            [&*joined.glue, joined.body].concat()
        }))
    }

    fn end_part(&mut self, commit: CommitId) -> Result<()> {
        self.joiner().end_part().map_err(|source| Error::Unjoinable { commit, source })
    }

    fn joiner(&mut self) -> &mut Joiner {
        self.joiner.as_mut().expect("the conversation goes on until its end is returned")
    }

    fn end(&mut self) -> Result<Piece> {
        let joiner = self.joiner.take().expect("the end is returned once");
        // The plan counted the parts and they never change, so a miscount means that rows went missing.
        let ending = joiner.finish().map_err(|error| StoreError::Damaged { what: error.to_string() })?;
        let Measure { messages, bytes, chars } = ending.measure;
        let counted = Materialized {
            format: self.format.clone(),
            tier: Tier::Native,
            losses: Vec::new(),
            commits: self.commits,
            messages,
            bytes,
            tokens: chars.div_ceil(4),
            token_counter: "chars4",
        };
        Ok(Piece::End(ending.glue.to_vec(), counted))
    }
}

/// What a materialization yields next.
pub enum Piece {
    /// Bytes of the conversation.
    Bytes(Vec<u8>),
    /// The last bytes and what was counted in all.
    End(Vec<u8>, Materialized),
}

/// What to walk, known before the first byte is read.
#[derive(Debug, Default)]
struct Plan {
    /// The stretches, oldest first.
    segments: VecDeque<Segment>,
    format: Option<Format>,
    commits: u64,
    /// Commits whose bytes are part of the result.
    parts: u64,
}

async fn plan(tx: &mut Tx<'_>, id: CommitId, stop: Stop, wanted: Option<Format>) -> Result<Plan> {
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
    let mut found: Vec<Format> = Vec::new();
    let (mut commits, mut parts) = (0, 0);
    if let Some(oldest) = segments.first() {
        let first = commit::at(tx, commit::Place { line: oldest.line, position: oldest.first }).await?;
        if first.commit.kind != CommitKind::Delta {
            found.push(first.commit.format);
            parts += 1;
        }
    }
    for segment in &segments {
        commits += (segment.last - segment.first + 1).cast_unsigned();
        for (format, deltas) in commit::deltas_by_format(tx, *segment).await? {
            parts += deltas;
            if !found.contains(&format) {
                found.push(format);
            }
        }
    }
    let format = match (found.as_slice(), wanted) {
        ([only], None) => only.clone(),
        ([only], Some(wanted)) if *only == wanted => wanted,
        (_, Some(wanted)) => return Err(Error::Untranslatable { commit: id, found, wanted }),
        (_, None) => return Err(Error::Mixed { commit: id, found }),
    };
    Ok(Plan { segments: segments.into(), format: Some(format), commits, parts })
}

/// The bytes of a commit.
enum Body {
    /// All of them, decoded and checked.
    Whole(Vec<u8>),
    /// Too many to hold: the row that lists the parts.
    Large(Encoded),
}

type Page = JoinHandle<contexture_store::Result<Vec<Payload>>>;

/// The parts of a plan, read page by page: the next page is fetched while one is decoded and checked.
struct Parts {
    store: Store,
    scope: Scope,
    whole: VecDeque<Segment>,
    left: VecDeque<Segment>,
    ready: std::vec::IntoIter<Payload>,
    coming: Option<Page>,
    at_start: bool,
}

impl Parts {
    fn new(store: Store, scope: Scope, segments: VecDeque<Segment>) -> Self {
        Self {
            store,
            scope,
            left: segments.clone(),
            whole: segments,
            ready: Vec::new().into_iter(),
            coming: None,
            at_start: true,
        }
    }

    /// Returns the same parts from the start.
    fn again(&self) -> Self {
        Self::new(self.store.clone(), self.scope.clone(), self.whole.clone())
    }

    /// Returns the next commit whose bytes belong to the result, with its bytes.
    async fn next(&mut self) -> Result<Option<(CommitId, Body)>> {
        loop {
            if let Some(payload) = self.ready.next() {
                let keep = payload.kind == CommitKind::Delta || self.at_start;
                self.at_start = false;
                if keep {
                    return body(payload).map(Some);
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

    fn reader(&self, row: Encoded) -> ArtifactReader {
        ArtifactReader::of(&self.store, &self.scope, row)
    }

    /// Starts to read the next page, if there is one.
    fn fetch(&mut self) -> Option<Page> {
        let segment = self.left.front_mut()?;
        let page = *segment;
        segment.first += i64::from(COMMITS_PER_PAGE);
        if segment.first > segment.last {
            self.left.pop_front();
        }
        let (store, scope) = (self.store.clone(), self.scope.clone());
        Some(tokio::spawn(async move {
            let reading = store
                .read(scope, move |tx| async move { artifact::payloads(tx, page, COMMITS_PER_PAGE).await }.boxed());
            reading.await
        }))
    }

    /// Counts the elements of all parts, which a CBOR array must announce.
    async fn count_elements(mut self) -> Result<u64> {
        let mut elements = 0;
        while let Some((commit, body)) = self.next().await? {
            let unjoinable = |source| Error::Unjoinable { commit, source: JoinError::Part { part: 1, source } };
            let mut checker = Checker::new(Concatenation::CborArray);
            match body {
                Body::Whole(bytes) => checker.push(&bytes).map_err(unjoinable)?,
                Body::Large(row) => {
                    let mut reader = self.reader(row);
                    while let Some(piece) = reader.next().await? {
                        checker.push(&piece).map_err(unjoinable)?;
                    }
                }
            }
            elements += checker.finish().map_err(unjoinable)?.messages.unwrap_or(0);
        }
        Ok(elements)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let Some(page) = &self.coming {
            page.abort();
        }
    }
}

/// Decodes and checks a commit's bytes. Here and not where they are read: buffers that are filled on one thread and
/// freed on another cost more than the second thread gains.
fn body(payload: Payload) -> Result<(CommitId, Body)> {
    let Payload { commit, artifact, content, .. } = payload;
    let row = content.ok_or(Error::AbsentArtifact { commit, artifact })?;
    let body = match row.encoding {
        Encoding::Parts => Body::Large(row),
        Encoding::Raw | Encoding::Lz4 => Body::Whole(row.decode()?),
    };
    Ok((commit, body))
}
