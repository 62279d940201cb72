//! When checkpoints are made.

use std::{str::FromStr, time::Duration};

use contexture::core::Trigger;
use contexture_capture::Happened;
use tokio::time::Instant;

/// How long text may have come before it is worth a checkpoint, when nobody says.
const TEXT: Duration = Duration::from_secs(10);
/// Checkpoints do not follow each other faster when nothing but time tells of them.
const FASTEST: Duration = Duration::from_millis(100);

/// How often to make checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Every {
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
pub(crate) struct EveryError;

impl FromStr for Every {
    type Err = EveryError;

    fn from_str(text: &str) -> Result<Self, EveryError> {
        match text {
            "turn" => Ok(Self::Turn),
            "call" => Ok(Self::Call),
            span => {
                let span: jiff::SignedDuration = span.parse().map_err(|_| EveryError)?;
                let span = Duration::try_from(span).map_err(|_| EveryError)?;
                Ok(Self::Span(span.max(FASTEST)))
            }
        }
    }
}

/// When the next checkpoint is due, and why.
pub(crate) struct Rhythm {
    every: Every,
    last: Instant,
    due: Option<(Instant, Trigger)>,
}

impl Rhythm {
    pub(crate) fn new(every: Every, now: Instant) -> Self {
        Self { every, last: now, due: None }
    }

    /// Notes that the program has told of something.
    pub(crate) fn happened(&mut self, happened: &Happened, now: Instant) {
        let at = match self.every {
            Every::Turn if happened.trigger == Trigger::ToolCall => return,
            Every::Turn | Every::Call => now,
            Every::Span(span) => now.max(self.last + span),
        };
        self.call_for(at, happened.trigger);
    }

    /// Notes that the program has said something.
    pub(crate) fn said(&mut self, now: Instant) {
        let span = match self.every {
            Every::Turn | Every::Call => TEXT,
            Every::Span(span) => span,
        };
        if self.due.is_none() {
            self.call_for(now + span, Trigger::TurnBoundary);
        }
    }

    /// Notes that the program has written to its session.
    pub(crate) fn written(&mut self, now: Instant) {
        let at = match self.every {
            Every::Turn | Every::Call => now,
            Every::Span(span) => now.max(self.last + span),
        };
        self.call_for(at, Trigger::TurnBoundary);
    }

    /// Returns when the next checkpoint is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due.map(|(at, _)| at)
    }

    /// Takes the checkpoint that is due for made.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Trigger> {
        let (_, trigger) = self.due.take_if(|(at, _)| *at <= now)?;
        self.last = now;
        Some(trigger)
    }

    /// Takes everything up to now for captured.
    pub(crate) fn made(&mut self, now: Instant) {
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
        let every = |text: &str| text.parse::<Every>().ok();
        assert_eq!((every("turn"), every("call")), (Some(Every::Turn), Some(Every::Call)));
        assert_eq!(every("30s"), Some(Every::Span(Duration::from_secs(30))));
        assert_eq!(every("0s"), Some(Every::Span(FASTEST)));
        assert_eq!((every("-1s"), every("often"), every("")), (None, None, None));
    }

    #[test]
    fn checkpoints_come_as_often_as_was_asked() {
        let now = Instant::now();
        let later = |seconds: u64| now + Duration::from_secs(seconds);
        let moment = |trigger| Happened { trigger, awaited: None };
        let (call, turn) = (moment(Trigger::ToolCall), moment(Trigger::TurnBoundary));
        let due = |every, happened: &Happened| {
            let mut rhythm = Rhythm::new(every, now);
            rhythm.happened(happened, later(1));
            rhythm.due()
        };
        assert_eq!((due(Every::Turn, &call), due(Every::Turn, &turn)), (None, Some(later(1))));
        assert_eq!(due(Every::Call, &call), Some(later(1)));
        let mut rhythm = Rhythm::new(Every::Span(Duration::from_secs(30)), now);
        rhythm.happened(&call, later(1));
        rhythm.happened(&turn, later(2));
        assert_eq!((rhythm.take_due(later(29)), rhythm.due()), (None, Some(later(30))));
        assert_eq!((rhythm.take_due(later(30)), rhythm.due()), (Some(Trigger::TurnBoundary), None));
        rhythm.happened(&call, later(100));
        assert_eq!(rhythm.due(), Some(later(100)));
        let mut text = Rhythm::new(Every::Call, now);
        text.said(later(1));
        text.said(later(5));
        assert_eq!(text.due(), Some(later(11)));
        text.made(later(6));
        assert_eq!(text.due(), None);
    }
}
