//! Entries: the messages of a conversation, whichever runtime wrote them.
//!
//! Entries are derived from the bytes that a runtime wrote, and can be derived again by a better decoder. The bytes are
//! the truth; an entry says what a model and a person would take from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Timestamp, vocabulary};

/// One message of one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Id that the runtime gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Id of the entry that it follows, where the runtime says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What several entries have in common that one answer of a model was cut into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Whose turn it is part of.
    pub role: Role,
    /// Who speaks, where several do: the name of an agent or a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it was written, as far as the runtime tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it says.
    pub parts: Vec<EntryPart>,
    /// What sets it apart from an ordinary message.
    #[serde(default, skip_serializing_if = "Flags::is_plain")]
    pub flags: Flags,
    /// What the model's provider counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

vocabulary! {
    /// Whose turn an entry is part of.
    Role {
        /// The person or program that asks, or what speaks in its place.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// Instructions that stand above the conversation.
        System = "system",
        /// Results of tools.
        Tool = "tool",
    }
}

/// A part of what an entry says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntryPart {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// What the model thought before it spoke.
    Thinking {
        /// As far as it can be read.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// What only its provider can read or verify.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<Seal>,
    },
    /// The model asks for a tool.
    ToolCall {
        /// What its result refers to.
        id: String,
        /// The tool.
        name: String,
        /// What the tool is given.
        input: ToolInput,
    },
    /// What a tool answered.
    ToolResult {
        /// The call that it answers.
        call: String,
        /// The answer.
        content: Vec<EntryPart>,
        /// Whether the tool failed, where the runtime says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// An image, a document, a sound.
    Blob {
        /// Its media type.
        media_type: String,
        /// Where its bytes are.
        #[serde(flatten)]
        source: BlobSource,
    },
    /// A text that stands for all that came before.
    Summary {
        /// The text.
        text: String,
    },
    /// Something that is not understood, as the runtime wrote it.
    Native {
        /// What the runtime calls it.
        kind: String,
        /// The thing itself.
        value: Value,
    },
}

/// What a provider has sealed: worthless to every other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seal {
    /// Whose it is.
    pub scheme: SealScheme,
    /// The sealed text.
    pub data: String,
}

/// Who can open a seal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SealScheme {
    /// Anthropic's signature of readable thinking.
    AnthropicSignature,
    /// Anthropic's thinking that cannot be read.
    AnthropicRedacted,
    /// OpenAI's encrypted reasoning.
    OpenaiEncrypted,
    /// Google's thought signature.
    GeminiSignature,
}

/// What a tool is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolInput {
    /// Named values.
    Json(Value),
    /// Free text.
    Text(String),
}

/// Where the bytes of a blob are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BlobSource {
    /// Here, in base64.
    Base64(String),
    /// At an address.
    Url(String),
    /// In a file that the provider or the runtime keeps, by its id or path.
    File(String),
}

/// What sets an entry apart from an ordinary message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct Flags {
    /// It belongs to a conversation beside the main one.
    #[serde(skip_serializing_if = "is_false")]
    pub side_chain: bool,
    /// The runtime wrote it in the place of a model and never sent it to one.
    #[serde(skip_serializing_if = "is_false")]
    pub synthetic: bool,
    /// It sums up what was compacted.
    #[serde(skip_serializing_if = "is_false")]
    pub compact_summary: bool,
    /// The runtime put it there, nobody typed it; models see it.
    #[serde(skip_serializing_if = "is_false")]
    pub meta: bool,
}

/// What a provider counted, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Read, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Written, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Read from the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Written as reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Entry {
    /// Returns an entry that says something and has nothing else.
    pub fn new(role: Role, parts: Vec<EntryPart>) -> Self {
        Self {
            id: None,
            parent: None,
            group: None,
            role,
            author: None,
            model: None,
            at: None,
            parts,
            flags: Flags::default(),
            usage: None,
        }
    }

    /// Returns the readable words of the entry, without thinking and tools.
    pub fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|part| match part {
            EntryPart::Text { text } | EntryPart::Summary { text } => Some(text.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join("\n")
    }
}

impl EntryPart {
    /// Returns words as a part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl Flags {
    /// Tells whether the entry is an ordinary message.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_has_one_plain_json_form() {
        let entry = Entry {
            id: Some("e1".into()),
            flags: Flags { meta: true, ..Flags::default() },
            ..Entry::new(
                Role::Assistant,
                vec![
                    EntryPart::text("hi"),
                    EntryPart::ToolCall {
                        id: "c".into(),
                        name: "Bash".into(),
                        input: ToolInput::Json(json!({"command": "ls"})),
                    },
                    EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) },
                ],
            )
        };
        let form = json!({
            "id": "e1",
            "role": "assistant",
            "parts": [
                {"type": "text", "text": "hi"},
                {"type": "tool_call", "id": "c", "name": "Bash", "input": {"json": {"command": "ls"}}},
                {"type": "blob", "media_type": "image/png", "base64": "AA=="},
            ],
            "flags": {"meta": true},
        });
        assert_eq!(serde_json::to_value(&entry).unwrap(), form);
        assert_eq!(serde_json::from_value::<Entry>(form).unwrap(), entry);
    }
}
