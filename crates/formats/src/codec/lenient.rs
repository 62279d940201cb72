//! Reading what other programs write: a field that is not what it should be counts as absent.

use contexture_core::{Part, Timestamp};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value};

use crate::{RecordProblem, scan};

/// Reads a record that is one JSON object.
pub(super) fn object<T: DeserializeOwned>(record: &[u8]) -> Result<T, RecordProblem> {
    // Serde would take an array for the fields of a struct in their order.
    match record.get(scan::space(record)) {
        Some(b'{') => serde_json::from_slice(record).map_err(|error| RecordProblem::json(&error)),
        _ => Err(RecordProblem::new("it is no JSON object")),
    }
}

/// Reads a field if it is what it should be.
pub(super) fn maybe<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Maybe<T> {
        Expected(T),
        Other(IgnoredAny),
    }
    Ok(match Maybe::deserialize(deserializer)? {
        Maybe::Expected(value) => Some(value),
        Maybe::Other(IgnoredAny) => None,
    })
}

/// Reads a time if it is one.
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text: Option<String> = maybe(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// Reads a time that is counted in milliseconds since 1970.
pub(super) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let millis: Option<i64> = maybe(deserializer)?;
    Ok(millis.and_then(|millis| millis.checked_mul(1000)).and_then(Timestamp::from_micros))
}

/// Reads the content of a message, which is a text or an array of blocks.
pub(super) fn parts(content: Value, part: fn(Value) -> Part) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![Part::Text { text }],
        Value::Array(blocks) => blocks.into_iter().map(part).collect(),
        block => vec![part(block)],
    }
}

/// Hands on what is not understood.
pub(super) fn native(value: Value) -> Part {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or("unknown").to_owned();
    Part::Native { kind, value }
}

/// Returns an object without fields.
pub(super) fn empty_object() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Fields {
        #[serde(default, deserialize_with = "maybe")]
        word: Option<String>,
        #[serde(default, deserialize_with = "time")]
        at: Option<Timestamp>,
        #[serde(default, deserialize_with = "millis")]
        ms: Option<Timestamp>,
    }

    #[test]
    fn fields_of_another_kind_count_as_absent() {
        let read = |text: &str| object::<Fields>(text.as_bytes());
        let at = Timestamp::from_micros(1_000_000);
        let known = r#" {"word":"w","at":"1970-01-01T00:00:01Z","ms":1000,"more":[]}"#;
        assert_eq!(read(known), Ok(Fields { word: Some("w".into()), at, ms: at }));
        let nothing = Fields { word: None, at: None, ms: None };
        assert_eq!(read(r#"{"word":{"a":[1]},"at":"noon","ms":9223372036854775807}"#).as_ref(), Ok(&nothing));
        assert_eq!(read(r#"{"word":null,"at":5,"ms":"5"}"#).as_ref(), Ok(&nothing));
    }

    #[test]
    fn only_an_object_is_a_record() {
        for text in ["", "[]", "[\"w\"]", "5", "null", "{", "{}{}", "\u{0}{}"] {
            assert!(object::<Fields>(text.as_bytes()).is_err(), "{text}");
        }
    }
}
