//! One CBOR item as a JSON value.

use serde_json::{Map, Number, Value};

use super::{BREAK, Major};
use crate::RecordProblem;

/// Deepest nesting that is read, as `serde_json` has it.
const MAX_NESTING: usize = 128;

/// Reads bytes that hold exactly one item.
///
/// A byte string that holds JSON becomes that JSON, because Go programs write raw JSON so; another becomes an array of
/// numbers. Tags are passed over. Keys that are no text become the JSON of the key; numbers that JSON has not become null.
pub(crate) fn to_json(bytes: &[u8]) -> Result<Value, RecordProblem> {
    let mut reader = ValueReader { rest: bytes };
    let value = reader.item(0)?;
    if reader.rest.is_empty() { Ok(value) } else { Err(RecordProblem::new("more bytes follow its CBOR item")) }
}

struct ValueReader<'b> {
    rest: &'b [u8],
}

/// What an item begins with. There is no argument if a break ends the item.
struct Head {
    major: Major,
    detail: u8,
    argument: Option<u64>,
}

impl<'b> ValueReader<'b> {
    fn item(&mut self, nesting: usize) -> Result<Value, RecordProblem> {
        if nesting > MAX_NESTING {
            return Err(RecordProblem::new(format!("its CBOR is nested deeper than {MAX_NESTING} levels")));
        }
        let head = self.head()?;
        Ok(match (head.major, head.argument) {
            (Major::Unsigned, Some(argument)) => Value::from(argument),
            (Major::Negative, Some(argument)) => negative(argument),
            (Major::Bytes, length) => bytes_value(&self.string(Major::Bytes, length)?),
            (Major::Text, length) => {
                let text = String::from_utf8(self.string(Major::Text, length)?);
                Value::String(text.map_err(|_| RecordProblem::new("a CBOR text is not UTF-8"))?)
            }
            (Major::Array, length) => {
                let mut elements = Vec::new();
                self.each(length, |reader| {
                    elements.push(reader.item(nesting + 1)?);
                    Ok(())
                })?;
                Value::Array(elements)
            }
            (Major::Map, length) => {
                let mut fields = Map::new();
                self.each(length, |reader| {
                    let key = match reader.item(nesting + 1)? {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    fields.insert(key, reader.item(nesting + 1)?);
                    Ok(())
                })?;
                Value::Object(fields)
            }
            (Major::Tag, Some(_)) => self.item(nesting + 1)?,
            (Major::Simple, Some(argument)) => simple(head.detail, argument),
            (Major::Unsigned | Major::Negative | Major::Tag | Major::Simple, None) => {
                return Err(RecordProblem::new("a CBOR break where an item is missing"));
            }
        })
    }

    fn head(&mut self) -> Result<Head, RecordProblem> {
        let first = self.take(1)?[0];
        let detail = first & 0x1F;
        let argument = match detail {
            0..=23 => Some(u64::from(detail)),
            24..=27 => {
                let bytes = self.take(1 << (detail - 24))?;
                Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            }
            31 => None,
            _ => return Err(RecordProblem::new("the first byte of a CBOR item is reserved")),
        };
        Ok(Head { major: Major::of(first), detail, argument })
    }

    /// Returns the bytes of a string, put together if it comes in pieces.
    fn string(&mut self, major: Major, length: Option<u64>) -> Result<Vec<u8>, RecordProblem> {
        if let Some(length) = length {
            return self.take(length).map(<[u8]>::to_vec);
        }
        let mut string = Vec::new();
        self.each(None, |reader| match reader.head()? {
            Head { major: piece, argument: Some(length), .. } if piece == major => {
                string.extend_from_slice(reader.take(length)?);
                Ok(())
            }
            _ => Err(RecordProblem::new("a CBOR string in pieces holds something else")),
        })?;
        Ok(string)
    }

    /// Reads that many things, or as many as come before a break.
    fn each(
        &mut self,
        length: Option<u64>,
        mut read: impl FnMut(&mut Self) -> Result<(), RecordProblem>,
    ) -> Result<(), RecordProblem> {
        let mut left = length;
        loop {
            match &mut left {
                Some(0) => return Ok(()),
                Some(left) => *left -= 1,
                None if self.rest.first() == Some(&BREAK) => {
                    self.rest = &self.rest[1..];
                    return Ok(());
                }
                None => {}
            }
            read(self)?;
        }
    }

    fn take(&mut self, length: u64) -> Result<&'b [u8], RecordProblem> {
        let split = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (taken, rest) = split.ok_or_else(|| RecordProblem::new("its CBOR ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }
}

fn negative(argument: u64) -> Value {
    match i64::try_from(argument) {
        Ok(argument) => Value::from(-1 - argument),
        #[expect(clippy::cast_precision_loss, reason = "JSON has no exact number of this size")]
        Err(_) => float(-1.0 - argument as f64),
    }
}

fn simple(detail: u8, argument: u64) -> Value {
    let low = |bits: u64| u32::try_from(bits).unwrap_or_default();
    match (detail, argument) {
        (20, _) => Value::Bool(false),
        (21, _) => Value::Bool(true),
        (25, bits) => float(half(low(bits))),
        (26, bits) => float(f64::from(f32::from_bits(low(bits)))),
        (27, bits) => float(f64::from_bits(bits)),
        _ => Value::Null,
    }
}

fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Widens a number of 16 bits.
fn half(bits: u32) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 0x1F, f64::from(bits & 0x3FF));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (fraction + 1024.0) * 2f64.powi(i32::try_from(exponent).unwrap_or_default() - 25),
    };
    if sign == 1 { -size } else { size }
}

fn bytes_value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| bytes.iter().map(|byte| Value::from(*byte)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_item_has_a_value() {
        // Examples of RFC 8949, appendix A.
        for (bytes, value) in [
            (&[0x17][..], json!(23)),
            (&[0x1B, 0, 0, 0, 0xE8, 0xD4, 0xA5, 0x10, 0], json!(1_000_000_000_000_u64)),
            (&[0x38, 0x63], json!(-100)),
            (&[0xF9, 0x3E, 0x00], json!(1.5)),
            (&[0xF9, 0x00, 0x01], json!(5.960_464_477_539_063e-8)),
            (&[0xF9, 0xC4, 0x00], json!(-4.0)),
            (&[0xF9, 0x7C, 0x00], Value::Null),
            (&[0xFA, 0x47, 0xC3, 0x50, 0x00], json!(100_000.0)),
            (&[0xFB, 0x3F, 0xF1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A], json!(1.1)),
            (&[0xF4], json!(false)),
            (&[0xF5], json!(true)),
            (&[0xF6], Value::Null),
            (&[0xC1, 0x05], json!(5)),
            (&[0x64, b'I', b'E', b'T', b'F'], json!("IETF")),
            (&[0x7F, 0x61, b'a', 0x62, b'b', b'c', 0xFF], json!("abc")),
            (&[0x82, 0x01, 0x80], json!([1, []])),
            (&[0x9F, 0x01, 0xFF], json!([1])),
            (&[0xA2, 0x61, b'a', 0x01, 0x02, 0x03], json!({"a": 1, "2": 3})),
            (&[0xBF, 0x61, b'a', 0x01, 0xFF], json!({"a": 1})),
            (&[0x47, b'{', b'"', b'a', b'"', b':', b'1', b'}'], json!({"a": 1})),
            (&[0x42, b'{', 0xFF], json!([123, 255])),
        ] {
            assert_eq!(to_json(bytes), Ok(value), "{bytes:02x?}");
        }
    }

    #[test]
    fn what_is_not_one_item_is_refused() {
        for bytes in
            [&[][..], &[0x01, 0x02], &[0x82, 0x01], &[0x62, b'a'], &[0xFF], &[0x1C], &[0x61, 0xFF], &[0x7F, 0x01, 0xFF]]
        {
            assert!(to_json(bytes).is_err(), "{bytes:02x?}");
        }
        assert!(to_json(&[0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]).is_err(), "a length is not believed");
        assert!(to_json(&vec![0x81; 100_000]).is_err(), "nesting is bounded");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..40)) {
            if let Ok(value) = to_json(&bytes) {
                prop_assert!(serde_json::to_string(&value).is_ok());
            }
        }
    }
}
