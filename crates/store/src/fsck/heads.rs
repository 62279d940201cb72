//! Checks heads and the log of their moves against each other and the journal.

use std::collections::BTreeSet;

use contexture_core::{CommitId, HeadName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    journal::{self, Journaled},
    problem,
};
use crate::{
    Result,
    commit::commit_id,
    head::{self, Head, HeadMove},
    space::stored,
    sql::{Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with a head or its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum HeadFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// It points to a commit that does not exist.
    #[error("points to {commit}, which does not exist")]
    NoCommit {
        /// The commit.
        commit: CommitId,
    },
    /// Its log ends elsewhere, or there is none.
    #[error("points to {commit} and its log ends {}", log_end(logged.as_ref()))]
    NotAsLogged {
        /// Where it points.
        commit: CommitId,
        /// Where its last move went; nothing when that deleted it or no move is logged.
        logged: Option<CommitId>,
    },
    /// Its log ends at a commit and it is not there.
    #[error("is missing; its log ends at {logged}")]
    Missing {
        /// Where its last move went.
        logged: CommitId,
    },
    /// A move in its log cannot be read.
    #[error("has a move {seq} that cannot be read: {what}")]
    MoveUnreadable {
        /// Sequence number of the move in the journal.
        seq: i64,
        /// What is wrong with the row.
        what: String,
    },
    /// Its log does not lead to a move, or not from it to the one before.
    #[error("has a log that is broken at move {seq}")]
    LogBroken {
        /// Sequence number of the move in the journal.
        seq: i64,
    },
    /// The journal has no record of a move.
    #[error("has a move {seq} that is not in the journal")]
    MoveNotJournaled {
        /// Sequence number of the move in the journal.
        seq: i64,
    },
    /// The journal tells something else than a move.
    #[error("has a move {seq} that is not what the journal says")]
    MoveJournaledOtherwise {
        /// Sequence number of the move in the journal.
        seq: i64,
    },
}

fn log_end(logged: Option<&CommitId>) -> String {
    logged.map_or_else(|| "without a head".to_owned(), |commit| format!("at {commit}"))
}

/// The first column that is not read as a [`Head`], and the one after it.
const COMMIT: usize = Head::COLUMNS.len();
const LOG_END: usize = COMMIT + 1;

/// Goes over the heads.
#[derive(Clone, Default)]
pub(super) struct Scan {
    after: String,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Heads;
    const TABLE: &'static Table = &head::HEADS;
    const ROWS: &'static str = "space = ?1 AND commit_id IS NOT NULL";

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = Head::columns_of("h");
        let sql = format!(
            "SELECT {columns}, c.line, r.to_commit FROM heads h \
             LEFT JOIN commits c ON c.space = h.space AND c.id = h.commit_id \
             LEFT JOIN reflog r ON r.space = h.space AND r.seq = h.moved_seq AND r.head = h.name \
             WHERE h.space = ?1 AND h.name > ?2 AND h.commit_id IS NOT NULL ORDER BY h.name LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.as_str().into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            row.text(0)?.clone_into(&mut self.after);
            found.checked.heads += 1;
            let Some(head) = name(&self.after, Self::PHASE, found) else {
                continue;
            };
            match decode(row) {
                Ok((commit, logged)) => {
                    let is_lost = row.optional_integer(COMMIT)?.is_none();
                    let faults = [
                        is_lost.then_some(HeadFault::NoCommit { commit }),
                        (logged != Some(commit)).then_some(HeadFault::NotAsLogged { commit, logged }),
                    ];
                    let problem = |fault| FsckProblem::Head { head: head.clone(), fault };
                    found.problems.extend(faults.into_iter().flatten().map(problem));
                }
                Err(error) => {
                    let fault = HeadFault::Unreadable { what: problem::reason(error) };
                    found.problems.push(FsckProblem::Head { head, fault });
                }
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("{:?}", self.after)
    }

    fn stride(&self, _doublings: u32) -> Option<Self> {
        None
    }
}

/// Reads where a head points and where its log ends.
fn decode(row: &mut Row) -> Result<(CommitId, Option<CommitId>)> {
    Ok((Head::of(row)?.commit, row.optional_blob(LOG_END)?.map(commit_id).transpose()?))
}

/// The first column that is not read as a [`HeadMove`], and those after it.
const HEAD: usize = HeadMove::COLUMNS.len();
const JOURNAL: usize = HEAD + 1;
const PREVIOUS: usize = JOURNAL + 3;
const PREVIOUS_HEAD: usize = PREVIOUS + 1;
const PREVIOUS_TARGET: usize = PREVIOUS_HEAD + 1;
const LAST_MOVE: usize = PREVIOUS_TARGET + 1;
const HEAD_COMMIT: usize = LAST_MOVE + 1;

/// Most heads of which it is remembered that they are missing.
const MOST_MISSING: usize = 1024;

/// Goes over the moves of all heads, those that are deleted too, newest first.
#[derive(Clone)]
pub(super) struct MoveScan {
    before: i64,
    /// Heads whose last move was seen and of which there is no row.
    missing: BTreeSet<HeadName>,
}

impl Default for MoveScan {
    fn default() -> Self {
        Self { before: i64::MAX, missing: BTreeSet::new() }
    }
}

impl checker::Scan for MoveScan {
    const PHASE: Phase = Phase::HeadMoves;
    const TABLE: &'static Table = &head::REFLOG;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = HeadMove::columns_of("r");
        let sql = format!(
            "SELECT {columns}, r.head, j.kind, j.subject, j.digest, \
             r.previous, p.head, p.to_commit, h.moved_seq, h.commit_id FROM reflog r \
             LEFT JOIN journal j ON j.space = r.space AND j.seq = r.seq \
             LEFT JOIN reflog p ON p.space = r.space AND p.seq = r.previous AND p.seq < r.seq \
             LEFT JOIN heads h ON h.space = r.space AND h.name = r.head \
             WHERE r.space = ?1 AND r.seq < ?2 ORDER BY r.seq DESC LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.before.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            found.checked.head_moves += 1;
            self.before = row.integer(0)?;
            let Some(head) = name(row.text(HEAD)?, Self::PHASE, found) else {
                continue;
            };
            let faults = [move_fault(row, &head)?, self.missing_fault(row, &head)?];
            let problem = |fault| FsckProblem::Head { head: head.clone(), fault };
            found.problems.extend(faults.into_iter().flatten().map(problem));
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("record {}", self.before)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        let before = self.before.checked_sub(1 << doublings).filter(|before| *before > 0)?;
        Some(Self { before, missing: self.missing.clone() })
    }
}

impl MoveScan {
    /// Tells what is wrong when the row of a head does not lead to its last move, or says that the move deleted it.
    fn missing_fault(&mut self, row: &Row, head: &HeadName) -> Result<Option<HeadFault>> {
        let seq = row.integer(0)?;
        let last = row.optional_integer(LAST_MOVE)?;
        let is_deleted = row.optional_blob(HEAD_COMMIT)?.is_none();
        let target = row.optional_blob(2)?.map(commit_id).transpose()?;
        if let Some(logged) = target.filter(|_| last == Some(seq) && is_deleted) {
            return Ok(Some(HeadFault::Missing { logged }));
        }
        let is_led_to = last.is_some_and(|last| last >= seq);
        if is_led_to || self.missing.len() >= MOST_MISSING || !self.missing.insert(head.clone()) {
            return Ok(None);
        }
        Ok(Some(match (last, target) {
            (None, Some(logged)) => HeadFault::Missing { logged },
            _ => HeadFault::LogBroken { seq },
        }))
    }
}

fn move_fault(row: &mut Row, name: &HeadName) -> Result<Option<HeadFault>> {
    let seq = row.integer(0)?;
    let moved = match HeadMove::of(row) {
        Ok(moved) => moved,
        Err(error) => return Ok(Some(HeadFault::MoveUnreadable { seq, what: problem::reason(error) })),
    };
    Ok(match journal::compare(row, JOURNAL, &head::mutation(name, moved.origin, moved.target))? {
        Journaled::Same if !is_linked(row)? => Some(HeadFault::LogBroken { seq }),
        Journaled::Same => None,
        Journaled::Not => Some(HeadFault::MoveNotJournaled { seq }),
        Journaled::Otherwise => Some(HeadFault::MoveJournaledOtherwise { seq }),
    })
}

/// Tells whether a move goes on from the one before it in its log.
fn is_linked(row: &Row) -> Result<bool> {
    let (origin, head) = (row.optional_blob(1)?, row.text(HEAD)?);
    Ok(match (row.optional_integer(PREVIOUS)?, row.optional_text(PREVIOUS_HEAD)?) {
        (None, _) => origin.is_none(),
        (Some(_), previous) => previous == Some(head) && row.optional_blob(PREVIOUS_TARGET)? == origin,
    })
}

/// Checks a head's name; notes the row when it is none.
fn name(text: &str, phase: Phase, found: &mut Found) -> Option<HeadName> {
    stored::<HeadName>(text).map_err(|error| found.row(phase, format!("{text:?}"), error)).ok()
}
