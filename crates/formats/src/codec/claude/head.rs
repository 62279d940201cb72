//! What import needs of a line, read without building the rest.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::super::{
    Link, RecordMark,
    tolerant_json::{self, Field},
};

/// Longest title that is taken from what a user says.
const MAX_TITLE: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    pub(super) subtype: Field<'a>,
    #[serde(borrow)]
    pub(super) uuid: Field<'a>,
    /// `null` begins a conversation; where the field is absent, the line follows the one before.
    #[serde(borrow)]
    parent_uuid: Field<'a>,
    #[serde(borrow)]
    pub(super) logical_parent_uuid: Field<'a>,
    #[serde(borrow)]
    pub(super) leaf_uuid: Field<'a>,
    #[serde(borrow)]
    pub(super) session_id: Field<'a>,
    #[serde(borrow)]
    pub(super) agent_id: Field<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow)]
    pub(super) cwd: Field<'a>,
    #[serde(borrow)]
    pub(super) version: Field<'a>,
    #[serde(borrow)]
    pub(super) git_branch: Field<'a>,
    #[serde(borrow)]
    pub(super) custom_title: Field<'a>,
    #[serde(borrow)]
    pub(super) ai_title: Field<'a>,
    #[serde(borrow)]
    pub(super) summary: Field<'a>,
    #[serde(borrow)]
    pub(super) is_sidechain: Field<'a>,
    #[serde(borrow)]
    is_meta: Field<'a>,
    #[serde(borrow)]
    prompt_source: Field<'a>,
    #[serde(borrow)]
    pub(super) is_compact_summary: Field<'a>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    #[serde(rename = "forkedFrom")]
    forked_from_raw: Option<&'a RawValue>,
    #[serde(skip)]
    pub(super) forked_from: Option<ForkedFrom<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow)]
    pub(super) session_id: Field<'a>,
    #[serde(borrow)]
    pub(super) message_uuid: Field<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    model: Field<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ClaudePrompt<'a> {
    #[serde(borrow)]
    content: ClaudeWords<'a>,
}

/// What a user says: the first words, and whether there is anything but results of tools.
#[derive(Debug, Default)]
struct ClaudeWords<'a> {
    says_something: bool,
    text: Field<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
}

/// Tells by where a prompt comes from whether somebody asked it: sessions of the SDK mark all their prompts as meta.
pub(super) fn is_asked(source: &str) -> bool {
    matches!(source, "sdk" | "typed" | "queued")
}

impl<'a> Head<'a> {
    pub(super) fn read(record: &'a [u8]) -> serde_json::Result<Self> {
        let mut head: Self = tolerant_json::object(record)?;
        head.forked_from = head.forked_from_raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Ok(head)
    }

    pub(super) fn kind(&self) -> &str {
        self.kind.text()
    }

    pub(super) fn link(&self) -> Link {
        match &self.parent_uuid {
            Field::Absent => Link::Previous,
            parent => parent.to_text().map_or(Link::Root, Link::To),
        }
    }

    /// Tells whether the runtime put the line there and nobody asked it.
    pub(super) fn is_injected(&self) -> bool {
        self.is_meta.is_true() && !is_asked(self.prompt_source.text())
    }

    /// Returns the model that wrote the line.
    pub(super) fn model(&self) -> Option<String> {
        if self.kind() != "assistant" {
            return None;
        }
        let message: Message<'_> = serde_json::from_str(self.message?.get()).ok()?;
        message.model.into_text()
    }

    /// Tells whether somebody asks something here, and what.
    pub(super) fn turn(&self) -> RecordMark {
        let prompt: Option<ClaudePrompt<'_>> = self.message.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(ClaudePrompt { content }) = prompt else {
            return RecordMark::None;
        };
        let text = content.text.text().trim();
        // These lines tell what became of the line before.
        let is_answer = text.starts_with("<local-command-std") || text.starts_with("[Request interrupted");
        if !content.says_something || is_answer {
            return RecordMark::None;
        }
        // Commands and notices start turns too, but they are no titles.
        let is_title = !text.is_empty() && !text.starts_with('<') && !text.starts_with("Caveat:");
        RecordMark::Turn(is_title.then(|| text.chars().take(MAX_TITLE).collect()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ClaudeWords<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordsVisitor;

        impl<'de> Visitor<'de> for WordsVisitor {
            type Value = ClaudeWords<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ClaudeWords<'de>, E> {
                Ok(ClaudeWords { says_something: true, text: Field::Text(text.into()) })
            }

            fn visit_str<E>(self, text: &str) -> Result<ClaudeWords<'de>, E> {
                Ok(ClaudeWords { says_something: true, text: Field::Text(text.to_owned().into()) })
            }

            fn visit_unit<E>(self) -> Result<ClaudeWords<'de>, E> {
                Ok(ClaudeWords::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<ClaudeWords<'de>, A::Error> {
                let mut words = ClaudeWords::default();
                while let Some(block) = elements.next_element::<Block<'de>>()? {
                    words.says_something |= block.kind.text() != "tool_result";
                    if !matches!(words.text, Field::Text(_)) && block.kind.text() == "text" {
                        words.text = block.text;
                    }
                }
                Ok(words)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ClaudeWords<'de>, A::Error> {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(ClaudeWords::default())
            }
        }

        deserializer.deserialize_any(WordsVisitor)
    }
}
