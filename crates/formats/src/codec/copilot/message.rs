//! What is said in a session of Copilot CLI.

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, ToolInput, Usage};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    codec::{
        content_blocks,
        tolerant_json::{self, Field, Object, Shape},
    },
    media,
};

/// What an event tells, in the fields that a step needs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Told<'a> {
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) summary_content: Field<'a>,
    #[serde(borrow)]
    pub(super) parent_tool_call_id: Field<'a>,
    #[serde(borrow)]
    pub(super) role: Field<'a>,
    #[serde(borrow)]
    transformed_content: Field<'a>,
    #[serde(borrow)]
    attachments: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Field<'a>,
    #[serde(borrow)]
    is_autopilot_continuation: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    reasoning_text: Field<'a>,
    #[serde(borrow)]
    tool_requests: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
    #[serde(borrow)]
    api_call_id: Field<'a>,
    #[serde(borrow)]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    success: Field<'a>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attached<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    path: Field<'a>,
    #[serde(borrow)]
    file_path: Field<'a>,
    #[serde(borrow)]
    url: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    data: Field<'a>,
    #[serde(borrow)]
    mime_type: Field<'a>,
}

/// What a tool answered, or why it failed.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Outcome<'a> {
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    binary_results_for_llm: Option<&'a RawValue>,
}

/// Tells whether nobody typed a message that stands in the place of the user's.
pub(super) fn is_injected(source: &Field<'_>, is_autopilot: &Field<'_>) -> bool {
    let source = source.text();
    is_autopilot.is_true() || ["skill-", "agent-", "system"].iter().any(|opening| source.starts_with(opening))
}

/// Returns what nobody typed and models see as the user's.
pub(super) fn injected(parts: Vec<EntryPart>) -> Entry {
    Entry { flags: Flags { meta: true, ..Flags::default() }, ..Entry::new(Role::User, parts) }
}

pub(super) fn texts(text: &Field<'_>) -> Vec<EntryPart> {
    text.to_text().map(EntryPart::text).into_iter().collect()
}

/// Returns what somebody asks. What Copilot wraps around the words for the model is the runtime's, not theirs.
pub(super) fn asked(told: &Told<'_>) -> serde_json::Result<Entry> {
    let words = if told.content.text().is_empty() { &told.transformed_content } else { &told.content };
    let mut parts = texts(words);
    for raw in tolerant_json::list(told.attachments)? {
        parts.push(attachment(raw)?);
    }
    let is_injected = is_injected(&told.source, &told.is_autopilot_continuation);
    Ok(if is_injected { injected(parts) } else { Entry::new(Role::User, parts) })
}

fn attachment(raw: &RawValue) -> serde_json::Result<EntryPart> {
    let attached: Attached<'_> = tolerant_json::object_or_default(raw)?;
    Ok(match attached.kind.text() {
        "blob" if !attached.data.text().is_empty() => blob(attached.mime_type, attached.data),
        "selection" => EntryPart::text(format!("{}:\n{}", attached.file_path.text(), attached.text.text())),
        "file" | "directory" => EntryPart::text(format!("[{} {}]", attached.kind.text(), attached.path.text())),
        _ if !attached.url.text().is_empty() => EntryPart::text(format!("[{}]", attached.url.text())),
        _ => content_blocks::native(tolerant_json::value(raw)),
    })
}

fn blob(media_type: Field<'_>, data: Field<'_>) -> EntryPart {
    EntryPart::Blob {
        media_type: media_type.into_text().unwrap_or_else(|| media::SOME_BYTES.to_owned()),
        source: BlobSource::Base64(data.into_text().unwrap_or_default()),
    }
}

/// Returns what the model answers. Its sealed reasoning is bound to Copilot's own requests, so only the readable one counts.
pub(super) fn answered(told: &Told<'_>) -> serde_json::Result<Entry> {
    let mut parts = Vec::new();
    if let Some(text) = told.reasoning_text.to_text() {
        parts.push(EntryPart::Thinking { text, seal: None });
    }
    parts.extend(texts(&told.content));
    for raw in tolerant_json::list(told.tool_requests)? {
        parts.push(call(raw)?);
    }
    let output = told.output_tokens.count();
    Ok(Entry {
        model: told.model.to_text(),
        group: told.api_call_id.to_text(),
        usage: output.map(|output| Usage { output: Some(output), ..Usage::default() }),
        ..Entry::new(Role::Assistant, parts)
    })
}

fn call(raw: &RawValue) -> serde_json::Result<EntryPart> {
    let request: Request<'_> = tolerant_json::object_or_default(raw)?;
    let input = match tolerant_json::shape(request.arguments)? {
        Shape::Text(text) if request.kind.text() == "custom" => ToolInput::Text(text.into_owned()),
        // Some versions write the arguments as the text of their JSON.
        Shape::Text(text) => match serde_json::from_str::<Value>(&text) {
            Ok(value @ Value::Object(_)) => ToolInput::Json(value),
            _ => ToolInput::Text(text.into_owned()),
        },
        Shape::List(_) | Shape::Object(_) | Shape::Other => {
            let value = request.arguments.map(tolerant_json::value).filter(|value| !value.is_null());
            ToolInput::Json(value.unwrap_or_else(content_blocks::empty_object))
        }
    };
    Ok(EntryPart::ToolCall {
        id: request.tool_call_id.into_text().unwrap_or_default(),
        name: request.name.into_text().unwrap_or_default(),
        input,
    })
}

/// Returns what a tool answered.
pub(super) fn result(told: &Told<'_>) -> serde_json::Result<Entry> {
    let mut content = Vec::new();
    for raw in [told.result, told.error].into_iter().flatten() {
        let Object(outcome) = serde_json::from_str::<Object<Outcome<'_>>>(raw.get())?;
        let outcome = outcome.unwrap_or_default();
        content.extend(texts(&outcome.content));
        content.extend(texts(&outcome.message));
        for raw in tolerant_json::list(outcome.binary_results_for_llm)? {
            let binary: Attached<'_> = tolerant_json::object_or_default(raw)?;
            if !binary.data.text().is_empty() {
                content.push(blob(binary.mime_type, binary.data));
            }
        }
    }
    let is_error = match told.success {
        Field::Bool(success) => Some(!success),
        _ => None,
    };
    let call = told.tool_call_id.to_text().unwrap_or_default();
    Ok(Entry::new(Role::Tool, vec![EntryPart::ToolResult { call, content, is_error }]))
}
