//! `opencode-v1`: what `opencode export` writes, one document with a session and its messages.

mod distinct_ids;
mod message;
mod part;

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use self::message::Message;
use super::{
    Codec, Effect, Facts, Framing, Keep, OriginKind, Outline, RecordMark, RecordStep, SessionOrigin,
    spoken_text::SpokenText, tolerant_json,
};
use crate::RecordProblem;

pub(crate) struct Opencode;

#[derive(Deserialize)]
struct OpencodeExport {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    info: Option<OpenCodeSession>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    messages: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Outlines {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    info: Option<OpenCodeSession>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    messages: Option<Vec<Head>>,
}

#[derive(Deserialize, Default)]
struct OpenCodeSession {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    id: Option<String>,
    #[serde(rename = "parentID", default, deserialize_with = "tolerant_json::maybe")]
    parent: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    directory: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    title: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    version: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    time: Option<Times>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    revert: Option<Revert>,
}

#[derive(Deserialize, Default)]
struct Times {
    #[serde(default, deserialize_with = "tolerant_json::millis")]
    created: Option<Timestamp>,
    #[serde(default, deserialize_with = "tolerant_json::millis")]
    updated: Option<Timestamp>,
}

/// Where somebody has gone back to; what follows is there until the next prompt.
#[derive(Deserialize)]
struct Revert {
    #[serde(rename = "messageID")]
    message: String,
    #[serde(rename = "partID", default, deserialize_with = "tolerant_json::maybe")]
    part: Option<String>,
}

#[derive(Deserialize)]
struct Head {
    info: HeadInfo,
    #[serde(default)]
    parts: SpokenText,
}

#[derive(Deserialize)]
struct HeadInfo {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    role: Option<String>,
    #[serde(rename = "modelID", default, deserialize_with = "tolerant_json::maybe")]
    model: Option<String>,
}

impl Codec for Opencode {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let Outlines { info, messages } = tolerant_json::record(record)?;
        let OpenCodeSession { id, parent, directory, title, version, time, .. } = info.unwrap_or_default();
        let mut messages = messages.unwrap_or_default();
        let model = messages.iter_mut().rev().find_map(|message| message.info.model.take());
        let mut asked = messages.into_iter().filter(|message| message.info.role.as_deref() == Some("user"));
        let origin = parent.map(|session| SessionOrigin { session, kind: OriginKind::Parent, at: None });
        Ok(Outline {
            at: time.and_then(|time| time.updated.or(time.created)),
            mark: asked
                .find_map(|message| message.parts.spoken())
                .map_or(RecordMark::None, |words| RecordMark::Turn(Some(words))),
            facts: Facts { session: id, origin, version, directory, model, title, branch: None },
            ..Outline::default()
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let OpencodeExport { info, messages } = tolerant_json::record(record)?;
        let mut messages = messages.unwrap_or_default();
        let repeated = distinct_ids::make_distinct(&mut messages);
        let mut messages: Vec<Message> = messages.into_iter().map(Message::read).collect();
        // Where several messages have an id, nobody knows which of them is meant.
        let reverted = info.and_then(|info| info.revert).filter(|revert| !repeated.contains(&revert.message));
        if let Some(Revert { message, part }) = reverted {
            revert(&mut messages, &message, part.as_deref());
        }
        let Some(summary_at) = messages.iter().rposition(Message::is_summary) else {
            let entries = entries(messages);
            // The next export of the session holds these messages again, some of them changed.
            return Ok(if entries.is_empty() {
                RecordStep::nothing()
            } else {
                RecordStep { effect: Effect::Upsert, entries }
            });
        };
        let after = messages.split_off(summary_at + 1);
        let mut compacted = vec![summary(messages.remove(summary_at))];
        compacted.extend(entries(tail(messages, compacted[0].parent.as_deref())));
        compacted.extend(entries(after));
        Ok(RecordStep { effect: Effect::Replace(Keep::Nothing), entries: compacted })
    }
}

fn entries(messages: Vec<Message>) -> Vec<Entry> {
    let mut instructions = None;
    messages.into_iter().flat_map(|message| message.into_entries(&mut instructions)).collect()
}

fn revert(messages: &mut Vec<Message>, message: &str, part: Option<&str>) {
    let Some(at) = messages.iter().position(|known| known.id() == Some(message)) else { return };
    messages.truncate(at + usize::from(part.is_some()));
    if let (Some(part), Some(last)) = (part, messages.last_mut()) {
        last.cut_before(part);
    }
}

fn summary(message: Message) -> Entry {
    let entries = message.into_entries(&mut None);
    let texts: Vec<String> = entries.iter().map(Entry::text).filter(|text| !text.is_empty()).collect();
    let entry = entries.into_iter().next().unwrap_or_else(|| Entry::new(Role::User, vec![]));
    let flags = Flags { compact_summary: true, ..Flags::default() };
    Entry { role: Role::User, parts: vec![EntryPart::Summary { text: texts.join("\n") }], flags, ..entry }
}

/// Returns the messages before a compaction that it keeps.
fn tail(mut messages: Vec<Message>, compaction: Option<&str>) -> Vec<Message> {
    let at = messages.iter().rposition(|message| compaction.is_some() && message.id() == compaction);
    let Some(at) = at else { return Vec::new() };
    messages.truncate(at + 1);
    let start = messages.pop().and_then(|compaction| compaction.tail_start());
    let start = start.and_then(|start| messages.iter().position(|message| message.id() == Some(start.as_str())));
    start.map_or_else(Vec::new, |start| messages.split_off(start))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn export(messages: &Value) -> String {
        json!({"info": {"id": "ses_1", "parentID": "ses_0", "directory": "/w", "title": "Fix", "version": "1.4",
            "time": {"created": 1000, "updated": 2000}}, "messages": messages})
        .to_string()
    }

    fn user(id: &str, text: &str) -> Value {
        json!({"info": {"id": id, "role": "user"}, "parts": [{"type": "text", "text": text}]})
    }

    fn assistant(id: &str, text: &str) -> Value {
        json!({"info": {"id": id, "role": "assistant", "modelID": "m"}, "parts": [{"type": "text", "text": text}]})
    }

    fn compaction(id: &str, start: &Value) -> Value {
        json!({"info": {"id": id, "role": "user"}, "parts": [{"type": "compaction", "auto": true, "tail_start_id": start}]})
    }

    fn summary_of(id: &str, parent: &str) -> Value {
        json!({"info": {"id": id, "role": "assistant", "parentID": parent, "summary": true, "finish": "stop"},
            "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "so far"}]})
    }

    fn step(messages: &Value) -> (Effect, Vec<String>) {
        let RecordStep { effect, entries } = Opencode.step(export(messages).as_bytes()).unwrap();
        (effect, entries.iter().map(Entry::text).collect())
    }

    #[test]
    fn an_export_tells_about_its_session() {
        let export = export(&json!([user("msg_1", "why?"), assistant("msg_2", "so"), user("msg_3", "and?")]));
        let facts = Facts {
            session: Some("ses_1".into()),
            origin: Some(SessionOrigin { session: "ses_0".into(), kind: OriginKind::Parent, at: None }),
            version: Some("1.4".into()),
            directory: Some("/w".into()),
            branch: None,
            model: Some("m".into()),
            title: Some("Fix".into()),
        };
        let mark = RecordMark::Turn(Some("why?".into()));
        let outline = Outline { at: Timestamp::from_micros(2_000_000), mark, facts, ..Outline::default() };
        assert_eq!(Opencode.outline(export.as_bytes()), Ok(outline));
    }

    #[test]
    fn messages_take_the_place_of_their_earlier_selves() {
        let messages = json!([user("msg_1", "why?"), assistant("msg_2", "so")]);
        assert_eq!(step(&messages), (Effect::Upsert, vec!["why?".into(), "so".into()]));
        assert_eq!(step(&json!([])), (Effect::Nothing, vec![]));
    }

    #[test]
    fn a_compaction_leaves_its_summary_the_tail_and_what_follows() {
        let messages = |start: &Value| {
            json!([
                user("m1", "a"),
                assistant("m2", "b"),
                user("m3", "c"),
                assistant("m4", "d"),
                compaction("m5", start),
                summary_of("m6", "m5"),
                user("m7", "e")
            ])
        };
        let replaced = |texts: &[&str]| {
            (Effect::Replace(Keep::Nothing), texts.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(step(&messages(&Value::Null)), replaced(&["so far", "e"]));
        assert_eq!(step(&messages(&json!("m3"))), replaced(&["so far", "c", "d", "e"]));
        assert_eq!(step(&messages(&json!("gone"))), replaced(&["so far", "e"]));
        let RecordStep { entries, .. } = Opencode.step(export(&messages(&Value::Null)).as_bytes()).unwrap();
        let expected = Entry {
            id: Some("m6".into()),
            parent: Some("m5".into()),
            group: Some("m6".into()),
            flags: Flags { compact_summary: true, ..Flags::default() },
            ..Entry::new(Role::User, vec![EntryPart::Summary { text: "so far".into() }])
        };
        assert_eq!(entries[0], expected);
    }

    #[test]
    fn a_compaction_that_came_to_nothing_changes_nothing() {
        let mut failed = summary_of("m3", "m2");
        failed["info"]["finish"] = Value::Null;
        let (effect, texts) = step(&json!([user("m1", "a"), compaction("m2", &Value::Null), failed]));
        assert_eq!(effect, Effect::Upsert);
        assert_eq!(texts, ["a", "What did we do so far?", "so far"]);
    }

    #[test]
    fn what_was_taken_back_is_gone() {
        let mut export: Value = serde_json::from_str(&export(&json!([
            user("m1", "a"),
            {"info": {"id": "m2", "role": "assistant"}, "parts": [
                {"id": "p1", "type": "text", "text": "b"}, {"id": "p2", "type": "text", "text": "c"}]},
            user("m3", "d")
        ])))
        .unwrap();
        let texts = |export: &Value| {
            let step = Opencode.step(export.to_string().as_bytes()).unwrap();
            step.entries.iter().map(Entry::text).collect::<Vec<_>>()
        };
        export["info"]["revert"] = json!({"messageID": "m3"});
        assert_eq!(texts(&export), ["a", "b\nc"]);
        export["info"]["revert"] = json!({"messageID": "m2", "partID": "p2"});
        assert_eq!(texts(&export), ["a", "b"]);
        export["info"]["revert"] = json!({"messageID": "gone"});
        assert_eq!(texts(&export), ["a", "b\nc", "d"]);
    }

    #[test]
    fn messages_and_calls_with_one_id_are_as_many_as_there_are() {
        let call = |input: &str| {
            json!({"info": {"id": "REDACTED", "role": "assistant"}, "parts": [{"id": "REDACTED", "type": "tool",
                "callID": "REDACTED", "tool": "bash",
                "state": {"status": "completed", "input": {"command": input}, "output": input}}]})
        };
        let messages = json!([user("REDACTED", "go"), call("ls"), call("ls"), call("pwd")]);
        let RecordStep { effect, entries } = Opencode.step(export(&messages).as_bytes()).unwrap();
        assert_eq!(effect, Effect::Upsert);
        let mut replay = crate::Replay::default();
        replay.take(RecordStep { effect, entries });
        let dialogue = crate::Dialogue::of(replay.into_entries());
        let ids: Vec<&str> = dialogue
            .turns
            .iter()
            .flat_map(|turn| &turn.parts)
            .filter_map(|part| match part {
                EntryPart::ToolResult { call, .. } => Some(call.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["REDACTED", "REDACTED_2", "REDACTED_3"]);
        assert_eq!(dialogue.losses.counts(), []);
    }

    #[test]
    fn what_is_no_export_says_nothing_and_what_is_no_object_is_refused() {
        for record in ["{}", "{\"messages\":5}", "{\"info\":[],\"messages\":[]}"] {
            assert_eq!(Opencode.step(record.as_bytes()), Ok(RecordStep::nothing()), "{record}");
            assert_eq!(Opencode.outline(record.as_bytes()), Ok(Outline::default()), "{record}");
        }
        assert!(Opencode.step(b"").is_err());
        assert!(Opencode.outline(b"[]").is_err());
    }
}
