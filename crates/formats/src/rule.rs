//! How the parts of a conversation join.

use std::fmt;

use contexture_core::Format;

use crate::KnownFormat;

/// How the parts of a conversation become one conversation in the same format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Concatenation {
    /// Every line is a JSON object; parts are appended line after line.
    Lines,
    /// A part is one JSON array; the elements are appended.
    JsonArray,
    /// A part is one CBOR array (RFC 8949); the elements are appended.
    CborArray,
    /// A part is anything; the bytes are appended as they are.
    Bytes,
}

impl Concatenation {
    /// Returns the rule of a format; names that are not known are stored as they are.
    pub fn of(format: &Format) -> Self {
        match KnownFormat::named(format) {
            Some(known) => known.rule,
            None if format.as_str().ends_with("-jsonl") => Self::Lines,
            None => Self::Bytes,
        }
    }
}

impl fmt::Display for Concatenation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Lines => "lines",
            Self::JsonArray => "JSON array",
            Self::CborArray => "CBOR array",
            Self::Bytes => "bytes",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known;

    fn rule(name: &str) -> Concatenation {
        Concatenation::of(&Format::new(name).unwrap())
    }

    #[test]
    fn names_that_end_in_jsonl_are_lines_and_unknown_names_are_bytes() {
        assert_eq!(rule("goose-jsonl"), Concatenation::Lines);
        for name in ["jsonlx", "my.jsonl", "claude-code-v2", "xjsonl"] {
            assert_eq!(rule(name), Concatenation::Bytes, "{name}");
        }
    }

    #[test]
    fn every_known_format_has_a_legal_name_of_its_own_and_its_listed_rule() {
        for (n, format) in known().iter().enumerate() {
            assert_eq!(rule(format.name), format.rule, "{}", format.name);
            assert!(known()[..n].iter().all(|earlier| earlier.name != format.name), "{}", format.name);
        }
    }
}
