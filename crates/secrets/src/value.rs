//! Reads the value that something is set to.

use crate::escape::{self, UnitText};

/// A value, as it is written and as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The value once no escape is left.
    pub(crate) text: Vec<u8>,
    /// What ended it, unless the content did.
    pub(crate) ended_by: Option<u8>,
}

/// Longest value that is read.
const LONGEST: usize = 2400;

/// Reads up to what cannot be part of a value. Inside of quotes that is little, outside of them much.
pub(crate) fn read(bytes: &[u8], start: usize, quoted: bool) -> Value {
    let mut value = Value { start, end: start, text: Vec::new(), ended_by: None };
    while let Some(unit) = escape::unit(bytes, value.end) {
        if unit.end - start > LONGEST {
            // Whatever is so long is no value; nobody asks what ended it.
            value.ended_by = Some(0);
            break;
        }
        let byte = unit.text.byte();
        if let Some(byte) = byte.filter(|&byte| ends(byte, quoted)) {
            value.ended_by = Some(byte);
            break;
        }
        // A sign of equality inside an unquoted value begins another assignment, unless it pads.
        if !quoted && matches!(unit.text, UnitText::Byte(b'=')) && !pads(bytes, unit.end) {
            value.ended_by = Some(b'=');
            break;
        }
        escape::push(&mut value.text, unit.text);
        value.end = unit.end;
    }
    value
}

fn ends(byte: u8, quoted: bool) -> bool {
    match byte {
        0..=b' ' | 127 | b'"' | b'\'' | b'`' => true,
        b'<' | b'>' | b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|' | b'&' => !quoted,
        _ => false,
    }
}

fn pads(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|&next| next == b'=' || next == b'\\' || ends(next, false))
}
