//! Who takes part in a channel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DisplayName, ParticipantKey, ParticipantRole, ParticipantSlug, Thread, vocabulary};

/// Somebody who is registered in a channel.
///
/// A key that is not registered is unknown: neither a user nor an agent, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    /// What senders, receivers and mentions say.
    pub key: ParticipantKey,
    /// What people type.
    pub slug: ParticipantSlug,
    /// What is shown; the slug where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<DisplayName>,
    /// Whether a person or a program answers.
    pub kind: ParticipantKind,
    /// What it does here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<ParticipantRole>,
    /// What it is shown.
    #[serde(default, skip_serializing_if = "ParticipantVisibility::is_all")]
    pub sees: ParticipantVisibility,
}

vocabulary! {
    /// Whether a person or a program answers.
    ParticipantKind {
        /// A person.
        User = "user",
        /// A program that has turns.
        Agent = "agent",
    }
}

/// Which messages a participant is shown, beside those that it sent and those that are sent to it alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantVisibility {
    /// All that are sent to everybody.
    #[default]
    All,
    /// Only those of one thread, as somebody to whom a part of the work was given.
    Thread(Thread),
}

impl Participant {
    /// Returns what it is shown as.
    pub fn shown_name(&self) -> &str {
        self.name.as_ref().map_or(self.slug.as_str(), DisplayName::as_str)
    }
}

impl ParticipantVisibility {
    /// Tells whether nothing that is sent to everybody is kept from it.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}
