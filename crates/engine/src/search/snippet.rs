//! Snippets: the piece of a text in which a query matches.

use std::ops::Range;

use contexture_store::search::Query;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// About how many characters a snippet has.
const MAX_CHARS: usize = 160;
/// About how many of them come before the match.
const CHARS_BEFORE: usize = 40;
/// What stands for what was left out.
const LEFT_OUT: char = '…';

/// A piece of a text, on one line, and where in it the query matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snippet {
    /// The piece. White space is one space, and `…` stands for what was left out.
    pub text: String,
    /// Where it matches, in characters of the piece.
    pub matches: Vec<Range<usize>>,
}

/// Cuts the piece of a text in which most of a query matches.
pub(super) fn cut(text: &str, query: &Query) -> Snippet {
    let found = query.find(text);
    let window = window(text, &found);
    let mut snippet = Snippet { text: String::new(), matches: Vec::new() };
    let mut chars = 0;
    if !text[..window.start].trim().is_empty() {
        snippet.text.push(LEFT_OUT);
        chars += 1;
    }
    let mut matches = found.iter().map(|(range, _)| range).filter(|range| range.start >= window.start).peekable();
    let mut open: Option<(usize, usize)> = None;
    let mut is_spaced = true;
    for (offset, letter) in text[window.clone()].char_indices() {
        let at = window.start + offset;
        if let Some((start, end)) = open
            && at >= end
        {
            snippet.matches.push(start..chars);
            open = None;
        }
        while let Some(range) = matches.next_if(|range| range.start <= at) {
            let (start, end) = open.unwrap_or((chars, range.end));
            open = Some((start, end.max(range.end)));
        }
        if !letter.is_whitespace() {
            snippet.text.push(letter);
        } else if is_spaced {
            continue;
        } else {
            snippet.text.push(' ');
        }
        is_spaced = letter.is_whitespace();
        chars += 1;
    }
    if let Some((start, _)) = open {
        snippet.matches.push(start..chars);
    }
    if is_spaced && snippet.text.ends_with(' ') {
        snippet.text.pop();
    }
    if !text[window.end..].trim().is_empty() {
        snippet.text.push(LEFT_OUT);
    }
    snippet
}

/// Returns the bytes to show: those with most different terms, the first of such.
fn window(text: &str, found: &[(Range<usize>, usize)]) -> Range<usize> {
    let mut best = (0, 0);
    for (first, (range, _)) in found.iter().enumerate() {
        let end = chars_after(text, range.start, MAX_CHARS - CHARS_BEFORE);
        let mut terms: Vec<usize> =
            found[first..].iter().take_while(|(range, _)| range.end <= end).map(|(_, term)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        if terms.len() > best.0 {
            best = (terms.len(), range.start);
        }
    }
    let start = text[..best.1].char_indices().rev().nth(CHARS_BEFORE - 1).map_or(0, |(at, _)| at);
    // Not in the middle of a word, if one ends before the match.
    let start = match text[start..best.1].find(char::is_whitespace) {
        Some(space) if start > 0 => start + space,
        _ => start,
    };
    let end = chars_after(text, start, MAX_CHARS);
    let end = match text[best.1..end].rfind(char::is_whitespace) {
        Some(space) if end < text.len() => best.1 + space,
        _ => end,
    };
    let last = found.iter().filter(|(range, _)| range.start <= best.1).map(|(range, _)| range.end).max().unwrap_or(0);
    start..end.max(last.min(chars_after(text, start, 2 * MAX_CHARS)))
}

fn chars_after(text: &str, start: usize, count: usize) -> usize {
    text[start..].char_indices().nth(count).map_or(text.len(), |(offset, _)| start + offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, query: &str) -> String {
        let Snippet { text, matches } = cut(text, &query.parse().unwrap());
        let letters: Vec<char> = text.chars().collect();
        let mut shown = String::new();
        let mut at = 0;
        for Range { start, end } in matches {
            shown.extend(&letters[at..start]);
            shown.push('[');
            shown.extend(&letters[start..end]);
            shown.push(']');
            at = end;
        }
        shown.extend(&letters[at..]);
        shown
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        assert_eq!(
            shown("  Borrow error\n\n  E0502 in\tsrc/main.rs ", "e0502 main.rs"),
            "Borrow error [E0502] in src/[main.rs]"
        );
        assert_eq!(shown("nothing", "else"), "nothing");
        assert_eq!(shown("ab é ab", "ab"), "[ab] é [ab]");
    }

    #[test]
    fn a_long_text_is_cut_around_most_of_the_query() {
        let text = format!("one {} one two {}", "left ".repeat(100), "right ".repeat(100));
        let shown = shown(&text, "one two");
        assert!(
            shown.starts_with("…left left") && shown.contains("[one] [two]") && shown.ends_with("right…"),
            "{shown}"
        );
        assert!(shown.chars().count() < 180, "{shown}");
    }

    proptest! {
        #[test]
        fn matches_lie_in_the_snippet_and_do_not_overlap(text in "([ab]{1,3}|é|\\PC|\\s){0,400}", query in "[ab]{1,2}( [ab]\\*)?") {
            let Snippet { text, matches } = cut(&text, &query.parse().unwrap());
            let mut end = 0;
            for range in matches {
                prop_assert!(range.start >= end && range.start < range.end);
                end = range.end;
            }
            prop_assert!(end <= text.chars().count());
        }
    }
}
