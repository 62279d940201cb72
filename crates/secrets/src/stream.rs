//! Scanning content that is too large to hold.

use std::{borrow::Cow, ops::Deref};

use crate::{
    RuleId, Scanner, escape,
    found::{Found, resolve},
};

/// How many bytes before a place can matter for what is found there.
const BEHIND: usize = 64 << 10;
/// How many bytes after a place can matter for what is found there: more than the longest secret.
const AHEAD: usize = 128 << 10;
/// How much is scanned at a time.
const WINDOW: usize = 1 << 20;

/// Finds secrets in content that comes bit by bit, in memory that does not grow with it.
///
/// It finds what [`Scanner::scan`] finds in the whole.
#[derive(Debug)]
pub struct StreamScanner<S> {
    scanner: S,
    /// What has been given out already but may matter for what follows, then what has not.
    buffer: Vec<u8>,
    /// How much of the buffer was given out.
    settled: usize,
    /// Where the buffer begins in the content.
    offset: u64,
}

/// A stretch of the content, as [`StreamScanner`] gives it out: in order and without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'b> {
    /// Bytes without a secret.
    Clear(&'b [u8]),
    /// A secret.
    Secret(StreamedSecret<'b>),
}

/// A secret in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamedSecret<'b> {
    /// Where it begins in the content.
    pub offset: u64,
    /// Its bytes, escapes included.
    pub raw: &'b [u8],
    /// What kind of secret it is.
    pub rule: RuleId,
}

impl<'b> StreamedSecret<'b> {
    /// Returns what the secret is once no escape is left.
    pub fn value(&self) -> Cow<'b, [u8]> {
        escape::plain(self.raw)
    }
}

impl<S: Deref<Target = Scanner>> StreamScanner<S> {
    /// Starts at the beginning of some content.
    pub fn new(scanner: S) -> Self {
        Self { scanner, buffer: Vec::new(), settled: 0, offset: 0 }
    }

    /// Takes the next bytes and gives out what is certain by now.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Piece<'_>)) {
        while !bytes.is_empty() {
            let room = (self.settled + WINDOW + AHEAD).saturating_sub(self.buffer.len());
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() >= self.settled + WINDOW + AHEAD {
                self.give_out(self.buffer.len() - AHEAD, sink);
            }
        }
    }

    /// Gives out the rest.
    pub fn finish(mut self, sink: &mut impl FnMut(Piece<'_>)) {
        self.give_out(self.buffer.len(), sink);
    }

    /// Returns up to where everything has been given out: no secret that is still to come begins before.
    pub fn settled(&self) -> u64 {
        self.offset + self.settled as u64
    }

    fn give_out(&mut self, limit: usize, sink: &mut impl FnMut(Piece<'_>)) {
        let mut found = self.scanner.candidates(&self.buffer);
        // What began before was given out with what it overlaps.
        found.retain(|one| one.start >= self.settled);
        let limit = clear_cut(&found, self.settled, limit, self.buffer.len());
        found.retain(|one| one.start < limit);
        let mut at = self.settled;
        for one in resolve(found) {
            if at < one.start {
                sink(Piece::Clear(&self.buffer[at..one.start]));
            }
            sink(Piece::Secret(StreamedSecret {
                offset: self.offset + one.start as u64,
                raw: &self.buffer[one.start..one.end],
                rule: self.scanner.rule(one),
            }));
            at = one.end;
        }
        if at < limit {
            sink(Piece::Clear(&self.buffer[at..limit]));
        }
        self.settled = limit.max(at);
        let gone = self.settled.saturating_sub(BEHIND);
        self.buffer.drain(..gone);
        self.settled -= gone;
        self.offset += gone as u64;
    }
}

/// Returns the last place up to the limit that no finding goes over.
fn clear_cut(found: &[Found], settled: usize, limit: usize, end: usize) -> usize {
    if limit == end {
        return end;
    }
    let mut found: Vec<Found> = found.to_vec();
    found.sort_unstable_by_key(|one| std::cmp::Reverse(one.end));
    let mut cut = limit;
    for one in found {
        if one.start < cut && cut < one.end {
            cut = one.start;
        }
    }
    // Findings that overlap in a chain as long as a window are cut somewhere.
    if cut <= settled { limit } else { cut }
}
