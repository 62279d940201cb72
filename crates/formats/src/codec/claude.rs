//! `claude-code-v1`: Claude Code's transcripts.
//!
//! One line a content block, linked by uuids. Lines that have no part in the chain tell about the session.

mod head;

use std::collections::BTreeMap;

use contexture_core::{Entry, EntryPart, Flags, Role, Usage};
use serde_json::{Value, value::RawValue};

use super::{
    Codec, Effect, Facts, Framing, Keep, Link, OriginKind, Outline, RecordMark, RecordStep, SessionOrigin,
    anthropic_content::{self, Message},
    tolerant_json,
};
use crate::RecordProblem;
use head::Head;

pub(crate) struct ClaudeCode;

/// What the runtime writes in the place of a model's name when no model spoke.
const SYNTHETIC: &str = "<synthetic>";

impl Codec for ClaudeCode {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        tolerant_json::decode(record, |record| Head::read(record).map(|head| outline(&head)))
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let mut line = tolerant_json::decode(record, whole)?;
        Ok(match line["type"].as_str() {
            Some("user") => RecordStep::append(user(&mut line)),
            Some("assistant") => RecordStep::append(assistant(&mut line)),
            Some("attachment") => attachment(&line).map_or_else(RecordStep::nothing, RecordStep::append),
            Some("system") if line["subtype"] == "compact_boundary" => {
                RecordStep { effect: Effect::Boundary(kept(&line["compactMetadata"])), entries: Vec::new() }
            }
            _ => RecordStep::nothing(),
        })
    }
}

/// Reads a line. A field that is nested too deep to be held becomes the text of its JSON.
fn whole(record: &[u8]) -> serde_json::Result<Value> {
    if let Ok(line @ Value::Object(_)) = serde_json::from_slice(record) {
        return Ok(line);
    }
    let fields: BTreeMap<String, &RawValue> = tolerant_json::object(record)?;
    Ok(fields.into_iter().map(|(name, raw)| (name, tolerant_json::value(raw))).collect())
}

fn outline(head: &Head<'_>) -> Outline {
    let is_chained = matches!(head.kind(), "user" | "assistant" | "system" | "attachment" | "progress");
    Outline {
        id: head.uuid.to_text().filter(|_| is_chained),
        link: if is_chained { head.link() } else { Link::Previous },
        lane: head.is_sidechain.is_true().then(|| head.agent_id.to_text().unwrap_or_default()),
        at: head.timestamp.instant(),
        has_summary: head.is_compact_summary.is_true(),
        is_answer: head.kind() == "assistant",
        leaf: head.leaf_uuid.to_text().filter(|_| head.kind() == "last-prompt"),
        mark: mark(head),
        facts: facts(head),
    }
}

fn mark(head: &Head<'_>) -> RecordMark {
    match head.kind() {
        "system" if head.subtype.text() == "compact_boundary" => {
            RecordMark::Compaction { after: head.logical_parent_uuid.to_text() }
        }
        "user" if !head.is_injected() && !head.is_compact_summary.is_true() && !head.is_sidechain.is_true() => {
            head.turn()
        }
        _ => RecordMark::None,
    }
}

fn facts(head: &Head<'_>) -> Facts {
    let title = match head.kind() {
        "custom-title" => head.custom_title.to_text(),
        "ai-title" => head.ai_title.to_text(),
        "summary" => head.summary.to_text(),
        _ => None,
    };
    let origin = head.forked_from.as_ref().and_then(|forked| {
        let session = forked.session_id.to_text()?;
        Some(SessionOrigin { session, kind: OriginKind::Fork, at: forked.message_uuid.to_text() })
    });
    Facts {
        session: head.session_id.to_text(),
        origin,
        version: head.version.to_text(),
        directory: head.cwd.to_text(),
        branch: head.git_branch.to_text().filter(|branch| branch != "HEAD"),
        model: head.model().filter(|model| model != SYNTHETIC),
        title,
    }
}

/// Returns the ids of the lines that a compaction keeps.
fn kept(metadata: &Value) -> Keep {
    let ids: Vec<String> = metadata["preservedMessages"]["uuids"]
        .as_array()
        .map(|ids| ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    if ids.is_empty() { Keep::Nothing } else { Keep::Ids(ids) }
}

fn entry(line: &Value, role: Role, parts: Vec<EntryPart>) -> Entry {
    let text = |name: &str| line[name].as_str().map(str::to_owned);
    let is_meta = line["isMeta"] == true && !head::is_asked(line["promptSource"].as_str().unwrap_or_default());
    Entry {
        id: text("uuid"),
        parent: text("parentUuid"),
        author: text("agentName"),
        at: line["timestamp"].as_str().and_then(|text| text.parse().ok()),
        flags: Flags { side_chain: line["isSidechain"] == true, meta: is_meta, ..Flags::default() },
        ..Entry::new(role, parts)
    }
}

fn user(line: &mut Value) -> Entry {
    let content = line.get_mut("message").and_then(|message| message.get_mut("content")).map(Value::take);
    let mut parts = anthropic_content::parts(content.unwrap_or_default());
    let is_summary = line["isCompactSummary"] == true;
    if is_summary {
        parts = parts.into_iter().map(as_summary).collect();
    }
    let mut entry = entry(line, Role::User, parts);
    entry.flags.compact_summary = is_summary;
    entry
}

fn as_summary(part: EntryPart) -> EntryPart {
    match part {
        EntryPart::Text { text } => EntryPart::Summary { text },
        other => other,
    }
}

fn assistant(line: &mut Value) -> Entry {
    let message = line.get_mut("message").map(Value::take).unwrap_or_default();
    let Ok(Message { id, model, content, usage, .. }) = serde_json::from_value(message) else {
        return entry(line, Role::Assistant, Vec::new());
    };
    let mut entry = entry(line, Role::Assistant, anthropic_content::parts(content));
    entry.group = id;
    entry.flags.synthetic = model.as_deref() == Some(SYNTHETIC) || line["isApiErrorMessage"] == true;
    entry.model = model.filter(|model| model != SYNTHETIC);
    entry.usage = usage.map(Usage::from);
    entry
}

/// Returns what the runtime put before the model beside the conversation.
fn attachment(line: &Value) -> Option<Entry> {
    let attachment = &line["attachment"];
    let kind = attachment["type"].as_str()?;
    let parts = match kind {
        // A prompt that was typed while the agent was at work.
        "queued_command" => anthropic_content::parts(attachment["prompt"].clone()),
        "hook_additional_context" | "nested_memory" | "file" => anthropic_content::parts(attachment["content"].clone()),
        "edited_text_file" => anthropic_content::parts(attachment["snippet"].clone()),
        _ => vec![EntryPart::Native { kind: kind.to_owned(), value: attachment.clone() }],
    };
    let mut entry = entry(line, Role::User, parts);
    entry.flags.meta = kind != "queued_command";
    Some(entry)
}
