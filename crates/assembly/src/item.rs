//! Items: what sources yield, frozen, and all that an assembly is made of.

use contexture_core::{CommitId, Entry, MessageSequence, Timestamp, vocabulary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    candidate::{Priority, PromptPlace, RunPart},
    digest::Digest,
    standard::{Audience, ContextKind, ItemId, RedactionState},
};

/// Something that a source yields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its id; no two items of an assembly have the same.
    pub id: ItemId,
    /// What it is.
    pub kind: ContextKind,
    /// Which segment it belongs to, counted from 0.
    pub segment: usize,
    /// Where it stands in the segment.
    pub place: PromptPlace,
    /// What it is in a run.
    #[serde(default)]
    pub part: RunPart,
    /// How much it matters.
    pub priority: Priority,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it comes from.
    pub origin: ItemOrigin,
    /// Who may see it; everybody if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<Audience>>,
    /// How far it can be trusted, in words of whoever gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// What was done to what nobody may see; nothing if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<Redaction>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// How sensitive it is, in words of whoever gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<String>,
    /// The media type of what was given; that of its content if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What of the chain it stands for, where it is the summary of a compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ReplacedTurns>,
    /// The messages of a channel that it tells, by their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageSequence>,
    /// All of it.
    pub content: ItemContent,
    /// A shorter form that may stand for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<ItemContent>,
}

/// Where an item comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemOrigin {
    /// The kind of source.
    pub kind: String,
    /// Where it is.
    pub uri: String,
    /// The digest of what was read there.
    pub digest: Digest,
    /// Whether the same can be read there for ever, or what is there may change.
    pub hold: Hold,
    /// The commit that it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
}

/// Turns of a chain that a compaction replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplacedTurns {
    /// How many commits.
    pub commits: u64,
    /// The newest of them.
    pub last: CommitId,
    /// What caused the compaction, as its commit says.
    pub trigger: String,
}

/// What was done to what nobody may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Redaction {
    /// What is left.
    pub state: RedactionState,
    /// How it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Who decided that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
}

vocabulary! {
    /// Whether what a source holds may change.
    Hold {
        /// It never changes.
        Pinned = "pinned",
        /// It may change.
        Live = "live",
    }
}

/// What an item says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemContent {
    /// A text.
    Text {
        /// The text.
        text: String,
        /// In whose name.
        voice: Voice,
        /// Whether it stands between fences, so that it cannot pass for anything else.
        fenced: bool,
    },
    /// Messages of a conversation; calls and their results are in one item.
    Entries(Vec<Entry>),
}

vocabulary! {
    /// In whose name a text is given to a model.
    Voice {
        /// The one that gives instructions.
        System = "system",
        /// The one that asks.
        User = "user",
    }
}

impl ItemContent {
    /// Tells whether it says nothing.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Text { text, .. } => text.trim().is_empty(),
            Self::Entries(entries) => entries.iter().all(|entry| entry.parts.is_empty()),
        }
    }
}

impl Item {
    /// Tells whether somebody may see it.
    pub fn is_visible_to(&self, audience: Audience) -> bool {
        self.visibility.as_ref().is_none_or(|allowed| allowed.contains(&audience))
    }
}
