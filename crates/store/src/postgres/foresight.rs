//! One look at all that a group of jobs is going to look for.

use std::collections::HashSet;

use contexture_core::SpaceName;

use super::connection::PgConnection;
use crate::{
    Error, Result,
    commit::{Commits, TIP_COLUMNS, Tip, commit_id},
    head::{HeadState, Heads, STATE_COLUMNS},
    journal,
    known::{Known, LookUp},
    space::stored,
    sql::{Entrance, Row, Value},
};

impl PgConnection {
    /// Enters a space to write and reads what the jobs will look for; nothing when there is no such space yet.
    ///
    /// What was known earlier is known still if the journal ends where it did.
    pub(super) async fn foresee(
        &mut self,
        space: &SpaceName,
        look_ups: HashSet<LookUp>,
        earlier: Option<Entrance>,
    ) -> Result<Option<Entrance>> {
        let (mut heads, mut commits) = (Vec::new(), Vec::new());
        for look_up in look_ups {
            let (head, commit) = match look_up {
                LookUp::Head(name) => (Value::Text(name.as_str().to_owned()), Value::Null),
                LookUp::Commit(id) => (Value::Null, Value::Blob(id.as_bytes().to_vec())),
            };
            heads.push(head);
            commits.push(commit);
        }
        // Limits keep the planner from reading whole tables for what are look-ups of one row each, and the arrays are
        // hidden from it so that it keeps its plan.
        let sql = format!(
            "SELECT s.key, s.seq, s.chain, w.head, w.commit_id, h.*, p.* \
             FROM (SELECT s.key, (SELECT j.seq FROM journal j WHERE j.space = s.key ORDER BY j.seq DESC LIMIT 1), \
                  (SELECT j.chain FROM journal j WHERE j.space = s.key ORDER BY j.seq DESC LIMIT 1) \
                  FROM spaces s WHERE s.name = $1 LIMIT 1) s \
             LEFT JOIN unnest((SELECT $2::text[]), (SELECT $3::bytea[])) AS w (head, commit_id) ON true \
             LEFT JOIN LATERAL (SELECT {STATE_COLUMNS} FROM heads h \
                  WHERE h.space = s.key AND h.name = w.head LIMIT 1) h ON true \
             LEFT JOIN LATERAL (SELECT {TIP_COLUMNS} FROM commits p \
                  WHERE p.space = s.key AND p.id = COALESCE(w.commit_id, h.commit_id) LIMIT 1) p ON true"
        );
        let rows = self.ask(&sql, (Value::Text(space.as_str().to_owned()), heads, commits)).await?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let (key, journal_tip) = (first.integer(0)?, journal::decode_tip(first, 1)?);
        let known = match earlier {
            Some(earlier) if (earlier.key, earlier.journal_tip) == (key, journal_tip) => earlier.known,
            _ => Known::default(),
        };
        let mut entrance = Entrance { name: space.clone(), key, journal_tip, known };
        rows.iter().try_for_each(|row| learn(&mut entrance.known, row))?;
        Ok(Some(entrance))
    }
}

fn learn(known: &mut Known, row: &Row) -> Result<()> {
    let state = HeadState::decode(row, 5)?;
    if let Some(head) = row.optional_text(3)? {
        known.learn::<Heads>(stored(head)?, state);
    }
    let commit = row.optional_blob(4)?.map(commit_id).transpose()?.or(state.target);
    match (commit, Tip::decode(row, 7)?) {
        (Some(commit), Some(tip)) => known.learn::<Commits>(commit, tip),
        (Some(commit), None) if Some(commit) == state.target => {
            return Err(Error::damaged(format!("a head points to {commit}, which is not there")));
        }
        _ => {}
    }
    Ok(())
}
