//! Histories as sets of lines, and the commits of several lines in one order.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BinaryHeap, HashMap},
};

use contexture_core::CommitId;
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    commit::{self, CommitPlace, LineSegment, StoredCommit},
};
use futures_util::FutureExt as _;

use crate::Result;

/// Commits of one line that are read at once.
const PAGE: u32 = 64;
/// Lines that are read at once.
const LINES_PER_PAGE: u32 = 1000;

/// How far a history reaches on each line: key of the line, last position.
pub(crate) type Reach = BTreeMap<i64, i64>;

/// Returns the lines that the histories of some commits lie on, each once.
pub(crate) async fn reach(tx: &mut Tx<'_>, ids: &[CommitId]) -> Result<Reach, StoreError> {
    Ok(history(tx, ids).await?.0)
}

/// Returns the same, and where those lines fork off each other.
async fn history(tx: &mut Tx<'_>, ids: &[CommitId]) -> Result<(Reach, Forks), StoreError> {
    let (mut reach, mut forks) = (Reach::new(), Forks::default());
    for id in ids {
        let place = commit::require(tx, id).await?;
        let segments = commit::segments(tx, place).await?;
        for (at, segment) in segments.iter().enumerate() {
            let last = reach.entry(segment.line).or_insert(segment.last);
            *last = segment.last.max(*last);
            if let Some(base) = segments.get(at + 1) {
                forks.add(segment.line, CommitPlace { line: base.line, position: base.last });
            }
        }
    }
    Ok((reach, forks))
}

/// In which order commits are merged. Parents and children never swap places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// By the times that they carry, the latest first.
    LatestFirst,
    /// By the journal, the oldest first.
    OldestFirst,
}

/// Where lines fork off lines that are walked too: nothing is told from the fork on back before the line that it leads to.
#[derive(Debug, Default)]
struct Forks {
    /// Where each line forks off.
    of_line: HashMap<i64, CommitPlace>,
    /// How many lines are still to be told that fork off at a place.
    open: BTreeMap<CommitPlace, u64>,
}

impl Forks {
    fn add(&mut self, line: i64, at: CommitPlace) {
        if self.of_line.insert(line, at).is_none() {
            *self.open.entry(at).or_default() += 1;
        }
    }

    /// Tells whether something forks off at a place that was not told yet.
    fn are_open_at(&self, place: CommitPlace) -> bool {
        self.open.contains_key(&place)
    }

    /// Notes that all of a line was told. Returns the place that may be told now.
    fn close(&mut self, line: i64) -> Option<CommitPlace> {
        let at = self.of_line.remove(&line)?;
        let open = self.open.get_mut(&at)?;
        *open -= 1;
        if *open > 0 {
            return None;
        }
        self.open.remove(&at);
        Some(at)
    }
}

/// The commits of several lines, merged.
pub(crate) struct Lines {
    direction: Direction,
    ahead: BinaryHeap<Ahead>,
    forks: Forks,
    /// Lines whose next commit must wait for what forks off there.
    held: HashMap<i64, Ahead>,
}

/// Commits of one line that were read ahead.
struct Ahead {
    /// Greater comes first.
    rank: (i64, i64),
    /// The line.
    line: i64,
    /// The commits, the next one last; none when none was read yet.
    ready: Vec<StoredCommit>,
    /// What of the line is not read yet.
    rest: Option<LineSegment>,
}

impl Ahead {
    /// Returns where the next commit lies.
    fn next_place(&self) -> Option<CommitPlace> {
        let unread = |rest: LineSegment| CommitPlace { line: rest.line, position: rest.last };
        self.ready.last().map(|next| next.place).or_else(|| self.rest.map(unread))
    }
}

impl Lines {
    /// Merges the histories of some commits, the latest first. Returns their reach too.
    pub(crate) async fn latest_first(tx: &mut Tx<'_>, ids: &[CommitId]) -> Result<(Self, Reach), StoreError> {
        let (reach, forks) = history(tx, ids).await?;
        let mut lines = Self::merge(tx, &reach, Direction::LatestFirst).await?;
        lines.forks = forks;
        Ok((lines, reach))
    }

    /// Merges all lines of the space, the latest commit first. Nothing is read of a line before its turn comes.
    pub(crate) async fn all(tx: &mut Tx<'_>) -> Result<Self, StoreError> {
        let (mut ahead, mut forks, mut after) = (BinaryHeap::new(), Forks::default(), i64::MIN);
        loop {
            let page = commit::whole_lines(tx, after, LINES_PER_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.segment.line;
            for line in page {
                let rank = (line.newest_at, line.newest_seq);
                ahead.push(Ahead { rank, line: line.segment.line, ready: Vec::new(), rest: Some(line.segment) });
                if let Some(fork) = line.fork {
                    forks.add(line.segment.line, fork);
                }
            }
        }
        Ok(Self { direction: Direction::LatestFirst, ahead, forks, held: HashMap::new() })
    }

    /// Merges lines from their starts up to where a history reaches.
    pub(crate) async fn merge(tx: &mut Tx<'_>, reach: &Reach, direction: Direction) -> Result<Self, StoreError> {
        let mut ahead = BinaryHeap::new();
        for (line, last) in reach {
            // One commit is enough to rank a line, and there may be many lines.
            ahead.extend(direction.read(tx, LineSegment { line: *line, first: 0, last: *last }, 1).await?);
        }
        Ok(Self { direction, ahead, forks: Forks::default(), held: HashMap::new() })
    }

    /// Returns the next commit; none at the end.
    pub(crate) async fn next(&mut self, store: &Store, scope: &Scope) -> Result<Option<StoredCommit>> {
        loop {
            let Some(mut first) = self.ahead.pop() else { return Ok(None) };
            if first.next_place().is_some_and(|place| self.forks.are_open_at(place)) {
                self.held.insert(first.line, first);
                continue;
            }
            let next = first.ready.pop();
            let (line, rest) = (first.line, first.rest);
            let further = match self.direction.rank(line, first.ready, rest) {
                Some(further) => Some(further),
                None => match rest {
                    Some(rest) => {
                        let reading = store.read(scope.clone(), (self.direction, rest), |tx, &(direction, rest)| {
                            direction.read(tx, rest, PAGE).boxed()
                        });
                        reading.await?
                    }
                    None => None,
                },
            };
            match further {
                Some(further) => self.ahead.push(further),
                None => self.release(line),
            }
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Lets the line go on from which a line forks off that was told to its end.
    fn release(&mut self, line: i64) {
        if let Some(place) = self.forks.close(line)
            && let Some(held) = self.held.remove(&place.line)
        {
            self.ahead.push(held);
        }
    }
}

impl Direction {
    async fn read(self, tx: &mut Tx<'_>, segment: LineSegment, limit: u32) -> Result<Option<Ahead>, StoreError> {
        let mut ready = match self {
            Self::LatestFirst => commit::page_back(tx, segment, limit).await?,
            Self::OldestFirst => commit::page_forward(tx, segment, limit).await?,
        };
        ready.reverse();
        let rest = ready.first().map(|furthest| match self {
            Self::LatestFirst => LineSegment { last: furthest.place.position - 1, ..segment },
            Self::OldestFirst => LineSegment { first: furthest.place.position + 1, ..segment },
        });
        Ok(self.rank(segment.line, ready, rest.filter(|rest| rest.first <= rest.last)))
    }

    fn rank(self, line: i64, ready: Vec<StoredCommit>, rest: Option<LineSegment>) -> Option<Ahead> {
        let next = ready.last()?;
        let seq = next.seq.cast_signed();
        let rank = match self {
            Self::LatestFirst => (next.commit.created_at.as_micros(), seq),
            Self::OldestFirst => (-seq, 0),
        };
        Some(Ahead { rank, line, ready, rest })
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
