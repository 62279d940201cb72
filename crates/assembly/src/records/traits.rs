//! What is known of an item beside what it says: how large, how new and how sensitive it is, where in its source it lies,
//! and who vouches for it.

use contexture_core::{EntryPart, Timestamp};
use serde_json::{Value, json};

use super::object;
use crate::{
    envelope::{Envelope, ItemRecord},
    item::{Hold, Item, ItemContent},
    standard::{RecordReference, RedactionState, Selector, SelectorKind, SelectorShape},
};

/// Returns the media type of what an item holds.
pub(super) fn media_type(item: &Item) -> &str {
    match (&item.media_type, &item.content) {
        (Some(given), _) => given,
        (None, ItemContent::Text { .. }) => "text/plain; charset=utf-8",
        (None, ItemContent::Entries(_)) => "application/json",
    }
}

/// Returns how many bytes an item holds: those that the digest of its source is of.
pub(super) fn byte_size(item: &Item) -> u64 {
    match &item.content {
        ItemContent::Text { text, .. } => text.len() as u64,
        entries @ ItemContent::Entries(_) => serde_json::to_vec(entries).expect("entries have text keys").len() as u64,
    }
}

/// Borrows what an item says, where that is one text.
pub(super) fn plain_text(item: &Item) -> Option<&str> {
    match &item.content {
        ItemContent::Text { text, .. } => Some(text),
        ItemContent::Entries(_) => None,
    }
}

/// Says as of when an item holds, and whether its source can have changed since.
pub(super) fn freshness(item: &ItemRecord, at: Timestamp) -> RecordReference {
    let may_change = item.origin.hold == Hold::Live;
    RecordReference::Object(object(json!({"as_of": at, "may_have_changed": may_change})))
}

/// Returns how sensitive an item is: in words of whoever gave it, or as far as its redaction tells.
pub(super) fn sensitivity(item: &ItemRecord) -> &str {
    let is_redacted = item.redaction.as_ref().is_some_and(|redaction| redaction.state != RedactionState::None);
    match &item.sensitivity {
        Some(given) => given,
        None if is_redacted => "sensitive",
        None => "unclassified",
    }
}

/// Says who vouches for where an item comes from.
pub(super) fn authority(item: &ItemRecord, document: &Envelope) -> String {
    match item.origin.kind.as_str() {
        "recipe" | "system" => format!("recipe:{}", document.recipe.name),
        "caller" | "trigger" => format!("actor:{}", document.actor),
        "file" => "file_system".to_owned(),
        // A commit is named by the digest of its content, and a gap by whoever noticed it.
        _ => document.producer.name.clone(),
    }
}

/// Says which part of its source an item is.
pub(super) fn selector(item: &Item) -> Option<Selector> {
    match (item.origin.kind.as_str(), &item.content) {
        ("file", ItemContent::Text { text, .. }) => {
            let lines = text.lines().count().max(1);
            Some(one(SelectorKind::LineRange, &json!({"start": 1, "end": lines})))
        }
        ("commit", ItemContent::Entries(entries)) => {
            let number = item.origin.uri.rsplit_once('#').and_then(|(_, number)| number.parse::<u64>().ok());
            let calls: Vec<&str> = entries
                .iter()
                .flat_map(|entry| &entry.parts)
                .filter_map(|part| match part {
                    EntryPart::ToolCall { id, .. } => Some(id.as_str()),
                    _ => None,
                })
                .collect();
            let part = json!({"step": number, "messages": entries.len(), "tool_call_ids": calls});
            Some(one(SelectorKind::MessagePart, &part))
        }
        ("commit", ItemContent::Text { text, .. }) if !item.origin.uri.contains('#') => {
            let quotes = text.lines().map(|line| shape(SelectorKind::TextQuote, &json!({"exact": line})));
            Some(Selector::Several(quotes.collect()))
        }
        _ => None,
    }
}

fn one(kind: SelectorKind, fields: &Value) -> Selector {
    Selector::One(shape(kind, fields))
}

fn shape(kind: SelectorKind, fields: &Value) -> SelectorShape {
    SelectorShape { r#type: Some(kind), metadata: serde_json::Map::new(), more: object(fields.clone()) }
}
