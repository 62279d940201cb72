//! What went wrong where nobody could be told.

use std::cmp::Reverse;

use contexture::{core::Timestamp, wire::LoggedTrouble};
use contexture_capture::{Trouble, TroubleLog};

use super::{
    DAY_MICROS,
    completeness::Completeness,
    problem::{Check, FIX, Problem},
    spool::SpoolState,
};
use crate::output;

/// How far back the log is read.
const DAYS_BACK: i64 = 7;

/// What went wrong, by its message.
#[derive(Debug)]
pub(super) struct Troubles {
    groups: Vec<LoggedTrouble>,
}

impl Troubles {
    pub(super) fn of(log: &TroubleLog, now: Timestamp, spool: &SpoolState, sessions: &Completeness) -> Self {
        let since = Timestamp::from_micros(now.as_micros().saturating_sub(DAYS_BACK * DAY_MICROS)).unwrap_or(now);
        let mut groups: Vec<LoggedTrouble> = Vec::new();
        for Trouble { at, during, problem, is_spooled, .. } in log.since(since) {
            match groups.iter_mut().find(|group| group.problem == problem) {
                Some(group) => {
                    (group.times, group.last, group.during) = (group.times + 1, group.last.max(at), during);
                    group.is_spooled &= is_spooled;
                }
                None => groups.push(LoggedTrouble { problem, times: 1, last: at, during, is_spooled, is_safe: false }),
            }
        }
        for group in &mut groups {
            // What went to the spool has left it only for the store; whatever else was said is in the session files.
            group.is_safe = if group.is_spooled { spool.is_empty() } else { sessions.is_complete() };
        }
        groups.sort_by_key(|group| (group.is_safe, Reverse(group.last)));
        Self { groups }
    }

    /// Tells programs of it.
    pub(super) fn document(&self) -> Vec<LoggedTrouble> {
        self.groups.clone()
    }

    pub(super) fn line(&self) -> String {
        match self.groups.iter().map(|group| group.times).sum::<u64>() {
            0 => format!("nothing went wrong in the last {DAYS_BACK} days"),
            1 => format!("1 thing went wrong in the last {DAYS_BACK} days"),
            times => format!("{} things went wrong in the last {DAYS_BACK} days", output::count(times)),
        }
    }

    /// Returns a line for each message: what is not safe first, then the last first.
    pub(super) fn details(&self, now: Timestamp) -> Vec<String> {
        let told = |LoggedTrouble { problem, times, last, during, is_spooled, is_safe }: &LoggedTrouble| {
            let fate = match (is_safe, is_spooled) {
                (true, _) => "safe now",
                (false, true) => "in the spool",
                (false, false) => "not all in the store",
            };
            let times = if *times == 1 { String::new() } else { format!("{}×, last ", output::count(*times)) };
            let problem = output::first_line(problem);
            format!("{times}{}, {fate}: {problem} ({during})", output::relative(now, *last))
        };
        self.groups.iter().map(told).collect()
    }

    /// Tells whether all that was at stake is in the store.
    pub(super) fn is_safe(&self) -> bool {
        self.groups.iter().all(|group| group.is_safe)
    }

    pub(super) fn problems(&self) -> Option<Problem> {
        // What waits in the spool is the spool's to tell.
        let is_lost = |group: &&LoggedTrouble| !group.is_safe && !group.is_spooled;
        let LoggedTrouble { problem, .. } = self.groups.iter().find(is_lost)?;
        let what = format!("hooks could not store what they were told: {}", output::first_line(problem));
        Some(Problem::new(Check::Log, what, FIX))
    }
}
