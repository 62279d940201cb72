//! Content whose structure is known, so that a model can join it without reading bytes.

use std::fmt::Write as _;

use contexture_core::Format;
use proptest::{collection::vec, prelude::*};

/// What one commit holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Lines of JSON objects; the last may lack its line feed.
    Lines {
        /// The number that each line holds.
        numbers: Vec<u16>,
        /// Whether the last line ends.
        ended: bool,
    },
    /// A JSON array of numbers.
    JsonArray(Vec<u16>),
    /// A CBOR array of numbers below 24, which are one byte each.
    CborArray(Vec<u8>),
    /// Text.
    Text(String),
}

impl Body {
    /// Yields bodies, most of them lines, so that chains of one format are common.
    pub fn any() -> impl Strategy<Value = Self> {
        let lines =
            (vec(any::<u16>(), 1..4), any::<bool>()).prop_map(|(numbers, ended)| Self::Lines { numbers, ended });
        prop_oneof![
            12 => lines,
            1 => Self::other(),
        ]
    }

    /// Yields bodies that are not lines.
    pub fn other() -> impl Strategy<Value = Self> {
        prop_oneof![
            vec(any::<u16>(), 0..4).prop_map(Self::JsonArray),
            vec(0u8..24, 0..16).prop_map(Self::CborArray),
            "[a-zé\n]{1,8}".prop_map(Self::Text),
        ]
    }

    /// Returns the format that it is written in.
    pub fn format(&self) -> Format {
        let name = match self {
            Self::Lines { .. } => "claude-code-v1",
            Self::JsonArray(_) => "anthropic-messages-v1",
            Self::CborArray(_) => "bureau-agent-v1",
            Self::Text(_) => "text",
        };
        Format::new(name).expect("the name is legal")
    }

    /// Returns its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Lines { numbers, ended } => {
                let mut lines = String::new();
                for number in numbers {
                    writeln!(lines, "{{\"n\":{number}}}").expect("a string can be written to");
                }
                lines.truncate(lines.len() - usize::from(!ended));
                lines.into_bytes()
            }
            Self::JsonArray(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
                format!("[{}]", numbers.join(",")).into_bytes()
            }
            Self::CborArray(numbers) => [cbor_head(numbers.len()), numbers.clone()].concat(),
            Self::Text(text) => text.clone().into_bytes(),
        }
    }

    /// Returns how many messages it holds, where its format tells.
    pub fn messages(&self) -> Option<usize> {
        match self {
            Self::Lines { numbers, .. } | Self::JsonArray(numbers) => Some(numbers.len()),
            Self::CborArray(numbers) => Some(numbers.len()),
            Self::Text(_) => None,
        }
    }

    /// Appends a body of the same format; nothing if it is of another.
    #[must_use]
    pub fn join(self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Lines { numbers, .. }, Self::Lines { numbers: more, ended }) => {
                Some(Self::Lines { numbers: [numbers, more].concat(), ended })
            }
            (Self::JsonArray(numbers), Self::JsonArray(more)) => Some(Self::JsonArray([numbers, more].concat())),
            (Self::CborArray(numbers), Self::CborArray(more)) => Some(Self::CborArray([numbers, more].concat())),
            (Self::Text(text), Self::Text(more)) => Some(Self::Text(text + &more)),
            _ => None,
        }
    }
}

/// Returns the shortest head of a CBOR array.
fn cbor_head(len: usize) -> Vec<u8> {
    match u16::try_from(len).expect("tests join short arrays") {
        short @ 0..24 => vec![0x80 | short.to_be_bytes()[1]],
        short @ 24..256 => vec![0x98, short.to_be_bytes()[1]],
        long => [[0x99].as_slice(), &long.to_be_bytes()].concat(),
    }
}
