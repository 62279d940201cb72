//! Messages of Anthropic's API and their blocks, which Claude Code writes as well.

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme, ToolInput, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::{content_blocks, tolerant_json};
use crate::media;

/// A message as the API returns it; one that is sent has only a role and content.
#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    pub(super) role: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) content: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    pub(super) usage: Option<CountedBlocks>,
}

/// What the API counted. Tokens that the cache held are not among those of the input.
#[derive(Deserialize)]
pub(super) struct CountedBlocks {
    #[serde(rename = "input_tokens", default, deserialize_with = "tolerant_json::maybe")]
    input: Option<u64>,
    #[serde(rename = "output_tokens", default, deserialize_with = "tolerant_json::maybe")]
    output: Option<u64>,
    #[serde(rename = "cache_read_input_tokens", default, deserialize_with = "tolerant_json::maybe")]
    cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens", default, deserialize_with = "tolerant_json::maybe")]
    cache_creation: Option<u64>,
}

impl From<CountedBlocks> for Usage {
    fn from(counted: CountedBlocks) -> Self {
        let cached = [counted.cache_read, counted.cache_creation];
        let add = |input: u64| cached.into_iter().flatten().fold(input, u64::saturating_add);
        Self {
            input: counted.input.map(add),
            output: counted.output,
            cache_read: counted.cache_read,
            cache_write: counted.cache_creation,
            reasoning: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    Image {
        source: BlockSource,
    },
    Document {
        source: BlockSource,
    },
    Thinking {
        thinking: String,
        #[serde(default, deserialize_with = "tolerant_json::maybe")]
        signature: Option<String>,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        #[serde(default = "content_blocks::empty_object")]
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Value,
        #[serde(default, deserialize_with = "tolerant_json::maybe")]
        is_error: Option<bool>,
    },
    Compaction {
        content: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockSource {
    Base64 {
        media_type: String,
        data: String,
    },
    Url {
        url: String,
    },
    File {
        file_id: String,
    },
    Text {
        data: String,
    },
    #[serde(other)]
    Other,
}

/// Returns what content says, be it a text or blocks. A compaction becomes a summary.
pub(super) fn parts(content: Value) -> Vec<EntryPart> {
    content_blocks::parts(content, part)
}

/// Returns what one block says.
pub(super) fn part(block: Value) -> EntryPart {
    let understood = match Block::deserialize(&block) {
        Ok(Block::Text { text }) => Some(EntryPart::Text { text }),
        Ok(Block::Image { source }) => blob(source, media::SOME_IMAGE, media::SOME_IMAGE),
        Ok(Block::Document { source }) => blob(source, media::PDF, media::SOME_BYTES),
        Ok(Block::Thinking { thinking, signature }) => {
            let seal = signature
                .filter(|signature| !signature.is_empty())
                .map(|data| Seal { scheme: SealScheme::AnthropicSignature, data });
            Some(EntryPart::Thinking { text: thinking, seal })
        }
        Ok(Block::RedactedThinking { data }) => {
            let seal = Some(Seal { scheme: SealScheme::AnthropicRedacted, data });
            Some(EntryPart::Thinking { text: String::new(), seal })
        }
        Ok(Block::ToolUse { id, name, input }) => Some(EntryPart::ToolCall { id, name, input: ToolInput::Json(input) }),
        Ok(Block::ToolResult { tool_use_id, content, is_error }) => {
            Some(EntryPart::ToolResult { call: tool_use_id, content: parts(content), is_error })
        }
        Ok(Block::Compaction { content }) if !content.is_empty() => Some(EntryPart::Summary { text: content }),
        Ok(Block::Compaction { .. } | Block::Other) | Err(_) => None,
    };
    understood.unwrap_or_else(|| content_blocks::native(block))
}

fn blob(source: BlockSource, type_at_url: &str, type_in_file: &str) -> Option<EntryPart> {
    let (media_type, source) = match source {
        BlockSource::Base64 { media_type, data } => (media_type, BlobSource::Base64(data)),
        BlockSource::Url { url } => (type_at_url.to_owned(), BlobSource::Url(url)),
        BlockSource::File { file_id } => (type_in_file.to_owned(), BlobSource::File(file_id)),
        BlockSource::Text { data } => return Some(EntryPart::Text { text: data }),
        BlockSource::Other => return None,
    };
    Some(EntryPart::Blob { media_type, source })
}
