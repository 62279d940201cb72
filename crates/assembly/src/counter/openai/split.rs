//! How a text is split into pieces before bytes are merged; no token reaches from one piece into the next.
//!
//! The published patterns are written out by hand here. They agree in this: at most three digits are a piece; signs are a piece with one blank before and the line ends after; white space is a
//! piece up to its last line end, or else up to its last blank, which goes with the word that follows.

use super::letters::Classes;

/// The letters of a word in o200k that may be followed by lower case.
const HEAD: Classes = Classes::UPPER.or(Classes::CASELESS).or(Classes::MARK);
/// The letters of a word in o200k that may follow upper case.
const TAIL: Classes = Classes::LOWER.or(Classes::CASELESS).or(Classes::MARK);

/// The pieces of a text, by a rule that finds the end of the piece at the start of a text.
#[derive(Debug)]
pub(super) struct Split<'a, R> {
    rest: &'a str,
    rule: R,
}

impl<'a, R: Fn(Cursor<'a>) -> usize> Split<'a, R> {
    /// Splits a text.
    pub(super) fn new(text: &'a str, rule: R) -> Self {
        Self { rest: text, rule }
    }
}

impl<'a, R: Fn(Cursor<'a>) -> usize> Iterator for Split<'a, R> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (piece, rest) = self.rest.split_at((self.rule)(Cursor { text: self.rest, at: 0 }));
        self.rest = rest;
        Some(piece)
    }
}

/// Finds the end of the first piece of a text that is not empty, as GPT-4o does.
///
/// `[^\r\n\p{L}\p{N}]?[HEAD]*[TAIL]+('s|'t|'re|'ve|'m|'ll|'d)?`, the same with `[HEAD]+[TAIL]*`, `\p{N}{1,3}`,
/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`, `\s*[\r\n]+`, `\s+(?!\S)`, `\s+`.
pub(super) fn o200k(start: Cursor<'_>) -> usize {
    let first = start.classes();
    let word = if first.any(Classes::LETTER) {
        word_with_tail(start).or_else(|| word_of_heads(start))
    } else if first.any(Classes::NEWLINE.or(Classes::NUMBER)) {
        None
    } else {
        // A mark may begin a word both as the sign before it and as its first letter.
        let marked = || first.any(Classes::MARK).then(|| word_with_tail(start)).flatten();
        word_with_tail(start.next()).or_else(marked).or_else(|| word_of_heads(start.next()))
    };
    match word {
        Some(end) => contraction(end).unwrap_or(end).at,
        None => digits(start).or_else(|| signs(start, b"\r\n/")).unwrap_or_else(|| blanks(start)),
    }
}

/// Finds the end of the first piece of a text that is not empty, as GPT-4 does.
///
/// `'s|'t|'re|'ve|'m|'ll|'d`, `[^\r\n\p{L}\p{N}]?\p{L}+`, `\p{N}{1,3}`, ` ?[^\s\p{L}\p{N}]+[\r\n]*`, `\s*[\r\n]+`,
/// `\s+(?!\S)`, `\s+`.
pub(super) fn cl100k(start: Cursor<'_>) -> usize {
    if let Some(end) = contraction(start) {
        return end.at;
    }
    let first = start.classes();
    let letters =
        if first.any(Classes::LETTER.or(Classes::NEWLINE).or(Classes::NUMBER)) { start } else { start.next() };
    let end = letters.skip(Classes::LETTER);
    if end.at > letters.at {
        return end.at;
    }
    digits(start).or_else(|| signs(start, b"\r\n")).unwrap_or_else(|| blanks(start))
}

/// Finds the end of `[HEAD]*[TAIL]+`.
fn word_with_tail(start: Cursor<'_>) -> Option<Cursor<'_>> {
    let mut cursor = start;
    let mut last_tail = None;
    while cursor.classes().any(HEAD) {
        let tail = cursor.classes().any(TAIL);
        cursor = cursor.next();
        last_tail = if tail { Some(cursor) } else { last_tail };
    }
    let end = cursor.skip(TAIL);
    if end.at > cursor.at { Some(end) } else { last_tail }
}

/// Finds the end of `[HEAD]+`, after which there is no tail when this is asked.
fn word_of_heads(start: Cursor<'_>) -> Option<Cursor<'_>> {
    let end = start.skip(HEAD);
    (end.at > start.at).then_some(end)
}

/// Finds the end of `'s|'t|'re|'ve|'m|'ll|'d` in either case.
fn contraction(start: Cursor<'_>) -> Option<Cursor<'_>> {
    let rest = &start.text.as_bytes()[start.at..];
    let length = match rest {
        [b'\'', b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [b'\'', b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'\'', b'l' | b'L', b'l' | b'L', ..] => 3,
        _ if rest.starts_with("'ſ".as_bytes()) => "'ſ".len(),
        _ => return None,
    };
    Some(Cursor { at: start.at + length, ..start })
}

/// Finds the end of `\p{N}{1,3}`.
fn digits(start: Cursor<'_>) -> Option<usize> {
    let mut cursor = start;
    for _ in 0..3 {
        if cursor.classes().any(Classes::NUMBER) {
            cursor = cursor.next();
        }
    }
    (cursor.at > start.at).then_some(cursor.at)
}

/// Finds the end of ` ?[^\s\p{L}\p{N}]+` and of the bytes that may end it.
fn signs(start: Cursor<'_>, closing: &[u8]) -> Option<usize> {
    let bytes = start.text.as_bytes();
    let first = if bytes[start.at] == b' ' { start.next() } else { start };
    let mut end = first;
    while end.at < bytes.len() && !end.classes().any(Classes::SPACE.or(Classes::LETTER).or(Classes::NUMBER)) {
        end = end.next();
    }
    let closing = bytes[end.at..].iter().take_while(|byte| closing.contains(byte)).count();
    (end.at > first.at).then_some(end.at + closing)
}

/// Finds the end of white space.
fn blanks(start: Cursor<'_>) -> usize {
    let (mut cursor, mut last, mut line_end) = (start, start, None);
    while cursor.classes().any(Classes::SPACE) {
        let newline = cursor.classes().any(Classes::NEWLINE);
        last = cursor;
        cursor = cursor.next();
        line_end = if newline { Some(cursor.at) } else { line_end };
    }
    let goes_with_what_follows = cursor.at < start.text.len() && last.at > start.at;
    line_end.unwrap_or(if goes_with_what_follows { last.at } else { cursor.at })
}

/// A place in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    /// Returns the classes of the character here; the end has none.
    #[inline]
    fn classes(self) -> Classes {
        self.look().0
    }

    /// Returns the place after the character here.
    #[inline]
    fn next(self) -> Self {
        Self { at: self.at + self.look().1, ..self }
    }

    /// Returns the place after all characters of some classes.
    #[inline]
    fn skip(mut self, classes: Classes) -> Self {
        loop {
            let (here, length) = self.look();
            if !here.any(classes) {
                return self;
            }
            self.at += length;
        }
    }

    #[inline]
    fn look(self) -> (Classes, usize) {
        match self.text.as_bytes().get(self.at) {
            None => (Classes::NONE, 0),
            Some(byte) if byte.is_ascii() => (Classes::of_ascii(*byte), 1),
            Some(_) => {
                let character = self.text[self.at..].chars().next();
                character.map_or((Classes::NONE, 0), |character| (Classes::of(character), character.len_utf8()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> [Vec<&str>; 2] {
        [Split::new(text, o200k).collect(), Split::new(text, cl100k).collect()]
    }

    #[test]
    fn a_blank_goes_with_the_word_that_follows() {
        let expected = vec!["a", "  ", " b", " !", " \n\n", "  ", "\tc", " ", "123", "4"];
        assert_eq!(pieces("a   b ! \n\n  \tc 1234"), [expected.clone(), expected]);
    }

    #[test]
    fn words_are_split_before_upper_case_by_one_of_them() {
        assert_eq!(pieces("HTTPServer'S it's"), [vec!["HTTPServer'S", " it's"], vec!["HTTPServer", "'S", " it", "'s"]]);
        assert_eq!(pieces("fooBar日A"), [vec!["foo", "Bar日", "A"], vec!["fooBar日A"]]);
    }

    #[test]
    fn line_ends_and_slashes_end_signs() {
        assert_eq!(pieces("://\n/x"), [vec!["://\n/", "x"], vec!["://\n", "/x"]]);
    }
}
