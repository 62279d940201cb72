//! Cutting what does not fit, where the recipe says so.

use std::{cell::RefCell, collections::HashMap, fmt};

use super::measured;
use crate::{
    budget::Shorten,
    candidate::{Candidate, CandidateId, Measured, Priority, RunPart},
    counts::TokenCounts,
    item::{Item, ItemContent},
    measure::Size,
    render::Renderer,
    shorten::{self, Cut},
    standard::OverflowStrategy,
};

/// Fewer characters of a text than these say nothing.
const LEAST_CHARS: usize = 80;

/// Cuts the items of a segment.
pub(super) struct Trimmer<'t> {
    pub(super) items: &'t HashMap<&'t str, &'t Item>,
    pub(super) renderer: &'t Renderer<'t>,
    pub(super) counts: &'t TokenCounts<'t>,
    pub(super) overflow: OverflowStrategy,
    /// What was cut, by the ids of the items.
    pub(super) trimmed: &'t RefCell<HashMap<CandidateId, ItemContent>>,
}

impl fmt::Debug for Trimmer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trimmer").field("overflow", &self.overflow).finish_non_exhaustive()
    }
}

impl Shorten for Trimmer<'_> {
    fn shorten(&self, candidate: &Candidate, room: &Size) -> Option<Measured> {
        let full = candidate.full.as_ref()?;
        let (cut, room) = match cut(self.overflow) {
            Some(cut) => (cut, *room),
            // A run asks for this only where not even its newest step fits: part of it says more than nothing.
            None if matches!(candidate.part, RunPart::Step(_)) && self.overflow != OverflowStrategy::Reject => {
                (Cut::Middle, *room)
            }
            // Characters are a limit that nothing exceeds; the rest is only a budget.
            None if candidate.priority == Priority::Required && full.chars() > room.chars => {
                (Cut::Tail, Size { chars: room.chars, ..Size::MAX })
            }
            None => return None,
        };
        let item = self.items.get(candidate.id.as_str())?;
        let fitting = |max_chars: usize| {
            let content = shorten::shortened(&item.content, max_chars, cut);
            let text = measured(self.renderer, self.counts, Some(item), &content)?;
            room.holds(&text.size()).then_some((text, content))
        };
        // Longer texts have more of everything, as good as always; what is returned is checked.
        let (mut low, mut high) = (LEAST_CHARS, shorten::longest(&item.content));
        let mut best = fitting(low)?;
        while low + 1 < high {
            let middle = low.midpoint(high);
            match fitting(middle) {
                Some(fit) => (best, low) = (fit, middle),
                None => high = middle,
            }
        }
        let (text, content) = best;
        self.trimmed.borrow_mut().insert(candidate.id.clone(), content);
        Some(text)
    }
}

fn cut(overflow: OverflowStrategy) -> Option<Cut> {
    match overflow {
        OverflowStrategy::TruncateTail => Some(Cut::Tail),
        OverflowStrategy::TruncateMiddle => Some(Cut::Middle),
        _ => None,
    }
}
