//! Text in UTF-16, as some editors and shells write it, read as UTF-8.

use std::io::{self, BufRead, Read};

/// In which order the two bytes of a unit come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// Tells by the first bytes of a file whether it is UTF-16: by its mark, or by how JSON begins.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xFF, 0xFE, ..] | [b'{' | b'[', 0, _, 0, ..] => Some(Self::Little),
            [0xFE, 0xFF, ..] | [0, b'{' | b'[', 0, _, ..] => Some(Self::Big),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// Reads UTF-16 as UTF-8, without the mark at its beginning. What is no letter becomes the letter that says so.
pub(super) struct Utf16Text<R> {
    input: R,
    order: ByteOrder,
    is_begun: bool,
    /// The first half of a letter whose second half comes next.
    high: Option<u16>,
    /// Letters that nobody has taken yet.
    ready: Vec<u8>,
    taken: usize,
}

/// Units that are read at once.
const UNITS: usize = 32 * 1024;

impl<R: BufRead> Utf16Text<R> {
    pub(super) fn new(input: R, order: ByteOrder) -> Self {
        Self { input, order, is_begun: false, high: None, ready: Vec::new(), taken: 0 }
    }

    /// Makes the next letters ready. None are at the end.
    fn fill(&mut self) -> io::Result<()> {
        (self.ready, self.taken) = (Vec::new(), 0);
        while self.ready.is_empty() {
            let mut bytes = Vec::new();
            self.input.by_ref().take(2 * UNITS as u64).read_to_end(&mut bytes)?;
            let units = bytes.chunks(2).map(|pair| match pair {
                [first, second] => self.order.unit([*first, *second]),
                // Half a unit at the end is no letter.
                _ => 0xFFFD,
            });
            let mut units: Vec<u16> = self.high.take().into_iter().chain(units).collect();
            if units.is_empty() {
                return Ok(());
            }
            if !std::mem::replace(&mut self.is_begun, true) && units[0] == 0xFEFF {
                units.remove(0);
            }
            // A letter of two units may be cut here, unless this is the end.
            if bytes.len() == 2 * UNITS && units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
                self.high = units.pop();
            }
            for letter in char::decode_utf16(units) {
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                self.ready.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Utf16Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.fill()?;
        }
        let count = (&self.ready[self.taken..]).read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        let order = ByteOrder::of(bytes).unwrap();
        let mut text = String::new();
        Utf16Text::new(bytes, order).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn both_orders_are_read_with_and_without_a_mark() {
        let text = "{\"a\":\"é 漢 🦀\"}\n";
        let units = || text.encode_utf16();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        assert_eq!((read(&little).as_str(), read(&big).as_str()), (text, text));
        assert_eq!(read(&[&[0xFF, 0xFE], &little[..]].concat()), text);
        assert_eq!(read(&[&[0xFE, 0xFF], &big[..]].concat()), text);
        assert_eq!(ByteOrder::of(b"{\"a\":1}"), None);
    }

    #[test]
    fn letters_survive_where_the_text_is_cut_and_halves_are_no_letters() {
        let text = format!("{}{}", "[".repeat(UNITS - 1), "🦀".repeat(UNITS));
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(read(&bytes) == text);
        assert_eq!(read(&[0xFF, 0xFE, b'a', 0, 0, 0xD8, b'b']), "a\u{fffd}\u{fffd}");
        assert_eq!(read(&[0xFF, 0xFE]), "");
    }
}
