//! Ids for the records of a session, the same ones every time.

use std::collections::HashSet;

use contexture_core::ArtifactId;

use crate::{NativePrefix, summary};

/// Hands out ids for the records of a session, derived from the session's id and a counter.
#[derive(Debug)]
pub(super) struct Ids<'a> {
    session: &'a str,
    count: u64,
    short: HashSet<String>,
    /// The records before, whose ids are not handed out again.
    prefix: Option<&'a NativePrefix>,
}

impl<'a> Ids<'a> {
    pub(super) fn new(session: &'a str) -> Self {
        Self { session, count: 0, short: HashSet::new(), prefix: None }
    }

    /// Hands out ids for what follows records that are there.
    pub(super) fn after(session: &'a str, prefix: &'a NativePrefix) -> Self {
        Self { prefix: Some(prefix), ..Self::new(session) }
    }

    pub(super) fn uuid(&mut self) -> String {
        loop {
            let id = self.derive();
            if !self.is_taken(&id) {
                return id;
            }
        }
    }

    /// Returns eight hex digits that no other short id has.
    pub(super) fn short(&mut self) -> String {
        loop {
            let id = self.derive()[..8].to_owned();
            if !self.is_taken(&id) && self.short.insert(id.clone()) {
                return id;
            }
        }
    }

    fn derive(&mut self) -> String {
        self.count += 1;
        summary::uuid(&ArtifactId::of(format!("{}/{}", self.session, self.count).as_bytes()))
    }

    fn is_taken(&self, id: &str) -> bool {
        self.prefix.is_some_and(|prefix| prefix.ids().contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_the_session() {
        let (mut one, mut same, mut other) = (Ids::new("s1"), Ids::new("s1"), Ids::new("s2"));
        let first = one.uuid();
        assert_eq!(first, same.uuid());
        assert_ne!(first, other.uuid());
        assert_ne!(first, one.uuid());
        assert_eq!(one.short().len(), 8);
    }
}
