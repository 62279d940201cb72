//! The bound of what is read of a record, whoever wrote it.

use super::{Codec, Framing, Outline, RecordStep};
use crate::{RecordProblem, cbor, scan};

/// Longest record that is read. Longer ones are kept as they are and told by a note.
pub const MAX_RECORD_BYTES: usize = 16 * 1024 * 1024;
/// Longest document that is read, where a whole session is one.
pub const MAX_DOCUMENT_BYTES: usize = 32 * 1024 * 1024;
/// Most values that are read of a record: one of two bytes takes hundreds when it is taken apart.
pub const MAX_VALUES: usize = 256 * 1024;

/// A codec that looks at a record only when what it becomes is bounded.
///
/// Every codec that can be had by name is one of these, so nobody else needs to ask.
pub(crate) struct BoundedCodec(pub(crate) &'static dyn Codec);

impl Codec for BoundedCodec {
    fn framing(&self) -> Framing {
        self.0.framing()
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let record = self.text(record);
        self.check(record)?;
        self.0.outline(record)
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let record = self.text(record);
        self.check(record)?;
        self.0.step(record)
    }
}

impl BoundedCodec {
    /// Returns a record without the mark that some editors put before the first one of a file.
    fn text<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        match self.framing() {
            Framing::Lines | Framing::JsonArray | Framing::Document | Framing::Sections(_) => {
                without_byte_order_mark(record)
            }
            Framing::CborArray => record,
        }
    }

    fn check(&self, record: &[u8]) -> Result<(), RecordProblem> {
        let framing = self.framing();
        if record.len() > framing.max_record_bytes() {
            return Err(RecordProblem::too_long(record.len() as u64, framing.max_record_bytes()));
        }
        let has_many = match framing {
            Framing::Lines | Framing::JsonArray | Framing::Document => has_many_values(record, MAX_VALUES),
            Framing::Sections(_) => false,
            Framing::CborArray => record.len() > MAX_VALUES && cbor::count_items(record, MAX_VALUES) > MAX_VALUES,
        };
        if has_many { Err(RecordProblem::too_many_values(MAX_VALUES)) } else { Ok(()) }
    }
}

/// Returns a text without the byte order mark that may come first.
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}

impl Framing {
    /// Returns how long a record may be to be read.
    pub const fn max_record_bytes(self) -> usize {
        match self {
            Self::Document => MAX_DOCUMENT_BYTES,
            Self::Lines | Self::JsonArray | Self::CborArray | Self::Sections(_) => MAX_RECORD_BYTES,
        }
    }
}

/// Tells whether JSON holds more values than may be taken apart: a program that makes a tree of them would need many times
/// the bytes of the text.
pub fn holds_too_much(json: &[u8]) -> bool {
    has_many_values(json, MAX_VALUES)
}

/// Counts what begins or separates values outside of strings, as far as it matters.
fn has_many_values(json: &[u8], most: usize) -> bool {
    // Two bytes are the least that a value takes.
    json.len() / 2 > most && count_values(json) > most
}

/// Counts the values of JSON, or a few more, up to one more than are read.
pub fn count_values(json: &[u8]) -> usize {
    let (mut values, mut at) = (1, 0);
    while let Some(&byte) = json.get(at).filter(|_| values <= MAX_VALUES) {
        at += 1;
        match byte {
            b'"' => at = after_string(json, at),
            b',' | b'[' | b'{' => values += 1,
            _ => {}
        }
    }
    values
}

/// Returns where a string ends that begins before a place.
fn after_string(json: &[u8], mut at: usize) -> usize {
    loop {
        at += scan::plain_text(&json[at.min(json.len())..]);
        match json.get(at) {
            None => return json.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_not_the_letters_of_texts() {
        let many = |json: &str| has_many_values(json.as_bytes(), 4);
        assert!(many("[0,0,0,0,0]"));
        assert!(many("[[[[[[]]]]]]"));
        assert!(many(r#"{"a":{"":0},"b":[1,2]}"#));
        assert!(!many(r#"{"text":"a,b,c,d,[[[[{{{{ \" ,,,,"}"#));
        assert!(!many(r#""an end that is missing \"#));
        assert!(!many("[0,0]"));
    }

    #[test]
    fn a_record_beyond_a_bound_is_not_read() {
        let codec = crate::codec(&contexture_core::Format::new("events-v1").unwrap()).unwrap();
        let long = vec![b' '; MAX_RECORD_BYTES + 1];
        assert!(codec.step(&long).unwrap_err().is_too_large());
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(codec.outline(many.as_bytes()).unwrap_err().is_too_large());
        assert!(!codec.outline(b"no json").unwrap_err().is_too_large());
    }

    #[test]
    fn a_byte_order_mark_belongs_to_no_record() {
        let codec = crate::codec(&contexture_core::Format::new("claude-code-v1").unwrap()).unwrap();
        let line = "\u{feff}{\"type\":\"user\",\"sessionId\":\"s\"}";
        assert_eq!(codec.outline(line.as_bytes()).unwrap().facts.session.as_deref(), Some("s"));
        assert!(codec.step(line.as_bytes()).is_ok());
    }
}
