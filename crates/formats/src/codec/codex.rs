//! `codex-v1`: the rollout of Codex, one record a line.
//!
//! A line is an envelope around an item of OpenAI's Responses API, an event for the screen, or something about the
//! session. Events repeat what items say, so entries come from items; but only events tell what a person typed.
//! Rollouts of the first versions hold bare items.

mod item;

use contexture_core::{Entry, EntryPart, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::item::Item;
use super::{
    Effect, Facts, Keep, Link, OriginKind, Outline, RecordMark, RecordStep, Rewind, SessionOrigin,
    line_codec::LineCodec,
    tolerant_json::{self, Field, Object, Shape},
};

pub(crate) use self::item::{FAILED, NATIVE_KINDS, has_failed, is_injected};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// What an outline needs of nearly every line. The few lines that tell more are read once more.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutEnvelope<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Object<RolloutLabel<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutLabel<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct Line<T> {
    #[serde(default)]
    payload: Object<T>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionMeta<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    cli_version: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    forked_from_id: Field<'a>,
    #[serde(borrow)]
    parent_thread_id: Field<'a>,
    #[serde(borrow)]
    source: Object<SessionSource<'a>>,
    #[serde(borrow)]
    git: Object<GitState<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GitState<'a> {
    #[serde(borrow)]
    branch: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionSource<'a> {
    #[serde(borrow)]
    subagent: Object<Subagent<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Subagent<'a> {
    #[serde(borrow)]
    thread_spawn: Object<ThreadSpawn<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ThreadSpawn<'a> {
    #[serde(borrow)]
    parent_thread_id: Field<'a>,
}

/// What the events that count tell.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    num_turns: Field<'a>,
    #[serde(borrow)]
    thread_name: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    turn_id: Field<'a>,
}

/// A line of the first versions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BareLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    git: Object<GitState<'a>>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let line: RolloutEnvelope<'_> = tolerant_json::object(record)?;
    let mut outline = Outline { at: line.timestamp.instant(), ..Outline::default() };
    let Object(Some(label)) = line.payload else { return bare_outline(record, outline) };
    match (line.kind.text(), label.kind.text()) {
        ("response_item", kind) => {
            if kind == "message" {
                outline.mark = asked(&payload(record)?)?;
            }
            outline.id = label.id.into_text();
            if kind.is_empty() && is_imitated(&line.timestamp) {
                outline.mark = asked(&payload(record)?)?;
            }
        }
        ("event_msg", "user_message") if is_imitated(&line.timestamp) => {
            outline.mark = RecordMark::Turn(payload::<Event<'_>>(record)?.message.into_text());
        }
        ("compacted", _) => {
            outline.mark = RecordMark::Compaction { after: None };
            outline.has_summary = true;
        }
        ("session_meta", _) => {
            outline.link = Link::Root;
            outline.facts = session_facts(payload(record)?);
        }
        ("turn_context", _) => {
            let context: SessionMeta<'_> = payload(record)?;
            outline.facts.model = context.model.into_text();
            outline.facts.directory = context.cwd.into_text();
        }
        ("event_msg", "thread_rolled_back") => outline.mark = RecordMark::Rewind(turns_back(&payload(record)?)),
        ("event_msg", "thread_name_updated") => {
            outline.facts.title = payload::<Event<'_>>(record)?.thread_name.into_text();
        }
        _ => {}
    }
    Ok(outline)
}

/// Tells by how it writes times whether another program wrote a record after Codex's manner: such say what was asked in an
/// event alone, which Codex says twice.
fn is_imitated(timestamp: &Field<'_>) -> bool {
    matches!(timestamp, Field::Count(_) | Field::Other)
}

fn payload<'a, T: Deserialize<'a> + Default>(record: &'a [u8]) -> serde_json::Result<T> {
    Ok(tolerant_json::object::<Line<T>>(record)?.payload.0.unwrap_or_default())
}

/// The first versions wrote items without an envelope, after one line about the session.
fn bare_outline(record: &[u8], mut outline: Outline) -> serde_json::Result<Outline> {
    let line: BareLine<'_> = tolerant_json::object(record)?;
    if line.kind == Field::Absent && line.role == Field::Absent {
        outline.link = Link::Root;
        outline.facts.session = line.id.into_text();
        outline.facts.branch = line.git.0.and_then(|git| git.branch.into_text());
        return Ok(outline);
    }
    outline.mark = asked(&line)?;
    outline.id = line.id.into_text();
    Ok(outline)
}

/// What a record says about the turn at hand, which Codex calls a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// It has begun; its id.
    Begun(String),
    /// It is over.
    Over,
}

/// What whoever writes the next record must know of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RolloutPosition {
    /// Its number, which newer versions count up without a gap.
    pub(crate) ordinal: Option<u64>,
    /// What it says about the turn at hand.
    pub(crate) task: Option<Task>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaceLine<'a> {
    #[serde(borrow)]
    ordinal: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Object<Event<'a>>,
}

/// Returns where a record stands. What is no record stands nowhere.
pub(crate) fn place(record: &[u8]) -> RolloutPosition {
    let line: PlaceLine<'_> = tolerant_json::object(record).unwrap_or_default();
    let event = line.payload.0.filter(|_| line.kind.text() == "event_msg").unwrap_or_default();
    let task = match event.kind.text() {
        "task_started" | "turn_started" => event.turn_id.into_text().map(Task::Begun),
        "task_complete" | "turn_complete" | "turn_aborted" => Some(Task::Over),
        _ => None,
    };
    RolloutPosition { ordinal: line.ordinal.count(), task }
}

/// Tells whether a message is a person's. The event that says so comes after it, when its turn has begun.
fn asked(message: &BareLine<'_>) -> serde_json::Result<RecordMark> {
    if message.role.text() != "user" {
        return Ok(RecordMark::None);
    }
    let parts = item::content(message.content)?;
    Ok(if parts.iter().any(is_injected) { RecordMark::None } else { RecordMark::Turn(texts(&parts)) })
}

fn session_facts(meta: SessionMeta<'_>) -> Facts {
    let spawned_by = meta
        .source
        .0
        .and_then(|source| source.subagent.0)
        .and_then(|subagent| subagent.thread_spawn.0)
        .and_then(|spawn| spawn.parent_thread_id.into_text())
        .or(meta.parent_thread_id.into_text());
    // A sub-agent may start from a copy of its parent's conversation; that it was started by it says more.
    let origin = match spawned_by {
        Some(parent) => Some((parent, OriginKind::Parent)),
        None => meta.forked_from_id.into_text().map(|session| (session, OriginKind::Fork)),
    };
    Facts {
        session: meta.id.into_text(),
        origin: origin.map(|(session, kind)| SessionOrigin { session, kind, at: None }),
        version: meta.cli_version.into_text(),
        directory: meta.cwd.into_text(),
        branch: meta.git.0.and_then(|git| git.branch.into_text()),
        model: meta.model.into_text(),
        title: None,
    }
}

fn turns_back(event: &Event<'_>) -> Rewind {
    Rewind::Turns(event.num_turns.count().unwrap_or(0))
}

fn texts(parts: &[EntryPart]) -> Option<String> {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            EntryPart::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}

/// What a step needs of a line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StepLine<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Compacted<'a> {
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    replacement_history: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Communication<'a> {
    #[serde(borrow)]
    author: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let line: StepLine<'_> = tolerant_json::object(record)?;
    let Some(payload) = line.payload else {
        let is_item = line.role != Field::Absent || item::KINDS.contains(&line.kind.text());
        let entry = if is_item { entry(serde_json::from_slice(record)?)? } else { None };
        return Ok(timed(entry.map_or_else(RecordStep::nothing, RecordStep::append), &line.timestamp));
    };
    let step = match line.kind.text() {
        "response_item" => entry(payload)?.map_or_else(RecordStep::nothing, RecordStep::append),
        "compacted" => compaction(tolerant_json::object_or_default(payload)?)?,
        "inter_agent_communication" => RecordStep::append(communication(tolerant_json::object_or_default(payload)?)?),
        "event_msg" => {
            let event: Event<'_> = tolerant_json::object_or_default(payload)?;
            match event.kind.text() {
                "thread_rolled_back" => RecordStep { effect: Effect::Rewind(turns_back(&event)), entries: Vec::new() },
                "user_message" if is_imitated(&line.timestamp) => {
                    RecordStep::append(Entry::new(Role::User, vec![EntryPart::text(event.message.text())]))
                }
                "agent_reasoning" if is_imitated(&line.timestamp) => {
                    let thought = EntryPart::Thinking { text: event.text.text().to_owned(), seal: None };
                    RecordStep::append(Entry::new(Role::Assistant, vec![thought]))
                }
                _ => RecordStep::nothing(),
            }
        }
        _ => RecordStep::nothing(),
    };
    Ok(timed(step, &line.timestamp))
}

fn timed(mut step: RecordStep, timestamp: &Field<'_>) -> RecordStep {
    let at = timestamp.instant();
    step.entries.iter_mut().for_each(|entry| entry.at = at);
    step
}

fn entry(raw: &RawValue) -> serde_json::Result<Option<Entry>> {
    tolerant_json::object_or_default::<Item<'_>>(raw)?.into_entry(raw)
}

fn compaction(compacted: Compacted<'_>) -> serde_json::Result<RecordStep> {
    let message = compacted.message.into_text();
    let Shape::List(items) = tolerant_json::shape(compacted.replacement_history)? else {
        let summary = item::summary(message.unwrap_or_default());
        return Ok(RecordStep { effect: Effect::Replace(Keep::Users), entries: vec![summary] });
    };
    let mut entries = Vec::with_capacity(items.len());
    for item in items {
        entries.extend(entry(item)?);
    }
    for entry in entries.iter_mut().filter(|entry| entry.role == Role::User) {
        if message.as_ref().is_some_and(|message| entry.text() == *message) {
            *entry = item::summary(entry.text());
        }
    }
    Ok(RecordStep { effect: Effect::Replace(Keep::Nothing), entries })
}

fn communication(message: Communication<'_>) -> serde_json::Result<Entry> {
    let mut entry = Entry::new(Role::User, item::content(message.content)?);
    entry.author = message.author.into_text();
    entry.flags.meta = true;
    Ok(entry)
}

#[cfg(test)]
mod tests;
