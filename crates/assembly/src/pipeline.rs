//! The pipeline: frozen inputs in, for each target what it is given and why.
//!
//! surface (what the target may see) → selection and budget → window → blocks → rendering. Nothing here reads anything
//! but its arguments.

mod account;
mod prepared;
mod remembered;
mod surface;
mod trim;
mod version;
mod window;

use std::{cell::RefCell, collections::HashMap};

use crate::{
    budget::{self, CandidateOutcome, Omission, RunRule, SegmentRule, Selection},
    candidate::{Candidate, CandidateId, Measured, Priority},
    counts::TokenCounts,
    digest::Digest,
    envelope::{Gap, Inputs, RenderingLoss, TargetOutcome, Whole},
    item::{Item, ItemContent},
    measure::{CharCount, Size, TokenCount},
    recipe::{RequiredOverflow, SegmentSpec, SourceInput, TargetSpec},
    render::{Fragment, ModelCall, Rendered, Renderer},
    shared_text::SharedText,
    standard::OverflowStrategy,
};

pub use prepared::{FULL, PreparedItems};
pub use remembered::RememberedItems;
pub use version::{PipelineVersion, UnknownPipeline};

use prepared::ItemTexts;
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
    pub fragments: Vec<SharedText>,
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
    /// What is required does not fit, and the recipe does not include it all the same.
    #[error(
        "what is required has {needed} {noun}s for {target}, and there is room for {room}; the largest item is {largest} with {tokens} tokens"
    )]
    Required {
        /// For whom.
        target: TargetSpec,
        /// What is counted.
        noun: &'static str,
        /// How much there is.
        needed: u64,
        /// How much there may be.
        room: u64,
        /// The item with most tokens.
        largest: String,
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

/// Assembles for every target of the recipe.
pub fn run(inputs: &Inputs, counts: &TokenCounts<'_>) -> Result<Vec<AssembledTarget>, Rejected> {
    run_prepared(inputs, &mut PreparedItems::of(inputs), counts)
}

/// Assembles what was prepared of these inputs for every target of the recipe.
pub fn run_prepared(
    inputs: &Inputs,
    prepared: &mut PreparedItems,
    counts: &TokenCounts<'_>,
) -> Result<Vec<AssembledTarget>, Rejected> {
    prepared.update(inputs);
    let targets = inputs.recipe.targets.iter().enumerate();
    targets.map(|(index, target)| assemble(inputs, (index, *target), prepared, counts)).collect()
}

fn assemble(
    inputs: &Inputs,
    (index, target): (usize, TargetSpec),
    prepared: &PreparedItems,
    counts: &TokenCounts<'_>,
) -> Result<AssembledTarget, Rejected> {
    let limits = inputs.recipe.budget.limits_for(target.audience);
    let surface = Surface::of(inputs, target);
    let candidate = |(place, item): &(usize, &Item)| candidate(item, prepared.texts(*place, index), counts);
    let candidates: Vec<Candidate> = surface.visible.iter().map(candidate).collect();
    let items: HashMap<&str, &Item> = surface.visible.iter().map(|(_, item)| (item.id.as_str(), *item)).collect();
    let renderer = Renderer {
        rendering: target.rendering,
        fence: prepared.fence(),
        session: &inputs.session,
        provider: inputs.pipeline.provider(),
    };

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
    let mark = |segment: &SegmentSpec| {
        let mark = window::left_out_mark(segment, u64::MAX);
        measured(&renderer, counts, None, &mark).map(|mark| mark.size()).unwrap_or_default()
    };
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
                mark: Size { items: 0, ..mark(segment) },
                is_cut: inputs.unread.as_ref().is_some_and(|unread| unread.segment == index)
                    || inputs.unread_messages.is_some_and(|unread| unread.segment == index),
                mark_may_go: inputs.pipeline != PipelineVersion::First,
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
    if inputs.pipeline != PipelineVersion::First && inputs.recipe.budget.required == RequiredOverflow::Reject {
        required_fits(target, &selection, &room)?;
    }

    let window = Window::of(inputs, &renderer, counts, &items, &selection, &trimmed.borrow());
    let call = inputs.recipe.model.as_deref().map(|model| ModelCall {
        model,
        max_output: inputs.recipe.max_output.or(limits.reserved_tokens).filter(|tokens| *tokens > 0),
    });
    let Rendered { bytes, losses } = renderer.whole(&window.pieces, call);
    let total = window.total(inputs.pipeline);
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
        decisions: account::decisions(inputs.pipeline, &surface, &selection),
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

/// Tells whether a segment keeps the newest end of a conversation, be it that of a chain or of a channel.
pub fn is_run(segment: &SegmentSpec) -> bool {
    let is_conversation =
        |input: &SourceInput| matches!(input, SourceInput::History { .. } | SourceInput::Channel { .. });
    segment.sources.iter().any(|source| is_conversation(&source.input))
}

fn candidate(item: &Item, texts: ItemTexts, counts: &TokenCounts<'_>) -> Candidate {
    let (full, compact) = texts.measured(counts);
    Candidate {
        id: CandidateId::new(item.id.as_str()).expect("the id of an item is not empty"),
        priority: item.priority,
        place: item.place,
        preserve: false,
        segment: item.segment,
        part: item.part,
        full,
        compact,
    }
}

/// Measures what an item says; nothing where it says nothing.
fn measured(
    renderer: &Renderer<'_>,
    counts: &TokenCounts<'_>,
    item: Option<&Item>,
    content: &ItemContent,
) -> Option<Measured> {
    if content.is_blank() {
        return None;
    }
    let Fragment { text, images } = renderer.fragment(item, content);
    let text = SharedText::from(text);
    let chars = CharCount::of(&text);
    // A mark is short, and another one each time.
    let tokens = match item {
        Some(_) => counts.with_images(&text, images),
        None => counts.counter().count(&text),
    };
    Measured::with_lengths(text, tokens, chars)
}

/// Refuses an assembly that exceeds its budget, which only required items can.
fn required_fits(target: TargetSpec, selection: &Selection<'_>, room: &Size) -> Result<(), Rejected> {
    let size = selection.size();
    let Some((noun, needed, room)) = size.exceeding(room) else { return Ok(()) };
    let inside = selection.decisions.iter().filter_map(|decision| {
        let inclusion = decision.outcome.inclusion().filter(|_| decision.candidate.priority == Priority::Required)?;
        Some((inclusion.text.tokens().get(), &decision.candidate.id))
    });
    let (tokens, largest) =
        inside.max_by_key(|(tokens, _)| *tokens).map_or((0, String::new()), |(tokens, id)| (tokens, id.to_string()));
    Err(Rejected::Required { target, noun, needed, room, largest, tokens })
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
