//! From the records of one commit to the entries that are read.

use contexture::{
    core::{Entry, Part},
    formats::codec::{Effect, Rewind, Step},
};

use crate::output;

/// What a record puts into a conversation as it is read.
pub(crate) enum Told {
    Entry(Box<Entry>),
    /// Something that happens to the conversation.
    Note(String),
}

/// Returns what the records of one commit say, each entry once and in its last form.
///
/// Other than replay this takes nothing away: whoever reads wants to see what was taken back or summed up.
pub(crate) fn entries(steps: Vec<Step>) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    for Step { effect, entries } in steps {
        match &effect {
            Effect::Rewind(Rewind::Turns(turns)) => {
                told.push(Told::Note(format!("[the conversation goes back {}]", output::counted(*turns, "turn"))));
            }
            Effect::Rewind(Rewind::Before(_)) => told.push(Told::Note("[the conversation goes back]".to_owned())),
            Effect::Nothing
            | Effect::Append
            | Effect::Continue
            | Effect::Upsert
            | Effect::Boundary(_)
            | Effect::Replace(_) => {}
        }
        for entry in entries {
            add(&mut told, &effect, entry);
        }
    }
    told
}

fn add(told: &mut Vec<Told>, effect: &Effect, entry: Entry) {
    if *effect == Effect::Upsert && entry.id.is_some() {
        let same = told.iter_mut().find_map(|told| match told {
            Told::Entry(known) if known.id == entry.id => Some(known),
            Told::Entry(_) | Told::Note(_) => None,
        });
        if let Some(known) = same {
            **known = entry;
            return;
        }
    }
    if *effect == Effect::Continue
        && let Some(Told::Entry(last)) = told.last_mut()
        && last.role == entry.role
    {
        let mut parts = entry.parts.into_iter();
        match (last.parts.last_mut(), parts.next()) {
            (Some(Part::Text { text }), Some(Part::Text { text: more })) => text.push_str(&more),
            (_, first) => last.parts.extend(first),
        }
        last.parts.extend(parts);
        return;
    }
    told.push(Told::Entry(Box::new(entry)));
}
