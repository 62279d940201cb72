//! Checks events: the JSON of each is what the journal says, and it belongs to an envelope if to anything.

use contexture_core::{EventKind, JournalKind, Mutation};

use super::{
    FsckProblem, Phase, RecordFault,
    checker::{self, Found},
    journal, problem,
};
use crate::{
    JsonText, Result,
    envelope::envelope_id,
    space::stored,
    sql::{Row, Tx},
};

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Events;
    const TABLE: &'static str = "events";

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = "SELECT x.seq, x.envelope, x.document, e.seq, j.kind, j.subject, j.digest FROM events x \
                   LEFT JOIN envelopes e ON e.space = x.space AND e.id = x.envelope \
                   LEFT JOIN journal j ON j.space = x.space AND j.seq = x.seq \
                   WHERE x.space = ?1 AND x.seq > ?2 ORDER BY x.seq LIMIT ?3";
        let space = tx.space;
        let rows = tx.rows(sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &rows {
            self.after = row.integer(0)?;
            found.checked.events += 1;
            let fault = match fault(row) {
                Ok(fault) => fault,
                Err(error) => Some(RecordFault::Unreadable { what: problem::reason(error) }),
            };
            if let Some(fault) = fault {
                found.problems.push(FsckProblem::Event { seq: self.after, fault });
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
    let envelope = row.optional_blob(1)?.map(envelope_id).transpose()?;
    let document = stored::<JsonText>(row.text(2)?)?;
    if let Some(envelope) = envelope
        && row.optional_integer(3)?.is_none()
    {
        return Ok(Some(RecordFault::NoEnvelope { envelope }));
    }
    let Some(kind) = row.optional_text(4)? else {
        return Ok(Some(RecordFault::NotJournaled));
    };
    // What kind of event it is, only the journal says.
    let Ok(kind) = kind.parse::<EventKind>() else {
        return Ok(Some(RecordFault::JournaledOtherwise));
    };
    let said = Mutation::of_bytes(JournalKind::Event(kind), row.text(5)?, document.as_str().as_bytes());
    Ok(RecordFault::of(journal::compare(row, 4, &said)?))
}
