//! What is wrong with a part, and where.

use std::fmt;

use crate::MAX_DEPTH;

/// Says why the bytes of a part are not what its format promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The content ends too early; what is there is a beginning of something well formed.
    #[error("{place}: the content ends {ended}")]
    Truncated {
        /// The end of the content.
        place: ContentPosition,
        /// What is left open, such as "inside a string".
        ended: &'static str,
    },
    /// A line ends too early, and other lines follow.
    #[error("{place}: the line ends {ended}")]
    UnfinishedLine {
        /// The end of the line.
        place: ContentPosition,
        /// What is left open, such as "inside a string".
        ended: &'static str,
    },
    /// A byte does not belong there in JSON.
    #[error("{place}: {reason}")]
    NotJson {
        /// The byte.
        place: ContentPosition,
        /// What was expected instead.
        reason: &'static str,
    },
    /// A byte does not belong there in CBOR.
    #[error("{place}: {reason}")]
    NotCbor {
        /// The byte.
        place: ContentPosition,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A line holds something other than an object.
    #[error("{place}: expected a JSON object, as every line that is not blank holds one")]
    NotAnObject {
        /// Where the other thing begins.
        place: ContentPosition,
    },
    /// The content is something other than an array.
    #[error("{place}: expected an array, as the content is exactly one")]
    NotAnArray {
        /// Where the other thing begins.
        place: ContentPosition,
    },
    /// Something follows the object of a line, or the array.
    #[error("{place}: expected nothing more after {after}")]
    TrailingBytes {
        /// The first byte too many.
        place: ContentPosition,
        /// What should have been the end, such as "the array".
        after: &'static str,
    },
    /// Containers are nested deeper than [`MAX_DEPTH`].
    #[error("{place}: nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where the container that is too deep begins.
        place: ContentPosition,
    },
    /// The text is not UTF-8.
    #[error("{place}: not UTF-8")]
    NotUtf8 {
        /// Where the broken character begins.
        place: ContentPosition,
    },
}

/// A place in the bytes of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentPosition {
    /// A place in content that has no lines.
    Byte {
        /// How many bytes come before it.
        offset: u64,
    },
    /// A place in content made of lines.
    Line {
        /// The line; the first is 1.
        line: u64,
        /// The byte in the line; the first is 1.
        column: u64,
        /// How many bytes of the part come before it.
        offset: u64,
    },
}

impl ContentPosition {
    /// Returns how many bytes of the part come before it.
    pub const fn offset(self) -> u64 {
        match self {
            Self::Byte { offset } | Self::Line { offset, .. } => offset,
        }
    }
}

impl fmt::Display for ContentPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte { offset } => write!(f, "byte {offset}"),
            Self::Line { line, column, .. } => write!(f, "line {line}, column {column}"),
        }
    }
}

/// Says why bytes are no record of their format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct RecordProblem {
    what: String,
    is_too_large: bool,
}

impl RecordProblem {
    /// Says it in words.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), is_too_large: false }
    }

    pub(crate) fn format(error: &FormatError) -> Self {
        Self::new(error.to_string())
    }

    pub(crate) fn json(error: &serde_json::Error) -> Self {
        Self::new(format!("it is no JSON that the format knows: {error}"))
    }

    /// A record is longer than what is read.
    pub fn too_long(bytes: u64, most: usize) -> Self {
        let (size, most) = (megabytes(bytes), megabytes(most as u64));
        Self { what: format!("it is {size} long, more than {most}"), is_too_large: true }
    }

    pub(crate) fn too_many_values(most: usize) -> Self {
        Self { what: format!("it holds more than {most} values"), is_too_large: true }
    }

    /// Tells whether it may be a record, which was not read because that would take too much.
    pub const fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

/// Writes a size of many bytes.
fn megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    let (tenths, unit) = if tenths >= 10_000 { (tenths / 1000, "GB") } else { (tenths, "MB") };
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}
