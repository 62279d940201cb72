//! Words: how a text is cut so that every engine finds the same.
//!
//! A word is a run of letters and digits; everything else parts words. So `src/main.rs` is three words that follow each
//! other, found by each of them and, as a phrase, by the whole. Scripts that do not part words make a word of each
//! letter, for the same reason.

use std::{collections::HashMap, ops::Range};

use crate::{Store, sql::Dialect};

/// Longest word that is told from another that starts the same, in characters.
const MAX_WORD_CHARS: usize = 64;
/// A run of the letters of base64 that is as long as this is no text.
const MIN_BLOB_BYTES: usize = 256;
/// Most words of a passage.
const MAX_PASSAGE_WORDS: usize = 8192;
/// Most bytes of the words of a passage. PostgreSQL takes less than a mebibyte for all words of a row.
const MAX_PASSAGE_BYTES: usize = 256 * 1024;
/// Most places of one word in a passage. PostgreSQL forgets further ones, and phrases with them.
const MAX_PLACES: usize = 255;

/// The words of a text, as ranges of its bytes.
#[derive(Debug, Clone)]
pub struct Words<'t> {
    text: &'t str,
    at: usize,
    /// Up to here no blob begins.
    plain_until: usize,
}

impl<'t> Words<'t> {
    /// Cuts a text.
    pub fn of(text: &'t str) -> Self {
        Self { text, at: 0, plain_until: 0 }
    }

    /// Steps over a blob that begins here.
    fn skip_blob(&mut self) -> bool {
        if self.at < self.plain_until {
            return false;
        }
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
        let rest = &self.text.as_bytes()[self.at..];
        let run = rest.iter().take_while(|byte| is_base64(byte)).count();
        let letters = || rest[..run].iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        // A line that is drawn with dashes is no blob.
        if run >= MIN_BLOB_BYTES && letters() > run / 4 * 3 {
            self.at += run;
            return true;
        }
        self.plain_until = self.at + run;
        false
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.find(char::is_alphanumeric)?;
            if self.skip_blob() {
                continue;
            }
            let start = self.at;
            let mut letters = self.text[start..].char_indices();
            let (_, first) = letters.next()?;
            let end = if stands_alone(first) {
                first.len_utf8()
            } else {
                let ends = |letter: char| !letter.is_alphanumeric() || stands_alone(letter);
                letters.find(|(_, letter)| ends(*letter)).map_or(self.text.len() - start, |(end, _)| end)
            };
            self.at = start + end;
            return Some(start..self.at);
        }
    }
}

/// Tells whether a letter is of a script that does not part words: Han, Kana, Thai, Lao, Khmer, Burmese.
fn stands_alone(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Writes a word as it is compared: in lower case and not longer than words are told apart.
pub(super) fn fold(word: &str, out: &mut String) {
    if word.is_ascii() {
        let kept = &word[..word.len().min(MAX_WORD_CHARS)];
        out.extend(kept.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        out.extend(word.chars().take(MAX_WORD_CHARS).flat_map(char::to_lowercase));
    }
}

/// A stretch of a text that is searched as one, with its words as an engine takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Which bytes of the text it is.
    pub range: Range<usize>,
    pub(crate) words: String,
}

/// Cuts a text into passages. Nearly every text is one; one without words is none.
pub fn passages(store: &Store, text: &str) -> Vec<Passage> {
    cut(store.dialect(), text)
}

fn cut(dialect: Dialect, text: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut open = Open::default();
    let mut word = String::new();
    for range in Words::of(text) {
        word.clear();
        fold(&text[range.clone()], &mut word);
        if !open.has_room_for(&word) {
            let next = Open { start: range.start, ..Open::default() };
            passages.push(std::mem::replace(&mut open, next).close(dialect, range.start));
        }
        open.add(&word);
    }
    if open.words > 0 {
        passages.push(open.close(dialect, text.len()));
    }
    passages
}

/// A passage that is being filled.
#[derive(Default)]
struct Open {
    start: usize,
    folded: String,
    words: usize,
    /// Where each word occurs, counted in words from 1.
    places: HashMap<Box<str>, Vec<u16>>,
}

impl Open {
    fn has_room_for(&self, word: &str) -> bool {
        self.words < MAX_PASSAGE_WORDS
            && self.folded.len() + word.len() < MAX_PASSAGE_BYTES
            && self.places.get(word).is_none_or(|places| places.len() < MAX_PLACES)
    }

    fn add(&mut self, word: &str) {
        if self.words > 0 {
            self.folded.push(' ');
        }
        self.folded.push_str(word);
        self.words += 1;
        let place = u16::try_from(self.words).expect("a passage has fewer words than that");
        match self.places.get_mut(word) {
            Some(places) => places.push(place),
            None => drop(self.places.insert(word.into(), vec![place])),
        }
    }

    fn close(self, dialect: Dialect, end: usize) -> Passage {
        let words = match dialect {
            Dialect::Sqlite => self.folded,
            Dialect::Postgres => vector(&self.places),
        };
        Passage { range: self.start..end, words }
    }
}

/// Writes words and their places as a `tsvector`. Words hold nothing that would have to be escaped.
fn vector(places: &HashMap<Box<str>, Vec<u16>>) -> String {
    let mut vector = String::new();
    for (word, places) in places {
        vector.push('\'');
        vector.push_str(word);
        vector.push('\'');
        let mut before = ':';
        for place in places {
            vector.push(before);
            vector.push_str(&place.to_string());
            before = ',';
        }
        vector.push(' ');
    }
    vector
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let folded = |range: Range<usize>| {
            let mut word = String::new();
            fold(&text[range], &mut word);
            word
        };
        Words::of(text).map(folded).collect()
    }

    #[test]
    fn names_are_cut_into_their_parts() {
        assert_eq!(words("foo_bar src/main.rs, E0502!"), ["foo", "bar", "src", "main", "rs", "e0502"]);
        assert_eq!(words("Größe ÉTÉ don't"), ["größe", "été", "don", "t"]);
        assert_eq!(words("東京tower です"), ["東", "京", "tower", "で", "す"]);
        assert_eq!(words(" \u{1b}[31m-- "), ["31m"]);
    }

    #[test]
    fn blobs_are_no_words_and_long_words_are_cut() {
        let blob = "iVBORw0KGgo+/a".repeat(20);
        assert_eq!(words(&format!("see {blob}== there")), ["see", "there"]);
        assert_eq!(words(&"x".repeat(200)), ["x".repeat(MAX_WORD_CHARS)]);
        assert_eq!(words(&format!("title{}", "-".repeat(300))), ["title"]);
        let digest = "0123456789abcdef".repeat(4);
        assert_eq!(words(&digest), [digest]);
    }

    #[test]
    fn a_word_that_comes_too_often_begins_another_passage() {
        let text = "a b ".repeat(300);
        let ranges: Vec<_> = cut(Dialect::Postgres, &text).into_iter().map(|passage| passage.range).collect();
        assert_eq!(ranges, [0..255 * 4, 255 * 4..300 * 4]);
        assert_eq!(cut(Dialect::Postgres, "A b")[0].words.len(), "'a':1 'b':2 ".len());
        assert_eq!(cut(Dialect::Sqlite, "A-b")[0].words, "a b");
        assert_eq!(cut(Dialect::Sqlite, " -- "), []);
    }

    proptest! {
        #[test]
        fn passages_hold_every_word_once_and_in_order(text in "([a-c]{1,2}[ -]|é|\\PC){0,2000}") {
            let passages = cut(Dialect::Sqlite, &text);
            let joined: Vec<_> = passages.iter().flat_map(|passage| passage.words.split(' ')).collect();
            prop_assert_eq!(joined, words(&text));
            for passage in passages {
                prop_assert_eq!(words(&text[passage.range]), passage.words.split(' ').collect::<Vec<_>>());
            }
        }
    }
}
