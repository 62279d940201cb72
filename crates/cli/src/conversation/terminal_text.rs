//! Foreign text, made fit for a terminal and for the width of a line.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::output::{self, Passing};

/// How wide a tab is shown.
const TAB: &str = "    ";

/// Returns a text without what tools put around words to colour them, and with tabs as wide as they are counted. What else
/// could steer a terminal is replaced as everywhere.
pub(crate) fn clean(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\n' => plain.push('\n'),
            '\t' => plain.push_str(TAB),
            char => plain.push(char),
        }
    }
    match output::clean(&plain, Passing::LINES) {
        Cow::Borrowed(_) => plain,
        Cow::Owned(cleaned) => cleaned,
    }
}

/// Takes the rest of an escape sequence, up to where terminals take it to end.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next_if(|char| !('@'..='~').contains(char) && !char.is_control()).is_some() {},
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(char) = chars.next_if(|char| *char != '\n') {
                if char == '\u{7}' || char == '\u{9c}' {
                    return;
                }
                if char == '\u{1b}' {
                    break;
                }
            }
        }
        Some(_) | None => return,
    }
    // The last of the sequence; a control character is none of it.
    chars.next_if(|char| !char.is_control());
}

/// Cuts a line to a width and says so.
pub(crate) fn clip(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let (kept, _) = split(line, columns.saturating_sub(1));
    format!("{kept}…")
}

/// Breaks text into lines that fit, between words where that is possible. A line keeps its indentation; what stands
/// between fences is left as it is.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_fenced {
            lines.push(line.trim_end().to_owned());
        } else {
            wrap_line(line, columns, &mut lines);
        }
        is_fenced ^= is_fence;
    }
    lines
}

fn wrap_line(line: &str, columns: usize, lines: &mut Vec<String>) {
    let line = line.trim_end();
    let words = line.trim_start();
    let indent = &line[..line.len() - words.len()];
    let indent = if indent.width() * 2 < columns { indent } else { "" };
    let mut current = indent.to_owned();
    let mut is_empty = true;
    for word in words.split(' ') {
        let mut word = word;
        let gap = usize::from(!is_empty);
        if !is_empty && current.width() + gap + word.width() > columns {
            lines.push(std::mem::replace(&mut current, indent.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        while current.width() + word.width() > columns {
            let (head, rest) = split(word, columns.saturating_sub(current.width()).max(1));
            current.push_str(head);
            lines.push(std::mem::replace(&mut current, indent.to_owned()));
            word = rest;
        }
        current.push_str(word);
        is_empty = false;
    }
    lines.push(current);
}

/// Splits a text where it reaches a width; the first part has at least one character.
fn split(text: &str, columns: usize) -> (&str, &str) {
    let mut width = 0;
    for (at, char) in text.char_indices() {
        width += char.width().unwrap_or(0);
        if width > columns && at > 0 {
            return text.split_at(at);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_could_steer_it() {
        for (text, expected) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://a.example\u{1b}\\link", "link"),
            ("\u{1b}(Bx", "Bx"),
            ("a\u{1b}", "a"),
            ("\u{1b}[31", ""),
            ("\u{1b}[31\nnext", "\nnext"),
            ("\u{9b}31mx\u{8}\0", "\u{fffd}31mx\u{fffd}\u{fffd}"),
            ("one\r\ntwo\rthree\tfour", "one\ntwo\nthree    four"),
            ("user\u{202e}resu", "user\u{fffd}resu"),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_break_between_words_and_keep_their_indentation() {
        assert_eq!(wrap("one two three\n  four five six", 10), ["one two", "three", "  four", "  five six"]);
        assert_eq!(wrap("abcdefghijkl", 5), ["abcde", "fghij", "kl"]);
        assert_eq!(wrap("緑緑緑緑", 5), ["緑緑", "緑緑"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrap("```\nlong code line\n```", 5), ["```", "long code line", "```"]);
        assert_eq!(clip("緑緑緑", 5), "緑緑…");
    }
}
