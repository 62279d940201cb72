//! Instants as people write them.

use std::str::FromStr;

use contexture::core::Timestamp;
use jiff::{Span, tz::TimeZone};

use crate::error::{Error, Result};

/// An instant, given by itself or by its distance from now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum When {
    /// This one.
    At(Timestamp),
    /// The present.
    Now,
    /// So long ago, with the text that said so.
    Ago(String, Box<PastSpan>),
}

/// A span of time that leads to the past.
#[derive(Debug, Clone)]
pub(crate) struct PastSpan(Span);

impl PartialEq for PastSpan {
    fn eq(&self, other: &Self) -> bool {
        self.0.fieldwise() == other.0.fieldwise()
    }
}

/// Says that a text is no instant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WhenError {
    #[error("write 2026-11-15T20:10:00Z, 2026-11-15, now, or \"2h ago\"")]
    Unreadable,
    #[error("that is a time to come: write \"{0} ago\"")]
    Future(String),
}

impl When {
    /// Returns the instant.
    pub(crate) fn resolve(&self, now: Timestamp) -> Result<Timestamp> {
        match self {
            Self::At(instant) => Ok(*instant),
            Self::Now => Ok(now),
            Self::Ago(text, span) => jiff::Timestamp::from(now)
                .to_zoned(TimeZone::UTC)
                .checked_add(span.0)
                .map(|zoned| zoned.timestamp().into())
                .map_err(|_| Error::TimeRange { text: text.clone() }),
        }
    }
}

impl FromStr for When {
    type Err = WhenError;

    /// Reads what [`Timestamp`] reads, `now`, and spans such as `2h ago`, `-2h` and `3 days ago`.
    fn from_str(text: &str) -> Result<Self, WhenError> {
        if text == "now" {
            return Ok(Self::Now);
        }
        if let Ok(instant) = text.parse() {
            return Ok(Self::At(instant));
        }
        match text.parse::<Span>() {
            Ok(span) if span.is_positive() => Err(WhenError::Future(text.to_owned())),
            Ok(span) => Ok(Self::Ago(text.to_owned(), Box::new(PastSpan(span)))),
            Err(_) => Err(WhenError::Unreadable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_absolute_or_past_spans() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let resolved = |text: &str| text.parse::<When>().unwrap().resolve(now).unwrap().to_string();
        assert_eq!(resolved("now"), "2026-03-01T12:00:00.000000Z");
        assert_eq!(resolved("2026-02-01"), "2026-02-01T00:00:00.000000Z");
        for text in ["2h ago", "-2h", "2 hours ago", "-PT2H", "1h60m ago"] {
            assert_eq!(resolved(text), "2026-03-01T10:00:00.000000Z", "{text}");
        }
        assert_eq!(resolved("1 month ago"), "2026-02-01T12:00:00.000000Z");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "soon", "2h", "yesterdayish", "ago"] {
            assert!(text.parse::<When>().is_err(), "{text}");
        }
        let far = "19000 years ago".parse::<When>().unwrap();
        assert!(matches!(far.resolve("2026-03-01".parse().unwrap()), Err(Error::TimeRange { .. })));
    }
}
