//! Messages of a topic, as an agent is told them, and what of them cannot be checked.

use std::collections::BTreeSet;

use contexture_core::ChannelMessage;
use serde_json::Value;

use crate::item::{ItemContent, Voice};

/// The topic whose messages say what became of criteria.
pub const VALIDATION_TOPIC: &str = "VALIDATION_RESULT";
/// The status of a criterion that can never be checked here. One that cannot be checked yet has another.
const CANNOT_VALIDATE: &str = "CANNOT_VALIDATE";
/// The reason where a validator gives none.
const NO_REASON: &str = "No reason provided";

/// Tells messages of a topic, the oldest first; nothing where there are none.
///
/// What was said is indented, so no text can pass for the message of another, and stands between fences.
pub fn topic_content<'m>(topic: &str, messages: impl IntoIterator<Item = &'m ChannelMessage>) -> Option<ItemContent> {
    let told: String = messages.into_iter().map(told).collect();
    let text = format!("## Messages from topic: {topic}\n\n{told}");
    (!told.is_empty()).then_some(ItemContent::Text { text, voice: Voice::User, fenced: true })
}

fn told(message: &ChannelMessage) -> String {
    let record = &message.record;
    let mut text = format!("[{}] {}:\n", record.at, record.header.sender);
    let Some(body) = &message.body else { return text + "  [The content of this message was purged.]\n\n" };
    if let Some(said) = body.text.as_deref().filter(|said| !said.is_empty()) {
        text.push_str(&indented(said));
    }
    if let Some(data) = body.data.as_ref().filter(|data| !data.is_null()) {
        let json = serde_json::to_string_pretty(data).expect("a value has text keys");
        text.push_str(&indented(&format!("Data: {json}")));
    }
    text.push('\n');
    text
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["  ", line, "\n"]).collect()
}

/// Tells the message that an agent of topics is to answer: what it is about, then what it says with its data.
pub fn trigger_content(message: &ChannelMessage) -> [Option<ItemContent>; 2] {
    let header = &message.record.header;
    let about = format!("## Triggering Message\n\nTopic: {}\nSender: {}\n", header.topic, header.sender);
    let content = |text: String| Some(ItemContent::Text { text, voice: Voice::User, fenced: true });
    let said = crate::channel_view::message_text(message);
    [content(about), said.and_then(content)]
}

/// Tells validators which criteria cannot be checked here, by what was found before: the first reason of each counts.
/// Nothing where there are none.
pub fn skip_hints<'m>(messages: impl IntoIterator<Item = &'m ChannelMessage>) -> Option<ItemContent> {
    let mut lines = String::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let results =
        messages.into_iter().filter_map(|message| message.body.as_ref()?.data.as_ref()?.get("criteriaResults"));
    for result in results.filter_map(Value::as_array).flatten() {
        let text = |name: &str| result.get(name).and_then(Value::as_str).map(one_line).filter(|text| !text.is_empty());
        let (Some(id), Some(CANNOT_VALIDATE)) = (text("id"), result.get("status").and_then(Value::as_str)) else {
            continue;
        };
        if !told.contains(&id) {
            let reason = text("reason");
            lines.extend(["- **", &id, "**: ", reason.as_deref().unwrap_or(NO_REASON), "\n"]);
            told.insert(id);
        }
    }
    if lines.is_empty() {
        return None;
    }
    let text = format!(
        "## ⚠️ Permanently Unverifiable Criteria (SKIP THESE)\n\n\
         The following criteria have PERMANENT environmental limitations (missing tools, no access).\n\
         These limitations have not changed. Do NOT re-attempt verification.\n\
         Mark these as CANNOT_VALIDATE again with the same reason.\n\n{lines}"
    );
    Some(ItemContent::Text { text, voice: Voice::User, fenced: true })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
