//! The budget stage: which candidates go into a prompt, in which of their texts, and why the others do not.
//!
//! The required ones come first, whatever that costs, and the others by priority and place while there is room: a
//! candidate that does not fit leaves its room to those after it. Tokens are held as the sum of the parts, so a part's
//! count can be kept from one assembly to the next.

mod guard;

use std::borrow::Cow;

use crate::{
    candidate::{Candidate, Measured, Priority, Variant},
    counter::TokenCounter,
    measure::{CharCount, TokenCount},
};

pub use guard::Guard;

/// How much there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of all parts together; required ones may exceed it. Absent where there is no budget.
    pub max_tokens: Option<TokenCount>,
    /// Characters of all parts together; nothing exceeds it.
    pub max_chars: CharCount,
}

/// What became of every candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection<'c> {
    /// One decision about each, in the order of the prompt.
    pub decisions: Vec<Decision<'c>>,
    /// What the limit of characters did.
    pub guard: Guard,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'c> {
    /// The candidate.
    pub candidate: &'c Candidate,
    /// In or out.
    pub outcome: Outcome<'c>,
}

/// Whether a candidate is part of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<'c> {
    /// It is.
    Included(Inclusion<'c>),
    /// It is not.
    Omitted(Omission),
}

/// How a candidate is part of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inclusion<'c> {
    /// Which of its texts.
    pub variant: Variant,
    /// The text as it is in the prompt.
    pub text: Cow<'c, Measured>,
    /// What the limit of characters did to it.
    pub shortened: Option<Shortening>,
}

/// What the limit of characters did to a text that is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortening {
    /// The compact text took the place of the full one.
    Compacted,
    /// Its end was cut off.
    Cut,
}

/// Why a candidate is not part of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// It has no text.
    Empty,
    /// Neither of its texts fits into the tokens that were left.
    Budget {
        /// What was left when it was considered.
        left: TokenCount,
    },
    /// The limit of characters left no room for it.
    MaxChars,
}

/// Decides about every candidate.
///
/// The order of the slice matters only between candidates of equal place. The counter is the one that the candidates
/// were measured with.
pub fn select<'c>(counter: &dyn TokenCounter, limits: Limits, candidates: &'c [Candidate]) -> Selection<'c> {
    let mut in_place: Vec<&Candidate> = candidates.iter().collect();
    in_place.sort_by_key(|candidate| candidate.place);
    // Both sorts are stable: candidates of a priority are considered in their places.
    let mut ranking: Vec<usize> = (0..in_place.len()).collect();
    ranking.sort_by_key(|&index| in_place[index].priority);

    let mut left = limits.max_tokens;
    let mut decisions: Vec<Decision> = in_place
        .into_iter()
        .map(|candidate| Decision { candidate, outcome: Outcome::Omitted(Omission::Empty) })
        .collect();
    for &index in &ranking {
        let Decision { candidate, outcome } = &mut decisions[index];
        *outcome = decide(candidate, left);
        if let Outcome::Included(inclusion) = outcome {
            left = left.map(|left| left.beyond(inclusion.text.tokens()));
        }
    }
    let guard = guard::apply(counter, limits.max_chars, &ranking, &mut decisions);
    Selection { decisions, guard }
}

impl Selection<'_> {
    /// Joins what is included to one text.
    pub fn to_text(&self) -> String {
        self.inclusions().map(|(_, inclusion)| inclusion.text.text()).collect()
    }

    /// Sums up the tokens of what is included.
    pub fn tokens(&self) -> TokenCount {
        self.inclusions().map(|(_, inclusion)| inclusion.text.tokens()).sum()
    }

    /// Tells whether something is included that could be left out.
    pub fn has_optional(&self) -> bool {
        self.inclusions().any(|(candidate, _)| candidate.priority != Priority::Required)
    }

    fn inclusions(&self) -> impl Iterator<Item = (&Candidate, &Inclusion<'_>)> {
        self.decisions.iter().filter_map(|decision| Some((decision.candidate, decision.outcome.inclusion()?)))
    }
}

impl<'c> Outcome<'c> {
    /// Returns how the candidate is part of the prompt, where it is.
    pub fn inclusion(&self) -> Option<&Inclusion<'c>> {
        match self {
            Self::Included(inclusion) => Some(inclusion),
            Self::Omitted(_) => None,
        }
    }

    /// Returns how many characters of it are in the prompt.
    fn chars(&self) -> CharCount {
        self.inclusion().map_or(CharCount::ZERO, |inclusion| inclusion.text.chars())
    }

    fn whole(variant: Variant, text: &'c Measured) -> Self {
        Self::Included(Inclusion { variant, text: Cow::Borrowed(text), shortened: None })
    }
}

/// Decides about a candidate with so many tokens left.
fn decide(candidate: &Candidate, left: Option<TokenCount>) -> Outcome<'_> {
    let fits = |text: &Measured| left.is_none_or(|left| text.tokens() <= left);
    let required = candidate.priority == Priority::Required;
    match (&candidate.full, &candidate.compact) {
        (None, None) => Outcome::Omitted(Omission::Empty),
        (Some(full), _) if fits(full) => Outcome::whole(Variant::Full, full),
        (None, Some(compact)) if required || fits(compact) => Outcome::whole(Variant::Compact, compact),
        (Some(full), Some(compact)) if required && compact.tokens() < full.tokens() => {
            Outcome::whole(Variant::Compact, compact)
        }
        (Some(full), _) if required => Outcome::whole(Variant::Full, full),
        (_, Some(compact)) if fits(compact) => Outcome::whole(Variant::Compact, compact),
        (Some(_), _) | (_, Some(_)) => Outcome::Omitted(Omission::Budget { left: left.unwrap_or(TokenCount::ZERO) }),
    }
}
