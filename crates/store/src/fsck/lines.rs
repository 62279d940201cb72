//! Checks lines: none empty, each forked off a commit of an older line of its space.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
};
use crate::{
    Result,
    commit::{self, LineRow},
    sql::{Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum LineFault {
    /// It holds commits but is not listed.
    #[error("holds commits and does not exist")]
    Missing,
    /// It holds commits of this space and belongs to another.
    #[error("holds commits of this space and belongs to another")]
    OtherSpace,
    /// It holds no commit.
    #[error("is empty")]
    Empty,
    /// Commits are missing from it.
    #[error("lacks positions {first} to {last}")]
    Gap {
        /// The first position without a commit.
        first: i64,
        /// The last position without a commit.
        last: i64,
    },
    /// It names half of a fork point.
    #[error("names half of a fork point")]
    HalfFork,
    /// It forks off a line that is not older, so walks along it may not end.
    #[error("forks off line {fork_line}, which is not older")]
    NotOlder {
        /// The line it forks off.
        fork_line: i64,
    },
    /// It forks off a line of another space, or of none.
    #[error("forks off line {fork_line}, which is not of this space")]
    ForeignFork {
        /// The line it forks off.
        fork_line: i64,
    },
    /// There is no commit where it forks off.
    #[error("forks off line {fork_line} at position {fork_position}, where no commit is")]
    NoForkPoint {
        /// The line it forks off.
        fork_line: i64,
        /// The position on that line.
        fork_position: i64,
    },
}

/// The first column that is not read as a [`LineRow`], and those after it.
const FORK_SPACE: usize = LineRow::COLUMNS.len();
const FORK_POINT: usize = FORK_SPACE + 1;
const HAS_COMMITS: usize = FORK_POINT + 1;

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Lines;
    const TABLE: &'static Table = &commit::LINES;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = LineRow::columns_of("l");
        let sql = format!(
            "SELECT {columns}, f.space, p.line, \
             CASE WHEN EXISTS (SELECT 1 FROM commits c WHERE c.line = l.key) THEN 1 ELSE 0 END \
             FROM lines l LEFT JOIN lines f ON f.key = l.fork_line \
             LEFT JOIN commits p ON p.line = l.fork_line AND p.position = l.fork_position \
             WHERE l.space = ?1 AND l.key > ?2 ORDER BY l.key LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            let line = row.integer(0)?;
            self.after = line;
            found.checked.lines += 1;
            if row.integer(HAS_COMMITS)? == 0 {
                found.problems.push(FsckProblem::Line { line, fault: LineFault::Empty });
            }
            if let Some(fault) = fork_fault(row, space)? {
                found.problems.push(FsckProblem::Line { line, fault });
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("line {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings) })
    }
}

fn fork_fault(row: &mut Row, space: i64) -> Result<Option<LineFault>> {
    let LineRow { key, fork_line, fork_position } = LineRow::of(row)?;
    let (fork_line, fork_position) = match (fork_line, fork_position) {
        (None, None) => return Ok(None),
        (Some(line), Some(position)) => (line, position),
        (Some(_), None) | (None, Some(_)) => return Ok(Some(LineFault::HalfFork)),
    };
    let fault = if fork_line >= key {
        Some(LineFault::NotOlder { fork_line })
    } else if row.optional_integer(FORK_SPACE)? != Some(space) {
        Some(LineFault::ForeignFork { fork_line })
    } else if row.optional_integer(FORK_POINT)?.is_none() {
        Some(LineFault::NoForkPoint { fork_line, fork_position })
    } else {
        None
    };
    Ok(fault)
}
