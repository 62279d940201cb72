//! How often what happens in a session is captured.

use std::{fmt, num::NonZeroU32, str::FromStr, time::Duration};

use contexture_core::{Timestamp, Trigger};
use serde::Deserialize;

/// Captures do not follow each other faster when nothing but time tells of them.
const FASTEST: Duration = Duration::from_millis(100);

/// How often to capture a session.
///
/// Compactions, the end of a session and what somebody asks for are captured always, and whoever captures takes in all
/// that came before: so nothing is lost by a longer interval, but what has happened is in the store later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum CheckpointInterval {
    /// At each call of a tool and at the end of each turn.
    #[default]
    Call,
    /// At the end of each turn.
    Turn,
    /// When so many turns have ended.
    Turns(NonZeroU32),
    /// Only when it is captured always.
    Significant,
    /// Whatever happens, but no more often than this.
    Span(Duration),
}

/// Says that a text is none of these.
#[derive(Debug, thiserror::Error)]
#[error("write call, turn, a number of turns such as '5 turns', significant, or a time such as 30s")]
pub struct CheckpointIntervalError;

/// What was not captured of a session yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uncaptured {
    /// Turns that have ended.
    pub(crate) turns: u32,
    /// How long it is ago that it was captured; nothing, if it never was.
    pub(crate) since: Option<Duration>,
}

impl CheckpointInterval {
    /// Tells whether a session is to be captured when something has happened in it.
    pub(crate) fn is_due(self, trigger: Trigger, uncaptured: Uncaptured) -> bool {
        match (trigger, self) {
            (Trigger::Compaction | Trigger::SessionEnd | Trigger::Explicit, _) | (_, Self::Call) => true,
            (trigger, Self::Turn) => trigger == Trigger::TurnBoundary,
            (_, Self::Turns(turns)) => uncaptured.turns >= turns.get(),
            (_, Self::Significant) => false,
            (_, Self::Span(span)) => uncaptured.since.is_none_or(|since| since >= span),
        }
    }
}

/// Returns how long one instant is after another.
pub(crate) fn elapsed(from: Timestamp, until: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(until.as_micros() - from.as_micros()).unwrap_or(0))
}

impl FromStr for CheckpointInterval {
    type Err = CheckpointIntervalError;

    fn from_str(text: &str) -> Result<Self, CheckpointIntervalError> {
        let turns = text.strip_suffix("turns").or_else(|| text.strip_suffix("turn"));
        match (text, turns.and_then(|number| number.trim().parse::<NonZeroU32>().ok())) {
            ("turn", _) | (_, Some(NonZeroU32::MIN)) => Ok(Self::Turn),
            (_, Some(turns)) => Ok(Self::Turns(turns)),
            ("call", None) => Ok(Self::Call),
            ("significant", None) => Ok(Self::Significant),
            (span, None) => {
                let span: jiff::SignedDuration = span.parse().map_err(|_| CheckpointIntervalError)?;
                let span = Duration::try_from(span).map_err(|_| CheckpointIntervalError)?;
                Ok(Self::Span(span.max(FASTEST)))
            }
        }
    }
}

impl TryFrom<String> for CheckpointInterval {
    type Error = CheckpointIntervalError;

    fn try_from(text: String) -> Result<Self, CheckpointIntervalError> {
        text.parse()
    }
}

/// Writes it as it is read.
impl fmt::Display for CheckpointInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => f.write_str("call"),
            Self::Turn => f.write_str("turn"),
            Self::Turns(turns) => write!(f, "{turns} turns"),
            Self::Significant => f.write_str("significant"),
            Self::Span(span) => write!(f, "{}ms", span.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Uncaptured = Uncaptured { turns: 0, since: None };

    fn every(text: &str) -> Option<CheckpointInterval> {
        text.parse().ok()
    }

    #[test]
    fn turns_calls_and_times_are_understood_and_written_as_they_are_read() {
        let turns = |number| CheckpointInterval::Turns(NonZeroU32::new(number).unwrap());
        assert_eq!((every("turn"), every("call")), (Some(CheckpointInterval::Turn), Some(CheckpointInterval::Call)));
        assert_eq!(
            (every("5 turns"), every("5turns"), every("2turn")),
            (Some(turns(5)), Some(turns(5)), Some(turns(2)))
        );
        assert_eq!(every("1 turn"), Some(CheckpointInterval::Turn));
        assert_eq!(every("significant"), Some(CheckpointInterval::Significant));
        assert_eq!(every("30s"), Some(CheckpointInterval::Span(Duration::from_secs(30))));
        assert_eq!(every("0s"), Some(CheckpointInterval::Span(FASTEST)));
        assert_eq!(["-1s", "often", "", "0 turns", "-1 turns", "turns"].map(every), [None; 6]);
        for text in ["turn", "call", "7 turns", "significant", "90s", "250ms"] {
            let interval = every(text).unwrap();
            assert_eq!(every(&interval.to_string()), Some(interval), "{text}");
        }
    }

    #[test]
    fn what_is_captured_always_waits_for_nothing() {
        for interval in ["call", "turn", "3 turns", "significant", "30s"].map(|text| every(text).unwrap()) {
            let just_now = Uncaptured { turns: 0, since: Some(Duration::ZERO) };
            let always = [Trigger::Compaction, Trigger::SessionEnd, Trigger::Explicit];
            assert!(always.into_iter().all(|trigger| interval.is_due(trigger, just_now)), "{interval}");
        }
    }

    #[test]
    fn an_interval_leaves_out_what_comes_in_between() {
        let is_due = |text: &str, trigger, uncaptured| every(text).unwrap().is_due(trigger, uncaptured);
        let (turn, call) = (Trigger::TurnBoundary, Trigger::ToolCall);
        assert_eq!([is_due("call", call, NOTHING), is_due("turn", call, NOTHING)], [true, false]);
        assert_eq!([is_due("turn", turn, NOTHING), is_due("significant", turn, NOTHING)], [true, false]);
        let after = |turns| is_due("3 turns", turn, Uncaptured { turns, since: None });
        assert_eq!([after(2), after(3), after(4)], [false, true, true]);
        let since = |seconds| Some(Duration::from_secs(seconds));
        let later = |since| is_due("30s", call, Uncaptured { turns: 0, since });
        assert_eq!([later(None), later(since(29)), later(since(30))], [true, false, true]);
    }
}
