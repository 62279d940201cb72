//! Keys of rows, of which there may be many.

use std::collections::BTreeMap;

/// A set of keys that costs little more than a bit for each, because keys are given out in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeySet(BTreeMap<i64, u64>);

impl KeySet {
    const WORD_BITS: i64 = u64::BITS as i64;

    /// Adds a key.
    pub(crate) fn insert(&mut self, key: i64) {
        *self.0.entry(key.div_euclid(Self::WORD_BITS)).or_default() |= Self::bit(key);
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: i64) {
        if let Some(word) = self.0.get_mut(&key.div_euclid(Self::WORD_BITS)) {
            *word &= !Self::bit(key);
        }
    }

    /// Tells whether a key is in it.
    pub(crate) fn contains(&self, key: i64) -> bool {
        self.0.get(&key.div_euclid(Self::WORD_BITS)).is_some_and(|word| word & Self::bit(key) != 0)
    }

    /// Returns how many keys there are.
    pub(crate) fn len(&self) -> u64 {
        self.0.values().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the keys, the greatest first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = i64> {
        self.0.iter().rev().flat_map(|(&base, &word)| {
            let is_set = move |bit: &i64| word & (1 << *bit) != 0;
            (0..Self::WORD_BITS).rev().filter(is_set).map(move |bit| base * Self::WORD_BITS + bit)
        })
    }

    /// Adds the keys of another set.
    pub(crate) fn extend(&mut self, other: Self) {
        for (base, word) in other.0 {
            *self.0.entry(base).or_default() |= word;
        }
    }

    fn bit(key: i64) -> u64 {
        1 << key.rem_euclid(Self::WORD_BITS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
           #[test]
           fn it_holds_what_was_put_in(keys in vec(-200..200i64, 0..100), gone in vec(-200..200i64, 0..50)) {
               let mut set = KeySet::default();
               for key in &keys {
    set.insert(*key);
    }
               for key in &gone {
    set.remove(*key);
    }
               let expected: BTreeSet<i64> = keys.into_iter().filter(|key| !gone.contains(key)).collect();
               prop_assert_eq!(set.len(), expected.len() as u64);
               prop_assert!((-200..200).all(|key| set.contains(key) == expected.contains(&key)));
               prop_assert_eq!(set.descending().collect::<Vec<_>>(), expected.into_iter().rev().collect::<Vec<_>>());
           }
       }
}
