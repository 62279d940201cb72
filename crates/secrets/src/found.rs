//! What was found, before what overlaps is sorted out.

/// A stretch that a rule takes for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Which rule of the scanner.
    pub(crate) rule: usize,
    pub(crate) strength: Strength,
}

/// How much a finding says of what it found; the strongest wins where some overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// A value that looks random, in a place where secrets are.
    Guess,
    /// The place or the name tells whose it is.
    Context,
    /// The secret itself tells.
    Itself,
}

/// Keeps of findings that overlap the strongest, of those the longest, of those the first.
pub(crate) fn resolve(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_unstable_by_key(|one| (one.start, one.end, one.rule));
    let mut kept: Vec<Found> = Vec::with_capacity(found.len());
    for one in found {
        match kept.last_mut() {
            Some(last) if one.start < last.end => {
                if (one.strength, one.end - one.start) > (last.strength, last.end - last.start) {
                    *last = one;
                }
            }
            _ => kept.push(one),
        }
    }
    kept
}
