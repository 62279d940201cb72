//! What went wrong where nobody could be told.

use std::cmp::Reverse;

use contexture::wire::{LoggedTrouble, SpoolHealth};
use contexture_core::Timestamp;

use super::{DAY_MICROS, SessionCompleteness};
use crate::{Trouble, TroubleLog};

impl TroubleLog {
    /// How far back the log is examined.
    pub const DAYS_EXAMINED: i64 = 7;

    /// Returns what went wrong lately, by its message: what is not safe first, then the last first.
    pub fn examine(&self, now: Timestamp, spool: &SpoolHealth, sessions: &SessionCompleteness) -> Vec<LoggedTrouble> {
        let since = now.as_micros().saturating_sub(Self::DAYS_EXAMINED * DAY_MICROS);
        let since = Timestamp::from_micros(since).unwrap_or(now);
        let mut groups: Vec<LoggedTrouble> = Vec::new();
        for Trouble { at, during, problem, is_spooled, .. } in self.since(since) {
            match groups.iter_mut().find(|group| group.problem == problem) {
                Some(group) => {
                    (group.times, group.last, group.during) = (group.times + 1, group.last.max(at), during);
                    group.is_spooled &= is_spooled;
                }
                None => groups.push(LoggedTrouble { problem, times: 1, last: at, during, is_spooled, is_safe: false }),
            }
        }
        let is_spool_empty = spool.waiting == 0 && spool.kept.is_empty();
        for group in &mut groups {
            // What went to the spool has left it only for the store; whatever else was said is in the session files.
            group.is_safe = if group.is_spooled { is_spool_empty } else { sessions.is_complete() };
        }
        groups.sort_by_key(|group| (group.is_safe, Reverse(group.last)));
        groups
    }
}
