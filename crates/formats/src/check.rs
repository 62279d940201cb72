//! Whether the bytes of one part are what its format promises.

use crate::{
    cbor::CborArray,
    error::{ContentPosition, FormatError},
    json_array::JsonArray,
    lines::ObjectLines,
    measure::Measure,
    rule::Concatenation,
    scan,
    utf8::Utf8,
};

/// Checks the bytes of one part as they arrive, in slices of any size.
///
/// - Lines: UTF-8; every line that is not blank is one JSON object; the last may lack its line feed.
/// - JSON array: UTF-8; exactly one array, with white space around it.
/// - CBOR array: exactly one well-formed array, of known or open length.
/// - Bytes: anything.
///
/// How the content is cut into slices changes neither the answer nor the error. Memory is bounded whatever arrives.
#[derive(Debug)]
pub struct Checker {
    content: CheckedContent,
    bytes: u64,
    chars: u64,
    /// The first error; it is repeated ever after.
    failure: Option<FormatError>,
}

#[derive(Debug)]
enum CheckedContent {
    Lines { utf8: Utf8, lines: ObjectLines },
    JsonArray { utf8: Utf8, array: JsonArray },
    CborArray(CborArray),
    Bytes,
}

impl Checker {
    /// Expects a part that follows the rule.
    pub fn new(rule: Concatenation) -> Self {
        let content = match rule {
            Concatenation::Lines => CheckedContent::Lines { utf8: Utf8::default(), lines: ObjectLines::new() },
            Concatenation::JsonArray => CheckedContent::JsonArray { utf8: Utf8::default(), array: JsonArray::new() },
            Concatenation::CborArray => CheckedContent::CborArray(CborArray::new()),
            Concatenation::Bytes => CheckedContent::Bytes,
        };
        Self { content, bytes: 0, chars: 0, failure: None }
    }

    /// Takes the next bytes. After an error every call returns that error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.bytes += bytes.len() as u64;
        self.chars += match self.content {
            CheckedContent::CborArray(_) => bytes.len() as u64,
            CheckedContent::Lines { .. } | CheckedContent::JsonArray { .. } | CheckedContent::Bytes => {
                scan::utf16_units(bytes)
            }
        };
        self.content.push(bytes).inspect_err(|error| self.failure = Some(*error))
    }

    /// Ends the part and returns what was counted in it.
    pub fn finish(self) -> Result<Measure, FormatError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let messages = self.content.finish(self.bytes)?;
        Ok(Measure { messages, bytes: self.bytes, chars: self.chars })
    }
}

impl CheckedContent {
    fn push(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        match self {
            Self::Lines { utf8, lines } => {
                let validated = utf8.push(bytes);
                lines.push(validated.character())?;
                lines.push(validated.text)?;
                match validated.broken_at {
                    Some(offset) => Err(FormatError::NotUtf8 { place: lines.place(offset) }),
                    None => Ok(()),
                }
            }
            Self::JsonArray { utf8, array } => {
                let validated = utf8.push(bytes);
                array.push(validated.character())?;
                array.push(validated.text)?;
                match validated.broken_at {
                    Some(offset) => Err(FormatError::NotUtf8 { place: ContentPosition::Byte { offset } }),
                    None => Ok(()),
                }
            }
            Self::CborArray(array) => array.push(bytes).map(|_| ()),
            Self::Bytes => Ok(()),
        }
    }

    /// Returns how many messages there are. `end` is how many bytes there were.
    fn finish(&self, end: u64) -> Result<Option<u64>, FormatError> {
        let ended = "inside a character";
        match self {
            Self::Lines { utf8, lines } if utf8.is_open() => {
                Err(FormatError::Truncated { place: lines.place(end), ended })
            }
            Self::JsonArray { utf8, .. } if utf8.is_open() => {
                Err(FormatError::Truncated { place: ContentPosition::Byte { offset: end }, ended })
            }
            Self::Lines { lines, .. } => lines.finish().map(Some),
            Self::JsonArray { array, .. } => array.finish().map(Some),
            Self::CborArray(array) => array.finish().map(Some),
            Self::Bytes => Ok(None),
        }
    }
}
