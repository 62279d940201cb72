//! What runtimes are about to delete though it is not in the store, for people.

use contexture::{
    core::Timestamp,
    wire::{ExpiringSession, RetentionHealth},
};

use super::problem::{Check, FIX, Problem};
use crate::output;

pub(super) fn line(retention: &RetentionHealth, now: Timestamp) -> String {
    match retention.expiring.first() {
        None if !retention.is_known => "not known, because nothing was compared".to_owned(),
        None => "nothing that is missing will be deleted".to_owned(),
        Some(ExpiringSession { at, is_soon: false, .. }) => {
            format!("the first of what is missing will be deleted {}", when(now, *at))
        }
        Some(ExpiringSession { at, .. }) => {
            let soon = output::counted(soon(retention), "session");
            format!("{soon} not wholly in the store will be deleted, the first {}", when(now, *at))
        }
    }
}

/// Returns a line for each session that goes soon, the first to go first.
pub(super) fn details(retention: &RetentionHealth, now: Timestamp) -> Vec<String> {
    let soon = retention.expiring.iter().filter(|session| session.is_soon);
    let name = |session: &ExpiringSession| session.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    soon.map(|session| format!("{}: {} {}", when(now, session.at), session.runtime, name(session))).collect()
}

pub(super) fn problems(retention: &RetentionHealth) -> Option<Problem> {
    let soon = soon(retention);
    let (sessions, verb) = (output::counted(soon, "session"), if soon == 1 { "is" } else { "are" });
    let what = format!("{sessions} not wholly in the store {verb} about to be deleted");
    (soon > 0).then(|| Problem::new(Check::Retention, what, FIX))
}

fn soon(retention: &RetentionHealth) -> u64 {
    retention.expiring.iter().filter(|session| session.is_soon).count() as u64
}

/// Says when a session goes.
fn when(now: Timestamp, at: Timestamp) -> String {
    if at <= now { "at any moment".to_owned() } else { output::relative(now, at) }
}
