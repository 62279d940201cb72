//! Checks artifacts: the bytes of each have its digest.

use contexture_core::ArtifactId;
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found, Further, StoreChecker},
    large::{self, Large},
    problem, withheld,
};
use crate::{
    Error, Result,
    artifact::{self, LocatedArtifact},
    sql::{Row, Tx},
    table::{Table, TableRow as _},
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
    /// It was withheld, and some of its content is here all the same.
    #[error("was withheld, and some of its content is here all the same")]
    StillHere,
    /// It is withheld, and nothing says why.
    #[error("is withheld, and nothing says why")]
    Unexplained,
    /// It is withheld, and the journal does not tell of it.
    #[error("is withheld, and the journal does not tell of it")]
    NotJournaled,
    /// What is shown for it is not here.
    #[error("is withheld, and what is shown for it is not here")]
    NoSubstitute,
    /// The bytes of one of its parts do not have that part's digest.
    #[error("has a damaged part {part}")]
    PartDamaged {
        /// The part.
        part: ArtifactId,
    },
}

/// Goes over the rows and finds where the bytes are.
#[derive(Clone, Default)]
struct Scan {
    after: i64,
}

impl StoreChecker<'_> {
    /// Checks all artifacts.
    pub(super) async fn artifacts(&mut self) -> Result<()> {
        self.begin_table::<Scan>().await?;
        let mut scan = Scan::default();
        let mut further = Further::Rows;
        while further == Further::Rows {
            further = self.next(&mut scan).await?;
            let unread = std::mem::take(&mut self.unread);
            // Parts are reported before what they are parts of.
            let (rows, wholes): (Vec<_>, Vec<_>) = unread.into_iter().partition(LocatedArtifact::is_one_piece);
            for located in rows.into_iter().chain(wholes) {
                self.content(located).await?;
            }
        }
        Ok(())
    }

    /// Reads the bytes of an artifact.
    async fn content(&mut self, located: LocatedArtifact) -> Result<()> {
        let (artifact, size, is_one_piece) = (located.id, located.size, located.is_one_piece());
        let fault = match located.parts_key() {
            Some(key) => large::fault(self.store, self.scope, Large { key, id: artifact, size }).await?,
            None => match artifact::read(self.store, self.scope, located).await {
                Ok(_) => {
                    self.report.checked.bytes += size;
                    None
                }
                Err(error) if checker::is_damage(&error) => Some(ArtifactFault::Damaged),
                Err(error) => return Err(error),
            },
        };
        if let Some(fault) = fault
            && (is_one_piece || self.is_there(artifact).await?)
        {
            self.report.add(FsckProblem::Artifact { artifact, fault });
        }
        Ok(())
    }

    /// Tells whether an artifact whose parts were looked at has not been removed meanwhile because nothing refers to it.
    async fn is_there(&self, artifact: ArtifactId) -> Result<bool> {
        self.store.read(self.scope.clone(), artifact, |tx, id| artifact::exists(tx, id).boxed()).await
    }
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Artifacts;
    const TABLE: &'static Table = &artifact::ARTIFACTS;
    /// A page holds the bodies, each up to `MAX_HOT_BYTES`.
    const PAGE_ROWS: u32 = 64;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        // The sum keeps SQLite from choosing the index by digest and sorting all of it for each page.
        let columns = LocatedArtifact::columns();
        let sql = format!("SELECT {columns} FROM artifacts WHERE space + 0 = ?1 AND key > ?2 ORDER BY key LIMIT ?3");
        let space = tx.space;
        let mut rows = match tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await {
            Err(error) if limit == 1 && checker::is_damage(&error) => return self.name(tx, error, found).await,
            rows => rows?,
        };
        for row in &mut rows {
            found.checked.artifacts += 1;
            self.after = row.integer(0)?;
            self.row(row, found)?;
            if found.unread.last().is_some_and(|located| located.key() == self.after && located.is_gone()) {
                let withheld = found.unread.pop();
                found.checked.withheld += 1;
                if let Some(located) = withheld
                    && let Some(fault) = withheld::fault(tx, &located).await?
                {
                    found.problems.push(FsckProblem::Artifact { artifact: located.id, fault });
                }
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("row {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings) })
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

    fn row(&self, row: &mut Row, found: &mut Found) -> Result<()> {
        let named = artifact::artifact_id(row.blob(1)?);
        match (LocatedArtifact::of(row), named) {
            (Ok(located), _) => found.unread.push(located),
            (Err(error), Ok(artifact)) => {
                let fault = ArtifactFault::Unreadable { what: problem::reason(error) };
                found.problems.push(FsckProblem::Artifact { artifact, fault });
            }
            (Err(error), Err(_)) => found.row(Phase::Artifacts, self.after.to_string(), error),
        }
        Ok(())
    }
}
