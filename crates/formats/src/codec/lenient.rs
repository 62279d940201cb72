//! Reading what other programs write: a field that is not what it should be counts as absent.

use contexture_core::{Part, Timestamp};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value};

use crate::{RecordProblem, scan};

/// Reads a record that is one JSON object.
///
/// JavaScript writes a text that was cut inside a character with half a pair of surrogates, which is legal JSON and no
/// text. Such halves are read as the replacement character.
pub(super) fn object<T: DeserializeOwned>(record: &[u8]) -> Result<T, RecordProblem> {
    // Serde would take an array for the fields of a struct in their order.
    if record.get(scan::space(record)) != Some(&b'{') {
        return Err(RecordProblem::new("it is no JSON object"));
    }
    serde_json::from_slice(record).or_else(|error| {
        let whole = without_half_pairs(record).and_then(|repaired| serde_json::from_slice(&repaired).ok());
        whole.ok_or_else(|| RecordProblem::json(&error))
    })
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

/// Returns the JSON with `\ufffd` for every surrogate without a partner, if there are such.
fn without_half_pairs(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < json.len() {
        at += match (surrogate(&json[at..]), json[at]) {
            (Some(0xD800..=0xDBFF), _) if surrogate(&json[at + 6..]).is_some_and(|low| low >= 0xDC00) => 12,
            (Some(_), _) => {
                repaired.get_or_insert_with(|| json.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            (None, b'\\') => 2,
            (None, _) => 1,
        };
    }
    repaired
}

/// Returns the surrogate whose escape comes first.
fn surrogate(json: &[u8]) -> Option<u16> {
    let digits = json.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..=0xDFFF).contains(&unit).then_some(unit)
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
    fn half_a_pair_of_surrogates_costs_one_character() {
        let word = |text: &str| object::<Fields>(format!(r#"{{"word":"{text}"}}"#).as_bytes()).map(|f| f.word.unwrap());
        assert_eq!(word(r"\ud83d\ude00").unwrap(), "\u{1f600}");
        assert_eq!(word(r"a\ud83d").unwrap(), "a\u{fffd}");
        assert_eq!(word(r"\uDE00\ud83d\ud83d\ude00\\ud83d\n").unwrap(), "\u{fffd}\u{fffd}\u{1f600}\\ud83d\n");
        assert!(word(r"\ud83").is_err());
        assert!(word(r"\ud83d\").is_err());
        assert!(object::<Fields>(b"{\"word\":\"\\ud83d").is_err());
    }

    #[test]
    fn only_an_object_is_a_record() {
        for text in ["", "[]", "[\"w\"]", "5", "null", "{", "{}{}", "\u{0}{}"] {
            assert!(object::<Fields>(text.as_bytes()).is_err(), "{text}");
        }
    }
}
