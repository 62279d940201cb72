//! The account: what became of every segment and item, and what is missing.

use super::{
    overflow,
    surface::Surface,
    window::{self, Window},
};
use crate::{
    budget::{CandidateOutcome, Decision, Inclusion, Omission, Selection},
    candidate::{Candidate, CandidateId, Priority, RunPart},
    envelope::{Fate, Gap, GapKind, Inputs, ItemDecision, ItemTotals, SegmentOutcome},
    measure::Size,
    pipeline::PipelineVersion,
    recipe::{SegmentSpec, TargetSpec},
    standard::{ItemId, OmissionReason, Severity},
};

pub(super) fn segments(inputs: &Inputs, selection: &Selection<'_>, window: &Window<'_>) -> Vec<SegmentOutcome> {
    let outcome = |(index, segment): (usize, &SegmentSpec)| {
        let inside = window.blocks.iter().filter(|block| block.segment == segment.name);
        let total = window::counted(inputs.pipeline, inside);
        let mut omitted = ItemTotals::default();
        for Decision { candidate, outcome } in selection.decisions.iter().filter(|d| d.candidate.segment == index) {
            let is_needless = matches!(outcome, CandidateOutcome::Omitted(Omission::Needless | Omission::Empty));
            if let (None, Some(full), false) = (outcome.inclusion(), &candidate.full, is_needless) {
                omitted.tokens += full.tokens().get();
                omitted.bytes += full.size().bytes;
                omitted.items += 1;
            }
        }
        SegmentOutcome {
            name: segment.name.clone(),
            stability: segment.stability,
            reserve: segment.reserve,
            max_tokens: segment.max_tokens,
            overflow: overflow(inputs, segment),
            total,
            omitted,
        }
    };
    inputs.recipe.segments.iter().enumerate().map(outcome).collect()
}

pub(super) fn decisions(
    pipeline: PipelineVersion,
    surface: &Surface<'_>,
    selection: &Selection<'_>,
) -> Vec<ItemDecision> {
    let decided = selection.decisions.iter().map(|Decision { candidate, outcome }| {
        let item = ItemId::new(candidate.id.as_str()).expect("the id of a candidate is not empty");
        ItemDecision { item, fate: fate(pipeline, candidate, outcome) }
    });
    decided.chain(surface.hidden.iter().cloned()).collect()
}

fn fate(pipeline: PipelineVersion, candidate: &Candidate, outcome: &CandidateOutcome<'_>) -> Fate {
    let tokens = candidate.full.as_ref().map_or(0, |full| full.tokens().get());
    let omitted = |reason, note: String| Fate::Omitted { reason, note, tokens };
    match outcome {
        CandidateOutcome::Included(Inclusion { variant, text, shortened }) => Fate::Included {
            variant: *variant,
            cut_from: shortened.map(|_| tokens),
            tokens: text.tokens().get(),
            bytes: text.size().bytes,
        },
        CandidateOutcome::Omitted(Omission::Budget { needed, left }) => {
            let is_step = matches!(candidate.part, RunPart::Step(_));
            let note = match (pipeline, is_step) {
                (PipelineVersion::First, true) => {
                    format!("older than what fits: the conversation had room for {} tokens", left.tokens)
                }
                (PipelineVersion::First, false) => format!("has {tokens} tokens; {} were left", left.tokens),
                (_, is_step) => exceeded(needed, left, is_step),
            };
            omitted(OmissionReason::BudgetLimit, note)
        }
        CandidateOutcome::Omitted(Omission::MaxChars) => {
            omitted(OmissionReason::TooLarge, "the limit of characters left no room".to_owned())
        }
        CandidateOutcome::Omitted(Omission::Summarized) => {
            omitted(OmissionReason::SupersededBySummary, "a summary of its turn stands for it".to_owned())
        }
        CandidateOutcome::Omitted(Omission::Needless) => {
            omitted(OmissionReason::Duplicate, "the turn that it sums up is in".to_owned())
        }
        CandidateOutcome::Omitted(Omission::Empty) => omitted(OmissionReason::Custom, "it says nothing".to_owned()),
    }
}

/// Says which limit something exceeds. What has no limit is not exceeded, so no number is named that nobody set.
fn exceeded(needed: &Size, left: &Size, is_step: bool) -> String {
    let counted = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    match (needed.exceeding(left), is_step) {
        (Some((noun, _, left)), true) => {
            format!("older than what fits: the conversation had room for {}", counted(left, noun))
        }
        (Some(("item", ..)), false) => "the limit of items left no room".to_owned(),
        (Some((noun, needed, left)), false) => {
            format!("has {}; {left} {} left", counted(needed, noun), if left == 1 { "was" } else { "were" })
        }
        (None, true) => {
            "older than where the conversation is cut, which is a place that stays for many turns".to_owned()
        }
        (None, false) => "a newer summary did not fit, and without that one there would be a hole".to_owned(),
    }
}

pub(super) fn gaps(
    inputs: &Inputs,
    target: TargetSpec,
    selection: &Selection<'_>,
    over_budget_tokens: u64,
    window: &Window<'_>,
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for Decision { candidate, outcome } in &selection.decisions {
        let Some(inclusion) = outcome.inclusion().filter(|_| candidate.priority == Priority::Required) else {
            continue;
        };
        let subject = candidate.id.to_string();
        if inclusion.shortened.is_some() {
            gaps.push(Gap {
                kind: GapKind::RequiredCut,
                question: format!("What does the part of {subject} say that was cut for {target}?"),
                subject,
                target: Some(target),
                severity: Severity::Medium,
                blocked_actions: Vec::new(),
                candidates: origin_of(inputs, &candidate.id),
            });
        } else if over_budget_tokens > 0 {
            gaps.push(Gap {
                kind: GapKind::RequiredTooLarge,
                question: format!(
                    "How can {subject} fit? Required items exceed the budget of {target} by {over_budget_tokens} tokens."
                ),
                subject,
                target: Some(target),
                severity: Severity::High,
                blocked_actions: vec!["send_within_budget".to_owned()],
                candidates: origin_of(inputs, &candidate.id),
            });
        }
    }
    if window.pieces.is_empty() {
        gaps.push(Gap {
            kind: GapKind::NothingVisible,
            subject: target.to_string(),
            target: Some(target),
            question: format!("What should {target} see? No item is visible to it or fits."),
            severity: Severity::High,
            blocked_actions: vec!["send".to_owned()],
            candidates: Vec::new(),
        });
    }
    gaps
}

fn origin_of(inputs: &Inputs, id: &CandidateId) -> Vec<String> {
    let of_item = inputs.items.iter().filter(|item| item.id.as_str() == id.as_str());
    of_item.map(|item| item.origin.uri.clone()).collect()
}
