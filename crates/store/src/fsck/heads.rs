//! Checks heads and the log of their moves against each other and the journal.

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
    head,
    space::{stored, time},
    sql::{Row, Tx},
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

/// Goes over the heads.
#[derive(Clone, Default)]
pub(super) struct Scan {
    after: String,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Heads;
    const TABLE: &'static str = "heads";

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = "SELECT h.name, h.commit_id, h.moved_at, c.line, r.to_commit FROM heads h \
                   LEFT JOIN commits c ON c.space = h.space AND c.id = h.commit_id \
                   LEFT JOIN reflog r ON r.space = h.space AND r.head = h.name \
                   AND r.seq = (SELECT max(seq) FROM reflog WHERE space = h.space AND head = h.name) \
                   WHERE h.space = ?1 AND h.name > ?2 ORDER BY h.name LIMIT ?3";
        let space = tx.space;
        let rows = tx.rows(sql, &[space.into(), self.after.as_str().into(), i64::from(limit).into()]).await?;
        for row in &rows {
            row.text(0)?.clone_into(&mut self.after);
            found.checked.heads += 1;
            let Some(head) = name(&self.after, Self::PHASE, found) else {
                continue;
            };
            match decode(row) {
                Ok((commit, logged)) => {
                    if row.optional_integer(3)?.is_none() {
                        found
                            .problems
                            .push(FsckProblem::Head { head: head.clone(), fault: HeadFault::NoCommit { commit } });
                    }
                    if logged != Some(commit) {
                        found
                            .problems
                            .push(FsckProblem::Head { head, fault: HeadFault::NotAsLogged { commit, logged } });
                    }
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
fn decode(row: &Row) -> Result<(CommitId, Option<CommitId>)> {
    time(row.integer(2)?)?;
    Ok((commit_id(row.blob(1)?)?, row.optional_blob(4)?.map(commit_id).transpose()?))
}

/// Goes over the moves of all heads, those that are deleted too.
#[derive(Clone, Default)]
pub(super) struct MoveScan {
    head: String,
    seq: i64,
}

impl checker::Scan for MoveScan {
    const PHASE: Phase = Phase::HeadMoves;
    const TABLE: &'static str = "reflog";

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = "SELECT r.seq, r.from_commit, r.to_commit, r.actor, r.at, r.head, j.kind, j.subject, j.digest, \
                   CASE WHEN EXISTS (SELECT 1 FROM heads h WHERE h.space = r.space AND h.name = r.head) \
                   OR EXISTS (SELECT 1 FROM reflog n WHERE n.space = r.space AND n.head = r.head AND n.seq > r.seq) \
                   THEN 0 ELSE 1 END \
                   FROM reflog r LEFT JOIN journal j ON j.space = r.space AND j.seq = r.seq \
                   WHERE r.space = ?1 AND (r.head, r.seq) > (?2, ?3) ORDER BY r.head, r.seq LIMIT ?4";
        let space = tx.space;
        let params = [space.into(), self.head.as_str().into(), self.seq.into(), i64::from(limit).into()];
        let rows = tx.rows(sql, &params).await?;
        for row in &rows {
            found.checked.head_moves += 1;
            self.seq = row.integer(0)?;
            row.text(5)?.clone_into(&mut self.head);
            let Some(head) = name(&self.head, Self::PHASE, found) else {
                continue;
            };
            if let Some(fault) = move_fault(row, &head)? {
                found.problems.push(FsckProblem::Head { head: head.clone(), fault });
            }
            // The last move of a head that is not there must have deleted it.
            if row.integer(9)? == 1
                && let Some(logged) = row.optional_blob(2)?
            {
                let fault = HeadFault::Missing { logged: commit_id(logged)? };
                found.problems.push(FsckProblem::Head { head, fault });
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("{:?}, record {}", self.head, self.seq)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { head: self.head.clone(), seq: self.seq.saturating_add(1 << doublings) })
    }
}

fn move_fault(row: &Row, name: &HeadName) -> Result<Option<HeadFault>> {
    let seq = row.integer(0)?;
    let moved = match head::decode_move(row) {
        Ok(moved) => moved,
        Err(error) => return Ok(Some(HeadFault::MoveUnreadable { seq, what: problem::reason(error) })),
    };
    Ok(match journal::compare(row, 6, &head::mutation(name, moved.origin, moved.target))? {
        Journaled::Same => None,
        Journaled::Not => Some(HeadFault::MoveNotJournaled { seq }),
        Journaled::Otherwise => Some(HeadFault::MoveJournaledOtherwise { seq }),
    })
}

/// Checks a head's name; notes the row when it is none.
fn name(text: &str, phase: Phase, found: &mut Found) -> Option<HeadName> {
    stored::<HeadName>(text).map_err(|error| found.row(phase, format!("{text:?}"), error)).ok()
}
