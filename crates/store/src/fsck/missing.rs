//! Checks missing context: each can be read, is in the state that the journal tells of, and belongs to an envelope if to
//! anything.

use contexture_core::{JournalKind, MissingId};

use super::{
    FsckProblem, Phase, RecordFault,
    checker::{self, Found},
    journal, problem,
};
use crate::{
    Error, Result, missing,
    sql::{Row, Tx},
};

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Missing;
    const TABLE: &'static str = "missing";

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = "SELECT m.seq, m.changed_seq, m.id, m.envelope, m.created_at, m.changed_at, m.status, m.severity, \
                   m.document, e.seq, j.kind, j.subject, j.digest FROM missing m \
                   LEFT JOIN envelopes e ON e.space = m.space AND e.id = m.envelope \
                   LEFT JOIN journal j ON j.space = m.space AND j.seq = m.changed_seq \
                   WHERE m.space = ?1 AND m.seq > ?2 ORDER BY m.seq LIMIT ?3";
        let space = tx.space;
        let rows = tx.rows(sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &rows {
            self.after = row.integer(0)?;
            found.checked.missing += 1;
            let Ok(missing) = MissingId::try_from(row.blob(2)?) else {
                found.row(Self::PHASE, self.key(), Error::damaged("an id of missing context has the wrong length"));
                continue;
            };
            if let Some(fault) = fault(row)? {
                found.problems.push(FsckProblem::Missing { missing, fault });
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

fn fault(row: &Row) -> Result<Option<RecordFault>> {
    let stored = match missing::decode(row) {
        Ok(stored) => stored,
        Err(error) => return Ok(Some(RecordFault::Unreadable { what: problem::reason(error) })),
    };
    if let Some(envelope) = stored.missing.envelope
        && row.optional_integer(9)?.is_none()
    {
        return Ok(Some(RecordFault::NoEnvelope { envelope }));
    }
    let kind = if stored.changed_seq == stored.seq { JournalKind::MissingCreated } else { JournalKind::MissingChanged };
    Ok(RecordFault::of(journal::compare(row, 10, &stored.missing.mutation(kind))?))
}
