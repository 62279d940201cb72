//! Items of OpenAI's Responses API, as Codex keeps them.

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, Seal, SealScheme, ToolInput};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{
    codec::tolerant_json::{self, Field, Object, Shape},
    runtime_note::is_runtime_note,
    summary,
};

/// What stands before the answer of a tool that failed, as Codex has no field for that.
pub(crate) const FAILED: &str = "[the tool failed]\n";

/// Types of items, as the first versions wrote them without an envelope.
pub(super) const KINDS: [&str; 12] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "image_generation_call",
    "compaction",
];

/// Items that have a meaning to OpenAI only, and are written back as they were.
pub(crate) const NATIVE_KINDS: [&str; 5] =
    ["compaction", "compaction_summary", "context_compaction", "web_search_call", "image_generation_call"];

/// What Codex's own summaries begin with.
const SUMMARY_PREFIX: &str = "Another language model started to solve this problem and produced a summary";
/// What the summary proper follows.
const SUMMARY_PREFIX_END: &str = "to assist with your own analysis:";

/// What texts begin with that Codex puts into the user's mouth, beside those about itself.
const INJECTED: [&str; 9] = [
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<goal_context>",
    "<hook_prompt",
];

/// An item of any type, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    author: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Field<'a>,
    #[serde(borrow)]
    call_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    namespace: Field<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

/// A piece of content of any type, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutContent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    image_url: Field<'a>,
    #[serde(borrow)]
    audio_url: Field<'a>,
}

impl Item<'_> {
    /// Returns what the item says; nothing if it only serves Codex itself.
    pub(super) fn into_entry(self, raw: &RawValue) -> serde_json::Result<Option<Entry>> {
        let kind = self.kind.text().to_owned();
        let id = self.id.text().to_owned();
        let entry = match kind.as_str() {
            "" | "message" if self.role != Field::Absent => self.message()?,
            "reasoning" => Entry::new(Role::Assistant, vec![self.reasoning()?]),
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" if self.has_call_id() => {
                Entry::new(Role::Assistant, vec![self.call(&kind)?])
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" if self.has_call_id() => {
                Entry::new(Role::Tool, vec![self.result()?])
            }
            "agent_message" => Entry {
                author: self.author.into_text(),
                flags: Flags { meta: true, ..Flags::default() },
                ..Entry::new(Role::User, content(self.content)?)
            },
            // A commit for undoing; models never see it.
            "ghost_snapshot" => return Ok(None),
            "compaction" | "compaction_summary" | "context_compaction" => Entry {
                flags: Flags { compact_summary: true, ..Flags::default() },
                ..Entry::new(Role::User, vec![native(kind, raw)])
            },
            _ => Entry::new(Role::Assistant, vec![native(kind, raw)]),
        };
        Ok(Some(Entry { id: Some(id).filter(|id| !id.is_empty()), ..entry }))
    }

    fn has_call_id(&self) -> bool {
        !self.call_id.text().is_empty()
    }

    fn message(self) -> serde_json::Result<Entry> {
        let parts = content(self.content)?;
        Ok(match self.role.text() {
            "assistant" => Entry::new(Role::Assistant, parts),
            "user" => user(parts),
            "developer" | "system" => {
                Entry { flags: Flags { meta: true, ..Flags::default() }, ..Entry::new(Role::System, parts) }
            }
            _ => Entry { flags: Flags { meta: true, ..Flags::default() }, ..Entry::new(Role::User, parts) },
        })
    }

    fn reasoning(self) -> serde_json::Result<EntryPart> {
        let mut texts = Vec::new();
        for list in [self.summary, self.content] {
            texts.extend(content(list)?.into_iter().filter_map(|part| match part {
                EntryPart::Text { text } => Some(text),
                _ => None,
            }));
        }
        let seal = self.encrypted_content.into_text();
        Ok(EntryPart::Thinking {
            text: texts.join("\n\n"),
            seal: seal.map(|data| Seal { scheme: SealScheme::OpenaiEncrypted, data }),
        })
    }

    fn call(self, kind: &str) -> serde_json::Result<EntryPart> {
        let (name, input) = match kind {
            "custom_tool_call" => (self.name.into_text(), free_text(self.input)?),
            "local_shell_call" => (Some("local_shell".to_owned()), arguments(self.action)?),
            "tool_search_call" => (Some("tool_search".to_owned()), arguments(self.arguments)?),
            _ => (self.name.into_text(), arguments(self.arguments)?),
        };
        let name = in_namespace(self.namespace.text(), name.unwrap_or_default());
        Ok(EntryPart::ToolCall { id: self.call_id.text().to_owned(), name, input })
    }

    fn result(self) -> serde_json::Result<EntryPart> {
        let mut content = match (tolerant_json::shape(self.output)?, self.tools) {
            (Shape::Text(text), _) => vec![EntryPart::text(text)],
            (Shape::Object(raw), _) => match part(raw)? {
                EntryPart::Native { .. } => vec![EntryPart::text(raw.get())],
                known => vec![known],
            },
            (Shape::List(_), _) => content(self.output)?,
            (Shape::Other, tools) => tools.map(|tools| EntryPart::text(tools.get())).into_iter().collect(),
        };
        let mut is_error = None;
        if let Some(EntryPart::Text { text }) = content.first_mut() {
            is_error = has_failed(text);
            if let Some(rest) = text.strip_prefix(FAILED) {
                is_error = Some(true);
                *text = rest.to_owned();
                if text.is_empty() && content.len() > 1 {
                    content.remove(0);
                }
            }
        }
        Ok(EntryPart::ToolResult { call: self.call_id.text().to_owned(), content, is_error })
    }
}

/// Reads the content of a message.
pub(super) fn content(raw: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    match tolerant_json::shape(raw)? {
        Shape::Text(text) => Ok(vec![EntryPart::text(text)]),
        Shape::List(list) => list.into_iter().map(part).collect(),
        Shape::Object(raw) => part(raw).map(|part| vec![part]),
        Shape::Other => Ok(Vec::new()),
    }
}

/// Returns a text that stands for all that came before.
pub(super) fn summary(text: String) -> Entry {
    let text = match text.strip_prefix(SUMMARY_PREFIX) {
        Some(rest) => rest.split_once(SUMMARY_PREFIX_END).map_or(rest, |(_, summary)| summary).trim().to_owned(),
        None => text,
    };
    let flags = Flags { compact_summary: true, ..Flags::default() };
    Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) }
}

/// Tells whether Codex wrote the part, not the user whose message it is in.
pub(crate) fn is_injected(part: &EntryPart) -> bool {
    let EntryPart::Text { text } = part else { return false };
    let text = text.trim_start();
    is_runtime_note(part) || INJECTED.iter().any(|opening| text.starts_with(opening))
}

fn user(parts: Vec<EntryPart>) -> Entry {
    let parts = summary::recognise(parts);
    if let [EntryPart::Text { text }] = parts.as_slice()
        && text.starts_with(SUMMARY_PREFIX)
    {
        return summary(text.clone());
    }
    // As in Codex, one injected text makes the whole message one.
    let meta = parts.iter().any(is_injected);
    let compact_summary = summary::is_all(&parts);
    Entry { flags: Flags { meta, compact_summary, ..Flags::default() }, ..Entry::new(Role::User, parts) }
}

fn part(raw: &RawValue) -> serde_json::Result<EntryPart> {
    let content: RolloutContent<'_> = tolerant_json::object_or_default(raw)?;
    Ok(match (content.text, content.image_url, content.audio_url) {
        (Field::Text(text), ..) => EntryPart::text(text),
        (_, Field::Text(url), _) => blob("image/*", &url),
        (_, _, Field::Text(url)) => blob("audio/*", &url),
        _ => match tolerant_json::shape(Some(raw))? {
            Shape::Text(text) => EntryPart::text(text),
            _ => native(content.kind.into_text().unwrap_or_default(), raw),
        },
    })
}

/// Reads a `data:` address as the bytes that it carries.
fn blob(kind: &str, url: &str) -> EntryPart {
    let embedded = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (media_type, source) = match embedded {
        Some((media_type, data)) => (media_type, BlobSource::Base64(data.to_owned())),
        None => (kind, BlobSource::Url(url.to_owned())),
    };
    EntryPart::Blob { media_type: media_type.to_owned(), source }
}

fn native(kind: String, raw: &RawValue) -> EntryPart {
    EntryPart::Native { kind, value: tolerant_json::value(raw) }
}

/// Reads what a function is given: JSON in a string.
fn arguments(raw: Option<&RawValue>) -> serde_json::Result<ToolInput> {
    Ok(match tolerant_json::shape(raw)? {
        Shape::Text(text) if text.trim().is_empty() => ToolInput::Json(Value::Object(Map::new())),
        Shape::Text(text) => match serde_json::from_str(&text) {
            Ok(value) => ToolInput::Json(value),
            Err(_) => ToolInput::Text(text.into_owned()),
        },
        Shape::List(_) | Shape::Object(_) => ToolInput::Json(raw.map(tolerant_json::value).unwrap_or_default()),
        Shape::Other => ToolInput::Json(Value::Object(Map::new())),
    })
}

fn free_text(raw: Option<&RawValue>) -> serde_json::Result<ToolInput> {
    match tolerant_json::shape(raw)? {
        Shape::Text(text) => Ok(ToolInput::Text(text.into_owned())),
        _ => arguments(raw),
    }
}

/// Newer versions keep the server of a tool apart from its name; together they are what older ones wrote.
fn in_namespace(namespace: &str, name: String) -> String {
    match namespace {
        "" => name,
        _ if namespace.ends_with('_') || name.starts_with('_') => format!("{namespace}{name}"),
        _ => format!("{namespace}__{name}"),
    }
}

/// Tells from the exit code that Codex writes with a command's output whether it failed.
pub(crate) fn has_failed(output: &str) -> Option<bool> {
    if output.starts_with("{\"output\"") {
        let Object(report) = serde_json::from_str::<Object<CommandReport<'_>>>(output).unwrap_or_default();
        return match report?.metadata.0?.exit_code {
            Field::Count(code) => Some(code != 0),
            // A signal.
            Field::Other => Some(true),
            _ => None,
        };
    }
    let mut heading = output.lines().take(8).take_while(|line| *line != "Output:");
    let code = heading
        .find_map(|line| line.strip_prefix("Exit code: ").or_else(|| line.strip_prefix("Process exited with code ")))?;
    code.trim().parse().ok().map(|code: i64| code != 0)
}

/// What older versions wrap the output of a command in.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CommandReport<'a> {
    #[serde(borrow)]
    metadata: Object<ReportMetadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportMetadata<'a> {
    #[serde(borrow)]
    exit_code: Field<'a>,
}
