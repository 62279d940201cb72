//! Names that people and programs choose, checked once where they come in.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Says why a text cannot be such a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} cannot be {noun}: {reason}")]
pub struct NameError {
    text: String,
    noun: &'static str,
    reason: &'static str,
}

/// Longest name in bytes.
const MAX_NAME_BYTES: usize = 512;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $rule:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
        #[schemars(extend("pattern" = $rule.pattern(), "maxLength" = MAX_NAME_BYTES))]
        pub struct $name(String);

        impl $name {
            /// Checks a text and takes it as such a name.
            pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                match $rule.check(&text) {
                    Ok(()) => Ok(Self(text)),
                    Err(reason) => Err(NameError { text, noun: $noun, reason }),
                }
            }

            /// Borrows the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

name!(
    /// A tenant. Every row belongs to one and nothing crosses it.
    SpaceName, "a space name", NameRule::Slug
);
name!(
    /// A movable pointer to a commit, such as `session/4f1c` or `branch/fix`.
    HeadName, "a head name", NameRule::Head
);
name!(
    /// Names how the bytes of a delta are written, such as `claude-code-v1`.
    Format, "a format", NameRule::Slug
);
name!(
    /// Names the kind of agent that made a commit.
    Template, "a template", NameRule::Text
);
name!(
    /// Names who ran the agent.
    Principal, "a principal", NameRule::Text
);
name!(
    /// Names the machine the agent ran on.
    Machine, "a machine", NameRule::Text
);
name!(
    /// Names the run of the agent: the id that its runtime gave to the session.
    RuntimeSessionId, "a session", NameRule::Text
);
name!(
    /// Names the work item the agent was on.
    Ticket, "a ticket", NameRule::Text
);
name!(
    /// Names the conversation thread the agent was in.
    Thread, "a thread", NameRule::Text
);
name!(
    /// A word attached to a commit.
    Tag, "a tag", NameRule::Word
);
name!(
    /// The left side of a `key=value` label.
    LabelKey, "a label key", NameRule::Word
);
name!(
    /// Makes a retried request safe: the same key and payload give the same commit.
    IdempotencyKey, "an idempotency key", NameRule::Text
);
name!(
    /// Names who asked for a change, as the journal records it.
    Actor, "an actor", NameRule::Text
);
name!(
    /// Names what assemblies follow each other for, such as a session and a purpose.
    Stream, "a stream", NameRule::Text
);
name!(
    /// Names the recipe that an envelope was made by.
    RecipeName, "a recipe name", NameRule::Text
);
name!(
    /// Names a way to count tokens.
    CounterName, "the name of a token counter", NameRule::Text
);
name!(
    /// Names what an event is about: the id of a record.
    Subject, "the subject of an event", NameRule::Text
);
name!(
    /// What became of missing context, in the words of whoever keeps track of it.
    GapStatus, "the status of missing context", NameRule::Word
);
name!(
    /// How much missing context matters, in the words of whoever keeps track of it.
    GapSeverity, "the severity of missing context", NameRule::Word
);

name!(
    /// Names a channel for people, once in its space.
    ChannelName, "a channel name", NameRule::Channel
);
name!(
    /// Names a message, as its sender chose: once in its channel. Who chooses none has one made.
    MessageId, "a message id", NameRule::Word
);
name!(
    /// Says what a message is about, such as `PLAN_READY`.
    Topic, "a topic", NameRule::Word
);
name!(
    /// Tells a participant of a channel from all others, such as a slug or a public key.
    ParticipantKey, "a participant's key", NameRule::Word
);
name!(
    /// The short name by which a participant is typed and mentioned.
    ParticipantSlug, "a participant's slug", NameRule::Slug
);
name!(
    /// The name by which a participant is shown.
    DisplayName, "a display name", NameRule::Text
);
name!(
    /// What a participant does in a channel, such as `validator`.
    ParticipantRole, "a role", NameRule::Word
);
name!(
    /// Names the phase in which a conversation is, such as `plan`.
    ConversationPhase, "a phase", NameRule::Word
);
name!(
    /// Names a program in which agents run, such as `claude-code`.
    RuntimeName, "a runtime", NameRule::Slug
);

/// What a name may be.
#[derive(Debug, Clone, Copy)]
enum NameRule {
    /// Any text of one line.
    Text,
    /// A text without white space and `=`.
    Word,
    /// Lower-case letters, digits and a few marks.
    Slug,
    /// Words with `/` between them.
    Head,
    /// The same, and nothing that starts like the id of a channel.
    Channel,
}

impl NameRule {
    /// Checks a text; says what is wrong with one that breaks the rule.
    fn check(self, text: &str) -> Result<(), &'static str> {
        check_text(text)?;
        match self {
            Self::Text => Ok(()),
            Self::Word => check_word(text),
            Self::Slug => check_slug(text),
            Self::Head => check_head(text),
            Self::Channel => check_channel(text),
        }
    }

    /// Returns what of the rule a regular expression can say.
    const fn pattern(self) -> &'static str {
        match self {
            Self::Text => r"^\S(.*\S)?$",
            Self::Word => r"^[^\s=]+$",
            Self::Slug => "^[a-z0-9][a-z0-9._-]*$",
            Self::Head | Self::Channel => r"^[^\s~^:-][^\s~^:]*$",
        }
    }
}

fn check_text(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("it is empty")
    } else if text.len() > MAX_NAME_BYTES {
        Err("it is longer than 512 bytes")
    } else if text.chars().any(char::is_control) {
        Err("it has a control character")
    } else if text.trim() != text {
        Err("it starts or ends with white space")
    } else {
        Ok(())
    }
}

fn check_word(text: &str) -> Result<(), &'static str> {
    if text.contains(char::is_whitespace) || text.contains('=') { Err("it has white space or '='") } else { Ok(()) }
}

fn check_slug(text: &str) -> Result<(), &'static str> {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if !text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) || !text.chars().all(legal) {
        Err("only lower-case letters, digits, '-', '_' and '.' belong in it, a letter or digit first")
    } else {
        Ok(())
    }
}

fn check_head(text: &str) -> Result<(), &'static str> {
    if text.contains(char::is_whitespace) {
        Err("it has white space")
    } else if text.starts_with('-') {
        Err("it starts with '-' and would be read as a flag")
    } else if text.starts_with("ctx-") || text.starts_with("art-") {
        Err("it starts like an id")
    } else if text.contains(['~', '^', ':']) {
        Err("'~', '^' and ':' have a meaning beside a head's name")
    } else if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        Err("each part between '/' needs a name")
    } else {
        Ok(())
    }
}

fn check_channel(text: &str) -> Result<(), &'static str> {
    if text.starts_with("chn-") { Err("it starts like an id") } else { check_head(text) }
}

/// Most letters of another name that become part of a head's.
const MAX_HEAD_PART: usize = 100;

impl HeadName {
    /// Makes any text fit to be a part of a head's name: what may not stand there becomes a hyphen.
    pub fn part(text: &str) -> String {
        let legal = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '@');
        let fit = text.chars().map(|letter| if legal(letter) { letter } else { '-' });
        let part: String = fit.take(MAX_HEAD_PART).collect();
        if part.trim_matches('.').is_empty() { "unknown".to_owned() } else { part }
    }

    /// Returns the head that tells where a thread is.
    pub fn of_thread(thread: &Thread) -> Option<Self> {
        Self::new(format!("thread/{}", Self::part(thread.as_str()))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_channels_cannot_be_taken_for_their_ids() {
        for text in ["release", "team/build-42", "Q3"] {
            assert!(ChannelName::new(text).is_ok(), "{text}");
        }
        for text in ["", "chn-1234", "ctx-1234", "-x", "a b", "a//b", "a:b"] {
            assert!(ChannelName::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn head_names_cannot_be_taken_for_flags_ids_or_paths() {
        for text in ["main", "session/4f1c", "principal/ada@host", "branch/fix-1.2"] {
            assert!(HeadName::new(text).is_ok(), "{text}");
        }
        for text in ["", "-x", "ctx-1234", "a b", "a//b", "/a", "a/", "a/../b", "a\nb", "a~1", "a^", "a:b"] {
            assert!(HeadName::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn formats_are_lower_case_words() {
        for text in ["claude-code-v1", "text", "a", "x.y_1"] {
            assert!(Format::new(text).is_ok(), "{text}");
        }
        for text in ["", "Claude", "a b", "-v1", "é", &"a".repeat(513)] {
            assert!(Format::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_refused_name_says_why() {
        let error = Principal::new("a\tb").unwrap_err();
        assert_eq!(error.to_string(), "\"a\\tb\" cannot be a principal: it has a control character");
    }
}
