//! The pipeline: frozen inputs in, for each target what it is given and why.
//!
//! surface (what the target may see) → selection and budget → window → blocks → rendering. Nothing here reads anything
//! but its arguments.

mod surface;
mod trim;

use std::{borrow::Cow, cell::RefCell, collections::HashMap};

use crate::{
    budget::{self, Decision, Inclusion, Omission, Outcome, RunRule, SegmentRule, Selection, Shortening},
    candidate::{Candidate, CandidateId, Measured, Priority, RunPart, Variant},
    counts::Counts,
    digest::Digest,
    document::{
        Block, Fate, Gap, GapKind, Inputs, ItemDecision, LossNote, SegmentOutcome, TargetOutcome, Totals, Whole,
        WindowReport,
    },
    item::{Content, Item, Voice},
    measure::{CharCount, Size, TokenCount},
    recipe::{Segment, SourceInput, Stability, TargetSpec},
    render::{Fence, Piece, Rendered, Renderer},
    standard::{ItemId, OmissionReason, OverflowStrategy, Severity},
};
use surface::Surface;
use trim::Trimmer;

/// What came out for one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
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
pub fn run(inputs: &Inputs, counts: &Counts<'_>) -> Result<Vec<Assembled>, Rejected> {
    let fence = fence(inputs);
    inputs.recipe.targets.iter().map(|target| assemble(inputs, *target, &fence, counts)).collect()
}

/// Tells whether the steps of a run fill the budget of every target, so that older ones need not be read.
pub fn is_filled(inputs: &Inputs, segment: usize, counts: &Counts<'_>) -> bool {
    let fence = fence(inputs);
    inputs.recipe.targets.iter().all(|target| {
        let renderer = Renderer { rendering: target.rendering, fence: &fence, session: &inputs.session };
        let limits = inputs.recipe.budget.limits_for(target.audience);
        let mut size = Size::default();
        let visible = inputs.items.iter().filter(|item| item.is_visible_to(target.audience));
        for item in visible.filter(|item| item.segment == segment && matches!(item.part, RunPart::Step(_))) {
            size = size + measured(&renderer, counts, Some(item), &item.content).map(|m| m.size()).unwrap_or_default();
        }
        limits.max_tokens.is_some_and(|max| size.tokens.get() > max)
            || limits.max_bytes.is_some_and(|max| size.bytes > max)
            || limits.max_items.is_some_and(|max| size.items > max)
            || limits.max_chars.is_some_and(|max| size.chars.get() > max)
    })
}

fn fence(inputs: &Inputs) -> Fence {
    let content = serde_json::to_vec(&inputs.items).expect("items have text keys");
    Fence::new(&inputs.stream, &content)
}

fn assemble(inputs: &Inputs, target: TargetSpec, fence: &Fence, counts: &Counts<'_>) -> Result<Assembled, Rejected> {
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
    let mark = measured(&renderer, counts, None, &left_out_mark(u64::MAX)).map(|mark| mark.size()).unwrap_or_default();
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
    let gaps = gaps(inputs, target, &selection, over_budget_tokens, &window);
    let outcome = TargetOutcome {
        target,
        limits,
        total,
        over_budget_tokens,
        segments: segments(inputs, &selection, &window),
        decisions: decisions(&surface, &selection),
        rendering: Whole { digest: Digest::of(&bytes), bytes: bytes.len() as u64 },
        window: window.report(inputs, &selection),
        losses: losses
            .counts()
            .iter()
            .map(|count| LossNote { kind: count.loss.as_str().to_owned(), count: count.count })
            .collect(),
        blocks: window.blocks,
    };
    Ok(Assembled { outcome, bytes, fragments: window.fragments, gaps })
}

fn overflow(inputs: &Inputs, segment: &Segment) -> OverflowStrategy {
    segment.overflow.unwrap_or(inputs.recipe.budget.overflow)
}

/// Tells whether a segment keeps the newest end of a conversation.
pub fn is_run(segment: &Segment) -> bool {
    segment.sources.iter().any(|source| matches!(source.input, SourceInput::History { .. }))
}

fn candidate(item: &Item, renderer: &Renderer<'_>, counts: &Counts<'_>) -> Candidate {
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
fn measured(renderer: &Renderer<'_>, counts: &Counts<'_>, item: Option<&Item>, content: &Content) -> Option<Measured> {
    let is_empty = match content {
        Content::Text { text, .. } => text.trim().is_empty(),
        Content::Entries(entries) => entries.iter().all(|entry| entry.parts.is_empty()),
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

/// Says that turns were left out.
fn left_out_mark(turns: u64) -> Content {
    let noun = if turns == 1 { "turn" } else { "turns" };
    let text = format!("[{turns} earlier {noun} of this conversation left out]");
    Content::Text { text, voice: Voice::User, fenced: false }
}

/// Refuses an assembly in which something does not fit that must.
fn rejected(inputs: &Inputs, target: TargetSpec, selection: &Selection<'_>) -> Result<(), Rejected> {
    let rejects = |candidate: &Candidate| {
        overflow(inputs, &inputs.recipe.segments[candidate.segment]) == OverflowStrategy::Reject
    };
    let mut left_out = selection.decisions.iter().filter(|decision| {
        rejects(decision.candidate) && matches!(decision.outcome, Outcome::Omitted(Omission::Budget { .. }))
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

/// What is in, in its order.
struct Window<'w> {
    pieces: Vec<Piece<'w>>,
    blocks: Vec<Block>,
    fragments: Vec<String>,
    turns_left_out: u64,
}

impl<'w> Window<'w> {
    fn of(
        inputs: &'w Inputs,
        renderer: &Renderer<'_>,
        counts: &Counts<'_>,
        items: &HashMap<&str, &'w Item>,
        selection: &Selection<'_>,
        trimmed: &HashMap<CandidateId, Content>,
    ) -> Self {
        let mut window = Self { pieces: Vec::new(), blocks: Vec::new(), fragments: Vec::new(), turns_left_out: 0 };
        let mut at = 0;
        for (index, segment) in inputs.recipe.segments.iter().enumerate() {
            if selection.runs.get(&index).is_some_and(|run| run.is_cut) {
                let turns = turns_left_out(inputs, index, selection);
                window.turns_left_out += turns;
                let mark = left_out_mark(turns);
                let fragment = renderer.fragment(None, &mark);
                let tokens = counts.counter().count(&fragment.text);
                window.push(segment, None, Cow::Owned(mark), &fragment.text, tokens);
            }
            while let Some(Decision { candidate, outcome }) =
                selection.decisions.get(at).filter(|decision| decision.candidate.segment == index)
            {
                at += 1;
                let (Some(inclusion), Some(item)) = (outcome.inclusion(), items.get(candidate.id.as_str())) else {
                    continue;
                };
                let content = match (inclusion.shortened, inclusion.variant, &item.compact) {
                    (Some(Shortening::Cut), ..) => trimmed.get(&candidate.id).cloned().map(Cow::Owned),
                    (_, Variant::Compact, Some(compact)) => Some(Cow::Borrowed(compact)),
                    _ => None,
                };
                let content = content.unwrap_or(Cow::Borrowed(&item.content));
                window.push(segment, Some(item), content, inclusion.text.text(), inclusion.text.tokens());
            }
        }
        window
    }

    fn push(
        &mut self,
        segment: &Segment,
        item: Option<&'w Item>,
        content: Cow<'w, Content>,
        fragment: &str,
        tokens: TokenCount,
    ) {
        self.blocks.push(Block {
            item: item.map(|item| item.id.clone()),
            segment: segment.name.clone(),
            digest: Digest::of(fragment.as_bytes()),
            tokens: tokens.get(),
            bytes: fragment.len() as u64,
        });
        self.fragments.push(fragment.to_owned());
        self.pieces.push(Piece { item, content, stability: segment.stability });
    }

    fn total(&self) -> Totals {
        total(&self.blocks)
    }

    fn report(&self, inputs: &Inputs, selection: &Selection<'_>) -> WindowReport {
        let is_volatile = |segment: &Segment| segment.stability == Stability::Volatile;
        let volatile: Vec<&Segment> = inputs.recipe.segments.iter().filter(|segment| is_volatile(segment)).collect();
        // A tail that needs more than is reserved for it takes from the history, and moves where that is cut.
        let taken_first = |name: &str| -> u64 {
            let inside = selection.decisions.iter().filter(|decision| {
                let Candidate { segment, priority, .. } = decision.candidate;
                inputs.recipe.segments[*segment].name == name && *priority < Priority::Medium
            });
            let inclusions = inside.filter_map(|decision| decision.outcome.inclusion());
            inclusions.map(|inclusion| inclusion.text.tokens().get()).sum()
        };
        let is_cut = selection.runs.values().any(|run| run.is_cut);
        let keeps_reserve = volatile.iter().all(|segment| taken_first(&segment.name) <= segment.reserve);
        let lasting = if is_cut && !keeps_reserve { Stability::Stable } else { Stability::Append };
        let end = self.pieces.partition_point(|piece| piece.stability <= lasting);
        let sum = total(&self.blocks[..end]);
        WindowReport {
            lasting_blocks: end as u64,
            lasting_bytes: sum.bytes,
            lasting_tokens: sum.tokens,
            holds_for_tokens: selection.runs.values().map(|run| run.holds_for.get()).min().unwrap_or(u64::MAX),
            turns_left_out: self.turns_left_out,
        }
    }
}

fn total(blocks: &[Block]) -> Totals {
    let sum = |measure: fn(&Block) -> u64| blocks.iter().map(measure).sum();
    Totals { tokens: sum(|block| block.tokens), bytes: sum(|block| block.bytes), items: blocks.len() as u64 }
}

/// Counts the turns of a run of which something was left out.
fn turns_left_out(inputs: &Inputs, segment: usize, selection: &Selection<'_>) -> u64 {
    let unread = inputs.unread.as_ref().filter(|unread| unread.segment == segment).map_or(0, |unread| unread.turns);
    let mut turns: Vec<u64> = selection
        .decisions
        .iter()
        .filter(|decision| decision.candidate.segment == segment && decision.outcome.inclusion().is_none())
        .filter_map(|decision| match decision.candidate.part {
            RunPart::Step(turn) => Some(turn),
            RunPart::Alone | RunPart::Summary(_) => None,
        })
        .collect();
    turns.dedup();
    unread + turns.len() as u64
}

fn segments(inputs: &Inputs, selection: &Selection<'_>, window: &Window<'_>) -> Vec<SegmentOutcome> {
    let outcome = |(index, segment): (usize, &Segment)| {
        let inside = window.blocks.iter().filter(|block| block.segment == segment.name);
        let total = total(&inside.cloned().collect::<Vec<_>>());
        let mut omitted = Totals::default();
        for Decision { candidate, outcome } in selection.decisions.iter().filter(|d| d.candidate.segment == index) {
            let is_needless = matches!(outcome, Outcome::Omitted(Omission::Needless | Omission::Empty));
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

fn decisions(surface: &Surface<'_>, selection: &Selection<'_>) -> Vec<ItemDecision> {
    let decided = selection.decisions.iter().map(|Decision { candidate, outcome }| {
        let item = ItemId::new(candidate.id.as_str()).expect("the id of a candidate is not empty");
        ItemDecision { item, fate: fate(candidate, outcome) }
    });
    decided.chain(surface.hidden.iter().cloned()).collect()
}

fn fate(candidate: &Candidate, outcome: &Outcome<'_>) -> Fate {
    let tokens = candidate.full.as_ref().map_or(0, |full| full.tokens().get());
    let omitted = |reason, note: String| Fate::Omitted { reason, note, tokens };
    match outcome {
        Outcome::Included(Inclusion { variant, text, shortened }) => Fate::Included {
            variant: *variant,
            cut_from: shortened.map(|_| tokens),
            tokens: text.tokens().get(),
            bytes: text.size().bytes,
        },
        Outcome::Omitted(Omission::Budget { left }) => {
            let is_step = matches!(candidate.part, RunPart::Step(_));
            let note = if is_step {
                format!("older than what fits: the conversation had room for {left} tokens")
            } else {
                format!("has {tokens} tokens; {left} were left")
            };
            omitted(OmissionReason::BudgetLimit, note)
        }
        Outcome::Omitted(Omission::MaxChars) => {
            omitted(OmissionReason::TooLarge, "the limit of characters left no room".to_owned())
        }
        Outcome::Omitted(Omission::Summarized) => {
            omitted(OmissionReason::SupersededBySummary, "a summary of its turn stands for it".to_owned())
        }
        Outcome::Omitted(Omission::Needless) => {
            omitted(OmissionReason::Duplicate, "the turn that it sums up is in".to_owned())
        }
        Outcome::Omitted(Omission::Empty) => omitted(OmissionReason::Custom, "it says nothing".to_owned()),
    }
}

fn gaps(
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
