//! From the records of one commit to what a reader is shown.

use contexture_core::{Entry, EntryPart};

use crate::codec::{Effect, RecordStep, Rewind};

/// What a record puts into a conversation as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum DisplayItem {
    /// Something is said.
    Entry(Box<Entry>),
    /// The conversation goes back.
    Rewind(Rewind),
}

/// Returns what the records of one commit show, each entry once and in its last form.
///
/// Other than replay this takes nothing away: whoever reads wants to see what was taken back or summed up.
pub fn display_items(steps: Vec<RecordStep>) -> Vec<DisplayItem> {
    let mut items: Vec<DisplayItem> = Vec::new();
    for RecordStep { effect, entries } in steps {
        match &effect {
            Effect::Rewind(rewind) => items.push(DisplayItem::Rewind(rewind.clone())),
            Effect::Nothing
            | Effect::Append
            | Effect::Continue
            | Effect::Upsert
            | Effect::Boundary(_)
            | Effect::Replace(_) => {}
        }
        for entry in entries {
            add(&mut items, &effect, entry);
        }
    }
    items
}

fn add(items: &mut Vec<DisplayItem>, effect: &Effect, entry: Entry) {
    if *effect == Effect::Upsert && entry.id.is_some() {
        let same = items.iter_mut().find_map(|item| match item {
            DisplayItem::Entry(known) if known.id == entry.id => Some(known),
            DisplayItem::Entry(_) | DisplayItem::Rewind(_) => None,
        });
        if let Some(known) = same {
            **known = entry;
            return;
        }
    }
    if *effect == Effect::Continue
        && let Some(DisplayItem::Entry(last)) = items.last_mut()
        && last.role == entry.role
    {
        let mut parts = entry.parts.into_iter();
        match (last.parts.last_mut(), parts.next()) {
            (Some(EntryPart::Text { text }), Some(EntryPart::Text { text: more })) => text.push_str(&more),
            (_, first) => last.parts.extend(first),
        }
        last.parts.extend(parts);
        return;
    }
    items.push(DisplayItem::Entry(Box::new(entry)));
}
