//! What waits for the store.

use contexture::wire::SpoolHealth;

use crate::Spool;

impl Spool {
    /// Says what waits for this store, and how much for others.
    pub fn health(&self) -> SpoolHealth {
        let directory = self.directory().to_owned();
        let beside = directory.parent().and_then(|all| all.read_dir().ok()).into_iter().flatten().flatten();
        let others = beside.map(|entry| entry.path()).filter(|path| *path != directory);
        let elsewhere = others.map(|path| Self::at(path).waiting() as u64).sum();
        let (waiting, since) = (self.waiting() as u64, self.waiting_since());
        SpoolHealth { waiting, since, kept: self.kept(), elsewhere, directory }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_waits_for_other_stores_is_counted_apart() {
        let state = tempfile::tempdir().unwrap();
        let (own, other) = (state.path().join("own"), state.path().join("other"));
        for (directory, entries) in [(&own, 1), (&other, 2)] {
            fs::create_dir_all(directory).unwrap();
            for number in 0..entries {
                fs::write(directory.join(format!("{number:020}-7.entry")), "{}").unwrap();
            }
        }
        let health = Spool::at(&own).health();
        assert_eq!((health.waiting, health.elsewhere, health.directory), (1, 2, own));
    }
}
