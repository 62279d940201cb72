//! Making content shorter: the end or the middle of long texts is left out.

use contexture_core::{Entry, EntryPart};

use crate::item::ItemContent;

/// What is left out of a long text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Tail,
    Middle,
}

/// Returns the length of the longest text, in characters.
pub(crate) fn longest(content: &ItemContent) -> usize {
    let mut longest = 0;
    let mut measure = |text: &str| {
        longest = longest.max(text.chars().count());
        None
    };
    match content {
        ItemContent::Text { text, .. } => drop(measure(text)),
        ItemContent::Entries(entries) => drop(changed(entries, &mut measure)),
    }
    longest
}

/// Returns content in which no text has more characters than that, and a mark stands where some were left out.
pub(crate) fn shortened(content: &ItemContent, max_chars: usize, cut: Cut) -> ItemContent {
    match content {
        ItemContent::Text { text, voice, fenced } => {
            let text = cut.apply(text, max_chars).unwrap_or_else(|| text.clone());
            ItemContent::Text { text, voice: *voice, fenced: *fenced }
        }
        ItemContent::Entries(entries) => ItemContent::Entries(changed(entries, &mut |text| cut.apply(text, max_chars))),
    }
}

impl Cut {
    fn apply(self, text: &str, max_chars: usize) -> Option<String> {
        let chars = text.chars().count();
        if chars <= max_chars {
            return None;
        }
        let mark = format!("\n[{} characters left out]\n", chars - max_chars);
        let (head, tail) = match self {
            Self::Tail => (max_chars, 0),
            Self::Middle => (max_chars.div_ceil(2), max_chars / 2),
        };
        let place = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(place, _)| place);
        Some([&text[..place(head)], &mark, &text[place(chars - tail)..]].concat())
    }
}

/// Returns entries with other texts. What was thought, called or shown stays as it is.
fn changed(entries: &[Entry], change: &mut dyn FnMut(&str) -> Option<String>) -> Vec<Entry> {
    let entry = |entry: &Entry| Entry { parts: changed_parts(&entry.parts, change), ..entry.clone() };
    entries.iter().map(entry).collect()
}

fn changed_parts(parts: &[EntryPart], change: &mut dyn FnMut(&str) -> Option<String>) -> Vec<EntryPart> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        all.push(match part {
            EntryPart::Text { text } => change(text).map_or_else(|| part.clone(), EntryPart::text),
            EntryPart::Summary { text } => {
                change(text).map_or_else(|| part.clone(), |text| EntryPart::Summary { text })
            }
            EntryPart::ToolResult { call, content, is_error } => EntryPart::ToolResult {
                call: call.clone(),
                content: changed_parts(content, change),
                is_error: *is_error,
            },
            EntryPart::Thinking { .. }
            | EntryPart::ToolCall { .. }
            | EntryPart::Blob { .. }
            | EntryPart::Native { .. } => part.clone(),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_what_is_left_out() {
        assert_eq!(Cut::Tail.apply("abcdefgh", 3).as_deref(), Some("abc\n[5 characters left out]\n"));
        assert_eq!(Cut::Middle.apply("abcdefgh", 3).as_deref(), Some("ab\n[5 characters left out]\nh"));
        assert_eq!(Cut::Middle.apply("äöü", 3), None);
        assert_eq!(Cut::Tail.apply("äöü", 0).as_deref(), Some("\n[3 characters left out]\n"));
    }
}
