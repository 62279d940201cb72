//! What went wrong where nobody could be told, for people.

use contexture::{core::Timestamp, wire::LoggedTrouble};
use contexture_capture::TroubleLog;

use super::problem::{Check, FIX, Problem};
use crate::output;

const DAYS_EXAMINED: i64 = TroubleLog::DAYS_EXAMINED;

pub(super) fn line(log: &[LoggedTrouble]) -> String {
    match log.iter().map(|group| group.times).sum::<u64>() {
        0 => format!("nothing went wrong in the last {DAYS_EXAMINED} days"),
        1 => format!("1 thing went wrong in the last {DAYS_EXAMINED} days"),
        times => format!("{} things went wrong in the last {DAYS_EXAMINED} days", output::count(times)),
    }
}

/// Returns a line for each message: what is not safe first, then the last first.
pub(super) fn details(log: &[LoggedTrouble], now: Timestamp) -> Vec<String> {
    let described = |LoggedTrouble { problem, times, last, during, is_spooled, is_safe }: &LoggedTrouble| {
        let fate = match (is_safe, is_spooled) {
            (true, _) => "safe now",
            (false, true) => "in the spool",
            (false, false) => "not all in the store",
        };
        let times = if *times == 1 { String::new() } else { format!("{}×, last ", output::count(*times)) };
        let problem = output::first_line(problem);
        format!("{times}{}, {fate}: {problem} ({during})", output::relative(now, *last))
    };
    log.iter().map(described).collect()
}

/// Tells whether all that was at stake is in the store.
pub(super) fn is_safe(log: &[LoggedTrouble]) -> bool {
    log.iter().all(|group| group.is_safe)
}

pub(super) fn problems(log: &[LoggedTrouble]) -> Option<Problem> {
    // What waits in the spool is the spool's to tell.
    let is_lost = |group: &&LoggedTrouble| !group.is_safe && !group.is_spooled;
    let LoggedTrouble { problem, .. } = log.iter().find(is_lost)?;
    let what = format!("hooks could not store what they were told: {}", output::first_line(problem));
    Some(Problem::new(Check::Log, what, FIX))
}
