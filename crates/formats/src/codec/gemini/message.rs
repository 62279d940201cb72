//! Messages of a Gemini CLI session, and the parts of Google's API in them.

use std::collections::HashSet;

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, Seal, SealScheme, ToolInput, Usage};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{
    codec::tolerant_json::{self, Field, Object, Shape},
    summary,
};

/// What a user's texts begin with that Gemini CLI does not send again.
const SKIPPED: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];

/// Tells whether Gemini CLI leaves a user's text out when it resumes a session.
pub(crate) fn is_skipped(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || SKIPPED.iter().any(|opening| text.starts_with(opening))
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    thoughts: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens: Object<GeminiTokens<'a>>,
    #[serde(borrow)]
    model: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiTokens<'a> {
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    cached: Field<'a>,
    #[serde(borrow)]
    thoughts: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiThinking<'a> {
    #[serde(borrow)]
    subject: Field<'a>,
    #[serde(borrow)]
    description: Field<'a>,
}

/// A call together with what came of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Field<'a>,
}

/// A part of Google's API, of any kind.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ApiPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    thought: Field<'a>,
    #[serde(borrow)]
    thought_signature: Field<'a>,
    #[serde(borrow)]
    function_call: Object<ToolCall<'a>>,
    #[serde(borrow)]
    function_response: Object<FunctionResponse<'a>>,
    #[serde(borrow)]
    inline_data: Object<Data<'a>>,
    #[serde(borrow)]
    file_data: Object<Data<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FunctionResponse<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
}

/// What a tool said.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    mime_type: Field<'a>,
    #[serde(borrow, rename = "data")]
    base64: Field<'a>,
    #[serde(borrow)]
    file_uri: Field<'a>,
}

/// Returns what a message says: one entry, and a second one if it calls tools, with their results.
///
/// The second has an id of its own, so that a newer version of the message replaces both where they are.
pub(super) fn entries(raw: &RawValue) -> serde_json::Result<Vec<Entry>> {
    let message: Message<'_> = tolerant_json::object_or_default(raw)?;
    let at = message.timestamp.instant();
    let id = message.id.text().to_owned();
    let mut entries = match message.kind.text() {
        "user" => vec![user(message.content)?],
        "gemini" | "model" => model(message)?,
        _ => return Ok(Vec::new()),
    };
    for (n, entry) in entries.iter_mut().enumerate() {
        let own = if n == 0 { id.clone() } else { format!("{id}/results") };
        entry.id = Some(own).filter(|_| !id.is_empty());
        entry.at = at;
    }
    Ok(entries)
}

/// Returns the words of a message.
pub(super) fn text(content: Option<&RawValue>) -> serde_json::Result<String> {
    let texts: Vec<String> = parts(content)?
        .into_iter()
        .filter_map(|part| match part {
            EntryPart::Text { text } => Some(text),
            _ => None,
        })
        .collect();
    Ok(texts.join("\n"))
}

fn user(content: Option<&RawValue>) -> serde_json::Result<Entry> {
    let parts = summary::recognise(parts(content)?);
    if !parts.is_empty() && parts.iter().all(|part| matches!(part, EntryPart::ToolResult { .. })) {
        return Ok(Entry::new(Role::Tool, parts));
    }
    let compact_summary = summary::is_all(&parts);
    let entry = Entry::new(Role::User, parts);
    let has_media = entry.parts.iter().any(|part| !matches!(part, EntryPart::Text { .. }));
    let meta = !compact_summary && is_skipped(&entry.text()) && !(has_media && entry.text().is_empty());
    Ok(Entry { flags: Flags { meta, compact_summary, ..Flags::default() }, ..entry })
}

fn model(message: Message<'_>) -> serde_json::Result<Vec<Entry>> {
    let content = parts(message.content)?;
    let mut said = Vec::with_capacity(content.len());
    if !content.iter().any(|part| matches!(part, EntryPart::Thinking { .. })) {
        said.extend(thoughts(message.thoughts)?);
    }
    let calls = match tolerant_json::shape(message.tool_calls)? {
        Shape::List(calls) => calls
            .into_iter()
            .map(tolerant_json::object_or_default)
            .collect::<serde_json::Result<Vec<ToolCall<'_>>>>()?,
        _ => Vec::new(),
    };
    // Some versions write a call twice, in the content and beside it, and the first time without its id.
    let names: HashSet<&str> = calls.iter().map(|call| call.name.text()).collect();
    let is_beside = |part: &EntryPart| matches!(part, EntryPart::ToolCall { id, name, .. } if id == name && names.contains(id.as_str()));
    said.extend(content.into_iter().filter(|part| !is_beside(part)));
    let called: HashSet<String> = said
        .iter()
        .filter_map(|part| match part {
            EntryPart::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        })
        .collect();
    let mut results = Vec::with_capacity(calls.len());
    let calls_tools = !calls.is_empty();
    for call in calls {
        results.extend(result(&call)?);
        if !called.contains(call.id()) {
            said.push(call.into_part());
        }
    }
    let answer = Entry {
        model: message.model.into_text(),
        usage: message.tokens.0.as_ref().map(usage),
        ..Entry::new(Role::Assistant, said)
    };
    Ok(if calls_tools { vec![answer, Entry::new(Role::Tool, results)] } else { vec![answer] })
}

fn thoughts(raw: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    let Shape::List(thoughts) = tolerant_json::shape(raw)? else { return Ok(Vec::new()) };
    let thought = |raw| {
        let thought: GeminiThinking<'_> = tolerant_json::object_or_default(raw)?;
        let text = match (thought.subject.text(), thought.description.text()) {
            ("", description) => description.to_owned(),
            (subject, "") => subject.to_owned(),
            (subject, description) => format!("{subject}\n{description}"),
        };
        Ok(EntryPart::Thinking { text, seal: None })
    };
    thoughts.into_iter().map(thought).collect()
}

fn usage(tokens: &GeminiTokens<'_>) -> Usage {
    let reasoning = tokens.thoughts.count();
    Usage {
        input: tokens.input.count(),
        output: tokens.output.count().map(|output| output.saturating_add(reasoning.unwrap_or(0))),
        cache_read: tokens.cached.count(),
        cache_write: None,
        reasoning,
    }
}

impl ToolCall<'_> {
    /// Returns what the result refers to; a call without an id is known by its name.
    fn id(&self) -> &str {
        match self.id.text() {
            "" => self.name.text(),
            id => id,
        }
    }

    fn into_part(self) -> EntryPart {
        let input = self.args.map_or_else(|| Value::Object(Map::new()), tolerant_json::value);
        EntryPart::ToolCall {
            id: self.id().to_owned(),
            name: self.name.text().to_owned(),
            input: ToolInput::Json(input),
        }
    }
}

/// Returns what came of a call, unless nothing did yet.
fn result(call: &ToolCall<'_>) -> serde_json::Result<Option<EntryPart>> {
    let found = match tolerant_json::shape(call.result)? {
        Shape::Text(text) => vec![EntryPart::text(text)],
        Shape::Other => return Ok(None),
        Shape::List(_) | Shape::Object(_) => parts(call.result)?,
    };
    // The list may hold the responses to the calls beside this one as well.
    let is_own = |part: &EntryPart| matches!(part, EntryPart::ToolResult { call: id, .. } if id == call.id());
    let has_own = found.iter().any(is_own);
    let mut content = Vec::with_capacity(found.len());
    let mut failed = None;
    for part in found {
        match part {
            EntryPart::ToolResult { .. } if has_own && !is_own(&part) => {}
            EntryPart::ToolResult { content: inner, is_error, .. } => {
                content.extend(inner);
                failed = failed.or(is_error);
            }
            other => content.push(other),
        }
    }
    let is_error = match call.status.text() {
        "error" | "cancelled" => Some(true),
        "success" => Some(false),
        _ => failed,
    };
    Ok(Some(EntryPart::ToolResult { call: call.id().to_owned(), content, is_error }))
}

fn parts(raw: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    let mut parts = Vec::new();
    match tolerant_json::shape(raw)? {
        Shape::Text(text) if text.is_empty() => {}
        Shape::Text(text) => parts.push(EntryPart::text(text)),
        Shape::Object(raw) => push_part(&mut parts, raw)?,
        Shape::List(list) => list.into_iter().try_for_each(|raw| push_part(&mut parts, raw))?,
        Shape::Other => {}
    }
    Ok(parts)
}

fn push_part(parts: &mut Vec<EntryPart>, raw: &RawValue) -> serde_json::Result<()> {
    if let Shape::Text(text) = tolerant_json::shape(Some(raw))? {
        parts.push(EntryPart::text(text));
        return Ok(());
    }
    let part: ApiPart<'_> = tolerant_json::object_or_default(raw)?;
    let seal = part.thought_signature.into_text();
    let seal = seal.map(|data| Seal { scheme: SealScheme::GeminiSignature, data });
    if part.thought.is_true() {
        parts.push(EntryPart::Thinking { text: part.text.into_text().unwrap_or_default(), seal });
        return Ok(());
    }
    // A signature beside anything but a thought seals the thinking that led to it.
    parts.extend(seal.map(|seal| EntryPart::Thinking { text: String::new(), seal: Some(seal) }));
    parts.push(
        match (part.text, part.function_call.0, part.function_response.0, part.inline_data.0, part.file_data.0) {
            (Field::Text(text), ..) => EntryPart::text(text),
            (_, Some(call), ..) => call.into_part(),
            (_, _, Some(response), ..) => response.into_part()?,
            (_, _, _, Some(data), _) => EntryPart::Blob {
                media_type: data.mime_type.into_text().unwrap_or_default(),
                source: BlobSource::Base64(data.base64.into_text().unwrap_or_default()),
            },
            (_, _, _, _, Some(data)) => EntryPart::Blob {
                media_type: data.mime_type.into_text().unwrap_or_default(),
                source: BlobSource::Url(data.file_uri.into_text().unwrap_or_default()),
            },
            _ => EntryPart::Native {
                kind: part.kind.into_text().unwrap_or_else(|| "part".to_owned()),
                value: tolerant_json::value(raw),
            },
        },
    );
    Ok(())
}

impl FunctionResponse<'_> {
    fn into_part(self) -> serde_json::Result<EntryPart> {
        let said: Response<'_> =
            self.response.map_or_else(|| Ok(Response::default()), tolerant_json::object_or_default)?;
        let (text, is_error) = match (said.output, said.error) {
            (Some(output), None) => (Some(output), None),
            (None, Some(error)) => (Some(error), Some(true)),
            _ => (self.response, None),
        };
        let text = match tolerant_json::shape(text)? {
            Shape::Text(text) => text.into_owned(),
            _ => text.map(|raw| raw.get().to_owned()).unwrap_or_default(),
        };
        let mut content = vec![EntryPart::text(text)];
        content.extend(parts(self.parts)?);
        let call = self.id.into_text().or(self.name.into_text()).unwrap_or_default();
        Ok(EntryPart::ToolResult { call, content, is_error })
    }
}
