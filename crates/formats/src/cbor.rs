//! One CBOR array (RFC 8949), checked byte by byte as it arrives.

pub(crate) mod value;
pub(crate) mod writer;

use std::ops::Range;

use crate::{
    MAX_DEPTH,
    error::{ContentPosition, FormatError},
    glue::Glue,
};

/// Follows content that is exactly one well-formed CBOR array.
///
/// Well formed is less than valid: whether text strings are UTF-8, keys of a map differ and tags fit their content is
/// not looked at.
#[derive(Debug)]
pub(crate) struct CborArray {
    state: State,
    /// The items that hold others and are open, the array itself first; never more than [`MAX_DEPTH`].
    open: Vec<OpenContainer>,
    elements: u64,
    offset: u64,
}

/// The eight kinds of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Major {
    Unsigned = 0,
    Negative = 1,
    Bytes = 2,
    Text = 3,
    Array = 4,
    Map = 5,
    Tag = 6,
    Simple = 7,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The array's first byte comes next.
    Before,
    /// An item's first byte comes next, or a break.
    Item,
    /// That many bytes of an item's argument come next.
    Argument { major: Major, left: u8, value: u64, head_at: u64 },
    /// That many bytes of a string come next.
    Payload { left: u64 },
    /// The array is complete.
    After,
}

/// An item that holds others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenContainer {
    /// An array, a map or a tag that still lacks that many items; twice a `u64` does not fit in one.
    Counted { left: u128 },
    /// An array that a break ends.
    Array,
    /// A map that a break ends.
    Map { lacks_value: bool },
    /// A string in pieces, which a break ends.
    Chunks(Major),
}

const BREAK: u8 = 0xFF;

impl CborArray {
    pub(crate) const fn new() -> Self {
        Self { state: State::Before, open: Vec::new(), elements: 0, offset: 0 }
    }

    /// Takes a slice and returns its share of the elements: what comes after the array's head and before its break.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Range<usize>, FormatError> {
        self.push_elements(bytes, |_| {})
    }

    /// Does the same, and calls `ended` with the slice's share of each element that ends in it.
    pub(crate) fn push_elements(
        &mut self,
        bytes: &[u8],
        mut ended: impl FnMut(Range<usize>),
    ) -> Result<Range<usize>, FormatError> {
        let start = self.offset;
        self.offset += bytes.len() as u64;
        let mut elements = if self.has_begun() { 0..bytes.len() } else { bytes.len()..bytes.len() };
        let mut at = 0;
        let mut element_at = 0;
        while let Some(&byte) = bytes.get(at) {
            let offset = start + at as u64;
            let had_begun = self.has_begun();
            let elements_before = self.elements;
            let mut taken = 1;
            match self.state {
                State::Payload { left } => {
                    taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    self.expect_payload(left - taken as u64);
                }
                State::Item if byte == BREAK => {
                    let ends_array = self.open.len() == 1;
                    self.end_open(offset)?;
                    if ends_array {
                        elements.end = at;
                    }
                }
                State::Before | State::Item => self.first_byte(byte, offset)?,
                State::Argument { major, left, value, head_at } => {
                    let value = value << 8 | u64::from(byte);
                    if left > 1 {
                        self.state = State::Argument { major, left: left - 1, value, head_at };
                    } else if major == Major::Simple && offset == head_at + 1 && value < 32 {
                        return Err(not_cbor(head_at, "a simple value below 32 has to be in the first byte"));
                    } else {
                        self.begin(major, value, head_at)?;
                    }
                }
                State::After => {
                    return Err(FormatError::TrailingBytes {
                        place: ContentPosition::Byte { offset },
                        after: "the array",
                    });
                }
            }
            at += taken;
            if !had_begun && self.has_begun() {
                elements.start = at;
                element_at = at;
            }
            if self.elements > elements_before {
                ended(element_at..at);
                element_at = at;
            }
        }
        Ok(elements)
    }

    /// Returns how many elements the array has.
    pub(crate) fn finish(&self) -> Result<u64, FormatError> {
        let ended = match self.state {
            State::After => return Ok(self.elements),
            State::Before => "before the array",
            State::Item => "inside an array, a map, a tag or a string in pieces",
            State::Argument { .. } => "inside the head of an item",
            State::Payload { .. } => "inside a string",
        };
        Err(FormatError::Truncated { place: ContentPosition::Byte { offset: self.offset }, ended })
    }

    /// Says whether the array's own head is complete.
    fn has_begun(&self) -> bool {
        !self.open.is_empty() || self.state == State::After
    }

    fn first_byte(&mut self, byte: u8, head_at: u64) -> Result<(), FormatError> {
        let major = Major::of(byte);
        if self.state == State::Before && major != Major::Array {
            return Err(FormatError::NotAnArray { place: ContentPosition::Byte { offset: head_at } });
        }
        let detail = byte & 0x1F;
        if let Some(OpenContainer::Chunks(kind)) = self.open.last()
            && (major != *kind || detail == 31)
        {
            return Err(not_cbor(head_at, "a string in pieces holds only strings of its own kind and known length"));
        }
        match detail {
            0..=23 => self.begin(major, u64::from(detail), head_at),
            24..=27 => {
                self.state = State::Argument { major, left: 1 << (detail - 24), value: 0, head_at };
                Ok(())
            }
            31 => self.begin_open(major, head_at),
            _ => Err(not_cbor(head_at, "the low five bits of an item's first byte are reserved")),
        }
    }

    /// Begins an item whose head is complete.
    fn begin(&mut self, major: Major, argument: u64, head_at: u64) -> Result<(), FormatError> {
        match major {
            Major::Unsigned | Major::Negative | Major::Simple => self.end_item(),
            Major::Bytes | Major::Text => self.expect_payload(argument),
            Major::Array => self.enter_counted(u128::from(argument), head_at)?,
            Major::Map => self.enter_counted(2 * u128::from(argument), head_at)?,
            Major::Tag => self.enter_counted(1, head_at)?,
        }
        Ok(())
    }

    /// Begins an item that a break will end.
    fn begin_open(&mut self, major: Major, head_at: u64) -> Result<(), FormatError> {
        let open = match major {
            Major::Bytes | Major::Text => OpenContainer::Chunks(major),
            Major::Array => OpenContainer::Array,
            Major::Map => OpenContainer::Map { lacks_value: false },
            Major::Unsigned | Major::Negative | Major::Tag | Major::Simple => {
                return Err(not_cbor(head_at, "only strings, arrays and maps may have an open length"));
            }
        };
        self.enter(open, head_at)
    }

    fn enter_counted(&mut self, left: u128, head_at: u64) -> Result<(), FormatError> {
        self.enter(OpenContainer::Counted { left }, head_at)?;
        if left == 0 {
            self.open.pop();
            self.end_item();
        }
        Ok(())
    }

    fn enter(&mut self, open: OpenContainer, head_at: u64) -> Result<(), FormatError> {
        if self.open.len() == MAX_DEPTH {
            return Err(FormatError::TooDeep { place: ContentPosition::Byte { offset: head_at } });
        }
        self.open.push(open);
        self.state = State::Item;
        Ok(())
    }

    fn expect_payload(&mut self, left: u64) {
        if left == 0 {
            self.end_item();
        } else {
            self.state = State::Payload { left };
        }
    }

    /// Ends the innermost open item by a break.
    fn end_open(&mut self, break_at: u64) -> Result<(), FormatError> {
        match self.open.last() {
            Some(OpenContainer::Array | OpenContainer::Chunks(_) | OpenContainer::Map { lacks_value: false }) => {
                self.open.pop();
                self.end_item();
                Ok(())
            }
            Some(OpenContainer::Map { lacks_value: true }) => {
                Err(not_cbor(break_at, "a map ends between a key and its value"))
            }
            Some(OpenContainer::Counted { .. }) | None => Err(not_cbor(break_at, "a break where an item is missing")),
        }
    }

    /// Counts an item that is complete, and with it every item that it completes.
    fn end_item(&mut self) {
        self.state = State::Item;
        loop {
            self.elements += u64::from(self.open.len() == 1);
            match self.open.last_mut() {
                Some(OpenContainer::Counted { left: 1 }) => {
                    self.open.pop();
                }
                Some(OpenContainer::Counted { left }) => return *left -= 1,
                Some(OpenContainer::Map { lacks_value }) => return *lacks_value = !*lacks_value,
                Some(OpenContainer::Array | OpenContainer::Chunks(_)) => return,
                None => return self.state = State::After,
            }
        }
    }
}

impl Major {
    const fn of(first_byte: u8) -> Self {
        match first_byte >> 5 {
            0 => Self::Unsigned,
            1 => Self::Negative,
            2 => Self::Bytes,
            3 => Self::Text,
            4 => Self::Array,
            5 => Self::Map,
            6 => Self::Tag,
            _ => Self::Simple,
        }
    }
}

/// Counts the items that bytes begin with, those inside of others too, as far as it matters.
pub(crate) fn count_items(bytes: &[u8], most: usize) -> usize {
    let (mut items, mut at) = (0, 0_usize);
    while let Some(&first) = bytes.get(at).filter(|_| items <= most) {
        items += 1;
        at += 1;
        let width = match first & 0x1F {
            detail @ 24..=27 => 1 << (detail - 24),
            _ => 0,
        };
        let argument = bytes.get(at..at + width).unwrap_or_default();
        let argument = argument.iter().fold(0_usize, |value, byte| value << 8 | usize::from(*byte));
        let length = if width == 0 { usize::from(first & 0x1F) } else { argument };
        at += width;
        // One of open length comes in pieces, each with a head.
        if matches!(Major::of(first), Major::Bytes | Major::Text) && first & 0x1F != 31 {
            at = at.saturating_add(length);
        }
    }
    items
}

/// Returns the shortest head with this argument.
pub(crate) fn head(major: Major, argument: u64) -> Glue {
    let bytes = argument.to_be_bytes();
    let (detail, width) = match argument {
        // The lowest byte holds all of it.
        0..=23 => (bytes[7], 0),
        24..=0xFF => (24, 1),
        0x100..=0xFFFF => (25, 2),
        0x1_0000..=0xFFFF_FFFF => (26, 4),
        _ => (27, 8),
    };
    let mut head = [0; 9];
    head[0] = (major as u8) << 5 | detail;
    head[1..=width].copy_from_slice(&bytes[8 - width..]);
    Glue::new(&head[..=width])
}

const fn not_cbor(offset: u64, reason: &'static str) -> FormatError {
    FormatError::NotCbor { place: ContentPosition::Byte { offset }, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_the_shortest_that_hold_the_argument() {
        let head = |argument| head(Major::Array, argument).to_vec();
        assert_eq!(head(0), [0x80]);
        assert_eq!(head(23), [0x97]);
        assert_eq!(head(24), [0x98, 24]);
        assert_eq!(head(255), [0x98, 255]);
        assert_eq!(head(256), [0x99, 1, 0]);
        assert_eq!(head(65_535), [0x99, 255, 255]);
        assert_eq!(head(65_536), [0x9A, 0, 1, 0, 0]);
        assert_eq!(head(u64::from(u32::MAX)), [0x9A, 255, 255, 255, 255]);
        assert_eq!(head(1 << 32), [0x9B, 0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(head(u64::MAX), [0x9B, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn the_share_of_the_elements_leaves_out_head_and_break_however_the_bytes_are_cut() {
        // The float ends in the byte that would be a break elsewhere, and an inner break may be the last byte.
        let float = [0xFA, 0xFF, 0xFF, 0xFF, 0xFF];
        for (content, elements) in [
            (vec![0x81, 0x9F, 0xFF], vec![0x9F, 0xFF]),
            ([&[0x99, 0, 2, 0x01], &float[..]].concat(), [&[0x01], &float[..]].concat()),
            ([&[0x9F, 0x9F, 0xFF], &float[..], &[0xFF]].concat(), [&[0x9F, 0xFF], &float[..]].concat()),
            (vec![0x80], vec![]),
            (vec![0x9F, 0xFF], vec![]),
        ] {
            for cut in 0..=content.len() {
                let mut array = CborArray::new();
                let mut shares = Vec::new();
                for slice in [&content[..cut], &content[cut..]] {
                    shares.extend_from_slice(&slice[array.push(slice).unwrap()]);
                }
                assert_eq!(shares, elements, "cut {content:02x?} at {cut}");
            }
        }
    }
}
