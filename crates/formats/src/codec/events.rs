//! `events-v1`: Contexture's own capture, one entry a line.

use contexture_core::{Entry, EntryPart, Role};

use super::{Codec, Effect, Framing, Keep, Link, Outline, RecordMark, RecordStep};
use crate::RecordProblem;

pub(crate) struct EventsCodec;

impl Codec for EventsCodec {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let entry = decode(record)?;
        let mark = match &entry {
            Entry { flags, .. } if flags.compact_summary => RecordMark::Compaction { after: None },
            Entry { role: Role::User, flags, parts, .. } if !flags.meta && says_something(parts) => {
                RecordMark::Turn(Some(entry.text()))
            }
            _ => RecordMark::None,
        };
        let link = entry.parent.map_or(Link::Previous, Link::To);
        let has_summary = entry.flags.compact_summary;
        Ok(Outline { id: entry.id, link, at: entry.at, mark, has_summary, ..Outline::default() })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let entry = decode(record)?;
        let effect = if entry.flags.compact_summary { Effect::Replace(Keep::Nothing) } else { Effect::Append };
        Ok(RecordStep { effect, entries: vec![entry] })
    }
}

fn decode(record: &[u8]) -> Result<Entry, RecordProblem> {
    serde_json::from_slice(record).map_err(|error| RecordProblem::json(&error))
}

/// Tells whether there is more than the results of tools.
fn says_something(parts: &[EntryPart]) -> bool {
    parts.iter().any(|part| !matches!(part, EntryPart::ToolResult { .. }))
}
