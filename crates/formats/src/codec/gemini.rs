//! `gemini-v1`: the session file of Gemini CLI.
//!
//! Each line changes a list of messages: it adds one or puts a newer version of it in its place, replaces the list, or
//! cuts it off. Older versions wrote the whole session as one document, which is read as one record.

mod message;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::message::is_skipped;
use super::{
    Codec, Effect, Facts, Framing, Keep, Mark, Outline, Rewind, Step,
    loose::{self, Field, Object, Shape},
};
use crate::RecordProblem;

pub(super) struct Gemini;

impl Codec for Gemini {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        loose::decode(record, outline)
    }

    fn step(&self, record: &[u8]) -> Result<Step, RecordProblem> {
        loose::decode(record, step)
    }
}

/// A line of any kind, or a whole document, in the fields that are used.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow, rename = "$rewindTo")]
    rewind_to: Field<'a>,
    #[serde(borrow, rename = "$set")]
    update: Object<Session<'a>>,
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
    // What follows is that of a session.
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    start_time: Field<'a>,
    #[serde(borrow)]
    last_updated: Field<'a>,
    #[serde(borrow)]
    summary: Field<'a>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

/// What is known about a session, or what changes in it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Session<'a> {
    #[serde(borrow, rename = "sessionId")]
    id: Field<'a>,
    #[serde(borrow)]
    start_time: Field<'a>,
    #[serde(borrow)]
    last_updated: Field<'a>,
    #[serde(borrow)]
    summary: Field<'a>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

/// What a record does.
enum Change {
    Rewind,
    Message,
    Update,
    Session,
}

impl<'a> Record<'a> {
    /// Tells what the record does, asking in the order in which Gemini CLI does.
    fn change(&self) -> Change {
        match (&self.rewind_to, &self.id, &self.update) {
            (Field::Text(_), ..) => Change::Rewind,
            (_, Field::Text(_), _) => Change::Message,
            (_, _, Object(Some(_))) => Change::Update,
            _ if matches!(self.kind, Field::Text(_)) && self.content.is_some() => Change::Message,
            _ => Change::Session,
        }
    }

    fn into_session(self) -> Session<'a> {
        Session {
            id: self.session_id,
            start_time: self.start_time,
            last_updated: self.last_updated,
            summary: self.summary,
            messages: self.messages,
        }
    }
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let record: Record<'_> = loose::object(record)?;
    Ok(match record.change() {
        Change::Rewind => Outline { mark: Mark::Rewind(before(record.rewind_to)), ..Outline::default() },
        Change::Message => message_outline(record)?,
        Change::Update => {
            let session = record.update.0.unwrap_or_default();
            let is_replaced = matches!(loose::shape(session.messages)?, Shape::List(_));
            let mark = if is_replaced { Mark::Compaction { after: None } } else { Mark::None };
            Outline { at: session.last_updated.instant(), mark, facts: facts(session), ..Outline::default() }
        }
        Change::Session => {
            let session = record.into_session();
            let mark = first_turn(session.messages)?;
            let at = session.last_updated.instant().filter(|_| session.messages.is_some());
            let at = at.or_else(|| session.start_time.instant());
            Outline { at, mark, facts: facts(session), ..Outline::default() }
        }
    })
}

fn before(id: Field<'_>) -> Rewind {
    Rewind::Before(id.into_text().unwrap_or_default())
}

fn message_outline(message: Record<'_>) -> serde_json::Result<Outline> {
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

fn facts(session: Session<'_>) -> Facts {
    Facts { session: session.id.into_text(), title: session.summary.into_text(), ..Facts::default() }
}

fn turn(content: Option<&RawValue>) -> serde_json::Result<Mark> {
    let text = message::text(content)?;
    Ok(if is_skipped(&text) { Mark::None } else { Mark::Turn(Some(text)) })
}

fn first_turn(messages: Option<&RawValue>) -> serde_json::Result<Mark> {
    let Shape::List(messages) = loose::shape(messages)? else { return Ok(Mark::None) };
    for raw in messages {
        let message: Record<'_> = loose::part(raw)?;
        if message.kind.text() == "user" {
            let mark = turn(message.content)?;
            if mark != Mark::None {
                return Ok(mark);
            }
        }
    }
    Ok(Mark::None)
}

fn step(record: &[u8]) -> serde_json::Result<Step> {
    let fields: Record<'_> = loose::object(record)?;
    let messages = match fields.change() {
        Change::Rewind => return Ok(Step { effect: Effect::Rewind(before(fields.rewind_to)), entries: Vec::new() }),
        Change::Message => {
            let entries = message::entries(serde_json::from_slice(record)?)?;
            let effect = if entries.is_empty() { Effect::Nothing } else { Effect::Upsert };
            return Ok(Step { effect, entries });
        }
        Change::Update => fields.update.0.unwrap_or_default().messages,
        Change::Session => fields.messages,
    };
    let Shape::List(messages) = loose::shape(messages)? else { return Ok(Step::nothing()) };
    let mut entries = Vec::with_capacity(messages.len());
    for message in messages {
        entries.extend(message::entries(message)?);
    }
    Ok(Step { effect: Effect::Replace(Keep::Nothing), entries })
}

#[cfg(test)]
mod tests;
