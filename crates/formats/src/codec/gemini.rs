//! `gemini-v1`: the session file of Gemini CLI.
//!
//! Each line changes a list of messages: it adds one or puts a newer version of it in its place, replaces the list, or
//! cuts it off. Older versions wrote the whole session as one document, which is read as one record.

mod message;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Effect, Facts, Keep, Link, Outline, RecordMark, RecordStep, Rewind,
    line_codec::LineCodec,
    tolerant_json::{self, Field, First, Object, Shape, Wanted},
};

pub(crate) use self::message::is_skipped;

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// A line of any kind, or a whole document, in the fields that an outline needs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OutlineRecord<'a> {
    #[serde(borrow, rename = "$rewindTo")]
    rewind_to: Field<'a>,
    #[serde(borrow, rename = "$set")]
    update: Object<Update<'a>>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    start_time: Field<'a>,
    #[serde(borrow)]
    last_updated: Field<'a>,
    #[serde(borrow)]
    summary: Field<'a>,
    #[serde(borrow)]
    messages: First<GeminiAsked<'a>>,
}

/// What changes in a session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    last_updated: Field<'a>,
    #[serde(borrow)]
    summary: Field<'a>,
    #[serde(borrow)]
    messages: First<GeminiAsked<'a>>,
}

/// A user's message in a list of messages.
#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiAsked<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl Wanted for GeminiAsked<'_> {
    fn is_wanted(&self) -> bool {
        self.kind.text() == "user" && message::text(self.content).is_ok_and(|text| !is_skipped(&text))
    }
}

/// A line of any kind, or a whole document, in the fields that a step needs.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StepRecord<'a> {
    #[serde(borrow, rename = "$rewindTo")]
    rewind_to: Field<'a>,
    #[serde(borrow, rename = "$set")]
    update: Object<GeminiMessages<'a>>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiMessages<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

/// What a record does.
enum ListChange {
    Rewind,
    Message,
    Update,
    Session,
}

/// Tells what a record does, asking in the order in which Gemini CLI does.
fn change<T>(rewind_to: &Field<'_>, id: &Field<'_>, kind: &Field<'_>, update: &Object<T>) -> ListChange {
    match (rewind_to, id, update, kind) {
        (Field::Text(_), ..) => ListChange::Rewind,
        (_, Field::Text(_), ..) => ListChange::Message,
        (_, _, Object(Some(_)), _) => ListChange::Update,
        // Only other programs write messages without an id.
        (_, _, _, Field::Text(_)) => ListChange::Message,
        _ => ListChange::Session,
    }
}

/// What opens the text that Gemini CLI puts in the place of what it compresses.
const SUMMARY: &str = "<state_snapshot>";

fn outline(bytes: &[u8]) -> serde_json::Result<Outline> {
    let record: OutlineRecord<'_> = tolerant_json::object(bytes)?;
    Ok(match change(&record.rewind_to, &record.id, &record.kind, &record.update) {
        ListChange::Rewind => Outline { mark: RecordMark::Rewind(before(record.rewind_to)), ..Outline::default() },
        ListChange::Message => message_outline(record)?,
        ListChange::Update => {
            let update = record.update.0.unwrap_or_default();
            let has_summary = memchr::memmem::find(bytes, SUMMARY.as_bytes()).is_some();
            // A list without a summary says again what was said, as happens whenever a session is resumed.
            let mark = match update.messages {
                First::None | First::Some(_) if has_summary => RecordMark::Compaction { after: None },
                First::NoList | First::None | First::Some(_) => RecordMark::None,
            };
            let facts = facts(update.session_id, update.summary);
            let has_summary = matches!(mark, RecordMark::Compaction { .. });
            Outline { at: update.last_updated.instant(), mark, has_summary, facts, ..Outline::default() }
        }
        ListChange::Session => {
            // A document was written when it was last updated; a first line is older than what follows it.
            let (at, mark) = match record.messages {
                First::NoList => (record.start_time, RecordMark::None),
                First::None => (record.last_updated, RecordMark::None),
                First::Some(asked) => (record.last_updated, turn(asked.content)?),
            };
            let facts = facts(record.session_id, record.summary);
            let begins = mark == RecordMark::None && facts.session.is_some();
            let link = if begins { Link::Root } else { Link::Previous };
            Outline { at: at.instant(), link, mark, facts, ..Outline::default() }
        }
    })
}

fn before(id: Field<'_>) -> Rewind {
    Rewind::Before(id.into_text().unwrap_or_default())
}

fn message_outline(message: OutlineRecord<'_>) -> serde_json::Result<Outline> {
    let mut outline = Outline { at: message.timestamp.instant(), ..Outline::default() };
    match message.kind.text() {
        // Only a user's message is written once; the others come again with every change, under the same id.
        "user" => {
            outline.mark = turn(message.content)?;
            outline.id = message.id.into_text();
        }
        _ => outline.facts.model = message.model.into_text(),
    }
    Ok(outline)
}

fn facts(session: Field<'_>, title: Field<'_>) -> Facts {
    Facts { session: session.into_text(), title: title.into_text(), ..Facts::default() }
}

fn turn(content: Option<&RawValue>) -> serde_json::Result<RecordMark> {
    let text = message::text(content)?;
    Ok(if is_skipped(&text) { RecordMark::None } else { RecordMark::Turn(Some(text)) })
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let fields: StepRecord<'_> = tolerant_json::object(record)?;
    let messages = match change(&fields.rewind_to, &fields.id, &fields.kind, &fields.update) {
        ListChange::Rewind => {
            return Ok(RecordStep { effect: Effect::Rewind(before(fields.rewind_to)), entries: Vec::new() });
        }
        ListChange::Message => {
            let entries = message::entries(serde_json::from_slice(record)?)?;
            let effect = if entries.is_empty() { Effect::Nothing } else { Effect::Upsert };
            return Ok(RecordStep { effect, entries });
        }
        ListChange::Update => fields.update.0.unwrap_or_default().messages,
        ListChange::Session => fields.messages,
    };
    let Shape::List(messages) = tolerant_json::shape(messages)? else { return Ok(RecordStep::nothing()) };
    let mut entries = Vec::with_capacity(messages.len());
    for message in messages {
        entries.extend(message::entries(message)?);
    }
    Ok(RecordStep { effect: Effect::Replace(Keep::Nothing), entries })
}

#[cfg(test)]
mod tests;
