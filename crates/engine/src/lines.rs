//! Histories as sets of lines, and the commits of several lines in one order.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BinaryHeap},
};

use contexture_core::CommitId;
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    commit::{self, LineSegment, StoredCommit},
};
use futures_util::FutureExt as _;

use crate::Result;

/// Commits of one line that are read at once.
const PAGE: u32 = 64;

/// How far a history reaches on each line: key of the line, last position.
pub(crate) type Reach = BTreeMap<i64, i64>;

/// Returns the lines that the histories of some commits lie on, each once.
pub(crate) async fn reach(tx: &mut Tx<'_>, ids: &[CommitId]) -> Result<Reach, StoreError> {
    let mut reach = Reach::new();
    for id in ids {
        let place = commit::require(tx, id).await?;
        for segment in commit::segments(tx, place).await? {
            let last = reach.entry(segment.line).or_insert(segment.last);
            *last = segment.last.max(*last);
        }
    }
    Ok(reach)
}

/// Which way commits are merged. Either way follows the journal, so parents and children never swap places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    NewestFirst,
    OldestFirst,
}

/// The commits of several lines, merged by sequence number.
pub(crate) struct Lines {
    direction: Direction,
    ahead: BinaryHeap<Ahead>,
}

/// Commits of one line that were read ahead.
struct Ahead {
    /// Greater comes first.
    rank: i64,
    /// The commits, the next one last. Never empty.
    ready: Vec<StoredCommit>,
    /// What of the line is not read yet.
    rest: Option<LineSegment>,
}

impl Lines {
    /// Merges lines from their starts up to where a history reaches.
    pub(crate) async fn merge(tx: &mut Tx<'_>, reach: &Reach, direction: Direction) -> Result<Self, StoreError> {
        let mut ahead = BinaryHeap::new();
        for (line, last) in reach {
            // One commit is enough to rank a line, and there may be many lines.
            ahead.extend(direction.read(tx, LineSegment { line: *line, first: 0, last: *last }, 1).await?);
        }
        Ok(Self { direction, ahead })
    }

    /// Returns the next commit; none at the end.
    pub(crate) async fn next(&mut self, store: &Store, scope: &Scope) -> Result<Option<StoredCommit>> {
        let Some(Ahead { mut ready, rest, .. }) = self.ahead.pop() else {
            return Ok(None);
        };
        let next = ready.pop();
        if let Some(ahead) = self.direction.rank(ready, rest) {
            self.ahead.push(ahead);
        } else if let Some(rest) = rest {
            let reading = store.read(scope.clone(), (self.direction, rest), |tx, &(direction, rest)| {
                direction.read(tx, rest, PAGE).boxed()
            });
            self.ahead.extend(reading.await?);
        }
        Ok(next)
    }
}

impl Direction {
    async fn read(self, tx: &mut Tx<'_>, segment: LineSegment, limit: u32) -> Result<Option<Ahead>, StoreError> {
        let mut ready = match self {
            Self::NewestFirst => commit::page_back(tx, segment, limit).await?,
            Self::OldestFirst => commit::page_forward(tx, segment, limit).await?,
        };
        ready.reverse();
        let rest = ready.first().map(|furthest| match self {
            Self::NewestFirst => LineSegment { last: furthest.place.position - 1, ..segment },
            Self::OldestFirst => LineSegment { first: furthest.place.position + 1, ..segment },
        });
        Ok(self.rank(ready, rest.filter(|rest| rest.first <= rest.last)))
    }

    fn rank(self, ready: Vec<StoredCommit>, rest: Option<LineSegment>) -> Option<Ahead> {
        let seq = ready.last()?.seq.cast_signed();
        let rank = match self {
            Self::NewestFirst => seq,
            Self::OldestFirst => -seq,
        };
        Some(Ahead { rank, ready, rest })
    }
}

impl Ord for Ahead {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl PartialOrd for Ahead {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ahead {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Ahead {}
