//! What one chain has that another has not.

use std::collections::{BTreeMap, HashSet};

use contexture_core::CommitId;
use contexture_store::{
    Error as StoreError, Tx,
    commit::{self, CommitPlace, LineSegment},
    session,
};
use futures_util::FutureExt as _;

use crate::{Contexture, LogStart, LoggedTurn, Result};

/// Turns of one chain that are read.
const MAX_TURNS: usize = 1000;

/// Two chains beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainDifference {
    /// The last commit that they share, if there is one.
    pub base: Option<CommitId>,
    /// What only the first has.
    pub before: ChainSide,
    /// What only the second has.
    pub after: ChainSide,
}

/// What one of two chains has that the other has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSide {
    /// Where it ends.
    pub tip: CommitId,
    /// How many commits only it has.
    pub commits: u64,
    /// Its own turns, newest first, 1,000 at most.
    pub turns: Vec<LoggedTurn>,
    /// Whether there are more.
    pub is_cut: bool,
    /// The files that calls in those turns were to change, and in how many turns. Paths begin at the directory that was
    /// worked in where they lie below it.
    pub files: BTreeMap<String, u64>,
}

/// What is walked of a chain.
struct OwnPart {
    base: Option<CommitId>,
    commits: [u64; 2],
    directories: [Option<String>; 2],
}

impl Contexture {
    /// Compares the histories of two commits: what each has that the other has not.
    pub async fn compare(&self, before: CommitId, after: CommitId) -> Result<ChainDifference> {
        let reading = self
            .store
            .read(self.scope(), (before, after), |tx, (before, after)| own_parts(tx, *before, *after).boxed());
        let OwnPart { base, commits, directories } = reading.await?;
        let [of_before, of_after] = directories;
        Ok(ChainDifference {
            base,
            before: self.side(before, base, commits[0], of_before.as_deref()).await?,
            after: self.side(after, base, commits[1], of_after.as_deref()).await?,
        })
    }

    async fn side(
        &self,
        tip: CommitId,
        base: Option<CommitId>,
        commits: u64,
        directory: Option<&str>,
    ) -> Result<ChainSide> {
        let mut side = ChainSide { tip, commits, turns: Vec::new(), is_cut: false, files: BTreeMap::new() };
        if commits == 0 {
            return Ok(side);
        }
        let marked: HashSet<CommitId> = base.into_iter().collect();
        let mut walk = self.turns(LogStart::Commits(vec![tip]), marked).await?;
        while let Some(turn) = walk.next().await? {
            if Some(turn.last().id) == base {
                break;
            }
            if side.turns.len() == MAX_TURNS {
                side.is_cut = true;
                break;
            }
            for path in &turn.outcome.files {
                *side.files.entry(within(path, directory)).or_default() += 1;
            }
            side.turns.push(turn);
        }
        Ok(side)
    }
}

/// Returns a path from the directory on that it lies in.
fn within(path: &str, directory: Option<&str>) -> String {
    let below = directory.and_then(|directory| path.strip_prefix(directory)?.strip_prefix('/'));
    below.unwrap_or(path).trim_start_matches("./").to_owned()
}

async fn own_parts(tx: &mut Tx<'_>, before: CommitId, after: CommitId) -> Result<OwnPart, StoreError> {
    let (one, other) = (history(tx, &before).await?, history(tx, &after).await?);
    let base = one.iter().find_map(|segment| {
        let shared = other.iter().find(|other| other.line == segment.line)?;
        Some(CommitPlace { line: segment.line, position: segment.last.min(shared.last) })
    });
    let own = |history: &[LineSegment]| -> u64 {
        let mut commits = 0;
        for segment in history {
            if let Some(base) = base.filter(|base| base.line == segment.line) {
                return commits + (segment.last - base.position).cast_unsigned();
            }
            commits += (segment.last - segment.first + 1).cast_unsigned();
        }
        commits
    };
    let commits = [own(&one), own(&other)];
    let base = match base {
        Some(place) => Some(commit::at(tx, place).await?.id),
        None => None,
    };
    let directories = [session::directory_at(tx, &before).await?, session::directory_at(tx, &after).await?];
    Ok(OwnPart { base, commits, directories })
}

async fn history(tx: &mut Tx<'_>, id: &CommitId) -> Result<Vec<LineSegment>, StoreError> {
    let place = commit::require(tx, id).await?;
    commit::segments(tx, place).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_where_the_work_was_done() {
        let below = [("/p/src/a.rs", "src/a.rs"), ("./b.rs", "b.rs"), ("/pq/c.rs", "/pq/c.rs"), ("d.rs", "d.rs")];
        for (path, shown) in below {
            assert_eq!(within(path, Some("/p")), shown);
        }
        assert_eq!(within("/p/a.rs", None), "/p/a.rs");
    }
}
