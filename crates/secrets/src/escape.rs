//! Escape sequences of JSON, at any depth of text within text.
//!
//! What is stored may be JSON in a JSON string in a JSON string, and a detector that looks at a few bytes cannot know how
//! deep it is. It need not: at every depth an escape is a run of backslashes and what follows it, so a run that is kept or
//! replaced as a whole leaves valid JSON at each level, and undoing escapes until none is left gives one value for a
//! secret however often it was quoted.

use std::borrow::Cow;

/// Longest run of backslashes that counts as an escape: seven levels of quoting.
const MOST_BACKSLASHES: usize = 128;

/// What stands at a place: a byte, or an escape sequence as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The first byte after it.
    pub(crate) end: usize,
    /// What it says.
    pub(crate) text: UnitText,
}

/// What a unit says once no escape is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitText {
    /// A byte that stands for itself.
    Byte(u8),
    /// What an escape sequence stands for.
    Escaped(char),
}

impl UnitText {
    /// Returns the byte, if it is one of ASCII or part of a character that was not escaped.
    pub(crate) fn byte(self) -> Option<u8> {
        match self {
            Self::Byte(byte) => Some(byte),
            Self::Escaped(character) => u8::try_from(character).ok().filter(u8::is_ascii),
        }
    }
}

/// Reads what stands at a place; nothing at the end, or where a run of backslashes is too long to be an escape.
pub(crate) fn unit(bytes: &[u8], at: usize) -> Option<Unit> {
    let first = *bytes.get(at)?;
    if first != b'\\' {
        return Some(Unit { end: at + 1, text: UnitText::Byte(first) });
    }
    let after = backslashes_end(bytes, at)?;
    let escaped = |end, character| Some(Unit { end, text: UnitText::Escaped(character) });
    match bytes.get(after) {
        Some(&letter @ (b'"' | b'\'' | b'/')) => escaped(after + 1, char::from(letter)),
        Some(b'n') => escaped(after + 1, '\n'),
        Some(b'r') => escaped(after + 1, '\r'),
        Some(b't') => escaped(after + 1, '\t'),
        Some(b'b') => escaped(after + 1, '\u{8}'),
        Some(b'f') => escaped(after + 1, '\u{c}'),
        Some(b'u') => match hex_value(bytes, after + 1) {
            Some(high @ 0xd800..=0xdbff) => {
                let low =
                    bytes.get(after + 5).is_some_and(|&byte| byte == b'\\').then(|| backslashes_end(bytes, after + 5));
                let low = low.flatten().filter(|&end| bytes.get(end) == Some(&b'u'));
                match low.and_then(|end| Some((end, hex_value(bytes, end + 1)?))) {
                    Some((end, low @ 0xdc00..=0xdfff)) => {
                        let scalar = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        escaped(end + 5, char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER))
                    }
                    _ => escaped(after + 5, char::REPLACEMENT_CHARACTER),
                }
            }
            Some(scalar) => escaped(after + 5, char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER)),
            None => escaped(after, '\\'),
        },
        _ => escaped(after, '\\'),
    }
}

/// Returns where a run of backslashes ends, of which some may be written as `\u005c`.
fn backslashes_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    while end - at <= MOST_BACKSLASHES {
        if bytes.get(end) == Some(&b'\\') {
            end += 1;
        } else if is_backslash_code(bytes, end) {
            end += 5;
        } else {
            return Some(end);
        }
    }
    None
}

fn is_backslash_code(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'u') && hex_value(bytes, at + 1) == Some(0x5c)
}

/// Reads the four hex digits of `\u0041`.
pub(crate) fn hex_value(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

/// Returns where the text begins of a word that may have an escape sequence before it, whose letter looks like its first.
pub(crate) fn after_escape(bytes: &[u8], word: usize) -> usize {
    let mut start = word;
    while start.checked_sub(1).is_some_and(|before| bytes[before] == b'\\') || is_code_before(bytes, start, word) {
        start = match bytes.get(start) {
            Some(b'n' | b'r' | b't' | b'b' | b'f') => return start + 1,
            Some(b'u') if hex_value(bytes, start + 1).is_some() => start + 5,
            _ => return start,
        };
    }
    start
}

fn is_code_before(bytes: &[u8], start: usize, word: usize) -> bool {
    start >= word + 5 && is_backslash_code(bytes, start - 5)
}

/// Undoes every escape.
pub(crate) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if let Some(Unit { end, text }) = unit(bytes, at) {
            push(&mut plain, text);
            at = end;
        } else {
            plain.push(bytes[at]);
            at += 1;
        }
    }
    Cow::Owned(plain)
}

/// Appends what a unit says.
pub(crate) fn push(plain: &mut Vec<u8>, text: UnitText) {
    match text {
        UnitText::Byte(byte) => plain.push(byte),
        UnitText::Escaped(character) => plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quoted(text: &str) -> String {
        let json = serde_json::to_string(text).unwrap();
        json[1..json.len() - 1].to_owned()
    }

    #[test]
    fn a_word_begins_after_the_escape_before_it() {
        for (text, word, start) in [
            (r"\nAKIA", 1, 2),
            (r"\\nAKIA", 2, 3),
            (r"\u003cghp", 1, 6),
            (r"\\\u003cghp", 3, 8),
            (r"\u005cnghp", 1, 7),
            (r"\u005c\u005cnghp", 7, 13),
            (r"xnghp", 1, 1),
            (r"\Aghp", 1, 1),
            (r"\uzzzz", 1, 1),
        ] {
            assert_eq!(after_escape(text.as_bytes(), word), start, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_the_same_however_often_it_is_quoted(text in "[a-z\"/\n\\\\é😀]{0,12}[a-z]", depth in 0usize..4) {
            // A backslash before the end of a line is told from a quoted end of a line by depth only.
            prop_assume!(!text.contains("\\\n"));
            let mut deep = text.clone();
            for _ in 0..depth {
                deep = quoted(&deep);
            }
            prop_assert_eq!(plain(deep.as_bytes()), plain(text.as_bytes()));
        }

        #[test]
        fn any_bytes_can_be_read(bytes: Vec<u8>) {
            let _plain = plain(&bytes);
        }
    }
}
