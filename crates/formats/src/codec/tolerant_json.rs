//! Tolerant reading of JSON: every field may be missing or something else than expected.
//!
//! Runtimes change what they write with every version. A field that is not what it was is read as absent, so that the
//! rest of its record still counts. Nothing is built that nobody asked for.

mod owned;
mod surrogates;
mod visitors;

use std::borrow::Cow;

use contexture_core::Timestamp;
use serde::{Deserialize, de::Error as _};
use serde_json::{Value, value::RawValue};

use crate::RecordProblem;

pub(super) use owned::{maybe, millis, record, time};

/// What a field holds, as far as it is no array and no object.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Field<'a> {
    /// The field is not there.
    #[default]
    Absent,
    Null,
    Bool(bool),
    Count(u64),
    Text(Cow<'a, str>),
    /// An array, an object, or a number that counts nothing.
    Other,
}

/// An object, or nothing when something else stands in its place.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) Option<T>);

/// The first element of an array that is wanted. Nothing is built of those after it.
#[derive(Debug, Default, PartialEq)]
pub(super) enum First<T> {
    /// It is no array.
    #[default]
    NoList,
    /// No element is wanted.
    None,
    Some(T),
}

/// Says of an element of an array whether it is wanted.
///
/// Implemented by what a codec looks for; [`First`] asks.
pub(super) trait Wanted {
    fn is_wanted(&self) -> bool;
}

/// What a value is, one level deep.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    Text(Cow<'a, str>),
    List(Vec<&'a RawValue>),
    Object(&'a RawValue),
    /// Null, a number, true or false; or it is absent.
    Other,
}

impl Field<'_> {
    /// Returns the text, or an empty one when it is none.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the text unless it is empty.
    pub(super) fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text.into_owned()),
            _ => None,
        }
    }

    /// Returns a copy of the text unless it is empty.
    pub(super) fn to_text(&self) -> Option<String> {
        Some(self.text()).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns the instant that the text names.
    pub(super) fn instant(&self) -> Option<Timestamp> {
        self.text().parse().ok()
    }

    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(*count),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }
}

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// Decodes a record, and decodes it once more with half characters replaced if it holds any.
///
/// JavaScript writes a string that was cut inside a character as a lone surrogate, which is legal JSON and no text.
pub(super) fn decode<T>(record: &[u8], decode: impl Fn(&[u8]) -> serde_json::Result<T>) -> Result<T, RecordProblem> {
    decode(record)
        .or_else(|error| match surrogates::without_lone_surrogates(record) {
            Some(repaired) => decode(&repaired),
            None => Err(error),
        })
        .map_err(|error| RecordProblem::json(&error))
}

/// Reads a record that must be an object.
pub(super) fn object<'a, T: Deserialize<'a>>(record: &'a [u8]) -> serde_json::Result<T> {
    let Object(object) = serde_json::from_slice(record)?;
    object.ok_or_else(|| serde_json::Error::custom("it is no object"))
}

/// Reads a value that should be an object; anything else is one without fields.
pub(super) fn object_or_default<'a, T: Deserialize<'a> + Default>(raw: &'a RawValue) -> serde_json::Result<T> {
    let Object(object) = serde_json::from_str(raw.get())?;
    Ok(object.unwrap_or_default())
}

/// Reads one level of a value.
pub(super) fn shape(raw: Option<&RawValue>) -> serde_json::Result<Shape<'_>> {
    let Some(raw) = raw else { return Ok(Shape::Other) };
    Ok(match raw.get().as_bytes().first() {
        Some(b'"') => match serde_json::from_str(raw.get())? {
            Field::Text(text) => Shape::Text(text),
            _ => Shape::Other,
        },
        Some(b'[') => Shape::List(serde_json::from_str(raw.get())?),
        Some(b'{') => Shape::Object(raw),
        _ => Shape::Other,
    })
}

/// Returns the elements of an array; none when it is something else.
pub(super) fn list(raw: Option<&RawValue>) -> serde_json::Result<Vec<&RawValue>> {
    Ok(match shape(raw)? {
        Shape::List(list) => list,
        Shape::Text(_) | Shape::Object(_) | Shape::Other => Vec::new(),
    })
}

/// Reads a value as the user's own JSON.
///
/// What is nested too deep to be held as a value becomes the text of its JSON.
pub(super) fn value(raw: &RawValue) -> Value {
    let json = raw.get();
    serde_json::from_str(json).unwrap_or_else(|_| {
        surrogates::without_lone_surrogates(json.as_bytes())
            .and_then(|repaired| serde_json::from_slice(&repaired).ok())
            .unwrap_or_else(|| Value::String(json.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Record<'a> {
        #[serde(borrow)]
        name: Field<'a>,
        #[serde(borrow)]
        inner: Object<Inner<'a>>,
        #[serde(borrow)]
        rest: Option<&'a RawValue>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Field<'a>,
    }

    fn names(json: &str) -> (String, String) {
        let record: Record<'_> = object(json.as_bytes()).unwrap();
        (record.name.text().to_owned(), record.inner.0.unwrap_or_default().name.text().to_owned())
    }

    #[test]
    fn a_field_that_is_something_else_is_read_as_absent() {
        let none = || (String::new(), String::new());
        for json in ["{}", r#"{"name":1,"inner":"x"}"#, r#"{"name":{"a":[]},"inner":[{"name":"b"}]}"#] {
            assert_eq!(names(json), none(), "{json}");
        }
        for json in ["null", "-1", "1.5", "true", "[]", "{}"] {
            assert_eq!(names(&format!(r#"{{"name":{json},"inner":{json}}}"#)), none(), "{json}");
        }
        assert_eq!(names(r#"{"name":"a","inner":{"name":"b\n"}}"#), ("a".to_owned(), "b\n".to_owned()));
    }

    impl Wanted for Inner<'_> {
        fn is_wanted(&self) -> bool {
            self.name.text() == "me"
        }
    }

    #[test]
    fn the_first_wanted_element_of_an_array_is_found() {
        let first = |json| match serde_json::from_str::<First<Inner<'_>>>(json).unwrap() {
            First::NoList => "no list",
            First::None => "nothing",
            First::Some(_) => "found",
        };
        assert_eq!(first(r#"[1, [], {"name":"you"}, {"name":"me"}, {"name":{}}]"#), "found");
        assert_eq!(first("[]"), "nothing");
        assert_eq!(first(r#"{"name":"me"}"#), "no list");
        assert_eq!(first("null"), "no list");
    }

    #[test]
    fn only_an_object_is_a_record() {
        for json in ["", "[]", "1", "\"a\"", "{", "{\"a\":}", "{} {}"] {
            assert!(object::<Record<'_>>(json.as_bytes()).is_err(), "{json}");
        }
    }

    #[test]
    fn half_characters_are_replaced_and_whole_ones_kept() {
        let name =
            |json: &str| decode(json.as_bytes(), |bytes| object(bytes).map(|r: Record<'_>| r.name.text().to_owned()));
        assert_eq!(name(r#"{"name":"\ud83d\ude00"}"#).unwrap(), "\u{1f600}");
        assert_eq!(name(r#"{"name":"a\ud83d"}"#).unwrap(), "a\u{fffd}");
        assert_eq!(name(r#"{"name":"\ude00\ud83d\ud83d\ude00\\ud83d"}"#).unwrap(), "\u{fffd}\u{fffd}\u{1f600}\\ud83d");
        assert!(name(r#"{"name":"\ud83"}"#).is_err());
        assert!(name(r#"{"name":"\u"#).is_err());
    }

    #[test]
    fn a_value_that_is_nested_too_deep_becomes_text() {
        let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
        let json = format!(r#"{{"rest":{deep}}}"#);
        let record: Record<'_> = object(json.as_bytes()).unwrap();
        assert_eq!(value(record.rest.unwrap()), Value::String(deep));
        assert_eq!(value(&RawValue::from_string(r#"{"a":"\ud83d"}"#.into()).unwrap()), json!({"a": "\u{fffd}"}));
    }

    #[test]
    fn what_has_another_type_is_passed_over() {
        #[derive(Deserialize)]
        struct Record<'a> {
            #[serde(borrow, default)]
            word: Field<'a>,
            #[serde(borrow, default)]
            flag: Field<'a>,
        }
        fn read(json: &str) -> (Option<String>, bool) {
            let record: Record<'_> = serde_json::from_str(json).unwrap();
            (record.word.to_text(), record.flag.is_true())
        }
        assert_eq!(read(r#"{"word":"a\n","flag":true}"#), (Some("a\n".into()), true));
        for other in ["1", "-1", "1.5", "null", "[1,[2]]", r#"{"a":{}}"#] {
            assert_eq!(read(&format!(r#"{{"word":{other},"flag":{other}}}"#)), (None, false));
        }
        assert_eq!(read(r#"{"word":true,"flag":"true"}"#), (None, false));
        assert_eq!(read("{}"), (None, false));
    }
}
