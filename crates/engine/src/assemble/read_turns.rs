//! Turns that were read: what commits say, kept for the next assembly that reads them.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use contexture_core::CommitId;

use crate::entries::ContentMeaning;

/// Bytes of content in one generation; there are two.
const MAX_BYTES: u64 = 2 * 1024 * 1024;

/// What commits say that were read for assemblies. Commits never change, so what is here is right.
#[derive(Debug, Default)]
pub(crate) struct RememberedTurns(Mutex<Generations>);

/// What was asked for of late, and what was before that: it is forgotten when the younger generation is full.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<CommitId, Arc<ReadTurn>>,
    old: HashMap<CommitId, Arc<ReadTurn>>,
    young_bytes: u64,
}

/// What one commit says.
#[derive(Debug)]
pub(crate) struct ReadTurn {
    /// How many bytes its content has.
    pub(crate) size: u64,
    /// What its content says.
    pub(crate) said: ContentMeaning,
}

impl RememberedTurns {
    pub(crate) fn find(&self, commit: CommitId) -> Option<Arc<ReadTurn>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.young.get(&commit) {
            return Some(Arc::clone(turn));
        }
        let turn = turns.old.remove(&commit)?;
        turns.add(commit, Arc::clone(&turn));
        Some(turn)
    }

    pub(crate) fn remember(&self, commit: CommitId, size: u64, said: &ContentMeaning) {
        if size <= MAX_BYTES {
            let turn = Arc::new(ReadTurn { size, said: said.clone() });
            self.0.lock().unwrap_or_else(PoisonError::into_inner).add(commit, turn);
        }
    }
}

impl Generations {
    fn add(&mut self, commit: CommitId, turn: Arc<ReadTurn>) {
        if self.young_bytes + turn.size > MAX_BYTES {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        let size = turn.size;
        if self.young.insert(commit, turn).is_none() {
            self.young_bytes += size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ContentMeaning {
        ContentMeaning::Text { text: text.to_owned(), left_out: 0 }
    }

    #[test]
    fn what_was_not_asked_for_is_forgotten_first() {
        let turns = RememberedTurns::default();
        let [first, second, third, fourth] = [1u8, 2, 3, 4].map(|n| CommitId::from_bytes([n; CommitId::LEN]));
        let half = MAX_BYTES / 2;
        turns.remember(first, half, &text("first"));
        turns.remember(second, half, &text("second"));
        turns.remember(third, half, &text("third"));
        assert!(turns.find(first).is_some());
        turns.remember(fourth, half, &text("fourth"));
        assert!(turns.find(second).is_none());
        assert!(turns.find(first).is_some());
        turns.remember(second, MAX_BYTES + 1, &text("too long"));
        assert!(turns.find(second).is_none());
    }
}
