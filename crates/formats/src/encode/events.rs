//! `events-v1`: Contexture's own form, one entry a line.
//!
//! It has a place for all that an entry can be, so entries are written as they are. A dialogue, whose loose ends are tied
//! up already, becomes entries again.

use contexture_core::{Entry, EntryPart, Flags, Role};
use serde::Serialize;

use super::{EncodedDialogue, Encoder, Target, lines::WrittenLines};
use crate::{
    Framing,
    dialogue::{Dialogue, Losses, Speaker, Turn},
};

pub(crate) struct Events;

/// A line: an entry, and what else must be said of it.
#[derive(Serialize)]
struct EventLine<'e> {
    #[serde(flatten)]
    entry: &'e Entry,
    /// Whether it leaves what comes before, although it is a summary of something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    appended: bool,
}

/// Writes entries as they are. Read again, they are the same ones in the same order.
pub(crate) fn write_entries(entries: &[Entry]) -> Vec<u8> {
    let mut lines = WrittenLines::default();
    for (n, entry) in entries.iter().enumerate() {
        lines.push(&EventLine { entry, appended: n > 0 && entry.flags.compact_summary });
    }
    lines.into_bytes()
}

impl Encoder for Events {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn encode(&self, dialogue: &Dialogue, _: &Target) -> EncodedDialogue {
        let system = dialogue.system.iter().map(|text| Entry::new(Role::System, vec![EntryPart::text(text)]));
        let entries: Vec<Entry> = system.chain(dialogue.turns.iter().flat_map(entries)).collect();
        EncodedDialogue { bytes: write_entries(&entries), losses: Losses::default() }
    }
}

/// Returns a turn as what was said in it: what tools answered comes first, and apart.
fn entries(turn: &Turn) -> impl Iterator<Item = Entry> {
    let is_answer = |part: &EntryPart| turn.speaker == Speaker::User && matches!(part, EntryPart::ToolResult { .. });
    let (answers, words): (Vec<EntryPart>, Vec<EntryPart>) = turn.parts.iter().cloned().partition(is_answer);
    let speaker = match turn.speaker {
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
    };
    let said = [(Role::Tool, answers), (speaker, words)].into_iter().filter(|(_, parts)| !parts.is_empty());
    said.map(|(role, parts)| Entry {
        model: turn.model.clone(),
        at: turn.at,
        flags: Flags { meta: turn.is_meta, ..Flags::default() },
        ..Entry::new(role, parts)
    })
}
