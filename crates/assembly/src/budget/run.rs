//! Keeping the newest end of a run.
//!
//! What is left out is always the oldest end, so a conversation has no holes. The cut stays where it is as long as it
//! can while the run grows, because everything after a moved cut is new to a provider's cache: of the places that leave
//! at most an eighth of the room empty it takes the one whose place in the run is divisible by the highest power of two.
//! That depends on nothing but the run and the room, and more room never drops anything: the places that are allowed
//! only move towards the oldest end.

use std::collections::BTreeSet;

use super::{CandidateOutcome, Decision, Ledger, Omission, RunRule};
use crate::{
    candidate::{Candidate, Measured, Priority, RunPart, Variant},
    measure::{Size, TokenCount},
};

/// The part of the room that may stay empty for the sake of a lasting cut.
const SLACK: u64 = 8;
/// The part of the room that summaries of what is left out may have.
const SUMMARIES: u64 = 10;

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOutcome {
    /// Whether its oldest end was left out.
    pub is_cut: bool,
    /// Whether a mark says so.
    pub has_mark: bool,
    /// The room that it had.
    pub room: TokenCount,
    /// How many tokens can be added at its newest end before anything else in it changes.
    pub holds_for: TokenCount,
}

/// The steps of a run from its oldest to its newest, with what they and all newer ones have together.
struct Steps {
    /// Places among the decisions.
    indexes: Vec<usize>,
    /// Sizes of what begins with each step; one more for nothing.
    suffixes: Vec<Size>,
    /// How good a place each is to cut before.
    evenness: Vec<u32>,
}

/// Decides about all candidates of a run that may be left out.
pub(super) fn decide(
    decisions: &mut [Decision<'_>],
    segment: usize,
    rule: RunRule,
    ledger: &mut Ledger<'_>,
) -> RunOutcome {
    let room = ledger.left(segment);
    let (steps, summaries) = parts(decisions, segment);
    let fits_whole = !rule.is_cut && room.holds(&steps.suffixes[0]);
    let for_summaries = if summaries.is_empty() || fits_whole {
        Size::default()
    } else {
        Size { tokens: TokenCount::new(room.tokens.get() / SUMMARIES), ..room }
    };
    let for_steps = if fits_whole {
        room
    } else {
        room.without(&(Size { tokens: for_summaries.tokens, ..Size::default() } + rule.mark))
    };
    let cut = if fits_whole { 0 } else { steps.cut(&for_steps) };
    let mut outcome = RunOutcome {
        is_cut: !fits_whole,
        has_mark: !fits_whole && (!rule.mark_may_go || room.holds(&rule.mark)),
        room: room.tokens,
        holds_for: if fits_whole { room.without(&steps.suffixes[0]).tokens } else { steps.holds_for(cut, &for_steps) },
    };
    let mut kept_from = cut;
    for (position, &index) in steps.indexes.iter().enumerate() {
        let candidate = decisions[index].candidate;
        decisions[index].outcome = match &candidate.full {
            Some(full) if position >= cut => CandidateOutcome::whole(Variant::Full, full),
            Some(_) => {
                CandidateOutcome::Omitted(Omission::Budget { needed: steps.suffixes[position], left: for_steps })
            }
            None => CandidateOutcome::Omitted(Omission::Empty),
        };
        ledger.take(&decisions[index]);
    }
    if let Some(&last) = steps.indexes.last()
        && cut == steps.indexes.len()
    {
        // Not even the newest step fits.
        let shorten = ledger.budget.segments[segment].shorten;
        let shortened = super::decide(decisions[last].candidate, &for_steps, shorten);
        if shortened.inclusion().is_some() {
            decisions[last].outcome = shortened;
            ledger.take(&decisions[last]);
            outcome.holds_for = TokenCount::ZERO;
            kept_from = cut - 1;
        }
    }
    if outcome.has_mark {
        ledger.used = ledger.used + rule.mark;
        ledger.in_segments[segment] = ledger.in_segments[segment] + rule.mark.tokens;
    }
    let is_needed = steps.left_out(decisions, kept_from);
    summarize(decisions, &steps, &summaries, |turn| outcome.is_cut && is_needed(turn), for_summaries, ledger);
    outcome
}

/// Takes summaries of what was left out, the newest first.
fn summarize(
    decisions: &mut [Decision<'_>],
    steps: &Steps,
    summaries: &[(usize, u64)],
    is_needed: impl Fn(u64) -> bool,
    mut room: Size,
    ledger: &mut Ledger<'_>,
) {
    let mut summarized = BTreeSet::new();
    let mut is_closed = false;
    for &(index, turn) in summaries.iter().rev() {
        let candidate = decisions[index].candidate;
        decisions[index].outcome = match &candidate.full {
            None => CandidateOutcome::Omitted(Omission::Empty),
            Some(_) if !is_needed(turn) => CandidateOutcome::Omitted(Omission::Needless),
            Some(full) if room.holds(&full.size()) => {
                room = room.without(&full.size());
                summarized.insert(turn);
                CandidateOutcome::whole(Variant::Full, full)
            }
            Some(full) => {
                let needed = if is_closed { Size::default() } else { full.size() };
                let left = room;
                is_closed = true;
                // Those that follow are older: with them there would be a hole.
                room = Size::default();
                CandidateOutcome::Omitted(Omission::Budget { needed, left })
            }
        };
        ledger.take(&decisions[index]);
    }
    for &step in &steps.indexes {
        let Decision { candidate, outcome } = &mut decisions[step];
        let is_summarized = matches!(candidate.part, RunPart::Step(turn) if summarized.contains(&turn));
        if is_summarized && matches!(outcome, CandidateOutcome::Omitted(Omission::Budget { .. })) {
            *outcome = CandidateOutcome::Omitted(Omission::Summarized);
        }
    }
}

/// Sorts the candidates of a run into steps and summaries, each from the oldest to the newest.
fn parts(decisions: &[Decision<'_>], segment: usize) -> (Steps, Vec<(usize, u64)>) {
    let is_run = |candidate: &Candidate| candidate.segment == segment && candidate.priority != Priority::Required;
    let (mut indexes, mut summaries) = (Vec::new(), Vec::new());
    for (index, Decision { candidate, .. }) in decisions.iter().enumerate().filter(|(_, d)| is_run(d.candidate)) {
        match candidate.part {
            RunPart::Alone | RunPart::Step(_) => indexes.push(index),
            RunPart::Summary(turn) => summaries.push((index, turn)),
        }
    }
    let mut suffixes = vec![Size::default()];
    for &index in indexes.iter().rev() {
        let size = decisions[index].candidate.full.as_ref().map(Measured::size).unwrap_or_default();
        suffixes.push(suffixes[suffixes.len() - 1] + size);
    }
    suffixes.reverse();
    let evenness = indexes.iter().map(|&index| decisions[index].candidate.place.order.trailing_zeros()).collect();
    (Steps { indexes, suffixes, evenness }, summaries)
}

impl Steps {
    /// Tells of which turns something is left out when all before a step is.
    fn left_out(&self, decisions: &[Decision<'_>], kept_from: usize) -> impl Fn(u64) -> bool + use<> {
        let part = |position: usize| self.indexes.get(position).map(|&index| decisions[index].candidate.part);
        let kept = part(kept_from);
        let begins_inside = kept_from > 0 && part(kept_from - 1) == kept;
        move |turn| match kept {
            Some(RunPart::Step(kept)) => turn < kept || turn == kept && begins_inside,
            _ => true,
        }
    }

    /// Returns the step that the kept end begins with.
    fn cut(&self, room: &Size) -> usize {
        // Nothing always fits.
        let oldest = self.suffixes.partition_point(|suffix| !room.holds(suffix));
        let newest = self.newest_cut(oldest, room);
        let end = self.indexes.len();
        (oldest..=newest).rev().max_by_key(|&cut| if cut == end { 0 } else { self.evenness[cut] }).unwrap_or(oldest)
    }

    /// Returns the newest place to cut at that leaves no more of the room empty than allowed.
    fn newest_cut(&self, oldest: usize, room: &Size) -> usize {
        let least = least(room);
        let beyond = self.suffixes.partition_point(|suffix| suffix.tokens >= least);
        beyond.saturating_sub(1).max(oldest)
    }

    /// Returns how many tokens can be added before the cut moves.
    fn holds_for(&self, cut: usize, room: &Size) -> TokenCount {
        let end = self.indexes.len();
        let own = if cut == end { 0 } else { self.evenness[cut] };
        let least = least(room);
        let until_full = room.without(&self.suffixes[cut]).tokens;
        // A better place to cut comes into reach when enough is kept after it, and what is added may be one.
        let newest = self.newest_cut(cut, room);
        let better = (newest + 1..end).filter(|&place| self.evenness[place] > own).chain([end]);
        let until_better = better.map(|place| least.beyond(self.suffixes[place].tokens).get().saturating_sub(1)).min();
        until_better.map_or(until_full, |until| until_full.min(TokenCount::new(until)))
    }
}

fn least(room: &Size) -> TokenCount {
    TokenCount::new(room.tokens.get() - room.tokens.get() / SLACK)
}
