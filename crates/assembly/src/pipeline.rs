//! The pipeline: frozen inputs in, for each target what it is given and why.
//!
//! surface (what the target may see) → selection and budget → window → blocks → rendering. Nothing here reads anything
//! but its arguments.

mod account;
mod surface;
mod trim;
mod window;

use std::{cell::RefCell, collections::HashMap};

use crate::{
    budget::{self, CandidateOutcome, Omission, RunRule, SegmentRule, Selection},
    candidate::{Candidate, CandidateId, Measured, Priority, RunPart},
    counts::TokenCounts,
    digest::Digest,
    envelope::{Gap, Inputs, RenderingLoss, TargetOutcome, Whole},
    item::{Item, ItemContent},
    measure::{CharCount, Size, TokenCount},
    recipe::{SegmentSpec, SourceInput, TargetSpec},
    render::{Fence, Rendered, Renderer},
    standard::OverflowStrategy,
};
use surface::Surface;
use trim::Trimmer;
use window::Window;

/// What came out for one target.
#[derive(Debug, Clone, PartialEq)]
pub struct AssembledTarget {
    /// What was decided.
    pub outcome: TargetOutcome,
    /// What the target is given.
    pub bytes: Vec<u8>,
    /// What each block says by itself.
    pub fragments: Vec<String>,
    /// What is missing.
    pub gaps: Vec<Gap>,
}

/// Says why nothing was assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// Something does not fit, and the recipe rejects that.
    #[error(
        "{count} items do not fit into the budget of {target}, and the recipe rejects that; the first is {first} with {tokens} tokens"
    )]
    Overflow {
        /// For whom.
        target: TargetSpec,
        /// How many items.
        count: usize,
        /// The first of them.
        first: String,
        /// Its tokens.
        tokens: u64,
    },
    /// Required items exceed the limit of characters, which nothing may.
    #[error("required items have {chars} characters for {target}, and the limit is {max}")]
    TooLong {
        /// For whom.
        target: TargetSpec,
        /// How many characters there are.
        chars: u64,
        /// How many there may be.
        max: u64,
    },
}

/// Returns the digests of all texts that will be counted, so that counts can be fetched.
pub fn digests(inputs: &Inputs) -> Vec<Digest> {
    let fence = fence(inputs);
    let mut digests = Vec::new();
    for target in &inputs.recipe.targets {
        let renderer = Renderer { rendering: target.rendering, fence: &fence, session: &inputs.session };
        for item in inputs.items.iter().filter(|item| item.is_visible_to(target.audience)) {
            for content in [Some(&item.content), item.compact.as_ref()].into_iter().flatten() {
                digests.push(Digest::of(renderer.fragment(Some(item), content).text.as_bytes()));
            }
        }
    }
    digests
}

/// Assembles for every target of the recipe.
pub fn run(inputs: &Inputs, counts: &TokenCounts<'_>) -> Result<Vec<AssembledTarget>, Rejected> {
    let fence = fence(inputs);
    inputs.recipe.targets.iter().map(|target| assemble(inputs, *target, &fence, counts)).collect()
}

/// A budget that is full, of which [`fill`] tells the share.
pub const FULL: u64 = 1000;

/// Tells which share of the budget the steps of a run fill, for the target of which they fill least. Where that is more
/// than [`FULL`], older ones need not be read.
pub fn fill(inputs: &Inputs, segment: usize, counts: &TokenCounts<'_>) -> u64 {
    let fence = fence(inputs);
    let share = |size: u64, max: Option<u64>| max.map_or(0, |max| size.saturating_mul(FULL) / max.max(1));
    let fills = inputs.recipe.targets.iter().map(|target| {
        let renderer = Renderer { rendering: target.rendering, fence: &fence, session: &inputs.session };
        let limits = inputs.recipe.budget.limits_for(target.audience);
        let mut size = Size::default();
        let visible = inputs.items.iter().filter(|item| item.is_visible_to(target.audience));
        for item in visible.filter(|item| item.segment == segment && matches!(item.part, RunPart::Step(_))) {
            size = size + measured(&renderer, counts, Some(item), &item.content).map(|m| m.size()).unwrap_or_default();
        }
        let tokens = share(size.tokens.get(), limits.max_tokens);
        let chars = share(size.chars.get(), limits.max_chars);
        tokens.max(chars).max(share(size.bytes, limits.max_bytes)).max(share(size.items, limits.max_items))
    });
    fills.min().unwrap_or(0)
}

fn fence(inputs: &Inputs) -> Fence {
    let content = serde_json::to_vec(&inputs.items).expect("items have text keys");
    Fence::new(&inputs.stream, &content)
}

fn assemble(
    inputs: &Inputs,
    target: TargetSpec,
    fence: &Fence,
    counts: &TokenCounts<'_>,
) -> Result<AssembledTarget, Rejected> {
    let renderer = Renderer { rendering: target.rendering, fence, session: &inputs.session };
    let limits = inputs.recipe.budget.limits_for(target.audience);
    let surface = Surface::of(inputs, target);
    let candidates: Vec<Candidate> = surface.visible.iter().map(|item| candidate(item, &renderer, counts)).collect();
    let items: HashMap<&str, &Item> = surface.visible.iter().map(|item| (item.id.as_str(), *item)).collect();

    let trimmed = RefCell::default();
    let trimmers: Vec<Trimmer<'_>> = inputs
        .recipe
        .segments
        .iter()
        .map(|segment| Trimmer {
            items: &items,
            renderer: &renderer,
            counts,
            overflow: overflow(inputs, segment),
            trimmed: &trimmed,
        })
        .collect();
    let mark =
        measured(&renderer, counts, None, &window::left_out_mark(u64::MAX)).map(|mark| mark.size()).unwrap_or_default();
    let rules: Vec<SegmentRule<'_>> = inputs
        .recipe
        .segments
        .iter()
        .enumerate()
        .zip(&trimmers)
        .map(|((index, segment), trimmer)| SegmentRule {
            reserve: TokenCount::new(segment.reserve),
            max_tokens: segment.max_tokens.map_or(Size::MAX.tokens, TokenCount::new),
            shorten: Some(trimmer),
            run: is_run(segment).then(|| RunRule {
                mark: Size { items: 0, ..mark },
                is_cut: inputs.unread.as_ref().is_some_and(|unread| unread.segment == index),
            }),
        })
        .collect();
    let room = Size {
        tokens: limits
            .max_tokens
            .map_or(Size::MAX.tokens, |max| TokenCount::new(max.saturating_sub(limits.reserved_tokens.unwrap_or(0)))),
        chars: limits.max_chars.map_or(Size::MAX.chars, CharCount::new),
        bytes: limits.max_bytes.unwrap_or(u64::MAX),
        items: limits.max_items.unwrap_or(u64::MAX),
    };
    let budget = budget::Budget { room, max_chars: Size::MAX.chars, segments: &rules };
    let selection = budget::select_in(counts.counter(), &budget, &candidates);
    rejected(inputs, target, &selection)?;

    let window = Window::of(inputs, &renderer, counts, &items, &selection, &trimmed.borrow());
    let Rendered { bytes, losses } = renderer.whole(&window.pieces);
    let total = window.total();
    let chars: CharCount = selection.chars();
    if chars > room.chars {
        return Err(Rejected::TooLong { target, chars: chars.get(), max: room.chars.get() });
    }
    let over_budget_tokens = TokenCount::new(total.tokens).beyond(room.tokens).get();
    let gaps = account::gaps(inputs, target, &selection, over_budget_tokens, &window);
    let outcome = TargetOutcome {
        target,
        limits,
        total,
        over_budget_tokens,
        segments: account::segments(inputs, &selection, &window),
        decisions: account::decisions(&surface, &selection),
        rendering: Whole { digest: Digest::of(&bytes), bytes: bytes.len() as u64 },
        window: window.report(inputs, &selection),
        losses: losses
            .counts()
            .iter()
            .map(|count| RenderingLoss { kind: count.loss.as_str().to_owned(), count: count.count })
            .collect(),
        blocks: window.blocks,
    };
    Ok(AssembledTarget { outcome, bytes, fragments: window.fragments, gaps })
}

fn overflow(inputs: &Inputs, segment: &SegmentSpec) -> OverflowStrategy {
    segment.overflow.unwrap_or(inputs.recipe.budget.overflow)
}

/// Tells whether a segment keeps the newest end of a conversation.
pub fn is_run(segment: &SegmentSpec) -> bool {
    segment.sources.iter().any(|source| matches!(source.input, SourceInput::History { .. }))
}

fn candidate(item: &Item, renderer: &Renderer<'_>, counts: &TokenCounts<'_>) -> Candidate {
    Candidate {
        id: CandidateId::new(item.id.as_str()).expect("the id of an item is not empty"),
        priority: item.priority,
        place: item.place,
        preserve: false,
        segment: item.segment,
        part: item.part,
        full: measured(renderer, counts, Some(item), &item.content),
        compact: item.compact.as_ref().and_then(|compact| measured(renderer, counts, Some(item), compact)),
    }
}

/// Measures what an item says; nothing where it says nothing.
fn measured(
    renderer: &Renderer<'_>,
    counts: &TokenCounts<'_>,
    item: Option<&Item>,
    content: &ItemContent,
) -> Option<Measured> {
    let is_empty = match content {
        ItemContent::Text { text, .. } => text.trim().is_empty(),
        ItemContent::Entries(entries) => entries.iter().all(|entry| entry.parts.is_empty()),
    };
    if is_empty {
        return None;
    }
    let fragment = renderer.fragment(item, content);
    // A mark is short, and another one each time.
    let tokens = match item {
        Some(_) => counts.with_images(&fragment.text, fragment.images),
        None => counts.counter().count(&fragment.text),
    };
    Measured::with_tokens(fragment.text, tokens)
}

/// Refuses an assembly in which something does not fit that must.
fn rejected(inputs: &Inputs, target: TargetSpec, selection: &Selection<'_>) -> Result<(), Rejected> {
    let rejects = |candidate: &Candidate| {
        overflow(inputs, &inputs.recipe.segments[candidate.segment]) == OverflowStrategy::Reject
    };
    let mut left_out = selection.decisions.iter().filter(|decision| {
        rejects(decision.candidate) && matches!(decision.outcome, CandidateOutcome::Omitted(Omission::Budget { .. }))
    });
    let room = inputs.recipe.budget.limits_for(target.audience);
    let max = room.max_tokens.map(|max| max.saturating_sub(room.reserved_tokens.unwrap_or(0)));
    let is_over = max.is_some_and(|max| selection.tokens() > TokenCount::new(max));
    let mut required = selection
        .decisions
        .iter()
        .filter(|decision| is_over && rejects(decision.candidate) && decision.candidate.priority == Priority::Required);
    let Some(first) = left_out.next().or_else(|| required.next()) else { return Ok(()) };
    let tokens = first.candidate.full.as_ref().map_or(0, |full| full.tokens().get());
    let count = 1 + left_out.count();
    Err(Rejected::Overflow { target, count, first: first.candidate.id.to_string(), tokens })
}
