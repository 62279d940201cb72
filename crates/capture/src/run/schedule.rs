//! When checkpoints are made.

use std::{str::FromStr, time::Duration};

use contexture_core::Trigger;
use tokio::time::Instant;

use crate::CheckpointMoment;

/// How long text may have come before it is worth a checkpoint, when nobody says.
const TEXT: Duration = Duration::from_secs(10);
/// Checkpoints do not follow each other faster when nothing but time tells of them.
const FASTEST: Duration = Duration::from_millis(100);

/// How often to make checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointInterval {
    /// At the end of each turn.
    Turn,
    /// At each call of a tool too.
    Call,
    /// Whatever happens, but no more often than this.
    Span(Duration),
}

/// Says that a text is none of these.
#[derive(Debug, thiserror::Error)]
#[error("write turn, call, or a time such as 30s")]
pub struct CheckpointIntervalError;

impl FromStr for CheckpointInterval {
    type Err = CheckpointIntervalError;

    fn from_str(text: &str) -> Result<Self, CheckpointIntervalError> {
        match text {
            "turn" => Ok(Self::Turn),
            "call" => Ok(Self::Call),
            span => {
                let span: jiff::SignedDuration = span.parse().map_err(|_| CheckpointIntervalError)?;
                let span = Duration::try_from(span).map_err(|_| CheckpointIntervalError)?;
                Ok(Self::Span(span.max(FASTEST)))
            }
        }
    }
}

/// When the next checkpoint is due, and why.
pub struct CheckpointSchedule {
    every: CheckpointInterval,
    last: Instant,
    due: Option<(Instant, Trigger)>,
}

impl CheckpointSchedule {
    /// Starts to count.
    pub fn new(every: CheckpointInterval, now: Instant) -> Self {
        Self { every, last: now, due: None }
    }

    /// Notes that the program has told of something.
    pub fn happened(&mut self, happened: &CheckpointMoment, now: Instant) {
        let at = match self.every {
            CheckpointInterval::Turn if happened.trigger == Trigger::ToolCall => return,
            CheckpointInterval::Turn | CheckpointInterval::Call => now,
            CheckpointInterval::Span(span) => now.max(self.last + span),
        };
        self.call_for(at, happened.trigger);
    }

    /// Notes that the program has said something.
    pub fn said(&mut self, now: Instant) {
        let span = match self.every {
            CheckpointInterval::Turn | CheckpointInterval::Call => TEXT,
            CheckpointInterval::Span(span) => span,
        };
        if self.due.is_none() {
            self.call_for(now + span, Trigger::TurnBoundary);
        }
    }

    /// Notes that the program has written to its session.
    pub fn written(&mut self, now: Instant) {
        let at = match self.every {
            CheckpointInterval::Turn | CheckpointInterval::Call => now,
            CheckpointInterval::Span(span) => now.max(self.last + span),
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
        self.last = now;
        Some(trigger)
    }

    /// Takes everything up to now for captured.
    pub fn made(&mut self, now: Instant) {
        (self.last, self.due) = (now, None);
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
    fn turns_calls_and_times_are_understood() {
        let every = |text: &str| text.parse::<CheckpointInterval>().ok();
        assert_eq!((every("turn"), every("call")), (Some(CheckpointInterval::Turn), Some(CheckpointInterval::Call)));
        assert_eq!(every("30s"), Some(CheckpointInterval::Span(Duration::from_secs(30))));
        assert_eq!(every("0s"), Some(CheckpointInterval::Span(FASTEST)));
        assert_eq!((every("-1s"), every("often"), every("")), (None, None, None));
    }

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
}
