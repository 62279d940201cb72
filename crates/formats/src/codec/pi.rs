//! `pi-v1`: the session file of pi, a tree of entries, one a line.
//!
//! Each entry names the one that it follows; the conversation is the way from the last entry to the root. The first
//! version had no ids: there each entry follows the line before it.

pub(super) mod message;

use contexture_core::{Entry, EntryPart, Flags, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Effect, Facts, Keep, Link, OriginKind, Outline, RecordMark, RecordStep, SessionOrigin,
    line_codec::LineCodec,
    tolerant_json::{self, Field, Object, Shape},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// What an outline needs of nearly every line. The few lines that tell more are read once more.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    parent_id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    message: Object<PiSpeaker<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PiSpeaker<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
}

/// What the first line and some others tell about the session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct About<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    parent_session: Field<'a>,
    #[serde(borrow)]
    branched_from: Field<'a>,
    #[serde(borrow)]
    model_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spoken<'a> {
    #[serde(borrow)]
    message: Object<PiWords<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PiWords<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let line: Line<'_> = tolerant_json::object(record)?;
    let at = line.timestamp.instant();
    let mut facts = Facts::default();
    let mut mark = RecordMark::None;
    match line.kind.text() {
        "session" => {
            let facts = session_facts(tolerant_json::object(record)?);
            return Ok(Outline { at, link: Link::Root, facts, ..Outline::default() });
        }
        "message" => {
            let speaker = line.message.0.unwrap_or_default();
            match speaker.role.text() {
                "user" => mark = RecordMark::Turn(words(record)?),
                "assistant" => facts.model = speaker.model.into_text(),
                _ => {}
            }
        }
        "model_change" => facts.model = tolerant_json::object::<About<'_>>(record)?.model_id.into_text(),
        "session_info" => facts.title = tolerant_json::object::<About<'_>>(record)?.name.into_text(),
        "compaction" => {
            let parent = line.parent_id.text();
            mark = RecordMark::Compaction { after: (!parent.is_empty()).then(|| parent.to_owned()) };
        }
        _ => {}
    }
    let link = match line.parent_id {
        Field::Text(id) => Link::To(id.into_owned()),
        Field::Null => Link::Root,
        _ => Link::Previous,
    };
    let has_summary = matches!(mark, RecordMark::Compaction { .. });
    Ok(Outline { id: line.id.into_text(), link, at, mark, has_summary, facts, ..Outline::default() })
}

fn session_facts(header: About<'_>) -> Facts {
    let origin = header.parent_session.into_text().or(header.branched_from.into_text());
    Facts {
        session: header.id.into_text(),
        origin: origin.map(|path| SessionOrigin {
            session: session_in(&path).to_owned(),
            kind: OriginKind::Fork,
            at: None,
        }),
        directory: header.cwd.into_text(),
        model: header.model_id.into_text(),
        ..Facts::default()
    }
}

/// Returns the session's id in the path of its file, `…/<time>_<id>.jsonl`.
fn session_in(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = file.strip_suffix(".jsonl").unwrap_or(file);
    name.rsplit('_').next().unwrap_or(name)
}

fn words(record: &[u8]) -> serde_json::Result<Option<String>> {
    let words = tolerant_json::object::<Spoken<'_>>(record)?.message.0.unwrap_or_default();
    let text = Entry::new(Role::User, message::content(words.content)?).text();
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// What a step needs of a line of any type.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiStepLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    parent_id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Field<'a>,
    #[serde(borrow)]
    first_kept_entry_id: Field<'a>,
    #[serde(borrow)]
    retained_tail: Option<&'a RawValue>,
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let line: PiStepLine<'_> = tolerant_json::object(record)?;
    let mut tail = Vec::new();
    let mut effect = Effect::Append;
    let said = match line.kind.text() {
        "session" => return Ok(RecordStep::nothing()),
        "message" => match line.message {
            Some(raw) => message::entry(raw)?,
            None => silent(),
        },
        "custom_message" => message::injected(message::content(line.content)?),
        "branch_summary" | "branchSummary" => message::branch_summary(line.summary.text()),
        "compaction" => {
            let keep = match tolerant_json::shape(line.retained_tail)? {
                Shape::List(messages) => {
                    tail = messages.into_iter().map(message::entry).collect::<serde_json::Result<_>>()?;
                    Keep::Nothing
                }
                _ => line.first_kept_entry_id.into_text().map_or(Keep::Nothing, Keep::From),
            };
            effect = Effect::Replace(keep);
            let flags = Flags { compact_summary: true, ..Flags::default() };
            Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text: line.summary.text().to_owned() }]) }
        }
        _ => silent(),
    };
    // A compaction may keep everything from an entry on that says nothing, so those count as well; without an id nobody
    // can name them.
    if said.parts.is_empty() && line.id == Field::Absent {
        return Ok(RecordStep::nothing());
    }
    let mut entries = vec![Entry {
        id: line.id.into_text(),
        parent: line.parent_id.into_text(),
        at: line.timestamp.instant(),
        ..said
    }];
    entries.append(&mut tail);
    Ok(RecordStep { effect, entries })
}

/// Returns the entry of a line that models see nothing of.
fn silent() -> Entry {
    Entry::new(Role::System, Vec::new())
}

#[cfg(test)]
mod tests;
