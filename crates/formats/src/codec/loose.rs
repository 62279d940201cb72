//! Reading records of which every field may be missing or something else than expected.
//!
//! Runtimes change what they write with every version. A field that is not what it was is read as absent, so that the
//! rest of its record still counts. Nothing is built that nobody asked for.

use std::{borrow::Cow, fmt, marker::PhantomData};

use contexture_core::Timestamp;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Value, value::RawValue};

use crate::RecordProblem;

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
        .or_else(|error| match without_lone_surrogates(record) {
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
pub(super) fn part<'a, T: Deserialize<'a> + Default>(raw: &'a RawValue) -> serde_json::Result<T> {
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

/// Reads a value as the user's own JSON.
///
/// What is nested too deep to be held as a value becomes the text of its JSON.
pub(super) fn value(raw: &RawValue) -> Value {
    let json = raw.get();
    serde_json::from_str(json).unwrap_or_else(|_| {
        without_lone_surrogates(json.as_bytes())
            .and_then(|repaired| serde_json::from_slice(&repaired).ok())
            .unwrap_or_else(|| Value::String(json.to_owned()))
    })
}

/// Returns the JSON with `\ufffd` in the place of every surrogate that has no partner, if there is one.
fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < json.len() {
        at += match (json[at], surrogate(&json[at..])) {
            (b'\\', None) => 2,
            (_, None) => 1,
            (_, Some(0xD800..=0xDBFF)) if matches!(surrogate(&json[at + 6..]), Some(0xDC00..)) => 12,
            (_, Some(_)) => {
                repaired.get_or_insert_with(|| json.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
        };
    }
    repaired
}

/// Returns the surrogate whose escape the bytes begin with.
fn surrogate(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let hex = |unit: u16, digit: &u8| Some(unit << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?);
    digits.iter().try_fold(0, hex).filter(|unit| (0xD800..=0xDFFF).contains(unit))
}

/// Makes a visitor read everything that is neither an array nor an object as the same.
macro_rules! scalars_are {
    ($value:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Field::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Field::Count(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Field::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Field::Other)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip(list)?;
        Ok(Field::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Other)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    scalars_are!(None);

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        skip(list)?;
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

impl<'de, T: Deserialize<'de> + Wanted> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstVisitor(PhantomData))
    }
}

struct FirstVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Wanted> Visitor<'de> for FirstVisitor<T> {
    type Value = First<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    scalars_are!(First::NoList);

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(First::NoList)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while let Some(Object(element)) = list.next_element::<Object<T>>()? {
            if let Some(wanted) = element.filter(Wanted::is_wanted) {
                skip(list)?;
                return Ok(First::Some(wanted));
            }
        }
        Ok(First::None)
    }
}

fn skip<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
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
}
