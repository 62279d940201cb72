//! Typed ids: fixed bytes shown as a prefix and lower-case hex, abbreviable on input.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Count, MessageId, MessageSequence, ParticipantKey};

/// What the ids of messages start with that are made because the sender gave none.
const MADE_MESSAGE_PREFIX: &str = "msg-";

/// Says why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text holds something else than hex digits after the optional prefix.
    #[error("{text:?} is not an id: expected {prefix} and hex digits")]
    NotHex {
        /// What was given.
        text: String,
        /// The prefix such an id carries.
        prefix: &'static str,
    },
    /// The text has the wrong number of hex digits.
    #[error("{text:?} has {digits} hex digits where {expected} belong")]
    Length {
        /// What was given.
        text: String,
        /// How many digits it has.
        digits: usize,
        /// How many it should have.
        expected: String,
    },
}

/// Fewest hex digits that an abbreviated id may have.
const MIN_PREFIX_DIGITS: usize = 4;

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $prefix_name:ident, $prefix:literal, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
        #[schemars(extend("pattern" = format!("^{}[0-9a-f]{{{}}}$", $prefix, $bytes * 2)))]
        pub struct $name(#[schemars(with = "String")] [u8; $bytes]);

        impl $name {
            /// What every such id starts with.
            pub const PREFIX: &'static str = $prefix;
            /// Length of the id in bytes.
            pub const LEN: usize = $bytes;

            /// Wraps bytes that are known to be such an id.
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }

            /// Borrows the bytes.
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }

            /// Returns the first hex digits with the prefix, as shown to people.
            pub fn short(&self) -> String {
                format!("{}{}", $prefix, &hex::encode(self.0)[..10])
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut digits = [0; $bytes * 2];
                hex::encode_to_slice(self.0, &mut digits).expect("the buffer is as long as the digits");
                f.write_str($prefix)?;
                f.write_str(std::str::from_utf8(&digits).expect("digits are text"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let digits = hex_digits(text, $prefix)?;
                let length = || IdError::Length {
                    text: text.to_owned(),
                    digits: digits.len(),
                    expected: ($bytes * 2).to_string(),
                };
                let mut bytes = [0; $bytes];
                hex::decode_to_slice(digits.to_ascii_lowercase(), &mut bytes).map_err(|_| length())?;
                Ok(Self(bytes))
            }
        }

        impl TryFrom<&[u8]> for $name {
            type Error = std::array::TryFromSliceError;

            fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
                Ok(Self(bytes.try_into()?))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        /// An abbreviated id: the inclusive range of ids that start with the given digits.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $prefix_name {
            first: $name,
            last: $name,
        }

        impl $prefix_name {
            /// Returns the smallest id with this prefix.
            pub const fn first(&self) -> $name {
                self.first
            }

            /// Returns the largest id with this prefix.
            pub const fn last(&self) -> $name {
                self.last
            }

            /// Returns the id when every digit was given.
            pub fn exact(&self) -> Option<$name> {
                (self.first == self.last).then_some(self.first)
            }
        }

        impl FromStr for $prefix_name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let digits = hex_digits(text, $prefix)?;
                if digits.len() < MIN_PREFIX_DIGITS || digits.len() > $bytes * 2 {
                    return Err(IdError::Length {
                        text: text.to_owned(),
                        digits: digits.len(),
                        expected: format!("{MIN_PREFIX_DIGITS} to {}", $bytes * 2),
                    });
                }
                let padded = |pad: char| {
                    let mut whole = digits.to_ascii_lowercase();
                    whole.extend(std::iter::repeat_n(pad, $bytes * 2 - digits.len()));
                    whole.parse::<$name>()
                };
                Ok(Self { first: padded('0')?, last: padded('f')? })
            }
        }

        impl fmt::Display for $prefix_name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (first, last) = (hex::encode(self.first.0), hex::encode(self.last.0));
                let shared = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
                write!(f, "{}{}", $prefix, &first[..shared])
            }
        }

        impl From<$name> for $prefix_name {
            fn from(id: $name) -> Self {
                Self { first: id, last: id }
            }
        }
    };
}

hex_id! {
    /// Names a commit: 128 bits over every immutable field of its record.
    CommitId, CommitPrefix, "ctx-", 16
}

hex_id! {
    /// Names immutable bytes by their plain BLAKE3, the digest that `b3sum` prints.
    ArtifactId, ArtifactPrefix, "art-", 32
}

hex_id! {
    /// Names an envelope: 128 bits over the digest of its document.
    EnvelopeId, EnvelopePrefix, "env-", 16
}

hex_id! {
    /// Names an injection: 128 bits over its envelope and its document.
    InjectionId, InjectionPrefix, "inj-", 16
}

hex_id! {
    /// Names missing context: 128 bits over what was first said of it. The document may change, the id stays.
    MissingId, MissingPrefix, "mis-", 16
}

hex_id! {
    /// Names a channel: 128 bits over the record of its creation.
    ChannelId, ChannelPrefix, "chn-", 16
}

hex_id! {
    /// Names a turn of an agent in a channel: 128 bits over channel, agent and the turn's number.
    TurnId, TurnPrefix, "trn-", 16
}

/// Separates the ids of envelopes from every other use of BLAKE3.
const ENVELOPE_CONTEXT: &str = "contexture envelope v1";
/// Separates the ids of injections.
const INJECTION_CONTEXT: &str = "contexture injection v1";
/// Separates the ids of missing context.
const MISSING_CONTEXT: &str = "contexture missing v1";
/// Separates the ids of channels.
const CHANNEL_CONTEXT: &str = "contexture channel v1";
/// Separates the ids of turns in channels.
const TURN_CONTEXT: &str = "contexture turn v1";
/// Separates the ids that are made for messages.
const MADE_MESSAGE_CONTEXT: &str = "contexture made message id v1";

impl ChannelId {
    /// Returns the id of the channel with this record of its creation.
    pub fn of(record: &[u8]) -> Self {
        Self(first_half(CHANNEL_CONTEXT, &[record]))
    }
}

impl TurnId {
    /// Returns the id of an agent's turn in a channel. The first turn has the number 1.
    pub fn of(channel: &ChannelId, number: Count, agent: &ParticipantKey) -> Self {
        let parts = [channel.as_bytes().as_slice(), &number.get().to_le_bytes(), agent.as_str().as_bytes()];
        Self(first_half(TURN_CONTEXT, &parts))
    }
}

impl MessageId {
    /// Makes the id of a message whose sender gave none, from its place and content.
    pub fn made(channel: &ChannelId, sequence: MessageSequence, content: &ArtifactId) -> Self {
        let parts = [channel.as_bytes().as_slice(), &sequence.get().to_le_bytes(), content.as_bytes()];
        let digits = hex::encode(first_half(MADE_MESSAGE_CONTEXT, &parts));
        Self::new(format!("{MADE_MESSAGE_PREFIX}{digits}")).expect("digits are a name")
    }
}

impl EnvelopeId {
    /// Returns the id of the envelope with this document, which therefore cannot hold its own id.
    pub fn of(document: &[u8]) -> Self {
        Self::of_artifact(&ArtifactId::of(document))
    }

    /// Returns the id of the envelope whose document is this artifact.
    pub fn of_artifact(document: &ArtifactId) -> Self {
        Self(first_half(ENVELOPE_CONTEXT, &[document.as_bytes()]))
    }
}

impl InjectionId {
    /// Returns the id of an injection of an envelope.
    pub fn of(envelope: &EnvelopeId, document: &[u8]) -> Self {
        Self(first_half(INJECTION_CONTEXT, &[envelope.as_bytes(), document]))
    }
}

impl MissingId {
    /// Returns the id of what is missing, from all that tells it from other gaps.
    pub fn of(content: &[u8]) -> Self {
        Self(first_half(MISSING_CONTEXT, &[content]))
    }
}

/// Hashes parts, of which only the last may vary in length, and keeps the first 128 bits.
fn first_half(context: &str, parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(part);
    }
    let mut half = [0; 16];
    hasher.finalize_xof().fill(&mut half);
    half
}

impl ArtifactId {
    /// Returns the id of the given content.
    pub fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }
}

impl From<blake3::Hash> for ArtifactId {
    fn from(hash: blake3::Hash) -> Self {
        Self(*hash.as_bytes())
    }
}

fn hex_digits<'t>(text: &'t str, prefix: &'static str) -> Result<&'t str, IdError> {
    let digits = text.strip_prefix(prefix).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(digits)
    } else {
        Err(IdError::NotHex { text: text.to_owned(), prefix })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn artifact_id_is_what_b3sum_prints() {
        // `printf '' | b3sum` and `printf abc | b3sum`.
        assert_eq!(
            ArtifactId::of(b"").to_string(),
            "art-af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
        );
        assert_eq!(
            ArtifactId::of(b"abc").to_string(),
            "art-6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
        );
    }

    #[test]
    fn ids_of_what_is_assembled_do_not_change() {
        let envelope = EnvelopeId::of(b"{}");
        assert_eq!(envelope, EnvelopeId::of_artifact(&ArtifactId::of(b"{}")));
        assert_eq!(envelope.to_string(), "env-6340e98b4e942d745d8629d1b378b711");
        assert_eq!(InjectionId::of(&envelope, b"{}").to_string(), "inj-838170f7632f3030858979e16897f6c0");
        assert_eq!(MissingId::of(b"{}").to_string(), "mis-03a8916fb3c6edb9aed04a2f8e16d4fe");
        assert_ne!(InjectionId::of(&envelope, b"{}"), InjectionId::of(&EnvelopeId::of(b"[]"), b"{}"));
    }

    #[test]
    fn ids_of_channels_turns_and_messages_do_not_change() {
        let channel = ChannelId::of(b"{}");
        let agent = ParticipantKey::new("dev").unwrap();
        let turn = TurnId::of(&channel, Count::saturating(1), &agent);
        let message = MessageId::made(&channel, MessageSequence::FIRST, &ArtifactId::of(b"{}"));
        assert_eq!(channel.to_string(), "chn-12f114da4d69894f280ace57c588c29b");
        assert_eq!(turn.to_string(), "trn-f419d581b6e98f98f80c6fd42eb00c0f");
        assert_eq!(message.as_str(), "msg-c0ff22bbce38915f3bd45945977ffa58");
        assert_ne!(turn, TurnId::of(&channel, Count::saturating(2), &agent));
    }

    #[test]
    fn wrong_texts_are_refused_with_the_reason() {
        for text in ["", "ctx-", "ctx-xyz1", "art-0123", "ctx-12 4", "ctx-12é4"] {
            assert!(matches!(text.parse::<CommitPrefix>(), Err(IdError::NotHex { .. })), "{text}");
        }
        assert!(matches!("ctx-123".parse::<CommitPrefix>(), Err(IdError::Length { digits: 3, .. })));
        assert!(matches!("ctx-1234".parse::<CommitId>(), Err(IdError::Length { digits: 4, .. })));
        assert!(matches!("0".repeat(33).parse::<CommitPrefix>(), Err(IdError::Length { digits: 33, .. })));
    }

    proptest! {
        #[test]
        fn an_id_survives_its_text(bytes: [u8; 16]) {
            let id = CommitId::from_bytes(bytes);
            prop_assert_eq!(id.to_string().parse::<CommitId>(), Ok(id));
            prop_assert_eq!(id.to_string().to_uppercase().replace("CTX-", "ctx-").parse::<CommitId>(), Ok(id));
        }

        #[test]
        fn a_prefix_covers_exactly_the_ids_that_start_with_it(a: [u8; 16], b: [u8; 16], digits in 4usize..=32) {
            let (a, b) = (CommitId::from_bytes(a), CommitId::from_bytes(b));
            let text = &a.to_string()["ctx-".len()..][..digits];
            let prefix: CommitPrefix = text.parse().unwrap();
            let covers = |id: CommitId| prefix.first() <= id && id <= prefix.last();
            prop_assert!(covers(a));
            prop_assert_eq!(covers(b), b.to_string()[4..].starts_with(text));
            prop_assert_eq!(prefix.exact().is_some(), digits == 32);
        }
    }
}
