//! From the records of one commit to the entries that are read.

use contexture_core::{Entry, Part};

use crate::codec::{Effect, Rewind, Step};

/// What a record puts into a conversation as it is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Something is said.
    Entry(Box<Entry>),
    /// The conversation goes back.
    Rewind(Rewind),
}

/// Returns what the records of one commit say, each entry once and in its last form.
///
/// Other than replay this takes nothing away: whoever reads wants to see what was taken back or summed up.
pub fn told(steps: Vec<Step>) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    for Step { effect, entries } in steps {
        match &effect {
            Effect::Rewind(rewind) => told.push(Told::Rewind(rewind.clone())),
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
            Told::Entry(_) | Told::Rewind(_) => None,
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
