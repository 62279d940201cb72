//! Checks artifacts: the bytes of each have its digest.

use contexture_core::ArtifactId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Checker, Found, Further},
    large::{self, Large},
    problem,
};
use crate::{
    Error, Result,
    artifact::{self, Encoding},
    sql::{Row, Tx},
};

/// What is wrong with an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum ArtifactFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its bytes do not have its digest.
    #[error("holds bytes that do not have that digest")]
    Damaged,
    /// One of its parts is not stored.
    #[error("has lost its part at byte {start}")]
    NoPart {
        /// Where the part starts.
        start: u64,
    },
    /// Its parts leave bytes out or overlap.
    #[error("has no part that starts at byte {start}")]
    PartsApart {
        /// Where a part should start.
        start: u64,
    },
    /// Its parts have another size than itself.
    #[error("has {found} bytes of parts where {expected} belong")]
    PartsSize {
        /// Bytes of its parts.
        found: u64,
        /// Its size.
        expected: u64,
    },
    /// The bytes of one of its parts do not have that part's digest.
    #[error("has a damaged part {part}")]
    PartDamaged {
        /// The part.
        part: ArtifactId,
    },
}

/// Goes over the rows and checks those that hold bytes themselves.
#[derive(Clone, Default)]
struct Scan {
    after: i64,
    /// Those in parts that are still to be checked.
    large: Vec<Large>,
}

impl Checker<'_> {
    /// Checks all artifacts.
    pub(super) async fn artifacts(&mut self) -> Result<()> {
        self.begin_table::<Scan>().await?;
        let mut scan = Scan::default();
        let mut further = Further::Rows;
        while further == Further::Rows {
            further = self.next(&mut scan).await?;
            for artifact in std::mem::take(&mut scan.large) {
                if let Some(fault) = large::fault(self.store, self.scope, artifact).await? {
                    self.report.add(FsckProblem::Artifact { artifact: artifact.id, fault });
                }
            }
        }
        Ok(())
    }
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Artifacts;
    const TABLE: &'static str = "artifacts";
    /// A page holds the bodies, each up to `MAX_HOT_BYTES`.
    const PAGE_ROWS: u32 = 64;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        // The sum keeps SQLite from choosing the index by digest and sorting all of it for each page.
        let sql = "SELECT key, digest, size, encoding, body FROM artifacts WHERE space + 0 = ?1 AND key > ?2 \
                   ORDER BY key LIMIT ?3";
        let space = tx.space;
        let mut rows = match tx.rows(sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await {
            Err(error) if limit == 1 && checker::is_damage(&error) => return self.name(tx, error, found).await,
            rows => rows?,
        };
        for row in &mut rows {
            found.checked.artifacts += 1;
            self.after = row.integer(0)?;
            self.row(row, found)?;
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("row {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings), large: self.large.clone() })
    }
}

impl Scan {
    /// Names the next artifact, which cannot be read whole; fails as before when not even its digest can be read.
    async fn name(&mut self, tx: &mut Tx<'_>, error: Error, found: &mut Found) -> Result<usize> {
        let sql = "SELECT key, digest FROM artifacts WHERE space + 0 = ?1 AND key > ?2 ORDER BY key LIMIT 1";
        let space = tx.space;
        let Ok(Some(row)) = tx.row(sql, &[space.into(), self.after.into()]).await else {
            return Err(error);
        };
        let artifact = artifact::artifact_id(row.blob(1)?)?;
        self.after = row.integer(0)?;
        found.checked.artifacts += 1;
        let fault = ArtifactFault::Unreadable { what: problem::reason(error) };
        found.problems.push(FsckProblem::Artifact { artifact, fault });
        Ok(1)
    }

    fn row(&mut self, row: &mut Row, found: &mut Found) -> Result<()> {
        let named = artifact::artifact_id(row.blob(1)?);
        let encoded = match (artifact::encoded(row, 0), named) {
            (Ok(encoded), _) => encoded,
            (Err(error), Ok(artifact)) => {
                let fault = ArtifactFault::Unreadable { what: problem::reason(error) };
                found.problems.push(FsckProblem::Artifact { artifact, fault });
                return Ok(());
            }
            (Err(error), Err(_)) => {
                found.row(Phase::Artifacts, self.after.to_string(), error);
                return Ok(());
            }
        };
        let (key, artifact, size) = (encoded.key, encoded.id, encoded.size);
        match encoded.encoding {
            Encoding::Parts => self.large.push(Large { key, id: artifact, size }),
            Encoding::Raw | Encoding::Lz4 => match encoded.decode() {
                Ok(_) => found.checked.bytes += size,
                Err(_) => found.problems.push(FsckProblem::Artifact { artifact, fault: ArtifactFault::Damaged }),
            },
        }
        Ok(())
    }
}
