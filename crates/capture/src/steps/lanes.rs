//! Lanes: the conversations of a session while their records are cut into steps.

use contexture_core::GivenSessionId;
use contexture_formats::{Framing, codec, thread::Start};

use super::{Base, Steps, open::OpenStep, state::LaneState, turns::Turns};
use crate::fork::says_nothing;

/// Most lines that are looked at for whether they say anything.
const MAX_NOTES: u64 = 64;

#[derive(Default)]
pub(super) struct LaneChain {
    pub(super) state: LaneState,
    pub(super) step: Option<OpenStep>,
    /// Whether it lies beside the conversation that started it.
    pub(super) is_side: bool,
    /// The lane and turn that started it, until its first commit is made.
    pub(super) spawned_by: Option<(usize, u32)>,
    /// Whether it goes on from what was taken in another time, until it is cut.
    pub(super) is_resumed: bool,
}

impl Steps {
    /// Tells whether what a lane holds is only what its runtime noted since it was taken in or written the last time: after
    /// an answer, or before it goes on. That belongs to the turn that follows.
    pub(super) fn belongs_to_next(&mut self, lane: usize) -> bool {
        let lane = &mut self.lanes[lane];
        let is_resumed = std::mem::take(&mut lane.is_resumed);
        if self.grafts.is_none() && std::mem::take(&mut lane.state.is_graft) {
            return true;
        }
        let (Some(step), Some(decoder)) = (&lane.step, codec(&self.format)) else { return false };
        is_resumed && self.framing == Framing::Lines && step.lines <= MAX_NOTES && says_nothing(decoder, &step.bytes)
    }

    /// Tells whether lines of nobody that is known say anything to a model.
    pub(super) fn says_something(&self, bytes: &[u8]) -> bool {
        self.framing != Framing::Lines || codec(&self.format).is_none_or(|decoder| !says_nothing(decoder, bytes))
    }

    /// Opens a lane, whose first record may name its session, and returns the bytes that it shares with the turn it leaves.
    pub(super) fn begin_lane(&mut self, start: &Start, named: Option<&str>) -> Vec<u8> {
        let number = self.lanes.len();
        let mut lane = LaneChain::default();
        let mut prefix = Vec::new();
        if let Start::Branch { lane: left, turn, with_prompt } = start {
            if *with_prompt && self.framing == Framing::Lines {
                let of_step = self.lanes[*left].step.as_ref().and_then(OpenStep::prompt);
                let prompt = of_step.or_else(|| self.lanes[*left].state.prompt.clone());
                let shared = prompt.filter(|prompt| prompt.turn == turn + 1);
                prefix = shared.map(|prompt| prompt.records.into_bytes()).unwrap_or_default();
            }
            lane.state.session.clone_from(&self.lanes[*left].state.session);
            lane.state.head = self.take_over(*left, number);
            self.end_step(*left);
            lane.state.tip = self.lanes[*left].state.turns.last_until(*turn);
            lane.state.turns = Turns::after(*turn, lane.state.tip);
            lane.state.labels = self.lanes[*left].state.labels.clone();
        }
        if let Some(Base { tip, prefix: shared }) = self.base.take().filter(|_| number == 0) {
            lane.state.tip = tip;
            lane.state.turns = Turns::after(0, tip);
            prefix = shared;
        }
        if matches!(start, Start::Side { .. }) {
            lane.is_side = true;
            lane.spawned_by = Some(self.at_work);
        }
        if *start == Start::Root && number > 0 {
            let named = named.map(GivenSessionId::new).filter(|named| self.session.as_ref() != Some(named));
            lane.state.session = named;
            let main = self.main_head(lane.state.session.as_ref());
            // The session goes on here, as it does where a person goes back to its beginning.
            if let Some(holder) = main.and_then(|main| self.leading(&main)) {
                lane.state.head = self.take_over(holder, number);
            }
        }
        if lane.state.head.is_none() {
            let session = lane.state.session.clone();
            lane.state.head = match start {
                Start::Root | Start::Branch { .. } => self.lead_anew(number, session.as_ref()),
                Start::Side { key } => self.head_beside(key, number),
            };
        }
        self.lanes.push(lane);
        prefix
    }
}
