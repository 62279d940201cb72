//! What a write transaction knows without asking.
//!
//! Nobody else may write to a space while a transaction does, so what was read in it holds until it writes itself. An
//! engine that can tell whether somebody else has written since may go on from there with its next transaction.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    hash::Hash,
};

use contexture_core::{CommitId, HeadName};

use crate::{commit::Commits, head::Heads};

/// Most things of a noun that are remembered. When there are more, what is still needed is asked for again.
const MOST_REMEMBERED: usize = 4096;

/// What a job is going to look for, so that an engine which answers slowly can ask for a whole group at once.
///
/// It is a promise of nothing: what was not foreseen is asked for when it is needed.
#[derive(Debug, Clone, Default)]
pub struct Foresight {
    look_ups: Vec<LookUp>,
}

/// One thing that a job is going to look for. A table that jobs look into has a variant of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum LookUp {
    /// Where a head is, and where the commit lies that it points to.
    Head(HeadName),
    /// Where a commit lies.
    Commit(CommitId),
}

impl Foresight {
    /// Adds a head that the job reads or moves, with the commit that it points to.
    #[must_use]
    pub fn head(self, name: HeadName) -> Self {
        self.with(LookUp::Head(name))
    }

    /// Adds a commit that the job goes on from.
    #[must_use]
    pub fn commit(self, id: CommitId) -> Self {
        self.with(LookUp::Commit(id))
    }

    fn with(mut self, look_up: LookUp) -> Self {
        self.look_ups.push(look_up);
        self
    }

    pub(crate) fn look_ups(&self) -> &[LookUp] {
        &self.look_ups
    }
}

/// A kind of thing that a transaction may know. Each table module that remembers something implements it once.
pub(crate) trait Noun: 'static {
    /// What tells one from another.
    type Key: Eq + Hash + Send;
    /// What is known of one.
    type State: Send;
    /// Whether nothing changes about one without a record in the journal, so that what is known of it holds for as long as
    /// the journal ends where it did.
    const IS_JOURNALED: bool;
}

/// Things as they are in the transaction, by noun.
#[derive(Default)]
pub(crate) struct Known {
    nouns: HashMap<TypeId, OneNoun>,
}

struct OneNoun {
    is_journaled: bool,
    remembered: Box<dyn Any + Send>,
}

type Remembered<N> = HashMap<<N as Noun>::Key, <N as Noun>::State>;

impl Known {
    /// Tells whether a look-up would find out nothing new.
    pub(crate) fn covers(&self, look_up: &LookUp) -> bool {
        match look_up {
            LookUp::Head(name) => self
                .get::<Heads>(name)
                .is_some_and(|head| head.target.is_none_or(|target| self.get::<Commits>(&target).is_some())),
            LookUp::Commit(id) => self.get::<Commits>(id).is_some(),
        }
    }

    /// Takes in how something is.
    pub(crate) fn learn<N: Noun>(&mut self, key: N::Key, state: N::State) {
        let fresh = || OneNoun { is_journaled: N::IS_JOURNALED, remembered: Box::new(Remembered::<N>::new()) };
        let noun = self.nouns.entry(TypeId::of::<N>()).or_insert_with(fresh);
        if let Some(remembered) = noun.remembered.downcast_mut::<Remembered<N>>() {
            if remembered.len() >= MOST_REMEMBERED {
                remembered.clear();
            }
            remembered.insert(key, state);
        }
    }

    /// Forgets how all things of a noun are.
    pub(crate) fn forget_all<N: Noun>(&mut self) {
        self.nouns.remove(&TypeId::of::<N>());
    }

    /// Forgets what may change without a record in the journal.
    pub(crate) fn keep_journaled(&mut self) {
        self.nouns.retain(|_, noun| noun.is_journaled);
    }

    /// Returns how something is, if that is known.
    pub(crate) fn get<N: Noun>(&self, key: &N::Key) -> Option<&N::State> {
        self.nouns.get(&TypeId::of::<N>())?.remembered.downcast_ref::<Remembered<N>>()?.get(key)
    }

    /// Forgets how something is, because it changed.
    pub(crate) fn forget<N: Noun>(&mut self, key: &N::Key) {
        let noun = self.nouns.get_mut(&TypeId::of::<N>());
        if let Some(remembered) = noun.and_then(|noun| noun.remembered.downcast_mut::<Remembered<N>>()) {
            remembered.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers;

    impl Noun for Numbers {
        type Key = usize;
        type State = &'static str;
        const IS_JOURNALED: bool = true;
    }

    struct Letters;

    impl Noun for Letters {
        type Key = usize;
        type State = char;
        const IS_JOURNALED: bool = false;
    }

    #[test]
    fn nouns_with_equal_keys_are_told_apart() {
        let mut known = Known::default();
        known.learn::<Numbers>(1, "one");
        known.learn::<Letters>(1, 'a');
        assert_eq!((known.get::<Numbers>(&1), known.get::<Letters>(&1)), (Some(&"one"), Some(&'a')));
        assert_eq!(known.get::<Letters>(&2), None);
    }

    #[test]
    fn what_no_journal_tells_of_is_forgotten_with_the_transaction() {
        let mut known = Known::default();
        known.learn::<Numbers>(1, "one");
        known.learn::<Letters>(1, 'a');
        known.keep_journaled();
        assert_eq!((known.get::<Numbers>(&1), known.get::<Letters>(&1)), (Some(&"one"), None));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut known = Known::default();
        (0..=MOST_REMEMBERED).for_each(|number| known.learn::<Numbers>(number, "some"));
        assert_eq!(known.get::<Numbers>(&0), None);
        assert_eq!(known.get::<Numbers>(&MOST_REMEMBERED), Some(&"some"));
    }
}
