//! Letters and digits that are written as `\u0041`, which nobody does who hides nothing.

use crate::{
    Alphabet,
    escape::{self, UnitText},
    found::Found,
};

/// How far around such an escape secrets are looked for.
const REACH: usize = 8 << 10;

/// A stretch of the content without escapes, and where each of its bytes comes from.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) text: Vec<u8>,
    /// For each byte of the text the place of its unit, and at the end the end of the last.
    places: Vec<usize>,
}

impl Decoded {
    /// Returns where a finding in the text is in the content, if it is whole.
    pub(crate) fn place(&self, found: Found) -> Found {
        Found { start: self.places[found.start], end: self.places[found.end], ..found }
    }
}

/// Tells whether an escape at a place hides a character that needs no escape.
pub(crate) fn hides(bytes: &[u8], at: usize) -> bool {
    let hidden = escape::hex_value(bytes, at + 2).and_then(|value| u8::try_from(value).ok());
    hidden.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'=' | b'/'))
}

/// Decodes the neighbourhoods of these places, which are in order. Those that touch are one.
pub(crate) fn decode<'b>(bytes: &'b [u8], places: &'b [usize]) -> impl Iterator<Item = Decoded> + 'b {
    let mut next = 0;
    std::iter::from_fn(move || {
        let first = *places.get(next)?;
        let mut last = first;
        while next < places.len() && places[next] - last <= REACH {
            last = places[next];
            next += 1;
        }
        Some(decode_stretch(bytes, begin(bytes, first), bytes.len().min(last + REACH)))
    })
}

/// Steps back to a place that is in no escape sequence: behind a space, or before the word and the backslashes before it.
fn begin(bytes: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(REACH);
    let before = &bytes[from..at];
    if let Some(space) = before.iter().position(|&byte| matches!(byte, b' ' | b'\n' | b',')) {
        return from + space + 1;
    }
    let word = before.iter().rev().position(|&byte| !Alphabet::DOTTED.has(byte) && byte != b'\\');
    at - word.unwrap_or(before.len())
}

fn decode_stretch(bytes: &[u8], from: usize, to: usize) -> Decoded {
    let mut decoded = Decoded { text: Vec::new(), places: Vec::new() };
    let mut at = from;
    while at < to
        && let Some(unit) = escape::unit(bytes, at)
    {
        // The quote that ends a string must stay told from one in it.
        match unit.text {
            UnitText::Escaped('"') => decoded.text.push(b'\''),
            text => escape::push(&mut decoded.text, text),
        }
        decoded.places.resize(decoded.text.len(), at);
        at = unit.end;
    }
    decoded.places.push(at);
    decoded
}
