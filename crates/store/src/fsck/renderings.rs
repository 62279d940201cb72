//! Checks renderings: each is of a commit that exists, and its bytes have its digest.

use std::fmt::Write as _;

use contexture_core::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    problem,
};
use crate::{
    Result,
    rendering::{RENDERINGS, Rendering},
    sql::{Param, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with a rendering. It is never given to anybody, and `ctx gc --grace 0s` drops it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum RenderingFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its bytes do not have its digest.
    #[error("has other content than its digest says")]
    WrongContent,
    /// Its commit does not exist.
    #[error("is of {commit}, which does not exist")]
    NoCommit {
        /// The commit.
        commit: CommitId,
    },
}

/// The first column that is not read as a [`Rendering`], and the one after it.
const KEY: usize = Rendering::COLUMNS.len();
const COMMIT: usize = KEY + 1;

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: Vec<u8>,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Renderings;
    const TABLE: &'static Table = &RENDERINGS;
    /// Each holds its content.
    const PAGE_ROWS: u32 = 1;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = Rendering::columns_of("r");
        let sql = format!(
            "SELECT {columns}, r.key, c.line FROM renderings r \
             LEFT JOIN commits c ON c.space = r.space AND c.id = r.commit_id \
             WHERE r.space = ?1 AND r.key > ?2 ORDER BY r.key LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), Param::Blob(&self.after), i64::from(limit).into()]).await?;
        for row in &mut rows {
            row.blob(KEY)?.clone_into(&mut self.after);
            found.checked.renderings += 1;
            let has_commit = row.optional_integer(COMMIT)?.is_some();
            let fault = match Rendering::of(row) {
                Err(error) => RenderingFault::Unreadable { what: problem::reason(error) },
                Ok(Rendering { commit, .. }) if !has_commit => RenderingFault::NoCommit { commit },
                Ok(rendering) if rendering.content().is_none() => RenderingFault::WrongContent,
                Ok(_) => continue,
            };
            found.problems.push(FsckProblem::Rendering { rendering: self.hex(), fault });
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        self.hex()
    }

    fn stride(&self, _doublings: u32) -> Option<Self> {
        None
    }
}

impl Scan {
    fn hex(&self) -> String {
        let mut hex = String::with_capacity(2 * self.after.len());
        for byte in &self.after {
            write!(hex, "{byte:02x}").expect("a text takes what is written");
        }
        hex
    }
}
