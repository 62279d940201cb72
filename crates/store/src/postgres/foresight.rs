//! One look at all that a group of jobs is going to look for.

use contexture_core::SpaceName;

use super::connection::PgConnection;
use crate::{
    Error, Foresight, Result,
    commit::{TIP_COLUMNS, Tip, commit_id},
    journal,
    known::Known,
    space::stored,
    sql::{Entrance, Row, Value},
};

impl PgConnection {
    /// Enters a space to write and reads what the jobs will look for; nothing when there is no such space yet.
    pub(super) async fn foresee(&mut self, space: &SpaceName, jobs: Vec<Foresight>) -> Result<Option<Entrance>> {
        let (mut heads, mut parents) = (Vec::new(), Vec::new());
        for Foresight { head, parent } in jobs {
            heads.push(head.as_ref().map_or(Value::Null, |head| Value::Text(head.as_str().to_owned())));
            parents.push(parent.map_or(Value::Null, |parent| Value::Blob(parent.as_bytes().to_vec())));
        }
        // Limits keep the planner from reading whole tables for what are look-ups of one row each, and the arrays are
        // hidden from it so that it keeps its plan.
        let sql = format!(
            "SELECT s.key, s.seq, s.chain, w.head, h.commit_id, w.parent, p.* \
             FROM (SELECT s.key, (SELECT j.seq FROM journal j WHERE j.space = s.key ORDER BY j.seq DESC LIMIT 1), \
                  (SELECT j.chain FROM journal j WHERE j.space = s.key ORDER BY j.seq DESC LIMIT 1) \
                  FROM spaces s WHERE s.name = $1 LIMIT 1) s \
             LEFT JOIN unnest((SELECT $2::text[]), (SELECT $3::bytea[])) AS w (head, parent) ON true \
             LEFT JOIN LATERAL (SELECT h.commit_id FROM heads h \
                  WHERE h.space = s.key AND h.name = w.head LIMIT 1) h ON true \
             LEFT JOIN LATERAL (SELECT {TIP_COLUMNS} FROM commits p \
                  WHERE p.space = s.key AND p.id = COALESCE(w.parent, h.commit_id) LIMIT 1) p ON true"
        );
        let rows = self.ask(&sql, (Value::Text(space.as_str().to_owned()), heads, parents)).await?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let mut entrance = Entrance {
            name: space.clone(),
            key: first.integer(0)?,
            journal_tip: journal::decode_tip(first, 1)?,
            known: Known::default(),
        };
        rows.iter().try_for_each(|row| learn(&mut entrance.known, row))?;
        Ok(Some(entrance))
    }
}

fn learn(known: &mut Known, row: &Row) -> Result<()> {
    let target = row.optional_blob(4)?.map(commit_id).transpose()?;
    if let Some(head) = row.optional_text(3)? {
        known.learn_head(stored(head)?, target);
    }
    let origin = row.optional_blob(5)?.map(commit_id).transpose()?.or(target);
    match (origin, Tip::decode(row, 6)?) {
        (Some(commit), Some(tip)) => known.learn_tip(commit, tip),
        (Some(commit), None) if Some(commit) == target => {
            return Err(Error::damaged(format!("a head points to {commit}, which is not there")));
        }
        _ => {}
    }
    Ok(())
}
