//! The gist of a commit that nobody has summed up: what was done in it, in one line.

use contexture::{
    CommitContent, ContentMeaning, Contexture, Stop, StoredCommit,
    core::{Count, Entry, EntryPart, Format, Role},
    formats::{DisplayItem, display_items},
};

use super::{call, clip};
use crate::{commit_text, output};

/// Longest line that says it.
const MAX_COLUMNS: usize = 72;
/// More is not read for one line: a step has less, unless it holds a record that nobody reads.
const MAX_READ_BYTES: u64 = 32 * 1024 * 1024;

/// Returns what a commit does: its summary, else the first tool that it calls, else the last that its agent says in it.
///
/// What cannot be read has none: whoever looks at many commits wants to see the others.
pub(crate) async fn gist(engine: &Contexture, stored: &StoredCommit) -> Option<String> {
    if let Some(summary) = commit_text::summary(stored) {
        return Some(summary);
    }
    let size = engine.stat_artifact(stored.commit.artifact).await.ok()?.size;
    if size > MAX_READ_BYTES {
        return Some(format!("{} that are not read for this", output::size(size)));
    }
    let mut entries = engine.entries(Some(stored.id), Stop::At(stored.id)).await.ok()?;
    of_content(entries.next().await.ok()??)
}

/// Does the same, and says so where there is nothing to tell: no commit is without words.
pub(crate) async fn words(engine: &Contexture, stored: &StoredCommit) -> String {
    let messages = stored.commit.message_count.map_or(0, Count::get);
    let without = || without_words(messages, &stored.commit.format);
    gist(engine, stored).await.filter(|gist| !gist.trim().is_empty()).unwrap_or_else(without)
}

/// Says what there is where nobody says anything.
pub(crate) fn without_words(messages: u64, format: &Format) -> String {
    match messages {
        0 => format!("({format}, without words)"),
        messages => format!("({} of {format}, without words)", output::counted(messages, "message")),
    }
}

fn of_content(content: CommitContent) -> Option<String> {
    let ContentMeaning::Steps { steps, .. } = content.said else { return None };
    let entries: Vec<Entry> = display_items(steps).into_iter().filter_map(answer).collect();
    let parts = || entries.iter().flat_map(|entry| &entry.parts);
    let mut calls = parts().filter_map(|part| match part {
        EntryPart::ToolCall { name, input, .. } => Some(format!("{name} {}", call::telling(input))),
        _ => None,
    });
    let gist = match (calls.next(), calls.count()) {
        (Some(call), 0) => format!("▸ {}", clipped(&call, MAX_COLUMNS)),
        (Some(call), more) => {
            let more = format!(" and {}", output::counted(more as u64, "more call"));
            format!("▸ {}{more}", clipped(&call, MAX_COLUMNS - more.len()))
        }
        (None, _) => {
            let mut said = parts().rev().filter_map(|part| match part {
                EntryPart::Text { text } => Some(clipped(text, MAX_COLUMNS)),
                _ => None,
            });
            said.find(|text| !text.is_empty())?
        }
    };
    Some(gist)
}

/// Returns what an agent says, be it words or calls.
fn answer(item: DisplayItem) -> Option<Entry> {
    match item {
        DisplayItem::Entry(entry) if entry.role == Role::Assistant => Some(*entry),
        DisplayItem::Entry(_) | DisplayItem::Rewind(_) => None,
    }
}

fn clipped(text: &str, columns: usize) -> String {
    clip(&output::first_line(text), columns)
}
