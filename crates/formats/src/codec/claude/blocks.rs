//! Content blocks, as Anthropic's API has them and Claude Code's transcripts keep them.

use contexture_core::{BlobSource, Part, Seal, SealScheme, ToolInput};
use serde_json::Value;

/// Reads content: a text or blocks.
pub(in crate::codec) fn parts(content: &Value) -> Vec<Part> {
    match content {
        Value::String(text) => vec![Part::text(text)],
        Value::Array(blocks) => blocks.iter().map(part).collect(),
        Value::Null => Vec::new(),
        other => vec![Part::Native { kind: "content".to_owned(), value: other.clone() }],
    }
}

fn part(block: &Value) -> Part {
    let text = |name: &str| block[name].as_str().map(str::to_owned);
    let known = match block["type"].as_str() {
        Some("text") => text("text").map(|text| Part::Text { text }),
        Some("thinking") => Some(Part::Thinking {
            text: text("thinking").unwrap_or_default(),
            seal: text("signature")
                .filter(|data| !data.is_empty())
                .map(|data| seal(SealScheme::AnthropicSignature, data)),
        }),
        Some("redacted_thinking") => text("data")
            .map(|data| Part::Thinking { text: String::new(), seal: Some(seal(SealScheme::AnthropicRedacted, data)) }),
        Some("tool_use") => call(block),
        Some("tool_result") => text("tool_use_id").map(|call| Part::ToolResult {
            call,
            content: parts(&block["content"]),
            is_error: block["is_error"].as_bool(),
        }),
        Some("image" | "document") => blob(&block["source"]),
        Some("compaction") => text("content").map(|text| Part::Summary { text }),
        _ => None,
    };
    known.unwrap_or_else(|| {
        let kind = block["type"].as_str().unwrap_or("block").to_owned();
        Part::Native { kind, value: block.clone() }
    })
}

fn seal(scheme: SealScheme, data: String) -> Seal {
    Seal { scheme, data }
}

fn call(block: &Value) -> Option<Part> {
    let (id, name) = (block["id"].as_str()?, block["name"].as_str()?);
    let input = match &block["input"] {
        Value::String(text) => ToolInput::Text(text.clone()),
        other => ToolInput::Json(other.clone()),
    };
    Some(Part::ToolCall { id: id.to_owned(), name: name.to_owned(), input })
}

fn blob(source: &Value) -> Option<Part> {
    let text = |name: &str| source[name].as_str().map(str::to_owned);
    let media_type = text("media_type").unwrap_or_else(|| "application/octet-stream".to_owned());
    let source = match source["type"].as_str()? {
        "base64" => BlobSource::Base64(text("data")?),
        "url" => BlobSource::Url(text("url")?),
        "file" => BlobSource::File(text("file_id")?),
        "text" => return text("data").map(|text| Part::Text { text }),
        _ => return None,
    };
    Some(Part::Blob { media_type, source })
}
