//! Checks envelopes: each can be read, has the id of its document, and what it refers to is there.
//!
//! Whether artifacts have the bytes that their ids name is checked with the artifacts.

use contexture_core::{ArtifactId, CommitId, EnvelopeId};
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
    envelope::{self, EnvelopeArtifactRow, StoredEnvelope, envelope_id},
    sql::{Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum EnvelopeFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its id does not follow from its document.
    #[error("has the document of {expected}")]
    OtherId {
        /// The id that follows from its document.
        expected: EnvelopeId,
    },
    /// Its document is not stored.
    #[error("has the document {artifact}, which is not in the store")]
    NoDocument {
        /// The document.
        artifact: ArtifactId,
    },
    /// An artifact that belongs to it is not stored.
    #[error("refers to {artifact}, which is not in the store")]
    NoArtifact {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// The commit that it was made from does not exist.
    #[error("was made from {commit}, which does not exist")]
    NoCommit {
        /// The commit.
        commit: CommitId,
    },
    /// The journal has no such record.
    #[error("is not in the journal")]
    NotJournaled,
    /// The journal tells something else.
    #[error("is not what the journal says")]
    JournaledOtherwise,
}

/// The first column that is not read as a [`StoredEnvelope`], and those after it.
const ARTIFACT: usize = StoredEnvelope::COLUMNS.len();
const COMMIT: usize = ARTIFACT + 1;
const JOURNAL: usize = COMMIT + 1;

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Envelopes;
    const TABLE: &'static Table = &envelope::ENVELOPES;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = StoredEnvelope::columns_of("e");
        let sql = format!(
            "SELECT {columns}, a.key, c.line, j.kind, j.subject, j.digest FROM envelopes e \
             LEFT JOIN artifacts a ON a.space = e.space AND a.digest = e.document \
             LEFT JOIN commits c ON c.space = e.space AND c.id = e.commit_id \
             LEFT JOIN journal j ON j.space = e.space AND j.seq = e.seq \
             WHERE e.space = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            self.after = row.integer(1)?;
            found.checked.envelopes += 1;
            let id = match envelope_id(row.blob(0)?) {
                Ok(id) => id,
                Err(error) => {
                    found.row(Self::PHASE, self.key(), error);
                    continue;
                }
            };
            let fault = |fault| FsckProblem::Envelope { envelope: id, fault };
            match StoredEnvelope::of(row) {
                Err(error) => found.problems.push(fault(EnvelopeFault::Unreadable { what: problem::reason(error) })),
                Ok(stored) => found.problems.extend(faults(tx, row, stored).await?.into_iter().map(fault)),
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("record {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings) })
    }
}

/// Returns what is wrong with an envelope that can be read.
async fn faults(tx: &mut Tx<'_>, row: &Row, stored: StoredEnvelope) -> Result<Vec<EnvelopeFault>> {
    let mut faults = Vec::new();
    let expected = EnvelopeId::of_artifact(&stored.document);
    if stored.id != expected {
        faults.push(EnvelopeFault::OtherId { expected });
    }
    if row.optional_integer(ARTIFACT)?.is_none() {
        faults.push(EnvelopeFault::NoDocument { artifact: stored.document });
    }
    if let Some(commit) = stored.commit
        && row.optional_integer(COMMIT)?.is_none()
    {
        faults.push(EnvelopeFault::NoCommit { commit });
    }
    let artifacts = match envelope::artifacts_of(tx, stored.seq.cast_signed()).await {
        Ok(artifacts) => artifacts,
        // The pass over the artifacts of envelopes names them.
        Err(error) if checker::is_damage(&error) => return Ok(faults),
        Err(error) => return Err(error),
    };
    match journal::compare(row, JOURNAL, &stored.with_artifacts(artifacts).mutation())? {
        Journaled::Not => faults.push(EnvelopeFault::NotJournaled),
        // What is wrong already is what the journal says otherwise.
        Journaled::Otherwise if faults.is_empty() => faults.push(EnvelopeFault::JournaledOtherwise),
        Journaled::Same | Journaled::Otherwise => {}
    }
    Ok(faults)
}

/// The first column that is not read as an [`EnvelopeArtifactRow`], and those after it.
const POSITION: usize = EnvelopeArtifactRow::COLUMNS.len();
const OWNER: usize = POSITION + 1;
const STORED: usize = OWNER + 1;

/// The pass over what belongs to envelopes.
#[derive(Clone, Default)]
pub(super) struct ArtifactScan {
    after: (i64, i64),
}

impl checker::Scan for ArtifactScan {
    const PHASE: Phase = Phase::EnvelopeArtifacts;
    const TABLE: &'static Table = &envelope::ENVELOPE_ARTIFACTS;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = EnvelopeArtifactRow::columns_of("x");
        let sql = format!(
            "SELECT {columns}, x.position, e.id, a.key FROM envelope_artifacts x \
             LEFT JOIN envelopes e ON e.space = x.space AND e.seq = x.envelope \
             LEFT JOIN artifacts a ON a.space = x.space AND a.digest = x.artifact \
             WHERE x.space = ?1 AND (x.envelope, x.position) > (?2, ?3) \
             ORDER BY x.envelope, x.position LIMIT ?4"
        );
        let (space, (envelope, position)) = (tx.space, self.after);
        let mut rows =
            tx.rows(&sql, &[space.into(), envelope.into(), position.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            self.after = (row.integer(0)?, row.integer(POSITION)?);
            found.checked.envelope_artifacts += 1;
            let (EnvelopeArtifactRow { envelope: seq, artifact }, envelope) = match owner(row) {
                Ok(read) => read,
                Err(error) => {
                    found.row(Self::PHASE, self.key(), error);
                    continue;
                }
            };
            let Some(envelope) = envelope else {
                found.problems.push(FsckProblem::EnvelopeArtifact { seq, artifact });
                continue;
            };
            if row.optional_integer(STORED)?.is_none() {
                found.problems.push(FsckProblem::Envelope { envelope, fault: EnvelopeFault::NoArtifact { artifact } });
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("record {}, position {}", self.after.0, self.after.1)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: (self.after.0.saturating_add(1 << doublings), i64::MAX) })
    }
}

fn owner(row: &mut Row) -> Result<(EnvelopeArtifactRow, Option<EnvelopeId>)> {
    Ok((EnvelopeArtifactRow::of(row)?, row.optional_blob(OWNER)?.map(envelope_id).transpose()?))
}
