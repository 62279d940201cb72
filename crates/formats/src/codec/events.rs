//! `events-v1`: Contexture's own form, one entry a line.

use contexture_core::{Entry, EntryPart, Role};
use serde::Deserialize;

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
            Entry { flags, .. } if flags.compact_summary && !is_appended(record) => {
                RecordMark::Compaction { after: None }
            }
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
        let replaces = entry.flags.compact_summary && !is_appended(record);
        let effect = if replaces { Effect::Replace(Keep::Nothing) } else { Effect::Append };
        Ok(RecordStep { effect, entries: vec![entry] })
    }
}

fn decode(record: &[u8]) -> Result<Entry, RecordProblem> {
    serde_json::from_slice(record).map_err(|error| RecordProblem::json(&error))
}

/// Tells whether an entry that sums something up leaves what comes before.
fn is_appended(record: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct SummaryFields {
        #[serde(default)]
        appended: bool,
    }
    serde_json::from_slice(record).is_ok_and(|fields: SummaryFields| fields.appended)
}

/// Tells whether there is more than the results of tools.
fn says_something(parts: &[EntryPart]) -> bool {
    parts.iter().any(|part| !matches!(part, EntryPart::ToolResult { .. }))
}
