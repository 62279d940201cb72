//! How the bytes of a piece become tokens: of all neighbours that together are a token, those with the lowest rank are
//! merged first, and of equal ones the first.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::vocabulary::{Rank, Vocabulary};

/// How much of a long piece is merged at once.
const WINDOW: usize = 4096;
/// How much of a window is merged again with what follows it; no token is longer than half of it.
const OVERLAP: usize = 512;

/// Counts the tokens of pieces.
pub(super) struct Merger<'a> {
    vocabulary: &'a Vocabulary,
    parts: Parts,
    ahead: Parts,
}

impl<'a> Merger<'a> {
    /// Counts with a vocabulary.
    pub(super) fn new(vocabulary: &'a Vocabulary) -> Self {
        Self { vocabulary, parts: Parts::default(), ahead: Parts::default() }
    }

    /// Returns the number of tokens in a piece that is not empty.
    #[inline]
    pub(super) fn count(&mut self, piece: &[u8]) -> usize {
        if self.vocabulary.rank(piece) == Rank::NONE { self.merged(piece) } else { 1 }
    }

    /// Merges window by window, so that a long piece takes neither more time a byte than a short one nor more memory.
    ///
    /// A row of tokens is what merging gives if it is so for every two neighbours. Merging from the start of some token
    /// gives that token again, unless the end of the window came too near; then the neighbours on both sides of the
    /// start are as they were, and the tokens before it are final.
    fn merged(&mut self, piece: &[u8]) -> usize {
        let (mut rest, mut window, mut tokens) = (piece, WINDOW, 0);
        self.parts.merge(self.vocabulary, &rest[..window.min(rest.len())]);
        while window < rest.len() {
            let (before, start, end) = self.parts.around(window - OVERLAP);
            let after = &rest[start..];
            self.ahead.merge(self.vocabulary, &after[..window.min(after.len())]);
            if self.ahead.end_of_first() == end - start {
                (rest, tokens) = (after, tokens + before);
                std::mem::swap(&mut self.parts, &mut self.ahead);
            } else {
                window *= 2;
                self.parts.merge(self.vocabulary, &rest[..window.min(rest.len())]);
            }
        }
        tokens + self.parts.count
    }
}

/// The parts that some bytes consist of.
#[derive(Default)]
struct Parts {
    /// How many there are.
    count: usize,
    /// The part that starts at each byte, if one does.
    starting: Vec<Part>,
    /// Ranks of neighbours and where the first of them starts. What has been merged otherwise since then is passed over.
    merges: BinaryHeap<Reverse<(Rank, usize)>>,
}

#[derive(Clone, Copy)]
struct Part {
    end: usize,
    /// Where the part before it starts.
    before: usize,
    /// The rank that it has together with the next.
    rank: Rank,
}

impl Parts {
    /// Merges bytes, at least one, until no two neighbours are a token.
    fn merge(&mut self, vocabulary: &Vocabulary, bytes: &[u8]) {
        self.count = bytes.len();
        self.starting.clear();
        let pairs = bytes.windows(2).map(|pair| vocabulary.rank(pair)).chain([Rank::NONE]);
        let part = |(start, rank): (usize, Rank)| Part { end: start + 1, before: start.saturating_sub(1), rank };
        self.starting.extend(pairs.enumerate().map(part));
        let mut merges = std::mem::take(&mut self.merges).into_vec();
        merges.clear();
        let merge = |(start, part): (usize, &Part)| (part.rank != Rank::NONE).then_some(Reverse((part.rank, start)));
        merges.extend(self.starting.iter().enumerate().filter_map(merge));
        self.merges = merges.into();
        while let Some(Reverse((rank, start))) = self.merges.pop() {
            if self.starting[start].rank == rank {
                self.join(vocabulary, bytes, start);
            }
        }
    }

    /// Makes one part of the part at a start and the next.
    fn join(&mut self, vocabulary: &Vocabulary, bytes: &[u8], start: usize) {
        let next = self.starting[start].end;
        let end = self.starting[next].end;
        self.count -= 1;
        self.starting[next].rank = Rank::NONE;
        self.starting[start].end = end;
        if let Some(after) = self.starting.get_mut(end) {
            after.before = start;
        }
        self.rank(vocabulary, bytes, start);
        if start > 0 {
            self.rank(vocabulary, bytes, self.starting[start].before);
        }
    }

    /// Finds the rank that the part at a start has together with the next.
    fn rank(&mut self, vocabulary: &Vocabulary, bytes: &[u8], start: usize) {
        let next = self.starting.get(self.starting[start].end);
        let rank = next.map_or(Rank::NONE, |next| vocabulary.rank(&bytes[start..next.end]));
        self.starting[start].rank = rank;
        if rank != Rank::NONE {
            self.merges.push(Reverse((rank, start)));
        }
    }

    fn end_of_first(&self) -> usize {
        self.starting[0].end
    }

    /// Returns the start and end of the first part from a place on, and the number of parts before it.
    fn around(&self, place: usize) -> (usize, usize, usize) {
        let (mut before, mut start) = (0, 0);
        while start < place {
            (before, start) = (before + 1, self.starting[start].end);
        }
        (before, start, self.starting[start].end)
    }
}
