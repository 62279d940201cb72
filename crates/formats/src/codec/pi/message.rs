//! Messages of a pi session.

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, Seal, SealScheme, ToolInput, Usage};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{
    codec::tolerant_json::{self, Field, Object, Shape},
    summary,
};

/// A message of any role, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    api: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    usage: Object<PiTokens<'a>>,
    #[serde(borrow)]
    stop_reason: Field<'a>,
    #[serde(borrow)]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    cancelled: Field<'a>,
    #[serde(borrow)]
    full_output_path: Field<'a>,
    #[serde(borrow)]
    exclude_from_context: Field<'a>,
    #[serde(borrow)]
    summary: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiTokens<'a> {
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    cache_read: Field<'a>,
    #[serde(borrow)]
    cache_write: Field<'a>,
}

/// A piece of content of any type, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    thinking: Field<'a>,
    #[serde(borrow)]
    thinking_signature: Field<'a>,
    #[serde(borrow)]
    redacted: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    thought_signature: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
    #[serde(borrow)]
    mime_type: Field<'a>,
}

/// The reasoning of OpenAI's Responses API, which pi keeps whole as the signature.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PiReasoning<'a> {
    #[serde(borrow)]
    encrypted_content: Field<'a>,
}

/// Returns what a message says.
pub(in crate::codec) fn entry(raw: &RawValue) -> serde_json::Result<Entry> {
    let message: Message<'_> = tolerant_json::object_or_default(raw)?;
    Ok(match message.role.text() {
        "user" => {
            let parts = summary::recognise(content(message.content)?);
            let flags = Flags { compact_summary: summary::is_all(&parts), ..Flags::default() };
            Entry { flags, ..Entry::new(Role::User, parts) }
        }
        "assistant" => Entry {
            // pi does not send again what broke off.
            flags: Flags { synthetic: matches!(message.stop_reason.text(), "error" | "aborted"), ..Flags::default() },
            usage: message.usage.0.as_ref().map(usage),
            model: message.model.into_text(),
            ..Entry::new(Role::Assistant, blocks(message.content, message.api.text())?)
        },
        "toolResult" => {
            let is_error = match message.is_error {
                Field::Bool(is_error) => Some(is_error),
                _ => None,
            };
            let call = message.tool_call_id.into_text().unwrap_or_default();
            Entry::new(Role::Tool, vec![EntryPart::ToolResult { call, content: content(message.content)?, is_error }])
        }
        "bashExecution" if message.exclude_from_context.is_true() => Entry::new(Role::User, Vec::new()),
        "bashExecution" => injected(vec![EntryPart::text(bash(&message))]),
        "custom" | "hookMessage" => injected(content(message.content)?),
        "branchSummary" => branch_summary(message.summary.text()),
        "compactionSummary" => Entry {
            flags: Flags { compact_summary: true, ..Flags::default() },
            ..Entry::new(Role::User, vec![EntryPart::Summary { text: message.summary.text().to_owned() }])
        },
        "system" => Entry::new(Role::System, content(message.content)?),
        role => injected(vec![EntryPart::Native { kind: role.to_owned(), value: tolerant_json::value(raw) }]),
    })
}

/// Returns what nobody typed and models see as the user's.
pub(super) fn injected(parts: Vec<EntryPart>) -> Entry {
    Entry { flags: Flags { meta: true, ..Flags::default() }, ..Entry::new(Role::User, parts) }
}

/// Returns what pi tells a model about a branch that it left.
pub(super) fn branch_summary(summary: &str) -> Entry {
    injected(match summary {
        "" => Vec::new(),
        _ => vec![EntryPart::text(format!(
            "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{summary}</summary>"
        ))],
    })
}

/// Reads content that no model wrote.
pub(in crate::codec) fn content(raw: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    blocks(raw, "")
}

fn blocks(raw: Option<&RawValue>, api: &str) -> serde_json::Result<Vec<EntryPart>> {
    let mut parts = Vec::new();
    match tolerant_json::shape(raw)? {
        Shape::Text(text) => parts.push(EntryPart::text(text)),
        Shape::List(list) => {
            for raw in list {
                push_block(&mut parts, raw, api)?;
            }
        }
        Shape::Object(raw) => push_block(&mut parts, raw, api)?,
        Shape::Other => {}
    }
    Ok(parts)
}

fn push_block(parts: &mut Vec<EntryPart>, raw: &RawValue, api: &str) -> serde_json::Result<()> {
    let block: Block<'_> = tolerant_json::object_or_default(raw)?;
    let part = match block.kind.text() {
        "text" => EntryPart::text(block.text.text()),
        "thinking" => {
            let is_redacted = block.redacted.is_true();
            let seal = block.thinking_signature.into_text().and_then(|signature| seal(signature, api, is_redacted));
            // What stands in the place of redacted thinking is a note for the screen.
            let text = if is_redacted { "" } else { block.thinking.text() };
            EntryPart::Thinking { text: text.to_owned(), seal }
        }
        "toolCall" => {
            let seal = block.thought_signature.into_text();
            let seal = seal.map(|data| Seal { scheme: SealScheme::GeminiSignature, data });
            parts.extend(seal.map(|seal| EntryPart::Thinking { text: String::new(), seal: Some(seal) }));
            let input = block.arguments.map_or_else(|| Value::Object(Map::new()), tolerant_json::value);
            EntryPart::ToolCall {
                id: block.id.into_text().unwrap_or_default(),
                name: block.name.into_text().unwrap_or_default(),
                input: ToolInput::Json(input),
            }
        }
        "image" => EntryPart::Blob {
            media_type: block.mime_type.into_text().unwrap_or_default(),
            source: BlobSource::Base64(block.data.into_text().unwrap_or_default()),
        },
        kind => EntryPart::Native { kind: kind.to_owned(), value: tolerant_json::value(raw) },
    };
    parts.push(part);
    Ok(())
}

/// Tells whose signature it is; with other APIs it is only the name of a field.
fn seal(signature: String, api: &str, is_redacted: bool) -> Option<Seal> {
    let (scheme, data) = if api.starts_with("anthropic") || api.starts_with("bedrock") {
        let scheme = if is_redacted { SealScheme::AnthropicRedacted } else { SealScheme::AnthropicSignature };
        (scheme, signature)
    } else if api.ends_with("-responses") {
        let Object(reasoning) = serde_json::from_str::<Object<PiReasoning<'_>>>(&signature).unwrap_or_default();
        (SealScheme::OpenaiEncrypted, reasoning?.encrypted_content.into_text()?)
    } else if api.starts_with("google") {
        (SealScheme::GeminiSignature, signature)
    } else {
        return None;
    };
    Some(Seal { scheme, data })
}

fn usage(tokens: &PiTokens<'_>) -> Usage {
    let (read, written) = (tokens.cache_read.count(), tokens.cache_write.count());
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    Usage {
        input: tokens.input.count().map(|input| input.saturating_add(cached)),
        output: tokens.output.count(),
        cache_read: read,
        cache_write: written,
        reasoning: None,
    }
}

/// Returns what pi tells a model about a command that the user ran.
fn bash(message: &Message<'_>) -> String {
    let command = message.command.text();
    let output = match message.output.text() {
        "" => "(no output)".to_owned(),
        output => format!("```\n{output}\n```"),
    };
    let outcome = match message.exit_code {
        _ if message.cancelled.is_true() => "\n\n(command cancelled)".to_owned(),
        Field::Count(0) | Field::Absent | Field::Null => String::new(),
        Field::Count(code) => format!("\n\nCommand exited with code {code}"),
        _ => "\n\nCommand failed".to_owned(),
    };
    let rest = match message.full_output_path.text() {
        "" => String::new(),
        path => format!("\n\n[Output truncated. Full output: {path}]"),
    };
    format!("Ran `{command}`\n{output}{outcome}{rest}")
}
