//! What waits for the store.

use std::path::{Path, PathBuf};

use contexture::{core::Timestamp, wire::SpoolHealth};
use contexture_capture::Spool;

use super::problem::{Check, FIX, Problem};
use crate::output;

/// What waits for this store, and for others.
#[derive(Debug)]
pub(super) struct SpoolState {
    waiting: u64,
    since: Option<Timestamp>,
    /// Entries that continue nothing that is known.
    kept: Vec<PathBuf>,
    /// Entries that wait for other stores.
    elsewhere: u64,
    directory: PathBuf,
}

impl SpoolState {
    pub(super) fn of(spool: &Spool) -> Self {
        let directory = spool.directory().to_owned();
        let beside = directory.parent().and_then(|all| all.read_dir().ok()).into_iter().flatten().flatten();
        let others = beside.map(|entry| entry.path()).filter(|path| *path != directory);
        let elsewhere = others.map(|path| Spool::at(path).waiting() as u64).sum();
        let (waiting, since) = (spool.waiting() as u64, spool.waiting_since());
        Self { waiting, since, kept: spool.kept(), elsewhere, directory }
    }

    /// Tells programs of it.
    pub(super) fn document(&self) -> SpoolHealth {
        let Self { waiting, since, kept, elsewhere, directory } = self;
        SpoolHealth {
            waiting: *waiting,
            since: *since,
            kept: kept.clone(),
            elsewhere: *elsewhere,
            directory: directory.clone(),
        }
    }

    /// Tells whether all that was ever in it is in the store.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0 && self.kept.is_empty()
    }

    pub(super) fn line(&self) -> String {
        let mut parts = vec![match self.waiting {
            0 => "nothing waits for the store".to_owned(),
            1 => "1 entry waits for the store".to_owned(),
            waiting => format!("{} entries wait for the store", output::count(waiting)),
        }];
        if !self.kept.is_empty() {
            parts.push(format!("{} kept aside", self.kept.len()));
        }
        if self.elsewhere > 0 {
            parts.push(format!("{} for other stores", output::count(self.elsewhere)));
        }
        parts.join(", ")
    }

    pub(super) fn problems(&self, now: Timestamp) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.waiting > 0 {
            let since = self.since.map(|since| format!(" (the oldest: {})", output::relative(now, since)));
            let what = format!("what sessions said waits in the spool{}", since.unwrap_or_default());
            problems.push(Problem::new(Check::Spool, what, FIX));
        }
        if let Some(kept) = self.kept.first() {
            let what = "parts of sessions that were rewritten are kept aside; delete what you do not need";
            let place = kept.parent().unwrap_or(Path::new("/"));
            problems.push(Problem::new(Check::Spool, what, format!("ls {}", place.display())));
        }
        problems
    }
}
