//! `kiro-chat-v1`: a conversation of Kiro's command line before its second version, and of Amazon Q's before that: one
//! document, as their database holds it and as they save it to a file.
//!
//! A history is a list of what was asked and what was answered to it, in pairs; results of tools are asked, too.

use contexture_core::{Entry, EntryPart, Role, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Codec, Facts, Framing, Outline, RecordMark, RecordStep, loose_blocks,
    tolerant_json::{self, Field, Object, Shape},
};
use crate::RecordProblem;

pub(crate) struct KiroChat;

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroConversation<'a> {
    #[serde(borrow)]
    conversation_id: Field<'a>,
    #[serde(borrow)]
    history: Option<&'a RawValue>,
    #[serde(borrow)]
    model_info: Object<KiroModel<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroModel<'a> {
    #[serde(borrow)]
    model_id: Field<'a>,
}

/// What was asked and what was answered to it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroExchange<'a> {
    #[serde(borrow)]
    user: Option<&'a RawValue>,
    #[serde(borrow)]
    assistant: Option<&'a RawValue>,
    #[serde(borrow)]
    request_metadata: Object<KiroRequest<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroRequest<'a> {
    #[serde(borrow)]
    stream_end_timestamp_ms: Field<'a>,
    #[serde(borrow)]
    model_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroAsked<'a> {
    #[serde(borrow)]
    content: Object<KiroContent<'a>>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    env_context: Object<KiroEnvironment<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroEnvironment<'a> {
    #[serde(borrow)]
    env_state: Object<KiroPlace<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroPlace<'a> {
    #[serde(borrow)]
    current_working_directory: Field<'a>,
}

/// What is asked: one of these.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroContent<'a> {
    #[serde(borrow, rename = "Prompt")]
    prompt: Object<KiroPrompt<'a>>,
    #[serde(borrow, rename = "ToolUseResults")]
    results: Object<KiroPrompt<'a>>,
    #[serde(borrow, rename = "CancelledToolUses")]
    cancelled: Object<KiroPrompt<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroPrompt<'a> {
    #[serde(borrow)]
    prompt: Field<'a>,
    #[serde(borrow)]
    tool_use_results: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroResult<'a> {
    #[serde(borrow)]
    tool_use_id: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Field<'a>,
}

/// A piece of a result: a text, or a value.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroPiece<'a> {
    #[serde(borrow, rename = "Text")]
    text: Field<'a>,
    #[serde(borrow, rename = "Json")]
    json: Option<&'a RawValue>,
}

/// What is answered: one of these.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroAnswer<'a> {
    #[serde(borrow, rename = "Response")]
    response: Object<KiroSaid<'a>>,
    #[serde(borrow, rename = "ToolUse")]
    tool_use: Object<KiroSaid<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroSaid<'a> {
    #[serde(borrow)]
    message_id: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    tool_uses: Option<&'a RawValue>,
}

/// What a conversation says, and where its agent worked.
struct KiroTalk {
    entries: Vec<Entry>,
    directory: Option<String>,
}

impl Codec for KiroChat {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        tolerant_json::decode(record, |record| {
            let conversation: KiroConversation<'_> = tolerant_json::object(record)?;
            let KiroTalk { entries, directory } = talk(conversation.history)?;
            let asked = entries.iter().find(|entry| entry.role == Role::User && !entry.text().is_empty());
            let spoken = entries.iter().rev().find_map(|entry| entry.model.clone());
            let model = spoken.or(conversation.model_info.0.and_then(|model| model.model_id.into_text()));
            let facts =
                Facts { session: conversation.conversation_id.into_text(), directory, model, ..Facts::default() };
            let mark = asked.map_or(RecordMark::None, |entry| RecordMark::Turn(Some(entry.text())));
            Ok(Outline { at: entries.iter().filter_map(|entry| entry.at).max(), mark, facts, ..Outline::default() })
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        tolerant_json::decode(record, |record| {
            let conversation: KiroConversation<'_> = tolerant_json::object(record)?;
            Ok(RecordStep::whole(talk(conversation.history)?.entries))
        })
    }
}

fn talk(history: Option<&RawValue>) -> serde_json::Result<KiroTalk> {
    let mut talk = KiroTalk { entries: Vec::new(), directory: None };
    for raw in tolerant_json::list(history)? {
        let exchange = exchange(raw)?;
        let request = exchange.request_metadata.0.unwrap_or_default();
        if let Some(raw) = exchange.user {
            let asked: KiroAsked<'_> = tolerant_json::object_or_default(raw)?;
            let place = asked.env_context.0.and_then(|context| context.env_state.0);
            talk.directory = talk.directory.or(place.and_then(|place| place.current_working_directory.into_text()));
            let at = asked.timestamp.instant();
            let content = asked.content.0.unwrap_or_default();
            for told in [content.prompt, content.results, content.cancelled].into_iter().filter_map(|told| told.0) {
                let mut results = Vec::new();
                for raw in tolerant_json::list(told.tool_use_results)? {
                    results.push(result(raw)?);
                }
                let prompt: Vec<EntryPart> = told.prompt.into_text().map(EntryPart::text).into_iter().collect();
                for (role, parts) in [(Role::Tool, results), (Role::User, prompt)] {
                    if !parts.is_empty() {
                        talk.entries.push(Entry { at, ..Entry::new(role, parts) });
                    }
                }
            }
        }
        if let Some(raw) = exchange.assistant {
            let answer: KiroAnswer<'_> = tolerant_json::object_or_default(raw)?;
            let said = answer.response.0.or(answer.tool_use.0).unwrap_or_default();
            let mut parts: Vec<EntryPart> = said.content.into_text().map(EntryPart::text).into_iter().collect();
            for raw in tolerant_json::list(said.tool_uses)? {
                parts.push(call(raw)?);
            }
            if !parts.is_empty() {
                let (id, model) = (said.message_id.into_text(), request.model_id.into_text());
                let at = instant(&request.stream_end_timestamp_ms);
                talk.entries.push(Entry { id, at, model, ..Entry::new(Role::Assistant, parts) });
            }
        }
    }
    Ok(talk)
}

/// Reads a pair, which is an object, or in older versions a list of both.
fn exchange(raw: &RawValue) -> serde_json::Result<KiroExchange<'_>> {
    Ok(match tolerant_json::shape(Some(raw))? {
        Shape::List(pair) => {
            KiroExchange { user: pair.first().copied(), assistant: pair.get(1).copied(), ..KiroExchange::default() }
        }
        Shape::Object(object) => tolerant_json::object_or_default(object)?,
        Shape::Text(_) | Shape::Other => KiroExchange::default(),
    })
}

fn result(raw: &RawValue) -> serde_json::Result<EntryPart> {
    let told: KiroResult<'_> = tolerant_json::object_or_default(raw)?;
    let mut content = Vec::new();
    for raw in tolerant_json::list(told.content)? {
        let piece: KiroPiece<'_> = tolerant_json::object_or_default(raw)?;
        match (piece.text.into_text(), piece.json) {
            (Some(text), _) => content.push(EntryPart::text(text)),
            (None, Some(json)) => content.push(EntryPart::text(json.get())),
            (None, None) => {}
        }
    }
    let is_error = match told.status.text() {
        "" => None,
        status => Some(status.eq_ignore_ascii_case("error")),
    };
    Ok(EntryPart::ToolResult { call: told.tool_use_id.into_text().unwrap_or_default(), content, is_error })
}

fn call(raw: &RawValue) -> serde_json::Result<EntryPart> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KiroCall<'a> {
        #[serde(borrow)]
        id: Field<'a>,
        #[serde(borrow)]
        name: Field<'a>,
        #[serde(borrow)]
        args: Option<&'a RawValue>,
    }
    let call: KiroCall<'_> = tolerant_json::object_or_default(raw)?;
    let id = call.id.into_text().unwrap_or_else(|| loose_blocks::id_of(raw));
    Ok(EntryPart::ToolCall {
        id,
        name: call.name.into_text().unwrap_or_default(),
        input: loose_blocks::input(call.args)?,
    })
}

fn instant(millis: &Field<'_>) -> Option<Timestamp> {
    Timestamp::from_micros(i64::try_from(millis.count()?.checked_mul(1000)?).ok()?)
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;

    fn entries(document: &Value) -> Vec<Entry> {
        KiroChat.step(document.to_string().as_bytes()).unwrap().entries
    }

    #[test]
    fn pairs_are_the_same_as_lists_and_as_objects() {
        let place = json!({"env_state": {"current_working_directory": "/w"}});
        let asked = json!({"content": {"Prompt": {"prompt": "Why?"}}, "env_context": place, "timestamp": null});
        let called = json!({"ToolUse": {"message_id": "m1", "content": "I look.",
            "tool_uses": [{"id": "c", "name": "fs_read", "args": {"path": "a"}}]}});
        let results =
            json!([{"tool_use_id": "c", "content": [{"Text": "text"}, {"Json": {"a": 1}}], "status": "Error"}]);
        let answered = json!({"content": {"ToolUseResults": {"tool_use_results": results}}});
        let said = json!({"Response": {"message_id": "m2", "content": "So."}});
        let lists = json!({"conversation_id": "s", "history": [[asked, called], [answered, said]]});
        let objects = json!({"conversation_id": "s", "history": [
            {"user": asked, "assistant": called}, {"user": answered, "assistant": said}]});
        assert_eq!(entries(&lists), entries(&objects));
        let read = entries(&lists);
        let input = ToolInput::Json(json!({"path": "a"}));
        assert_eq!(
            read.iter().map(|entry| entry.role).collect::<Vec<_>>(),
            [Role::User, Role::Assistant, Role::Tool, Role::Assistant]
        );
        assert_eq!(read[1].parts[1], EntryPart::ToolCall { id: "c".into(), name: "fs_read".into(), input });
        let content = vec![EntryPart::text("text"), EntryPart::text("{\"a\":1}")];
        assert_eq!(read[2].parts, [EntryPart::ToolResult { call: "c".into(), content, is_error: Some(true) }]);
        let outline = KiroChat.outline(lists.to_string().as_bytes()).unwrap();
        assert_eq!(outline.mark, RecordMark::Turn(Some("Why?".into())));
        let facts = (outline.facts.session.as_deref(), outline.facts.directory.as_deref());
        assert_eq!(facts, (Some("s"), Some("/w")));
    }

    #[test]
    fn who_breaks_a_call_off_says_something_else() {
        let cancelled = json!({"content": {"CancelledToolUses": {"prompt": "No, stop.",
            "tool_use_results": [{"tool_use_id": "c", "content": [], "status": "Error"}]}}});
        let read =
            entries(&json!({"conversation_id": "s", "history": [[cancelled, {"Response": {"content": "Yes."}}]]}));
        assert_eq!(read.iter().map(Entry::text).collect::<Vec<_>>(), ["", "No, stop.", "Yes."]);
    }
}
