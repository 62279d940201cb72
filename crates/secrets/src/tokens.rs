//! Secrets that say themselves what they are, found by their prefixes.
//!
//! Nearly every token is a long run of letters, digits, `_`, `-` and `.`, and text has few such runs. So runs are looked
//! for by jumping, and only where one begins, or a word in it, prefixes are compared.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    Alphabet,
    checksum::ends_with_crc32,
    escape,
    family::{Part, Shape, ShapeCheck},
    found::{Found, Strength},
    likely::{Claim, looks_random},
    special,
};

/// Length of the shortest run that can be a token.
pub(crate) const SHORTEST_RUN: usize = 16;

/// Most bytes before a word that may be an escape or a colour.
const MOST_BEFORE: usize = 8;

/// Letters without a digit among them that are too many to be a name by chance.
const FEWEST_LETTERS: usize = 24;

/// Which bytes are of a run.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = Alphabet::DOTTED.has(byte);
        byte += 1;
    }
    table
};

/// Every shape with a prefix, in buckets by what it starts with.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// One bit for every hash of three bytes that some prefix starts with.
    starts: Box<[u64; 128]>,
    /// Shapes by their first byte, the longest prefix first.
    shapes: Vec<TokenShape>,
    /// Where the shapes of a first byte are.
    buckets: Box<[(u16, u16); 256]>,
    /// The rule of the first that is recognised one by one.
    marked: usize,
}

/// A shape and the rule that it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct TokenShape {
    pub(crate) prefix: Box<[u8]>,
    pub(crate) parts: Box<[Part]>,
    pub(crate) check: ShapeCheck,
    pub(crate) rule: usize,
}

impl TokenShape {
    pub(crate) fn new(shape: &Shape, rule: usize) -> Self {
        Self { prefix: shape.prefix.as_bytes().into(), parts: shape.parts.into(), check: shape.check, rule }
    }
}

impl TokenShape {
    pub(crate) fn of_user(prefix: &str, alphabet: Alphabet, (least, most): (usize, usize), rule: usize) -> Self {
        let parts = [Part::Of(alphabet, least, most)].into();
        Self { prefix: prefix.as_bytes().into(), parts, check: ShapeCheck::Shape, rule }
    }
}

/// Tells whether a word begins at a place.
pub(crate) fn begins(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[at.saturating_sub(MOST_BEFORE)..at];
    let start = at - before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    start == at || escape::after_escape(bytes, start) == at || after_decoration(bytes, start, bytes.len()) == Some(at)
}

impl Tokens {
    pub(crate) fn new(mut shapes: Vec<TokenShape>, marked: usize) -> Self {
        shapes.sort_by_key(|shape| (shape.prefix[0], std::cmp::Reverse(shape.prefix.len())));
        let mut starts = Box::new([0; 128]);
        let mut buckets = Box::new([(0, 0); 256]);
        for (index, shape) in (0..).zip(&shapes) {
            let bit = start_bit(&shape.prefix);
            starts[bit / 64] |= 1 << (bit % 64);
            let bucket: &mut (u16, u16) = &mut buckets[usize::from(shape.prefix[0])];
            if bucket.1 == 0 {
                bucket.0 = index;
            }
            bucket.1 = index + 1;
        }
        Self { starts, shapes, buckets, marked }
    }

    /// Reports every token.
    pub(crate) fn find(&self, bytes: &[u8], found: &mut Vec<Found>) {
        let mut at = 0;
        while let Some(start) = next_run(bytes, at) {
            let mut end = start + SHORTEST_RUN;
            while end < bytes.len() && IN_RUN[usize::from(bytes[end])] {
                end += 1;
            }
            self.find_in_run(bytes, start, end, found);
            at = end + 1;
        }
    }

    fn find_in_run(&self, bytes: &[u8], start: usize, end: usize, found: &mut Vec<Found>) {
        let first = escape::after_escape(bytes, start).min(end);
        self.find_at(bytes, first, Place::Start, found);
        if end - first >= SHORTEST_RUN {
            special::find(bytes, first, end, self.marked, found);
        }
        if let Some(word) = after_decoration(bytes, start, end) {
            self.find_at(bytes, word, Place::Start, found);
        }
        for at in first..end.saturating_sub(SHORTEST_RUN - 4) {
            match bytes[at] {
                b'.' | b'-' | b'_' => self.find_at(bytes, at + 1, Place::Within, found),
                b'x' => self.find_at(bytes, at + 2, Place::CborText, found),
                _ => {}
            }
        }
    }

    /// Reports the token that a search found by its start.
    pub(crate) fn find_word(&self, bytes: &[u8], at: usize, found: &mut Vec<Found>) {
        if begins(bytes, at) {
            self.find_at(bytes, at, Place::Start, found);
        }
    }

    /// Reports the token that begins at a place, if one does.
    fn find_at(&self, bytes: &[u8], at: usize, place: Place, found: &mut Vec<Found>) {
        let Some(head) = bytes.get(at..at + 3) else { return };
        let bit = start_bit(head);
        if self.starts[bit / 64] & (1 << (bit % 64)) == 0 {
            return;
        }
        let (from, to) = self.buckets[usize::from(head[0])];
        for shape in &self.shapes[usize::from(from)..usize::from(to)] {
            if bytes[at..].starts_with(&shape.prefix)
                && (place != Place::Within || shape.prefix.len() >= 4)
                && let Some(end) =
                    if place == Place::CborText { shape.cbor_end(bytes, at) } else { shape.end(bytes, at) }
            {
                found.push(Found { start: at, end, rule: shape.rule, strength: Strength::Itself });
                return;
            }
        }
    }
}

/// Where in a run a word begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Within,
    /// Behind what may be the head of a text in CBOR.
    CborText,
}

impl TokenShape {
    /// Returns where the token ends that begins here, whose prefix has been seen.
    pub(crate) fn end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        self.cbor_end(bytes, start).or_else(|| self.end_in(bytes, start))
    }

    /// Returns where the token ends that is a text in CBOR. What follows may look like more of it, so its head is believed.
    fn cbor_end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        cbor_text_end(bytes, start).filter(|&end| self.end_in(&bytes[..end], start) == Some(end))
    }

    fn end_in(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let body = start + self.prefix.len();
        let mut end = body;
        let mut last = Alphabet::ALNUM;
        for part in &self.parts {
            match *part {
                Part::Of(alphabet, least, most) => {
                    let reach = alphabet.reach(&bytes[end..], most);
                    if reach < least {
                        return None;
                    }
                    end += reach;
                    last = alphabet;
                }
                Part::Text(text) => {
                    if !bytes[end..].starts_with(text.as_bytes()) {
                        return None;
                    }
                    end += text.len();
                }
            }
        }
        if bytes.get(end).is_some_and(|&next| last.has(next) || next == b'_' || next.is_ascii_alphanumeric()) {
            return None;
        }
        // A full stop ends the sentence, not the token.
        let full_stops = bytes[body..end].iter().rev().take_while(|&&byte| byte == b'.').count();
        end -= full_stops;
        self.check(&bytes[body..end]).then_some(end)
    }

    fn check(&self, body: &[u8]) -> bool {
        match self.check {
            ShapeCheck::Shape => true,
            ShapeCheck::Mixed => is_mixed(body),
            // One digit may have been lost, and issuers change how they count.
            ShapeCheck::Crc32 => ends_with_crc32(body) || is_mixed(body),
            ShapeCheck::JsonWebToken => is_token_header(&[b"eyJ", body].concat()),
        }
    }
}

/// Tells whether a text has letters and digits and is not one that repeats itself, as examples do.
fn is_mixed(body: &[u8]) -> bool {
    if ["EXAMPLE", "example", "XXXX", "xxxx"].iter().any(|word| memchr::memmem::find(body, word.as_bytes()).is_some()) {
        return false;
    }
    let mut seen = [false; 128];
    for &byte in body {
        seen[usize::from(byte & 0x7f)] = true;
    }
    let distinct = seen.iter().filter(|&&seen| seen).count();
    (body.iter().any(u8::is_ascii_digit) || is_of_random_letters(body))
        && body.iter().any(u8::is_ascii_alphabetic)
        && distinct >= (body.len() / 4).clamp(5, 9)
}

/// Tells whether a text without a digit is long and of no words.
fn is_of_random_letters(body: &[u8]) -> bool {
    let text = std::str::from_utf8(body).unwrap_or_default();
    text.len() >= FEWEST_LETTERS && looks_random(text, Claim::Token)
}

/// Tells whether the first part of a text is base64 of a JSON object that names an algorithm.
fn is_token_header(token: &[u8]) -> bool {
    let header = token.split(|&byte| byte == b'.').next().unwrap_or_default();
    let Ok(header) = URL_SAFE_NO_PAD.decode(header) else { return false };
    header.starts_with(b"{\"") && memchr::memmem::find(&header, b"\"alg\"").is_some()
}

/// Returns where the next run begins that is long enough.
#[inline]
fn next_run(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(window) = bytes.get(at..at + SHORTEST_RUN) {
        match window.iter().rposition(|&byte| !IN_RUN[usize::from(byte)]) {
            Some(last) => at += last + 1,
            None => return Some(at),
        }
    }
    None
}

/// Returns where a word begins behind what is no part of it: `%3D`, the end of a colour.
fn after_decoration(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let run = &bytes[start..end];
    if run.len() < 4 {
        return None;
    }
    match start.checked_sub(1).map(|before| bytes[before]) {
        Some(b'%') if run[..2].iter().all(u8::is_ascii_hexdigit) => Some(start + 2),
        Some(b'[' | b';') => {
            let digits = run.iter().position(|byte| !byte.is_ascii_digit()).filter(|&digits| digits > 0)?;
            (run[digits] == b'm').then_some(start + digits + 1)
        }
        _ => None,
    }
}

/// Returns where a text of CBOR ends whose head of one byte of length is before a place, if there is one.
fn cbor_text_end(bytes: &[u8], start: usize) -> Option<usize> {
    let head = &bytes[start.checked_sub(2)?..start];
    let end = start + usize::from(head[1]);
    (head[0] == 0x78 && end <= bytes.len()).then_some(end)
}

#[inline]
fn start_bit(head: &[u8]) -> usize {
    let word = u32::from(head[0]) | u32::from(head[1]) << 8 | u32::from(head[2]) << 16;
    (word.wrapping_mul(0x9e37_79b1) >> 19) as usize
}
