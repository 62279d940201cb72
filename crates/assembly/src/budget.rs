//! The budget stage: which candidates go into a prompt, in which of their texts, and why the others do not.
//!
//! The required ones come first, whatever that costs, and the others by priority and place while there is room: a
//! candidate that does not fit leaves its room to those after it. Tokens are held as the sum of the parts, so a part's
//! count can be kept from one assembly to the next.

mod guard;
mod run;

use std::{borrow::Cow, collections::BTreeMap, fmt};

use crate::{
    candidate::{Candidate, Measured, Priority, Variant},
    counter::TokenCounter,
    measure::{CharCount, Size, TokenCount},
};

pub use guard::Guard;
pub use run::RunOutcome;

/// How much there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of all parts together; required ones may exceed it. Absent where there is no budget.
    pub max_tokens: Option<TokenCount>,
    /// Characters of all parts together; nothing exceeds it.
    pub max_chars: CharCount,
}

/// How much there may be, of everything and in each segment.
#[derive(Debug, Clone, Copy)]
pub struct Budget<'b> {
    /// The room for all parts together; required ones may exceed it.
    pub room: Size,
    /// Characters of all parts together; nothing exceeds it.
    pub max_chars: CharCount,
    /// What holds in each segment. A candidate's segment must be among them.
    pub segments: &'b [SegmentRule<'b>],
}

/// What holds in a segment.
#[derive(Debug, Clone, Copy)]
pub struct SegmentRule<'b> {
    /// Tokens that no other segment may take.
    pub reserve: TokenCount,
    /// Tokens that its parts may have together; required ones may exceed it.
    pub max_tokens: TokenCount,
    /// Shortens what does not fit.
    pub shorten: Option<&'b dyn Shorten>,
    /// Keeps the newest end of the segment, without holes, and not the parts that matter most.
    pub run: Option<RunRule>,
}

/// How the newest end of a segment is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunRule {
    /// What a mark takes that says where the rest was left out.
    pub mark: Size,
    /// Whether what is left out for certain, because it was not even read, lies before the first candidate.
    pub is_cut: bool,
    /// Whether the mark goes where there is no room for it.
    pub mark_may_go: bool,
}

/// Makes shorter texts of candidates.
///
/// Implemented by whoever knows what a text is made of; called by the budget stage where neither text of a candidate
/// fits. What it returns must fit, or at least be shorter where the candidate is required, and be the same for the same
/// candidate and room.
pub trait Shorten: fmt::Debug {
    /// Returns a text of the candidate that fits, if there is one worth having.
    fn shorten(&self, candidate: &Candidate, room: &Size) -> Option<Measured>;
}

impl Default for SegmentRule<'_> {
    fn default() -> Self {
        Self { reserve: TokenCount::ZERO, max_tokens: Size::MAX.tokens, shorten: None, run: None }
    }
}

/// What became of every candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection<'c> {
    /// One decision about each, in the order of the prompt.
    pub decisions: Vec<Decision<'c>>,
    /// What the limit of characters did.
    pub guard: Guard,
    /// What became of the runs, by segment.
    pub runs: BTreeMap<usize, RunOutcome>,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'c> {
    /// The candidate.
    pub candidate: &'c Candidate,
    /// In or out.
    pub outcome: CandidateOutcome<'c>,
}

/// Whether a candidate is part of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateOutcome<'c> {
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
    /// Neither of its texts fits into what was left.
    Budget {
        /// What it would have taken. In a run that is it with all that is newer.
        needed: Size,
        /// What was left when it was considered.
        left: Size,
    },
    /// The limit of characters left no room for it.
    MaxChars,
    /// A summary of its turn stands for it.
    Summarized,
    /// What it sums up is in the prompt.
    Needless,
}

/// Decides about every candidate, all in one segment.
///
/// The order of the slice matters only between candidates of equal place. The counter is the one that the candidates
/// were measured with.
pub fn select<'c>(counter: &dyn TokenCounter, limits: Limits, candidates: &'c [Candidate]) -> Selection<'c> {
    let room = Size { tokens: limits.max_tokens.unwrap_or(Size::MAX.tokens), ..Size::MAX };
    let budget = Budget { room, max_chars: limits.max_chars, segments: &[SegmentRule::default()] };
    select_in(counter, &budget, candidates)
}

/// Decides about every candidate like [`select`], with a budget for each segment.
///
/// Segments follow each other in the prompt; places count inside them.
pub fn select_in<'c>(counter: &dyn TokenCounter, budget: &Budget<'_>, candidates: &'c [Candidate]) -> Selection<'c> {
    let mut in_place: Vec<&Candidate> = candidates.iter().collect();
    in_place.sort_by_key(|candidate| (candidate.segment, candidate.place));
    // Both sorts are stable: candidates of a priority are considered in their places, and those of a run together.
    let mut ranking: Vec<usize> = (0..in_place.len()).collect();
    ranking.sort_by_key(|&index| in_place[index].priority);

    let mut ledger =
        Ledger { budget, used: Size::default(), in_segments: vec![TokenCount::ZERO; budget.segments.len()] };
    let mut decisions: Vec<Decision> = in_place
        .into_iter()
        .map(|candidate| Decision { candidate, outcome: CandidateOutcome::Omitted(Omission::Empty) })
        .collect();
    let mut runs = BTreeMap::new();
    let is_required = |&index: &usize| decisions[index].candidate.priority == Priority::Required;
    let (required, optional) = ranking.split_at(ranking.partition_point(is_required));
    let mut too_large = Vec::new();
    for &index in required {
        let Decision { candidate, .. } = decisions[index];
        let (left, rule) = (ledger.left(candidate.segment), budget.segments[candidate.segment]);
        if rule.shorten.is_some() && !fits(candidate, &left) {
            too_large.push(index);
            continue;
        }
        decisions[index].outcome = decide(candidate, &left, None);
        ledger.take(&decisions[index]);
    }
    // What can be cut gets what the others leave, in equal parts.
    for (done, &index) in too_large.iter().enumerate() {
        let Decision { candidate, .. } = decisions[index];
        let left = ledger.left(candidate.segment).share((too_large.len() - done) as u64);
        decisions[index].outcome = decide(candidate, &left, budget.segments[candidate.segment].shorten);
        ledger.take(&decisions[index]);
    }
    for &index in optional {
        let Decision { candidate, .. } = decisions[index];
        let segment = candidate.segment;
        if let Some(rule) = budget.segments[segment].run {
            runs.entry(segment).or_insert_with(|| run::decide(&mut decisions, segment, rule, &mut ledger));
        } else {
            decisions[index].outcome = decide(candidate, &ledger.left(segment), budget.segments[segment].shorten);
            ledger.take(&decisions[index]);
        }
    }
    // Of a run the oldest goes first.
    ranking.sort_by_key(|&index| {
        let Candidate { priority, segment, .. } = decisions[index].candidate;
        let is_run = budget.segments[*segment].run.is_some();
        (*priority, if is_run { decisions.len() - index } else { 0 })
    });
    let guard = guard::apply(counter, budget.max_chars, &ranking, &mut decisions);
    Selection { decisions, guard, runs }
}

/// What was taken of a budget.
struct Ledger<'b> {
    budget: &'b Budget<'b>,
    used: Size,
    in_segments: Vec<TokenCount>,
}

impl Ledger<'_> {
    /// Returns the room that is left for a segment: others keep what is reserved for them.
    fn left(&self, segment: usize) -> Size {
        let segments = self.budget.segments;
        let others = segments.iter().zip(&self.in_segments).enumerate().filter(|(other, _)| *other != segment);
        let kept: TokenCount = others.map(|(_, (rule, used))| rule.reserve.beyond(*used)).sum();
        let left = self.budget.room.without(&self.used);
        let own = segments[segment].max_tokens.beyond(self.in_segments[segment]);
        // Without a limit there is nothing to keep.
        let tokens = if self.budget.room.tokens == Size::MAX.tokens { left.tokens } else { left.tokens.beyond(kept) };
        Size { tokens: tokens.min(own), ..left }
    }

    fn take(&mut self, Decision { candidate, outcome }: &Decision<'_>) {
        if let CandidateOutcome::Included(inclusion) = outcome {
            self.used = self.used + inclusion.text.size();
            self.in_segments[candidate.segment] = self.in_segments[candidate.segment] + inclusion.text.tokens();
        }
    }
}

impl Selection<'_> {
    /// Joins what is included to one text.
    pub fn to_text(&self) -> String {
        self.inclusions().map(|(_, inclusion)| &**inclusion.text.text()).collect()
    }

    /// Sums up the tokens of what is included.
    pub fn tokens(&self) -> TokenCount {
        self.inclusions().map(|(_, inclusion)| inclusion.text.tokens()).sum()
    }

    /// Sums up all lengths of what is included.
    pub fn size(&self) -> Size {
        self.inclusions().fold(Size::default(), |sum, (_, inclusion)| sum + inclusion.text.size())
    }

    /// Sums up the characters of what is included.
    pub fn chars(&self) -> CharCount {
        self.inclusions().map(|(_, inclusion)| inclusion.text.chars()).sum()
    }

    /// Tells whether something is included that could be left out.
    pub fn has_optional(&self) -> bool {
        self.inclusions().any(|(candidate, _)| candidate.priority != Priority::Required)
    }

    fn inclusions(&self) -> impl Iterator<Item = (&Candidate, &Inclusion<'_>)> {
        self.decisions.iter().filter_map(|decision| Some((decision.candidate, decision.outcome.inclusion()?)))
    }
}

impl<'c> CandidateOutcome<'c> {
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

/// Tells whether one of a candidate's texts fits.
fn fits(candidate: &Candidate, left: &Size) -> bool {
    candidate.full.iter().chain(&candidate.compact).any(|text| left.holds(&text.size()))
}

/// Decides about a candidate with so much room left.
fn decide<'c>(candidate: &'c Candidate, left: &Size, shorten: Option<&dyn Shorten>) -> CandidateOutcome<'c> {
    let fits = |text: &Measured| left.holds(&text.size());
    let required = candidate.priority == Priority::Required;
    let shortened = || {
        let text = shorten.and_then(|shorten| shorten.shorten(candidate, left))?;
        let (text, shortened) = (Cow::Owned(text), Some(Shortening::Cut));
        Some(CandidateOutcome::Included(Inclusion { variant: Variant::Full, text, shortened }))
    };
    match (&candidate.full, &candidate.compact) {
        (None, None) => CandidateOutcome::Omitted(Omission::Empty),
        (Some(full), _) if fits(full) => CandidateOutcome::whole(Variant::Full, full),
        (_, Some(compact)) if fits(compact) => CandidateOutcome::whole(Variant::Compact, compact),
        _ => match (shortened(), &candidate.full, &candidate.compact) {
            (Some(shortened), ..) => shortened,
            (None, Some(full), Some(compact)) if required && compact.tokens() < full.tokens() => {
                CandidateOutcome::whole(Variant::Compact, compact)
            }
            (None, Some(full), _) if required => CandidateOutcome::whole(Variant::Full, full),
            (None, None, Some(compact)) if required => CandidateOutcome::whole(Variant::Compact, compact),
            (None, full, compact) => {
                let needed = full.as_ref().or(compact.as_ref()).map(Measured::size).unwrap_or_default();
                CandidateOutcome::Omitted(Omission::Budget { needed, left: *left })
            }
        },
    }
}
