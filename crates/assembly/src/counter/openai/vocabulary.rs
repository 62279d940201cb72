//! The tokens of a tokenizer by their bytes.

/// The place of a token in its vocabulary; of two merges the one with the lower rank comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u32);

impl Rank {
    /// Stands for bytes that are no token; every rank is lower.
    pub(super) const NONE: Self = Self(u32::MAX);
}

/// Finds the rank of a token.
///
/// The bytes stay where they lie in the program; only the table of hashes is made.
pub(super) struct Vocabulary {
    tokens: &'static [u8],
    /// Where each token starts, and where the last ends.
    starts: Vec<u32>,
    /// Ranks by hash, each beside the upper half of its hash.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    rank: Rank,
}

impl Vocabulary {
    /// Takes the tokens in the order of their ranks: the length of each, and their bytes one after the other.
    pub(super) fn new(lengths: &[u8], tokens: &'static [u8]) -> Self {
        let ends = lengths.iter().scan(0, |end, length| {
            *end += u32::from(*length);
            Some(*end)
        });
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        let slots = vec![Slot { hash: 0, rank: Rank::NONE }; (lengths.len() * 2).next_power_of_two()];
        let mut vocabulary = Self { tokens, starts, slots };
        for rank in (0..).map(Rank).take(lengths.len()) {
            let hash = hash(vocabulary.token(rank));
            let mut place = vocabulary.first_place(hash);
            while vocabulary.slots[place].rank != Rank::NONE {
                place = vocabulary.next_place(place);
            }
            vocabulary.slots[place] = Slot { hash: upper(hash), rank };
        }
        vocabulary
    }

    /// Returns the rank of the token with these bytes, or `NONE`.
    #[inline]
    pub(super) fn rank(&self, bytes: &[u8]) -> Rank {
        let hash = hash(bytes);
        let mut place = self.first_place(hash);
        loop {
            let slot = self.slots[place];
            if slot.rank == Rank::NONE || (slot.hash == upper(hash) && self.token(slot.rank) == bytes) {
                return slot.rank;
            }
            place = self.next_place(place);
        }
    }

    fn token(&self, rank: Rank) -> &'static [u8] {
        let rank = rank.0 as usize;
        &self.tokens[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower bits are what is wanted")]
    fn first_place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn next_place(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }
}

fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let start = bytes.len() as u64;
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks::<8>();
        let hash = words.iter().fold(start, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
        return mixed(hash, u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return mixed(start, u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32);
    }
    let byte = |place: usize| bytes.get(place).map_or(0, |byte| u64::from(*byte));
    mixed(start, byte(0) | byte(1) << 8 | byte(2) << 16)
}

/// Folds a word into a hash: both halves of a product, so that every bit reaches every other.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
#[inline]
fn mixed(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xd6e8_feb8_6659_fd93_u64);
    product as u64 ^ (product >> 64) as u64
}
