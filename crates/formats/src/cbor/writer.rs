//! Writing CBOR items, each with the shortest head that it can have.

use super::{Major, head};

/// CBOR that is being written, item after item.
#[derive(Debug, Default)]
pub(crate) struct CborWriter {
    bytes: Vec<u8>,
}

impl CborWriter {
    /// Begins an array; that many items follow.
    pub(crate) fn array(&mut self, items: usize) {
        self.head(Major::Array, items);
    }

    /// Begins a map; twice that many items follow, keys and values in turn.
    pub(crate) fn map(&mut self, fields: usize) {
        self.head(Major::Map, fields);
    }

    /// Writes a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.head(Major::Text, text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes a string of bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.head(Major::Bytes, bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes yes or no.
    pub(crate) fn bool(&mut self, is_so: bool) {
        self.bytes.push(0xF4 | u8::from(is_so));
    }

    /// Returns what was written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn head(&mut self, major: Major, argument: usize) {
        self.bytes.extend_from_slice(&head(major, argument as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_written_as_the_standard_shows_them() {
        let mut writer = CborWriter::default();
        writer.array(4);
        writer.map(1);
        writer.text("a");
        writer.bool(false);
        writer.bool(true);
        writer.bytes(&[1, 2]);
        writer.text("");
        assert_eq!(writer.into_bytes(), [0x84, 0xA1, 0x61, b'a', 0xF4, 0xF5, 0x42, 1, 2, 0x60]);
    }
}
