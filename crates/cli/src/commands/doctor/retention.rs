//! What runtimes are about to delete though it is not in the store.

use contexture::{
    core::Timestamp,
    wire::{ExpiringSession, RetentionHealth},
};
use contexture_capture::{Homes, Runtime};

use super::{
    DAY_MICROS,
    completeness::{Completeness, Incomplete},
    problem::{Check, FIX, Problem},
};
use crate::output;

/// How soon a deletion is to be feared.
const SOON_MICROS: i64 = 7 * DAY_MICROS;

/// The sessions that are not wholly in the store and will be deleted, the first to go first.
#[derive(Debug)]
pub(super) struct Retention {
    /// Whether it is known what is in the store.
    is_known: bool,
    expiring: Vec<ExpiringSession>,
}

impl Retention {
    /// Tells programs of it.
    pub(super) fn document(&self) -> RetentionHealth {
        RetentionHealth { is_known: self.is_known, expiring: self.expiring.clone() }
    }

    pub(super) fn of(homes: &Homes, sessions: &Completeness, now: Timestamp) -> Self {
        let periods: Vec<_> =
            Runtime::ALL.iter().map(|runtime| (runtime.as_str(), runtime.retention_micros(homes))).collect();
        let period = |runtime: &str| periods.iter().find(|(it, _)| *it == runtime).and_then(|(_, micros)| *micros);
        let expiring = |session: &Incomplete| {
            let at = session.written?.as_micros().checked_add(period(&session.runtime)?)?;
            let is_soon = at.saturating_sub(now.as_micros()) <= SOON_MICROS;
            let (path, runtime) = (session.path.clone(), session.runtime.clone());
            Some(ExpiringSession { path, runtime, at: Timestamp::from_micros(at)?, is_soon })
        };
        let mut expiring: Vec<ExpiringSession> = sessions.missing().filter_map(expiring).collect();
        expiring.sort_by_key(|session| session.at);
        Self { is_known: sessions.is_compared(), expiring }
    }

    pub(super) fn line(&self, now: Timestamp) -> String {
        match self.expiring.first() {
            None if !self.is_known => "not known, because nothing was compared".to_owned(),
            None => "nothing that is missing will be deleted".to_owned(),
            Some(ExpiringSession { at, is_soon: false, .. }) => {
                format!("the first of what is missing will be deleted {}", when(now, *at))
            }
            Some(ExpiringSession { at, .. }) => {
                let soon = output::counted(self.soon(), "session");
                format!("{soon} not wholly in the store will be deleted, the first {}", when(now, *at))
            }
        }
    }

    /// Returns a line for each session that goes soon, the first to go first.
    pub(super) fn details(&self, now: Timestamp) -> Vec<String> {
        let soon = self.expiring.iter().filter(|session| session.is_soon);
        let name =
            |session: &ExpiringSession| session.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        soon.map(|session| format!("{}: {} {}", when(now, session.at), session.runtime, name(session))).collect()
    }

    pub(super) fn problems(&self) -> Option<Problem> {
        let soon = self.soon();
        let (sessions, verb) = (output::counted(soon, "session"), if soon == 1 { "is" } else { "are" });
        let what = format!("{sessions} not wholly in the store {verb} about to be deleted");
        (soon > 0).then(|| Problem::new(Check::Retention, what, FIX))
    }

    fn soon(&self) -> u64 {
        self.expiring.iter().filter(|session| session.is_soon).count() as u64
    }
}

/// Says when a session goes.
fn when(now: Timestamp, at: Timestamp) -> String {
    if at <= now { "at any moment".to_owned() } else { output::relative(now, at) }
}
