//! What waits for the store, for people.

use std::path::Path;

use contexture::{core::Timestamp, wire::SpoolHealth};

use super::problem::{Check, FIX, Problem};
use crate::output;

pub(super) fn line(spool: &SpoolHealth) -> String {
    let mut parts = vec![match spool.waiting {
        0 => "nothing waits for the store".to_owned(),
        1 => "1 entry waits for the store".to_owned(),
        waiting => format!("{} entries wait for the store", output::count(waiting)),
    }];
    if !spool.kept.is_empty() {
        parts.push(format!("{} kept aside", spool.kept.len()));
    }
    if spool.elsewhere > 0 {
        parts.push(format!("{} for other stores", output::count(spool.elsewhere)));
    }
    parts.join(", ")
}

pub(super) fn problems(spool: &SpoolHealth, now: Timestamp) -> Vec<Problem> {
    let mut problems = Vec::new();
    if spool.waiting > 0 {
        let since = spool.since.map(|since| format!(" (the oldest: {})", output::relative(now, since)));
        let what = format!("what sessions said waits in the spool{}", since.unwrap_or_default());
        problems.push(Problem::new(Check::Spool, what, FIX));
    }
    if let Some(kept) = spool.kept.first() {
        let what = "parts of sessions that were rewritten are kept aside; delete what you do not need";
        let place = kept.parent().unwrap_or(Path::new("/"));
        problems.push(Problem::new(Check::Spool, what, format!("ls {}", place.display())));
    }
    problems
}
