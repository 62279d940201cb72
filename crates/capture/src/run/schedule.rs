//! When checkpoints are made.

use std::time::Duration;

use contexture_core::Trigger;
use tokio::time::Instant;

use crate::{CheckpointInterval, CheckpointMoment, interval::Uncaptured};

/// How long text may have come before it is worth a checkpoint, when nobody says.
const TEXT: Duration = Duration::from_secs(10);
/// When the next checkpoint is due, and why.
pub struct CheckpointSchedule {
    every: CheckpointInterval,
    last: Instant,
    /// Turns that have ended since the last one.
    turns: u32,
    due: Option<(Instant, Trigger)>,
}

impl CheckpointSchedule {
    /// Starts to count.
    pub fn new(every: CheckpointInterval, now: Instant) -> Self {
        Self { every, last: now, turns: 0, due: None }
    }

    /// Notes that the program has told of something.
    pub fn happened(&mut self, happened: &CheckpointMoment, now: Instant) {
        self.turns += u32::from(happened.trigger == Trigger::TurnBoundary);
        match self.every {
            CheckpointInterval::Span(span) => self.call_for(now.max(self.last + span), happened.trigger),
            every if every.is_due(happened.trigger, self.uncaptured()) => self.call_for(now, happened.trigger),
            CheckpointInterval::Turn
            | CheckpointInterval::Turns(_)
            | CheckpointInterval::Call
            | CheckpointInterval::Significant => {}
        }
    }

    /// Notes that the program has said something.
    pub fn said(&mut self, now: Instant) {
        let span = match self.every {
            CheckpointInterval::Turn | CheckpointInterval::Call => TEXT,
            CheckpointInterval::Span(span) => span,
            // Text has no turns, and what was printed is kept until the end.
            CheckpointInterval::Turns(_) | CheckpointInterval::Significant => return,
        };
        if self.due.is_none() {
            self.call_for(now + span, Trigger::TurnBoundary);
        }
    }

    /// Notes that the program has written to its session, in which so many turns have ended since the last checkpoint.
    pub fn written(&mut self, turns: u32, now: Instant) {
        let at = match self.every {
            CheckpointInterval::Turn | CheckpointInterval::Call => now,
            CheckpointInterval::Span(span) => now.max(self.last + span),
            CheckpointInterval::Turns(wanted) if turns >= wanted.get() => now,
            CheckpointInterval::Turns(_) | CheckpointInterval::Significant => return,
        };
        self.call_for(at, Trigger::TurnBoundary);
    }

    /// Returns when the next checkpoint is due.
    pub fn due(&self) -> Option<Instant> {
        self.due.map(|(at, _)| at)
    }

    /// Takes the checkpoint that is due for made.
    pub fn take_due(&mut self, now: Instant) -> Option<Trigger> {
        let (_, trigger) = self.due.take_if(|(at, _)| *at <= now)?;
        (self.last, self.turns) = (now, 0);
        Some(trigger)
    }

    /// Takes everything up to now for captured.
    pub fn made(&mut self, now: Instant) {
        (self.last, self.turns, self.due) = (now, 0, None);
    }

    /// Time counts by when the checkpoint is made, and not by whether.
    fn uncaptured(&self) -> Uncaptured {
        Uncaptured { turns: self.turns, since: None }
    }

    fn call_for(&mut self, at: Instant, trigger: Trigger) {
        let at = self.due.map_or(at, |(due, _)| due.min(at));
        self.due = Some((at, trigger));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_come_as_often_as_was_asked() {
        let now = Instant::now();
        let later = |seconds: u64| now + Duration::from_secs(seconds);
        let moment = |trigger| CheckpointMoment { trigger, awaited: None };
        let (call, turn) = (moment(Trigger::ToolCall), moment(Trigger::TurnBoundary));
        let due = |every, happened: &CheckpointMoment| {
            let mut schedule = CheckpointSchedule::new(every, now);
            schedule.happened(happened, later(1));
            schedule.due()
        };
        assert_eq!(
            (due(CheckpointInterval::Turn, &call), due(CheckpointInterval::Turn, &turn)),
            (None, Some(later(1)))
        );
        assert_eq!(due(CheckpointInterval::Call, &call), Some(later(1)));
        let mut schedule = CheckpointSchedule::new(CheckpointInterval::Span(Duration::from_secs(30)), now);
        schedule.happened(&call, later(1));
        schedule.happened(&turn, later(2));
        assert_eq!((schedule.take_due(later(29)), schedule.due()), (None, Some(later(30))));
        assert_eq!((schedule.take_due(later(30)), schedule.due()), (Some(Trigger::TurnBoundary), None));
        schedule.happened(&call, later(100));
        assert_eq!(schedule.due(), Some(later(100)));
        let mut text = CheckpointSchedule::new(CheckpointInterval::Call, now);
        text.said(later(1));
        text.said(later(5));
        assert_eq!(text.due(), Some(later(11)));
        text.made(later(6));
        assert_eq!(text.due(), None);
    }
    #[test]
    fn several_turns_and_significant_events_let_the_rest_wait() {
        let now = Instant::now();
        let moment = |trigger| CheckpointMoment { trigger, awaited: None };
        let mut turns = CheckpointSchedule::new("2 turns".parse().unwrap(), now);
        turns.happened(&moment(Trigger::TurnBoundary), now);
        turns.happened(&moment(Trigger::ToolCall), now);
        turns.said(now);
        turns.written(1, now);
        assert_eq!(turns.due(), None);
        turns.happened(&moment(Trigger::TurnBoundary), now);
        assert_eq!(turns.take_due(now), Some(Trigger::TurnBoundary));
        turns.happened(&moment(Trigger::TurnBoundary), now);
        assert_eq!(turns.due(), None, "it counts anew");
        turns.written(2, now);
        assert_eq!(turns.due(), Some(now));
        let mut significant = CheckpointSchedule::new(CheckpointInterval::Significant, now);
        significant.happened(&moment(Trigger::TurnBoundary), now);
        significant.said(now);
        significant.written(9, now);
        assert_eq!(significant.due(), None);
        significant.happened(&moment(Trigger::Compaction), now);
        assert_eq!(significant.take_due(now), Some(Trigger::Compaction));
    }
}
