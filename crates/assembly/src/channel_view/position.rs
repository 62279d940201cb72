//! Places in what a viewer is ever told: they stay the same from one view to the next.

use crate::candidate::PromptPlace;

/// Bits that tell what stands at a place beside a message.
const SLOT_BITS: u32 = 3;

/// Where something stands among all that a viewer is ever told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ViewPosition(u64);

/// What stands after the message at a place, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    BlockEnd = 1,
    SummaryBeforeTrigger = 2,
    PhaseBeforeTrigger = 3,
    Trigger = 4,
    Summary = 5,
    BlockBegin = 6,
    PhaseBeforeMessage = 7,
}

impl ViewPosition {
    pub(super) const fn message(place: u64) -> Self {
        Self(place << SLOT_BITS)
    }

    pub(super) const fn slot(place: u64, slot: Slot) -> Self {
        Self((place << SLOT_BITS) | slot as u64)
    }

    /// Returns it as a number that no other has.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns it as a place in a segment: a run is cut between messages rather than beside one.
    pub fn in_segment(self) -> PromptPlace {
        PromptPlace { order: self.0.cast_signed(), tie: 0 }
    }
}
