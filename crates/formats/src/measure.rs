//! How much a part or a joined conversation holds.

use crate::scan;

/// What was counted in the bytes that went by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Objects or elements; absent where the rule knows none.
    pub messages: Option<u64>,
    /// Bytes.
    pub bytes: u64,
    /// UTF-16 code units, as limits and estimates count characters; in CBOR the same as `bytes`.
    pub chars: u64,
}

/// Counts the lines that are not blank, without looking at what they hold.
#[derive(Debug, Default)]
pub(crate) struct LineCount {
    count: u64,
    /// Whether the line that the bytes so far end in is already counted.
    counted: bool,
}

impl LineCount {
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = scan::newline(rest) {
            self.line(&rest[..end]);
            self.counted = false;
            rest = &rest[end + 1..];
        }
        self.line(rest);
    }

    fn line(&mut self, piece: &[u8]) {
        if !self.counted && scan::space(piece) < piece.len() {
            self.counted = true;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_do_not_count_however_the_bytes_are_cut() {
        let bytes = b"\n {a}\r\n\r\n \t\n{b}\nxy";
        for cut in 0..bytes.len() {
            let mut lines = LineCount::default();
            lines.push(&bytes[..cut]);
            lines.push(&bytes[cut..]);
            assert_eq!(lines.count(), 3, "cut at {cut}");
        }
    }
}
