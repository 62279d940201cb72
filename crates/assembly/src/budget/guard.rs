//! The limit of characters, which holds whatever was selected.
//!
//! What matters least gives way first: optional texts become compact, then they are left out, and only then are
//! required ones cut.

use std::{borrow::Cow, cmp::Reverse};

use super::{CandidateOutcome, Decision, Inclusion, Omission, Shortening};
use crate::{
    candidate::{Candidate, Measured, Priority, Variant},
    counter::TokenCounter,
    measure::{self, CharCount},
};

/// Says where a text was cut.
const CUT_MARK: &str = "\n\n[Context truncated to fit limit]\n";

/// What the limit of characters did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// How many characters were selected.
    pub before: CharCount,
    /// How many are left.
    pub after: CharCount,
}

impl Guard {
    /// Tells whether the limit was exceeded.
    pub fn is_applied(self) -> bool {
        self.before != self.after
    }
}

/// The decisions, and how many characters they let in.
struct Held<'d, 'c> {
    decisions: &'d mut [Decision<'c>],
    chars: CharCount,
    max_chars: CharCount,
}

/// Holds the limit. The ranking lists the decisions by what matters most.
pub(super) fn apply(
    counter: &dyn TokenCounter,
    max_chars: CharCount,
    ranking: &[usize],
    decisions: &mut [Decision],
) -> Guard {
    let before = decisions.iter().map(|decision| decision.outcome.chars()).sum();
    let mut held = Held { decisions, chars: before, max_chars };
    if held.excess() > CharCount::ZERO {
        let is_required = |&index: &usize| held.decisions[index].candidate.priority == Priority::Required;
        let (required, optional): (Vec<usize>, Vec<usize>) = ranking.iter().partition(|index| is_required(index));
        held.shorten(&optional);
        held.cut(counter, required);
    }
    Guard { before, after: held.chars }
}

impl<'c> Held<'_, 'c> {
    fn excess(&self) -> CharCount {
        self.chars.beyond(self.max_chars)
    }

    fn put(&mut self, index: usize, outcome: CandidateOutcome<'c>) {
        self.chars = self.with(index, &outcome);
        self.decisions[index].outcome = outcome;
    }

    /// Returns how many characters there are with another outcome.
    fn with(&self, index: usize, outcome: &CandidateOutcome) -> CharCount {
        self.chars.beyond(self.decisions[index].outcome.chars()) + outcome.chars()
    }

    /// Makes optional texts compact, then leaves them out, until the rest fits.
    fn shorten(&mut self, optional: &[usize]) {
        let selected: Vec<CandidateOutcome> =
            optional.iter().map(|&index| self.decisions[index].outcome.clone()).collect();
        for &index in optional.iter().rev() {
            if self.excess() == CharCount::ZERO {
                break;
            }
            if let Some(compacted) = compacted(self.decisions[index].candidate, &self.decisions[index].outcome) {
                self.put(index, compacted);
            }
        }
        for &index in optional.iter().rev() {
            if self.excess() == CharCount::ZERO {
                break;
            }
            if self.decisions[index].outcome.inclusion().is_some() {
                self.put(index, CandidateOutcome::Omitted(Omission::MaxChars));
            }
        }
        // One long text may have pushed out everything below it before it went itself: what fits after all comes back.
        for (&index, selected) in optional.iter().zip(selected) {
            let compacted = compacted(self.decisions[index].candidate, &selected);
            let fitting = [Some(selected), compacted].into_iter().flatten().find(|outcome| {
                self.decisions[index].outcome.chars() < outcome.chars() && self.with(index, outcome) <= self.max_chars
            });
            if let Some(outcome) = fitting {
                self.put(index, outcome);
            }
        }
    }

    /// Cuts required texts until all fit: the preserved ones last, otherwise the longest first.
    fn cut(&mut self, counter: &dyn TokenCounter, mut required: Vec<usize>) {
        required.sort_by_key(|&index| {
            let Decision { candidate, outcome } = &self.decisions[index];
            (candidate.preserve, Reverse(outcome.chars()), Reverse(index))
        });
        for index in required {
            let excess = self.excess();
            if excess == CharCount::ZERO {
                break;
            }
            if let CandidateOutcome::Included(inclusion) = &self.decisions[index].outcome {
                let cut = cut(counter, inclusion, inclusion.text.chars().beyond(excess));
                self.put(index, cut);
            }
        }
    }
}

/// Returns the outcome with the compact text, where that is shorter than what was selected.
fn compacted<'c>(candidate: &'c Candidate, selected: &CandidateOutcome<'c>) -> Option<CandidateOutcome<'c>> {
    let (inclusion, compact) = (selected.inclusion()?, candidate.compact.as_ref()?);
    // Fewer characters may have more tokens, and those were held already.
    let shorter = compact.chars() < inclusion.text.chars() && compact.tokens() <= inclusion.text.tokens();
    (inclusion.variant == Variant::Full && shorter).then(|| {
        let shortened = Some(Shortening::Compacted);
        CandidateOutcome::Included(Inclusion { variant: Variant::Compact, text: Cow::Borrowed(compact), shortened })
    })
}

/// Returns the outcome with the beginning of a text, and a mark where there is room for both.
fn cut<'c>(counter: &dyn TokenCounter, inclusion: &Inclusion<'c>, max_chars: CharCount) -> CandidateOutcome<'c> {
    let text = inclusion.text.text();
    let beside_mark = measure::head(text, max_chars.beyond(CharCount::of(CUT_MARK)));
    let kept = if beside_mark.is_empty() {
        measure::head(text, max_chars).to_owned()
    } else {
        format!("{beside_mark}{CUT_MARK}")
    };
    match Measured::new(counter, kept) {
        Some(kept) => CandidateOutcome::Included(Inclusion {
            variant: inclusion.variant,
            text: Cow::Owned(kept),
            shortened: Some(Shortening::Cut),
        }),
        None => CandidateOutcome::Omitted(Omission::MaxChars),
    }
}
