//! Instants in UTC with microsecond resolution.

use std::{fmt, str::FromStr};

use jiff::fmt::temporal::DateTimePrinter;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant, counted in microseconds since 1970 in UTC.
///
/// Its text always has six fractional digits and ends in `Z`, so that equal instants have equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("format" = "date-time"))]
pub struct Timestamp(#[schemars(with = "String")] i64);

/// Says that a text is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a time: write 2026-11-15T20:10:00Z, with an offset such as +02:00, or a date")]
pub struct TimeError {
    text: String,
}

impl Timestamp {
    /// Takes microseconds since 1970; nothing outside the years -9999 to 9999.
    pub fn from_micros(micros: i64) -> Option<Self> {
        jiff::Timestamp::from_microsecond(micros).ok().map(|_| Self(micros))
    }

    /// Returns microseconds since 1970.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).expect("the constructors refuse what jiff cannot hold")
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(instant: jiff::Timestamp) -> Self {
        Self(instant.as_microsecond())
    }
}

impl From<Timestamp> for jiff::Timestamp {
    fn from(instant: Timestamp) -> Self {
        instant.to_jiff()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&self.to_jiff());
        f.write_str(&text)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    /// Reads an RFC 3339 instant; without an offset it is UTC, without a time it is midnight.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let utc = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
        text.parse::<jiff::Timestamp>()
            .ok()
            .or_else(|| utc().map(|zoned| zoned.timestamp()))
            .map(Self::from)
            .ok_or_else(|| TimeError { text: text.to_owned() })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_instant_has_one_text() {
        for text in ["2026-11-15T20:10:00Z", "2026-11-15T22:10:00+02:00", "2026-11-15T20:10:00", "2026-11-15 20:10"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), "2026-11-15T20:10:00.000000Z", "{text}");
        }
        assert_eq!("2026-11-15".parse::<Timestamp>().unwrap().to_string(), "2026-11-15T00:00:00.000000Z");
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in ["", "yesterday", "2026-13-01", "12:00", "2026-11-15T25:00:00Z"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_time_survives_its_text(micros in -377_000_000_000_000_000i64..253_000_000_000_000_000) {
            let time = Timestamp::from_micros(micros).unwrap();
            prop_assert_eq!(time.to_string().parse::<Timestamp>(), Ok(time));
        }
    }
}
