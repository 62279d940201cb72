//! Checks idempotency keys: each remembers a commit that exists.

use contexture_core::{CommitId, IdempotencyKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    problem,
};
use crate::{
    Error, Result,
    commit::commit_id,
    request::{self, RequestDigest},
    space::{stored, time},
    sql::{Row, Tx},
    table::Table,
};

/// What is wrong with what is remembered of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum RequestFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// The commit that the request made does not exist.
    #[error("stands for {commit}, which does not exist")]
    NoCommit {
        /// The commit.
        commit: CommitId,
    },
}

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: String,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Requests;
    const TABLE: &'static Table = &request::REQUESTS;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = "SELECT r.key, r.payload, r.commit_id, r.at, c.line FROM requests r \
                   LEFT JOIN commits c ON c.space = r.space AND c.id = r.commit_id \
                   WHERE r.space = ?1 AND r.key > ?2 ORDER BY r.key LIMIT ?3";
        let space = tx.space;
        let rows = tx.rows(sql, &[space.into(), self.after.as_str().into(), i64::from(limit).into()]).await?;
        for row in &rows {
            row.text(0)?.clone_into(&mut self.after);
            found.checked.requests += 1;
            let key = match stored::<IdempotencyKey>(&self.after) {
                Ok(key) => key,
                Err(error) => {
                    found.row(Self::PHASE, format!("{:?}", self.after), error);
                    continue;
                }
            };
            let fault = match decode(row) {
                Err(error) => RequestFault::Unreadable { what: problem::reason(error) },
                Ok(commit) if row.optional_integer(4)?.is_none() => RequestFault::NoCommit { commit },
                Ok(_) => continue,
            };
            found.problems.push(FsckProblem::Request { key, fault });
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

/// Reads payload, commit and time; returns the commit.
fn decode(row: &Row) -> Result<CommitId> {
    RequestDigest::try_from(row.blob(1)?).map_err(|_| Error::damaged("a payload digest has the wrong length"))?;
    time(row.integer(3)?)?;
    commit_id(row.blob(2)?)
}
