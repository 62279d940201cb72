//! What import needs of a line, read without building the rest.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::super::{Link, Mark, loose};
use crate::lenient::{Flag, Word};

/// Longest title that is taken from what a user says.
const MAX_TITLE: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Word<'a>,
    #[serde(borrow)]
    pub(super) subtype: Word<'a>,
    #[serde(borrow)]
    pub(super) uuid: Word<'a>,
    /// Told apart from one that is absent: `null` begins a conversation.
    #[serde(borrow)]
    parent_uuid: Parent<'a>,
    #[serde(borrow)]
    pub(super) logical_parent_uuid: Word<'a>,
    #[serde(borrow)]
    pub(super) session_id: Word<'a>,
    #[serde(borrow)]
    pub(super) agent_id: Word<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Word<'a>,
    #[serde(borrow)]
    pub(super) cwd: Word<'a>,
    #[serde(borrow)]
    pub(super) version: Word<'a>,
    #[serde(borrow)]
    pub(super) git_branch: Word<'a>,
    #[serde(borrow)]
    pub(super) custom_title: Word<'a>,
    #[serde(borrow)]
    pub(super) ai_title: Word<'a>,
    #[serde(borrow)]
    pub(super) summary: Word<'a>,
    pub(super) is_sidechain: Flag,
    pub(super) is_meta: Flag,
    pub(super) is_compact_summary: Flag,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    #[serde(rename = "forkedFrom")]
    forked_from_raw: Option<&'a RawValue>,
    #[serde(skip)]
    pub(super) forked_from: Option<ForkedFrom<'a>>,
}

/// The line before, if the field is there at all.
#[derive(Debug, Default)]
struct Parent<'a>(Option<Word<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Parent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Word::deserialize(deserializer).map(|word| Self(Some(word)))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow)]
    pub(super) session_id: Word<'a>,
    #[serde(borrow)]
    pub(super) message_uuid: Word<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    model: Word<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Prompt<'a> {
    #[serde(borrow)]
    content: Words<'a>,
}

/// What a user says: the first words, and whether there is anything but results of tools.
#[derive(Debug, Default)]
struct Words<'a> {
    says_something: bool,
    text: Word<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Word<'a>,
    #[serde(borrow)]
    text: Word<'a>,
}

impl<'a> Head<'a> {
    pub(super) fn read(record: &'a [u8]) -> serde_json::Result<Self> {
        let mut head: Self = loose::object(record)?;
        head.forked_from = head.forked_from_raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Ok(head)
    }

    pub(super) fn kind(&self) -> &str {
        self.kind.as_str().unwrap_or_default()
    }

    pub(super) fn link(&self) -> Link {
        match &self.parent_uuid.0 {
            None => Link::Previous,
            Some(parent) => parent.owned().map_or(Link::Root, Link::To),
        }
    }

    /// Returns the model that wrote the line.
    pub(super) fn model(&self) -> Option<String> {
        if self.kind() != "assistant" {
            return None;
        }
        let message: Message<'_> = serde_json::from_str(self.message?.get()).ok()?;
        message.model.owned()
    }

    /// Tells whether somebody asks something here, and what.
    pub(super) fn turn(&self) -> Mark {
        let prompt: Option<Prompt<'_>> = self.message.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let Some(Prompt { content }) = prompt else {
            return Mark::None;
        };
        let text = content.text.as_str().unwrap_or_default().trim();
        // These lines tell what became of the line before.
        let is_answer = text.starts_with("<local-command-std") || text.starts_with("[Request interrupted");
        if !content.says_something || is_answer {
            return Mark::None;
        }
        // Commands and notices start turns too, but they are no titles.
        let is_title = !text.is_empty() && !text.starts_with('<') && !text.starts_with("Caveat:");
        Mark::Turn(is_title.then(|| text.chars().take(MAX_TITLE).collect()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordsVisitor;

        impl<'de> Visitor<'de> for WordsVisitor {
            type Value = Words<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or blocks")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Words<'de>, E> {
                Ok(Words { says_something: true, text: Word(Some(text.into())) })
            }

            fn visit_str<E>(self, text: &str) -> Result<Words<'de>, E> {
                Ok(Words { says_something: true, text: Word(Some(text.to_owned().into())) })
            }

            fn visit_unit<E>(self) -> Result<Words<'de>, E> {
                Ok(Words::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Words<'de>, A::Error> {
                let mut words = Words::default();
                while let Some(block) = elements.next_element::<Block<'de>>()? {
                    words.says_something |= !block.kind.is("tool_result");
                    if words.text.0.is_none() && block.kind.is("text") {
                        words.text = block.text;
                    }
                }
                Ok(words)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Words<'de>, A::Error> {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Words::default())
            }
        }

        deserializer.deserialize_any(WordsVisitor)
    }
}
