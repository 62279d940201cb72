//! The beginning and the end of a text that may be too long.

use std::{collections::VecDeque, fmt::Write as _, str};

/// Takes bytes as they come and keeps what is needed to show them: nothing when they are no text, and of a long text its
/// beginning, which says what it is, and its end, which says how it went.
#[derive(Debug)]
pub(crate) struct Excerpt {
    max_head: usize,
    max_tail: usize,
    head: String,
    head_chars: usize,
    tail: VecDeque<char>,
    left_out: u64,
    /// The bytes of a character that is not whole yet.
    open: Vec<u8>,
    is_text: bool,
}

impl Excerpt {
    pub(crate) fn new(max_chars: usize) -> Self {
        let max_tail = max_chars / 4;
        Self {
            max_head: max_chars - max_tail,
            max_tail,
            head: String::new(),
            head_chars: 0,
            tail: VecDeque::new(),
            left_out: 0,
            open: Vec::new(),
            is_text: true,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.is_text {
            return;
        }
        let joined;
        let mut rest = bytes;
        if !self.open.is_empty() {
            joined = [&std::mem::take(&mut self.open), bytes].concat();
            rest = &joined;
        }
        let whole = match str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => {
                let (text, open) = rest.split_at(error.valid_up_to());
                self.is_text = error.error_len().is_none();
                self.open.extend_from_slice(open);
                str::from_utf8(text).unwrap_or_default()
            }
        };
        self.push_text(whole);
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        // No text holds a NUL, and many other things do.
        self.is_text &= !text.contains('\0');
        for char in text.chars() {
            if self.head_chars < self.max_head {
                self.head.push(char);
                self.head_chars += 1;
                continue;
            }
            self.tail.push_back(char);
            if self.tail.len() > self.max_tail {
                self.tail.pop_front();
                self.left_out += 1;
            }
        }
    }

    /// Returns the text and how many characters of it were left out; nothing when it is no text.
    pub(crate) fn finish(self) -> Option<(String, u64)> {
        if !self.is_text || !self.open.is_empty() {
            return None;
        }
        let mut text = self.head;
        if self.left_out > 0 {
            // Writing to a String cannot fail.
            let _written = write!(text, "\n[... {} characters left out ...]\n", self.left_out);
        }
        text.extend(self.tail);
        Some((text, self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(max_chars: usize, pieces: &[&[u8]]) -> Option<(String, u64)> {
        let mut excerpt = Excerpt::new(max_chars);
        for piece in pieces {
            excerpt.push(piece);
        }
        excerpt.finish()
    }

    #[test]
    fn a_text_is_kept_however_it_is_cut() {
        let text = "grüße 😀";
        for cut in 0..=text.len() {
            let (left, right) = text.as_bytes().split_at(cut);
            assert_eq!(excerpt(100, &[left, right]), Some((text.to_owned(), 0)), "cut at {cut}");
        }
        assert_eq!(excerpt(8, &["abcdefgh".as_bytes()]), Some(("abcdefgh".to_owned(), 0)));
    }

    #[test]
    fn a_long_text_loses_its_middle() {
        let expected = "abcdef\n[... 3 characters left out ...]\njk".to_owned();
        assert_eq!(excerpt(8, &[b"abcdefghijk"]), Some((expected.clone(), 3)));
        assert_eq!(excerpt(8, &[b"abcd", b"efghi", b"jk"]), Some((expected, 3)));
    }

    #[test]
    fn what_is_no_text_has_no_excerpt() {
        for bytes in [b"a\xffb".as_slice(), b"a\0b", b"a\xc3"] {
            assert_eq!(excerpt(8, &[bytes]), None);
        }
    }
}
