//! One text: what a model reads that takes no messages.

use std::fmt::Write as _;

use contexture_core::{EntryPart, ToolInput};
use contexture_formats::{
    Dialogue,
    dialogue::{Speaker, text_of},
};

use super::Fence;
use crate::item::{Item, ItemContent};

/// Renders a piece; it ends with a line's end.
pub(super) fn fragment(fence: &Fence, item: Option<&Item>, content: &ItemContent) -> String {
    let mut text = match content {
        ItemContent::Text { text, fenced: true, .. } => fence.around(item, text),
        ItemContent::Text { text, .. } => text.clone(),
        ItemContent::Entries(entries) => conversation(fence, &Dialogue::part(entries.clone())),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn conversation(fence: &Fence, dialogue: &Dialogue) -> String {
    let mut text = String::new();
    for instruction in &dialogue.system {
        section(&mut text, fence, "system", instruction);
    }
    for turn in &dialogue.turns {
        let speaker = match turn.speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        for part in &turn.parts {
            match part {
                EntryPart::ToolCall { id, name, input } => {
                    let input = match input {
                        ToolInput::Json(value) => value.to_string(),
                        ToolInput::Text(text) => text.clone(),
                    };
                    section(&mut text, fence, &format!("call {} {}", plain(name), plain(id)), &input);
                }
                EntryPart::ToolResult { call, content, is_error } => {
                    let outcome = if *is_error == Some(true) { "failure" } else { "result" };
                    section(&mut text, fence, &format!("{outcome} {}", plain(call)), &text_of(content));
                }
                EntryPart::Thinking { text: thought, .. } if thought.is_empty() => {}
                EntryPart::Thinking { text: thought, .. } => section(&mut text, fence, "thinking", thought),
                EntryPart::Summary { text: summary } => section(&mut text, fence, "summary", summary),
                EntryPart::Text { .. } | EntryPart::Blob { .. } | EntryPart::Native { .. } => {
                    section(&mut text, fence, speaker, &text_of(std::slice::from_ref(part)));
                }
            }
        }
    }
    text
}

fn section(text: &mut String, fence: &Fence, heading: &str, body: &str) {
    let gap = if body.ends_with('\n') { "" } else { "\n" };
    write!(text, "{}{body}{gap}", fence.line(heading)).expect("a text takes whatever is written");
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || c.is_whitespace() { '_' } else { c }).collect()
}
