//! Checks injections: each can be read, has the id of what it says, and is of an envelope.

use contexture_core::InjectionId;

use super::{
    FsckProblem, Phase, RecordFault,
    checker::{self, Found},
    journal, problem,
};
use crate::{
    Error, Result, injection,
    sql::{Row, Tx},
};

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Injections;
    const TABLE: &'static str = "injections";

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = "SELECT i.id, i.seq, i.envelope, i.created_at, i.document, e.seq, j.kind, j.subject, j.digest \
                   FROM injections i \
                   LEFT JOIN envelopes e ON e.space = i.space AND e.id = i.envelope \
                   LEFT JOIN journal j ON j.space = i.space AND j.seq = i.seq \
                   WHERE i.space = ?1 AND i.seq > ?2 ORDER BY i.seq LIMIT ?3";
        let space = tx.space;
        let rows = tx.rows(sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &rows {
            self.after = row.integer(1)?;
            found.checked.injections += 1;
            let Ok(injection) = InjectionId::try_from(row.blob(0)?) else {
                found.row(Self::PHASE, self.key(), Error::damaged("an injection id has the wrong length"));
                continue;
            };
            if let Some(fault) = fault(row)? {
                found.problems.push(FsckProblem::Injection { injection, fault });
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
    let stored = match injection::decode(row) {
        Ok(stored) => stored,
        Err(error) => return Ok(Some(RecordFault::Unreadable { what: problem::reason(error) })),
    };
    if row.optional_integer(5)?.is_none() {
        return Ok(Some(RecordFault::NoEnvelope { envelope: stored.injection.envelope }));
    }
    if stored.injection.id() != stored.id {
        return Ok(Some(RecordFault::OtherId));
    }
    Ok(RecordFault::of(journal::compare(row, 6, &stored.injection.mutation())?))
}
