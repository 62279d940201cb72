//! `dsh-v1`: the log of a session of DeepSeek Harness, one event a line after the line that begins the session, and
//! `dsh-stream-v1`: the same events as it prints them while it works.
//!
//! Each event has a number, by which later ones name it. What a model sees is what is put on its surface: messages, and in
//! the place of a stretch of them, by their numbers, what sums them up. All else is about the session, or comes again in a
//! message once that is whole.

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Effect, Facts, Keep, Link, OriginKind, Outline, RecordMark, RecordStep, SessionOrigin,
    line_codec::LineCodec,
    loose_blocks,
    tolerant_json::{self, Field, Object},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };
pub(crate) static STREAM: LineCodec = LineCodec { outline: stream_outline, step: stream_step };

/// What somebody typed comes from there; all else that is said in the user's place does not.
const TYPED: &str = "user";

/// A line of any type.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DshEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    seq: Field<'a>,
    #[serde(borrow)]
    time: Field<'a>,
    #[serde(borrow)]
    data: Object<DshTold<'a>>,
    #[serde(borrow)]
    surface_op: Object<SurfaceChange<'a>>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    created_at: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    parent_session: Field<'a>,
}

/// What takes the place of events between two numbers; older versions name these otherwise than newer ones.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SurfaceChange<'a> {
    #[serde(borrow)]
    op: Field<'a>,
    #[serde(borrow)]
    start: Field<'a>,
    #[serde(borrow)]
    start_seq: Field<'a>,
    #[serde(borrow)]
    end: Field<'a>,
    #[serde(borrow)]
    end_seq: Field<'a>,
}

/// What an event tells. Some versions put the message beside it, others into it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DshTold<'a> {
    #[serde(borrow)]
    message: Object<DshMessage<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Object<DshSource<'a>>,
    #[serde(borrow)]
    provenance: Object<DshSource<'a>>,
    #[serde(borrow)]
    call_id: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow)]
    title: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DshMessage<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Object<DshSource<'a>>,
    #[serde(borrow)]
    tool_call_id: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
}

/// Who says something.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DshSource<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    call_id: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
}

/// An event as it is printed.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PrintedEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

/// What an event says, whichever version wrote it.
struct Said {
    entry: Entry,
    is_typed: bool,
    /// The numbers of what it takes the place of.
    replaced: Option<(u64, u64)>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let event: DshEvent<'_> = tolerant_json::object(record)?;
    let kind = event.kind.text().to_owned();
    match &*kind {
        "session" => {
            let origin = event.parent_session.into_text();
            let facts = Facts {
                session: event.id.into_text(),
                origin: origin.map(|session| SessionOrigin { session, kind: OriginKind::Parent, at: None }),
                directory: event.cwd.into_text(),
                ..Facts::default()
            };
            return Ok(Outline { link: Link::Root, at: instant(&event.created_at), facts, ..Outline::default() });
        }
        "session/title" => {
            let title = event.data.0.and_then(|told| told.title.into_text());
            return Ok(Outline { facts: Facts { title, ..Facts::default() }, ..Outline::default() });
        }
        "request/context" => {
            let model = event.data.0.and_then(|told| told.model.into_text());
            return Ok(Outline { facts: Facts { model, ..Facts::default() }, ..Outline::default() });
        }
        _ => {}
    }
    let at = instant(&event.time);
    let Some(Said { entry, is_typed, replaced }) = said(event)? else {
        return Ok(Outline { at, ..Outline::default() });
    };
    let (mark, has_summary) = match replaced {
        Some(_) => (RecordMark::Compaction { after: None }, true),
        None if is_typed => (RecordMark::Turn(Some(entry.text()).filter(|text| !text.is_empty())), false),
        None => (RecordMark::None, false),
    };
    let is_answer = entry.role == Role::Assistant;
    let facts = Facts { model: entry.model, ..Facts::default() };
    Ok(Outline { id: entry.id, at, mark, has_summary, is_answer, facts, ..Outline::default() })
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let Some(Said { entry, replaced, .. }) = said(tolerant_json::object(record)?)? else {
        return Ok(RecordStep::nothing());
    };
    let effect = match replaced {
        Some((first, last)) => Effect::Replace(Keep::Outside { first, last }),
        None => Effect::Append,
    };
    Ok(RecordStep { effect, entries: vec![entry] })
}

fn stream_outline(record: &[u8]) -> serde_json::Result<Outline> {
    let printed: PrintedEvent<'_> = tolerant_json::object(record)?;
    let inner = match (printed.kind.text(), printed.event) {
        ("session_event", Some(event)) if is_object(event) => outline(event.get().as_bytes())?,
        _ => Outline::default(),
    };
    let facts = Facts { session: printed.session_id.into_text(), ..inner.facts };
    Ok(Outline { facts, ..inner })
}

fn stream_step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let printed: PrintedEvent<'_> = tolerant_json::object(record)?;
    match (printed.kind.text(), printed.event) {
        ("session_event", Some(event)) if is_object(event) => step(event.get().as_bytes()),
        _ => Ok(RecordStep::nothing()),
    }
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// Returns what an event puts on the surface; nothing for all others.
fn said(event: DshEvent<'_>) -> serde_json::Result<Option<Said>> {
    let told = event.data.0.unwrap_or_default();
    let message = told.message.0.unwrap_or_default();
    let source = message.source.0.or(told.source.0).unwrap_or_default();
    let content = message.content.or(told.content);
    let kind = event.kind.text();
    let role = match kind {
        "user/message" => Role::User,
        "system/message" | "developer/message" => Role::System,
        "assistant/message" => Role::Assistant,
        "tool/result" => Role::Tool,
        _ => return Ok(None),
    };
    let mut parts = loose_blocks::parts(content)?;
    if role == Role::Tool && !loose_blocks::is_results(&parts) {
        let call = message.tool_call_id.into_text().or(told.call_id.into_text()).or(source.call_id.to_text());
        let is_error = match (message.is_error, told.is_error) {
            (Field::Bool(is_error), _) | (_, Field::Bool(is_error)) => Some(is_error),
            _ => None,
        };
        parts = vec![EntryPart::ToolResult { call: call.unwrap_or_default(), content: parts, is_error }];
    }
    parts.retain(|part| !matches!(part, EntryPart::Thinking { text, seal: None } if text.is_empty()));
    let change = event.surface_op.0.unwrap_or_default();
    let replaced = (change.op.text() == "replace").then(|| {
        let first = change.start.count().or(change.start_seq.count());
        let last = change.end.count().or(change.end_seq.count());
        (first.unwrap_or(0), last.unwrap_or(u64::MAX))
    });
    if parts.is_empty() && replaced.is_none() {
        return Ok(None);
    }
    let is_typed = role == Role::User && source.kind.text() == TYPED;
    let flags = Flags {
        meta: role == Role::User && !is_typed && replaced.is_none(),
        compact_summary: replaced.is_some(),
        ..Flags::default()
    };
    if replaced.is_some() {
        let text = Entry::new(role, parts).text();
        parts = vec![EntryPart::Summary { text }];
    }
    let model = source.model.into_text().or(told.provenance.0.and_then(|source| source.model.into_text()));
    let model = model.filter(|_| role == Role::Assistant);
    // Numbers are the session's own; the ids of messages are blotted out in some copies.
    let id = event.seq.count().map(|seq| seq.to_string());
    let entry = Entry { id, at: instant(&event.time), model, flags, ..Entry::new(role, parts) };
    Ok(Some(Said { entry, is_typed: is_typed && replaced.is_none(), replaced }))
}

/// Returns the instant of so many milliseconds since 1970; 0 stands for a time that nobody noted.
fn instant(millis: &Field<'_>) -> Option<Timestamp> {
    let millis = millis.count().filter(|millis| *millis > 0)?;
    Timestamp::from_micros(i64::try_from(millis.checked_mul(1000)?).ok()?)
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;
    use crate::{Codec as _, Replay};

    fn event(seq: u64, kind: &str, data: &Value) -> Value {
        json!({"type": kind, "seq": seq, "time": 1_794_772_800_000_u64, "data": data, "surfaceOp": "append"})
    }

    fn asked(seq: u64, text: &str, source: &str) -> Value {
        event(seq, "user/message", &json!({"content": [{"type": "text", "text": text}], "source": {"kind": source}}))
    }

    fn outline(record: &Value) -> Outline {
        CODEC.outline(record.to_string().as_bytes()).unwrap()
    }

    fn replay(records: &[Value]) -> Vec<Entry> {
        let mut replay = Replay::default();
        for record in records {
            replay.take(CODEC.step(record.to_string().as_bytes()).unwrap());
        }
        replay.into_entries()
    }

    #[test]
    fn the_first_line_tells_whose_session_it_is() {
        let head = json!({"type": "session", "version": 0, "id": "s", "createdAt": 1_794_772_800_000_u64, "cwd": "/w",
            "parentSession": "p", "delegationDepth": 1});
        let read = outline(&head);
        assert_eq!((read.link, read.at), (Link::Root, "2026-11-15T20:00:00Z".parse().ok()));
        assert_eq!((read.facts.session.as_deref(), read.facts.directory.as_deref()), (Some("s"), Some("/w")));
        assert_eq!(
            read.facts.origin.map(|origin| (origin.session, origin.kind)),
            Some(("p".into(), OriginKind::Parent))
        );
        assert_eq!(replay(&[head]), []);
    }

    #[test]
    fn a_turn_begins_where_somebody_has_typed_something() {
        assert_eq!(outline(&asked(4, "Why?", "user")).mark, RecordMark::Turn(Some("Why?".into())));
        let told = asked(5, "Be brief.", "agent-instructions");
        assert_eq!(outline(&told).mark, RecordMark::None);
        assert!(replay(&[told])[0].flags.meta);
    }

    #[test]
    fn calls_and_results_are_the_same_in_all_versions() {
        let call = json!({"type": "tool-call", "id": "c", "name": "bash", "arguments": "{\"command\":\"ls\"}"});
        let blocks = json!([{"type": "reasoning", "text": ""}, {"type": "text", "text": "I look."}, call]);
        let text = json!([{"type": "text", "text": "a.rs"}]);
        let result = json!([{"type": "tool-result", "toolCallId": "c", "content": text, "isError": true}]);
        let source = json!({"kind": "model", "model": "m"});
        let versions = [
            [
                event(1, "assistant/message", &json!({"message": {"content": blocks, "source": source}})),
                event(2, "tool/result", &json!({"message": {"content": result, "source": {"kind": "tool"}}})),
            ],
            [
                event(1, "assistant/message", &json!({"content": blocks, "provenance": {"model": "m"}})),
                event(2, "tool/result", &json!({"callId": "c", "content": text, "isError": true})),
            ],
            [
                event(1, "assistant/message", &json!({"message": {"content": blocks, "source": source}})),
                event(2, "tool/result", &json!({"message": {"toolCallId": "c", "content": text, "isError": true}})),
            ],
        ];
        let expected = vec![
            EntryPart::text("I look."),
            EntryPart::ToolCall {
                id: "c".into(),
                name: "bash".into(),
                input: ToolInput::Json(json!({"command": "ls"})),
            },
        ];
        let answer =
            EntryPart::ToolResult { call: "c".into(), content: vec![EntryPart::text("a.rs")], is_error: Some(true) };
        for version in versions {
            let read = replay(&version);
            assert_eq!((&read[0].parts, read[0].model.as_deref()), (&expected, Some("m")));
            assert_eq!((read[1].role, &read[1].parts), (Role::Tool, &vec![answer.clone()]));
        }
    }

    #[test]
    fn a_summary_takes_the_place_of_the_events_that_it_names_and_of_no_other() {
        let mut summary = asked(9, "so far", "plugin");
        for change in
            [json!({"op": "replace", "start": 4, "end": 5}), json!({"op": "replace", "startSeq": 4, "endSeq": 5})]
        {
            summary["surfaceOp"] = change;
            let read = outline(&summary);
            assert_eq!((read.mark, read.has_summary), (RecordMark::Compaction { after: None }, true));
            let records =
                [asked(4, "one", "user"), asked(5, "two", "user"), asked(7, "three", "user"), summary.clone()];
            assert_eq!(replay(&records).iter().map(Entry::text).collect::<Vec<_>>(), ["so far", "three"]);
        }
    }

    #[test]
    fn what_is_printed_is_what_is_written() {
        let event = asked(4, "Why?", "user");
        let printed = json!({"type": "session_event", "sessionId": "s", "event": event}).to_string();
        let read = STREAM.outline(printed.as_bytes()).unwrap();
        assert_eq!((read.facts.session.as_deref(), read.mark), (Some("s"), outline(&event).mark));
        assert_eq!(STREAM.step(printed.as_bytes()).unwrap(), CODEC.step(event.to_string().as_bytes()).unwrap());
        let result = json!({"type": "result", "sessionId": "s", "output": "So."}).to_string();
        assert_eq!(STREAM.step(result.as_bytes()).unwrap(), RecordStep::nothing());
    }
}
