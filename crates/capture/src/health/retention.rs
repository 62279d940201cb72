//! What runtimes are about to delete though it is not in the store.

use contexture::wire::{ExpiringSession, RetentionHealth};
use contexture_core::Timestamp;

use super::{ComparedSession, DAY_MICROS, SessionCompleteness};
use crate::{Homes, Runtime, SessionCandidate};

/// How soon a deletion is to be feared.
const SOON_MICROS: i64 = 7 * DAY_MICROS;

impl SessionCompleteness {
    /// Returns the sessions that are not wholly in the store and will be deleted, the first to go first.
    pub fn retention(&self, homes: &Homes, now: Timestamp) -> RetentionHealth {
        let periods: Vec<_> =
            Runtime::ALL.iter().map(|runtime| (runtime.as_str(), runtime.retention_micros(homes))).collect();
        let period = |runtime: &str| periods.iter().find(|(it, _)| *it == runtime).and_then(|(_, micros)| *micros);
        let expiring = |session: &ComparedSession| {
            let SessionCandidate { path, runtime, written, .. } = &session.candidate;
            let at = (*written)?.as_micros().checked_add(period(runtime)?)?;
            let is_soon = at.saturating_sub(now.as_micros()) <= SOON_MICROS;
            let (path, runtime) = (path.clone(), runtime.clone());
            Some(ExpiringSession { path, runtime, at: Timestamp::from_micros(at)?, is_soon })
        };
        let mut expiring: Vec<ExpiringSession> = self.missing().filter_map(expiring).collect();
        expiring.sort_by_key(|session| session.at);
        RetentionHealth { is_known: self.is_compared, expiring }
    }
}
