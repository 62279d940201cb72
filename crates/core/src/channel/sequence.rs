//! Places in a channel.

use std::{fmt, num::NonZeroU64, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of a message in its channel: 1 for the first, and none is left out or given twice.
///
/// It is at most 2⁵³ − 1, so numbers in JSON hold it exactly. `None` of it is the place before the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u64", into = "u64")]
#[schemars(extend("minimum" = 1, "maximum" = MessageSequence::MAX))]
pub struct MessageSequence(#[schemars(with = "u64")] NonZeroU64);

/// Says that a number or text is no place in a channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no place in a channel: write a whole number from 1 to {}", MessageSequence::MAX)]
pub struct SequenceError {
    text: String,
}

impl MessageSequence {
    /// The place of the first message.
    pub const FIRST: Self = Self(NonZeroU64::MIN);
    /// The last place there can be.
    pub const MAX: u64 = (1 << 53) - 1;

    /// Takes a number from 1 to [`MessageSequence::MAX`].
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) if number.get() <= Self::MAX => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// Returns the place after another, or the first; nothing when there is no more room.
    pub fn after(place: Option<Self>) -> Option<Self> {
        Self::new(Self::number(place) + 1)
    }

    /// Returns the number of a place, 0 for the one before the first message.
    pub fn number(place: Option<Self>) -> u64 {
        place.map_or(0, Self::get)
    }
}

impl TryFrom<u64> for MessageSequence {
    type Error = SequenceError;

    fn try_from(number: u64) -> Result<Self, SequenceError> {
        Self::new(number).ok_or_else(|| SequenceError { text: number.to_string() })
    }
}

impl From<MessageSequence> for u64 {
    fn from(sequence: MessageSequence) -> Self {
        sequence.get()
    }
}

impl FromStr for MessageSequence {
    type Err = SequenceError;

    /// Reads decimal digits in their only form, without sign or leading zeros.
    fn from_str(text: &str) -> Result<Self, SequenceError> {
        let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        number.and_then(Self::new).ok_or_else(|| SequenceError { text: text.to_owned() })
    }
}

impl fmt::Display for MessageSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_whole_numbers_are_places() {
        for text in ["", "0", "01", "-1", "+1", " 1", "1.0", "9007199254740992", "18446744073709551616"] {
            assert!(text.parse::<MessageSequence>().is_err(), "{text:?}");
        }
        assert_eq!("9007199254740991".parse::<MessageSequence>().unwrap().get(), MessageSequence::MAX);
        assert!(serde_json::from_str::<MessageSequence>("0").is_err());
        assert_eq!(serde_json::to_string(&MessageSequence::FIRST).unwrap(), "1");
    }

    #[test]
    fn places_follow_each_other_until_there_is_no_more_room() {
        assert_eq!(MessageSequence::after(None), Some(MessageSequence::FIRST));
        assert_eq!(MessageSequence::after(MessageSequence::new(7)), MessageSequence::new(8));
        assert_eq!(MessageSequence::after(MessageSequence::new(MessageSequence::MAX)), None);
    }
}
