//! Records that are read into values of their own, field by field: one that is not what it should be counts as absent.

use contexture_core::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};

use super::surrogates;
use crate::{RecordProblem, scan};

/// Reads a record that is one JSON object.
///
/// JavaScript writes a text that was cut inside a character with half a pair of surrogates, which is legal JSON and no
/// text. Such halves are read as the replacement character.
pub(in crate::codec) fn record<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RecordProblem> {
    // Serde would take an array for the fields of a struct in their order.
    if bytes.get(scan::space(bytes)) != Some(&b'{') {
        return Err(RecordProblem::new("it is no JSON object"));
    }
    serde_json::from_slice(bytes).or_else(|error| {
        let whole =
            surrogates::without_lone_surrogates(bytes).and_then(|repaired| serde_json::from_slice(&repaired).ok());
        whole.ok_or_else(|| RecordProblem::json(&error))
    })
}

/// Reads a field if it is what it should be.
pub(in crate::codec) fn maybe<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
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
pub(in crate::codec) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text: Option<String> = maybe(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// Reads a time that is counted in milliseconds since 1970.
pub(in crate::codec) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let millis: Option<i64> = maybe(deserializer)?;
    Ok(millis.and_then(|millis| millis.checked_mul(1000)).and_then(Timestamp::from_micros))
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
        let read = |text: &str| record::<Fields>(text.as_bytes());
        let at = Timestamp::from_micros(1_000_000);
        let known = r#" {"word":"w","at":"1970-01-01T00:00:01Z","ms":1000,"more":[]}"#;
        assert_eq!(read(known), Ok(Fields { word: Some("w".into()), at, ms: at }));
        let nothing = Fields { word: None, at: None, ms: None };
        assert_eq!(read(r#"{"word":{"a":[1]},"at":"noon","ms":9223372036854775807}"#).as_ref(), Ok(&nothing));
        assert_eq!(read(r#"{"word":null,"at":5,"ms":"5"}"#).as_ref(), Ok(&nothing));
    }

    #[test]
    fn half_a_pair_of_surrogates_costs_one_character() {
        let word = |text: &str| record::<Fields>(format!(r#"{{"word":"{text}"}}"#).as_bytes()).map(|f| f.word.unwrap());
        assert_eq!(word(r"\ud83d\ude00").unwrap(), "\u{1f600}");
        assert_eq!(word(r"a\ud83d").unwrap(), "a\u{fffd}");
        assert_eq!(word(r"\uDE00\ud83d\ud83d\ude00\\ud83d\n").unwrap(), "\u{fffd}\u{fffd}\u{1f600}\\ud83d\n");
        assert!(word(r"\ud83").is_err());
        assert!(word(r"\ud83d\").is_err());
        assert!(record::<Fields>(b"{\"word\":\"\\ud83d").is_err());
    }

    #[test]
    fn only_an_object_is_a_record() {
        for text in ["", "[]", "[\"w\"]", "5", "null", "{", "{}{}", "\u{0}{}"] {
            assert!(record::<Fields>(text.as_bytes()).is_err(), "{text}");
        }
    }
}
