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
    Result,
    request::{self, RequestRow},
    space::stored,
    sql::Tx,
    table::{Table, TableRow as _},
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

/// The first column that is not read as a [`RequestRow`], and the one after it.
const KEY: usize = RequestRow::COLUMNS.len();
const COMMIT: usize = KEY + 1;

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: String,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Requests;
    const TABLE: &'static Table = &request::REQUESTS;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = RequestRow::columns_of("r");
        let sql = format!(
            "SELECT {columns}, r.key, c.line FROM requests r \
             LEFT JOIN commits c ON c.space = r.space AND c.id = r.commit_id \
             WHERE r.space = ?1 AND r.key > ?2 ORDER BY r.key LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.as_str().into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            row.text(KEY)?.clone_into(&mut self.after);
            found.checked.requests += 1;
            let key = match stored::<IdempotencyKey>(&self.after) {
                Ok(key) => key,
                Err(error) => {
                    found.row(Self::PHASE, format!("{:?}", self.after), error);
                    continue;
                }
            };
            let fault = match RequestRow::of(row) {
                Err(error) => RequestFault::Unreadable { what: problem::reason(error) },
                Ok(RequestRow { commit, .. }) if row.optional_integer(COMMIT)?.is_none() => {
                    RequestFault::NoCommit { commit }
                }
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
