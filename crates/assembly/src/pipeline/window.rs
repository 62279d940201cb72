//! The window: what is in, in its order, and how much of it lasts.

use std::{borrow::Cow, collections::HashMap};

use crate::{
    budget::{Decision, Selection, Shortening},
    candidate::{Candidate, CandidateId, Priority, RunPart, Variant},
    counts::TokenCounts,
    envelope::{Block, Inputs, ItemTotals, WindowReport},
    item::{Item, ItemContent, Voice},
    measure::TokenCount,
    pipeline::PipelineVersion,
    recipe::{SegmentSpec, SourceInput, Stability},
    render::{Renderer, WindowPiece},
    shared_text::SharedText,
};

/// Recipes have smaller limits, so this much is left only of what has none.
const NO_LIMIT: u64 = 1 << 53;

/// What is in, in its order.
pub(super) struct Window<'w> {
    pub(super) pieces: Vec<WindowPiece<'w>>,
    pub(super) blocks: Vec<Block>,
    /// What each block says by itself.
    pub(super) fragments: Vec<SharedText>,
    turns_left_out: u64,
}

impl<'w> Window<'w> {
    pub(super) fn of(
        inputs: &'w Inputs,
        renderer: &Renderer<'_>,
        counts: &TokenCounts<'_>,
        items: &HashMap<&str, &'w Item>,
        selection: &Selection<'_>,
        trimmed: &HashMap<CandidateId, ItemContent>,
    ) -> Self {
        let mut window = Self { pieces: Vec::new(), blocks: Vec::new(), fragments: Vec::new(), turns_left_out: 0 };
        let mut at = 0;
        for (index, segment) in inputs.recipe.segments.iter().enumerate() {
            if let Some(run) = selection.runs.get(&index).filter(|run| run.is_cut) {
                let turns = if is_channel(segment) {
                    messages_left_out(inputs, index, items, selection)
                } else {
                    turns_left_out(inputs, index, selection)
                };
                window.turns_left_out += turns;
                if run.has_mark {
                    let mark = left_out_mark(segment, turns);
                    let fragment = renderer.fragment(None, &mark);
                    let tokens = counts.counter().count(&fragment.text);
                    window.push(segment, None, Cow::Owned(mark), &fragment.text.into(), tokens);
                }
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
        segment: &SegmentSpec,
        item: Option<&'w Item>,
        content: Cow<'w, ItemContent>,
        fragment: &SharedText,
        tokens: TokenCount,
    ) {
        self.blocks.push(Block {
            item: item.map(|item| item.id.clone()),
            segment: segment.name.clone(),
            digest: fragment.digest(),
            tokens: tokens.get(),
            bytes: fragment.len() as u64,
        });
        self.fragments.push(fragment.clone());
        self.pieces.push(WindowPiece { item, content, stability: segment.stability });
    }

    pub(super) fn total(&self, pipeline: PipelineVersion) -> ItemTotals {
        counted(pipeline, self.blocks.iter())
    }

    pub(super) fn report(&self, inputs: &Inputs, selection: &Selection<'_>) -> WindowReport {
        let is_volatile = |segment: &SegmentSpec| segment.stability == Stability::Volatile;
        let volatile: Vec<&SegmentSpec> =
            inputs.recipe.segments.iter().filter(|segment| is_volatile(segment)).collect();
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
        let sum = total(self.blocks[..end].iter());
        let holds_for = selection.runs.values().map(|run| run.holds_for.get()).min().unwrap_or(u64::MAX);
        WindowReport {
            lasting_blocks: end as u64,
            lasting_bytes: sum.bytes,
            lasting_tokens: sum.tokens,
            holds_for_tokens: match (inputs.pipeline, holds_for) {
                (PipelineVersion::First, holds_for) => Some(holds_for),
                // What is left of no limit is no number.
                (_, holds_for) => (holds_for < NO_LIMIT).then_some(holds_for),
            },
            turns_left_out: self.turns_left_out,
        }
    }
}

fn total<'b>(blocks: impl Iterator<Item = &'b Block>) -> ItemTotals {
    let mut total = ItemTotals::default();
    for block in blocks {
        total.tokens += block.tokens;
        total.bytes += block.bytes;
        total.items += 1;
    }
    total
}

/// Sums up blocks. A mark takes room and is no item.
pub(super) fn counted<'b>(pipeline: PipelineVersion, blocks: impl Iterator<Item = &'b Block> + Clone) -> ItemTotals {
    let marks = if pipeline.is_first() { 0 } else { blocks.clone().filter(|block| block.item.is_none()).count() };
    let total = total(blocks);
    ItemTotals { items: total.items - marks as u64, ..total }
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

/// Counts the messages of a channel that were left out.
fn messages_left_out(inputs: &Inputs, segment: usize, items: &HashMap<&str, &Item>, selection: &Selection<'_>) -> u64 {
    let unread = inputs.unread_messages.filter(|unread| unread.segment == segment).map_or(0, |unread| unread.messages);
    let omitted = selection
        .decisions
        .iter()
        .filter(|decision| decision.candidate.segment == segment && decision.outcome.inclusion().is_none());
    let messages =
        omitted.filter_map(|decision| Some(items.get(decision.candidate.id.as_str())?.messages.len() as u64));
    unread + messages.sum::<u64>()
}

fn is_channel(segment: &SegmentSpec) -> bool {
    segment.sources.iter().any(|source| matches!(source.input, SourceInput::Channel { .. }))
}

/// Says that turns or messages were left out.
pub(super) fn left_out_mark(segment: &SegmentSpec, count: u64) -> ItemContent {
    let (one, several, whole) =
        if is_channel(segment) { ("message", "messages", "channel") } else { ("turn", "turns", "conversation") };
    let noun = if count == 1 { one } else { several };
    let text = format!("[{count} earlier {noun} of this {whole} left out]");
    ItemContent::Text { text, voice: Voice::User, fenced: false }
}
