//! Checks the records that belong to envelopes: injections, missing context and events.
//!
//! Each can be read, belongs to an envelope that exists if to anything, and is what the journal says.

use std::marker::PhantomData;

use contexture_core::{EnvelopeId, EventKind, JournalKind, Mutation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CheckedCounts, FsckProblem, Phase,
    checker::{self, Found},
    journal::{self, Journaled},
    problem,
};
use crate::{
    Result,
    event::EventRow,
    injection::{StoredInjection, injection_id},
    missing::{StoredMissing, missing_id},
    sql::{Row, Tx},
    table::{Table, TableRow},
    withheld_text,
};

/// What is wrong with a record that belongs to an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum RecordFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its id does not follow from what it says.
    #[error("says something else than its id stands for")]
    OtherId,
    /// It belongs to an envelope that does not exist.
    #[error("belongs to {envelope}, which does not exist")]
    NoEnvelope {
        /// The envelope.
        envelope: EnvelopeId,
    },
    /// The journal has no such record.
    #[error("is not in the journal")]
    NotJournaled,
    /// The journal tells something else.
    #[error("is not what the journal says")]
    JournaledOtherwise,
}

/// A record that belongs to an envelope, in a table in the order of the journal.
///
/// Injections, missing context and events implement it; [`RecordScan`] calls it.
pub(super) trait EnvelopeRow: TableRow + 'static {
    /// What the pass over the table is to those who watch.
    const PHASE: Phase;
    /// The column that holds which record of the journal describes it as it is.
    const JOURNALED_AT: &'static str = "seq";

    /// Returns how many were checked.
    fn checked(counts: &mut CheckedCounts) -> &mut u64;

    /// Names what is wrong with a row; fails when the row does not say which thing it is.
    fn problem(row: &Row, fault: RecordFault) -> Result<FsckProblem>;

    /// Returns the envelope that it belongs to.
    fn envelope(&self) -> Option<EnvelopeId>;

    /// Tells whether its id follows from what it says, if it should.
    fn has_its_id(&self) -> bool {
        true
    }

    /// Returns what the journal must say of it, where a record of this kind and subject does; nothing when no record of
    /// that kind can.
    fn mutation(&self, kind: &str, subject: &str) -> Option<Mutation>;
}

/// The pass over a table of such records.
pub(super) struct RecordScan<R> {
    after: i64,
    rows: PhantomData<fn() -> R>,
}

impl<R> Default for RecordScan<R> {
    fn default() -> Self {
        Self { after: 0, rows: PhantomData }
    }
}

impl<R> Clone for RecordScan<R> {
    fn clone(&self) -> Self {
        Self { after: self.after, rows: PhantomData }
    }
}

impl<R: EnvelopeRow> checker::Scan for RecordScan<R> {
    const PHASE: Phase = R::PHASE;
    const TABLE: &'static Table = R::TABLE;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let (columns, table, journaled_at) = (R::columns_of("x"), R::TABLE.name, R::JOURNALED_AT);
        let sql = format!(
            "SELECT {columns}, e.seq, j.kind, j.subject, j.digest, x.seq, x.withheld FROM {table} x \
             LEFT JOIN envelopes e ON e.space = x.space AND e.id = x.envelope \
             LEFT JOIN journal j ON j.space = x.space AND j.seq = x.{journaled_at} \
             WHERE x.space = ?1 AND x.seq > ?2 ORDER BY x.seq LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            self.after = row.integer(R::COLUMNS.len() + 4)?;
            *R::checked(&mut found.checked) += 1;
            let Some(fault) = fault::<R>(row)? else {
                continue;
            };
            match R::problem(row, fault) {
                Ok(problem) => found.problems.push(problem),
                Err(error) => found.row(R::PHASE, self.key(), error),
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("record {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings), rows: PhantomData })
    }
}

/// Returns the first thing that is wrong with a record.
fn fault<R: EnvelopeRow>(row: &mut Row) -> Result<Option<RecordFault>> {
    let (owner, journaled) = (R::COLUMNS.len(), R::COLUMNS.len() + 1);
    let record = match R::of(row) {
        Ok(record) => record,
        Err(error) => return Ok(Some(RecordFault::Unreadable { what: problem::reason(error) })),
    };
    if let Some(envelope) = record.envelope()
        && row.optional_integer(owner)?.is_none()
    {
        return Ok(Some(RecordFault::NoEnvelope { envelope }));
    }
    let withheld = row.optional_blob(journaled + 4)?.map(withheld_text::digest).transpose()?;
    if withheld.is_none() && !record.has_its_id() {
        return Ok(Some(RecordFault::OtherId));
    }
    let Some(kind) = row.optional_text(journaled)? else {
        return Ok(Some(RecordFault::NotJournaled));
    };
    let Some(mut said) = record.mutation(kind, row.text(journaled + 1)?) else {
        return Ok(Some(RecordFault::JournaledOtherwise));
    };
    said.digest = withheld.unwrap_or(said.digest);
    Ok(match journal::compare(row, journaled, &said)? {
        Journaled::Same => None,
        Journaled::Not => Some(RecordFault::NotJournaled),
        Journaled::Otherwise => Some(RecordFault::JournaledOtherwise),
    })
}

impl EnvelopeRow for StoredInjection {
    const PHASE: Phase = Phase::Injections;

    fn checked(counts: &mut CheckedCounts) -> &mut u64 {
        &mut counts.injections
    }

    fn problem(row: &Row, fault: RecordFault) -> Result<FsckProblem> {
        Ok(FsckProblem::Injection { injection: injection_id(row.blob(0)?)?, fault })
    }

    fn envelope(&self) -> Option<EnvelopeId> {
        Some(self.injection.envelope)
    }

    fn has_its_id(&self) -> bool {
        self.injection.id() == self.id
    }

    fn mutation(&self, _kind: &str, _subject: &str) -> Option<Mutation> {
        Some(self.injection.mutation())
    }
}

impl EnvelopeRow for StoredMissing {
    const PHASE: Phase = Phase::Missing;
    const JOURNALED_AT: &'static str = "changed_seq";

    fn checked(counts: &mut CheckedCounts) -> &mut u64 {
        &mut counts.missing
    }

    fn problem(row: &Row, fault: RecordFault) -> Result<FsckProblem> {
        Ok(FsckProblem::Missing { missing: missing_id(row.blob(2)?)?, fault })
    }

    fn envelope(&self) -> Option<EnvelopeId> {
        self.missing.envelope
    }

    fn mutation(&self, _kind: &str, _subject: &str) -> Option<Mutation> {
        let is_new = self.changed_seq == self.seq;
        let kind = if is_new { JournalKind::MissingCreated } else { JournalKind::MissingChanged };
        Some(self.missing.mutation(kind))
    }
}

impl EnvelopeRow for EventRow {
    const PHASE: Phase = Phase::Events;

    fn checked(counts: &mut CheckedCounts) -> &mut u64 {
        &mut counts.events
    }

    fn problem(row: &Row, fault: RecordFault) -> Result<FsckProblem> {
        Ok(FsckProblem::Event { seq: row.integer(0)?, fault })
    }

    fn envelope(&self) -> Option<EnvelopeId> {
        self.envelope
    }

    /// What kind of event it is, only the journal says.
    fn mutation(&self, kind: &str, subject: &str) -> Option<Mutation> {
        let kind = JournalKind::Event(kind.parse::<EventKind>().ok()?);
        Some(Mutation::of_bytes(kind, subject, self.document.as_str().as_bytes()))
    }
}
