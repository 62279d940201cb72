//! Private keys in armour.

use crate::{
    escape,
    families::Marked,
    found::{Found, Strength},
};

/// Longest key in bytes, escapes included.
const LONGEST: usize = 64 << 10;
/// Fewest characters of base64 that are a key and not the mention of one.
const FEWEST: usize = 64;

const BEGIN: &[u8] = b"-----BEGIN ";

/// Looks at the `VATE` of `PRIVATE`.
pub(crate) fn find(bytes: &[u8], word: usize, marked: usize, found: &mut Vec<Found>) {
    let from = word.saturating_sub(40);
    let Some(begin) = memchr::memmem::rfind(&bytes[from..word], BEGIN).map(|at| from + at) else { return };
    let label = &bytes[begin + BEGIN.len()..bytes.len().min(word + 24)];
    let Some(dashes) = memchr::memmem::find(label, b"-----") else { return };
    let is_key = label[..dashes].ends_with(b"PRIVATE KEY") || label[..dashes].ends_with(b"PRIVATE KEY BLOCK");
    if !is_key || label[..dashes].len() > 40 {
        return;
    }
    let body = begin + BEGIN.len() + dashes + 5;
    if let Some(end) = key_end(bytes, begin, body) {
        found.push(Found { start: begin, end, rule: marked + Marked::PrivateKey as usize, strength: Strength::Itself });
    }
}

/// Reads base64 with whatever stands between its lines: quoted ends of lines, margins, line numbers.
fn key_end(bytes: &[u8], begin: usize, body: usize) -> Option<usize> {
    let mut at = body;
    let mut characters = 0;
    let mut last = body;
    while let Some(unit) = escape::unit(bytes, at) {
        if unit.end - begin > LONGEST {
            break;
        }
        match unit.text {
            escape::UnitText::Byte(b'-') if bytes[at..].starts_with(b"-----") => {
                if bytes[at..].starts_with(b"-----END ") {
                    let rest = &bytes[at + 9..bytes.len().min(at + 60)];
                    if let Some(dashes) = memchr::memmem::find(rest, b"-----") {
                        last = at + 9 + dashes + 5;
                    }
                }
                break;
            }
            escape::UnitText::Byte(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') => {
                characters += 1;
                last = unit.end;
            }
            escape::UnitText::Byte(
                b' ' | b'\t' | b'\r' | b'\n' | b':' | b',' | b'-' | b'.' | b'|' | b'>' | b'(' | b')' | 0xe2 | 0x86
                | 0x92,
            )
            | escape::UnitText::Escaped('\n' | '\r' | '\t' | '/' | '+' | '=' | '→' | '>') => {}
            _ => break,
        }
        at = unit.end;
    }
    (characters >= FEWEST).then_some(last)
}
