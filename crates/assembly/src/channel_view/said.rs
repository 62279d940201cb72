//! What a message says, in words.

use contexture_core::ChannelMessage;
use serde_json::Value;

use super::HANDOFF_TOPIC;

/// What is told of a message whose content was purged.
const PURGED: &str = "[The content of this message was purged.]";

/// Returns what a message says: its text, then its data; nothing where it says nothing.
pub(super) fn text(message: &ChannelMessage) -> Option<String> {
    let Some(body) = &message.body else { return Some(PURGED.to_owned()) };
    joined(body.text.as_deref(), body.data.as_ref())
}

/// Returns what the message to answer says. One that hands over may say it in its data, and a summary that a block has
/// told already is not told again.
pub(super) fn trigger_text(message: &ChannelMessage, has_block: bool) -> String {
    let Some(body) = &message.body else { return PURGED.to_owned() };
    let mut data = body.data.clone();
    let mut words = body.text.clone().filter(|text| !text.trim().is_empty());
    let mut before = String::new();
    if message.record.header.topic.as_str() == HANDOFF_TOPIC
        && let Some(Value::Object(fields)) = &mut data
    {
        let summary = fields.remove("summary");
        if let Some(Value::String(summary)) = summary.filter(|_| !has_block) {
            before = format!("**Previous context**: {summary}\n\n");
        }
        if words.is_none()
            && let Some(Value::String(message)) = fields.remove("message")
        {
            words = Some(message);
        }
        if fields.is_empty() {
            data = None;
        }
    }
    before + &joined(words.as_deref(), data.as_ref()).unwrap_or_default()
}

/// Returns what was before a handoff, as the message says that hands over.
pub(super) fn handoff_summary(message: &ChannelMessage) -> Option<&str> {
    if message.record.header.topic.as_str() != HANDOFF_TOPIC {
        return None;
    }
    message.body.as_ref()?.data.as_ref()?.get("summary")?.as_str().filter(|summary| !summary.trim().is_empty())
}

fn joined(text: Option<&str>, data: Option<&Value>) -> Option<String> {
    let text = text.filter(|text| !text.trim().is_empty());
    let data = data.filter(|data| !data.is_null());
    let data = data.map(|data| {
        let data = serde_json::to_string_pretty(data).expect("a value has text keys");
        format!("Data: {data}")
    });
    match (text, data) {
        (None, None) => None,
        (Some(text), None) => Some(text.to_owned()),
        (None, Some(data)) => Some(data),
        (Some(text), Some(data)) => Some(format!("{text}\n\n{data}")),
    }
}
