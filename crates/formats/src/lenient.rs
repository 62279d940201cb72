//! Values that are read where they have the expected type and passed over where they have not.
//!
//! Runtimes change their formats without notice. A field of another type than expected must not cost the whole record.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// Text, if it is text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word<'a>(pub(crate) Option<Cow<'a, str>>);

/// True, if it is `true`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

impl Word<'_> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the text, unless it is empty.
    pub(crate) fn owned(&self) -> Option<String> {
        self.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

macro_rules! pass_over {
    ($nothing:expr) => {
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
            while elements.next_element::<IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($nothing)
        }
    };
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Word<'de>, E> {
        Ok(Word(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Word<'de>, E> {
        Ok(Word(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Word<'de>, E> {
        Ok(Word(None))
    }

    pass_over!(Word(None));
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Flag, E> {
        Ok(Flag(flag))
    }

    fn visit_str<E>(self, _: &str) -> Result<Flag, E> {
        Ok(Flag(false))
    }

    pass_over!(Flag(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_another_type_is_passed_over() {
        #[derive(Deserialize)]
        struct Record<'a> {
            #[serde(borrow, default)]
            word: Word<'a>,
            #[serde(default)]
            flag: Flag,
        }
        fn read(json: &str) -> (Option<String>, bool) {
            let record: Record<'_> = serde_json::from_str(json).unwrap();
            (record.word.owned(), record.flag.0)
        }
        assert_eq!(read(r#"{"word":"a\n","flag":true}"#), (Some("a\n".into()), true));
        for other in ["1", "-1", "1.5", "null", "[1,[2]]", r#"{"a":{}}"#] {
            assert_eq!(read(&format!(r#"{{"word":{other},"flag":{other}}}"#)), (None, false));
        }
        assert_eq!(read(r#"{"word":true,"flag":"true"}"#), (None, false));
        assert_eq!(read("{}"), (None, false));
    }
}
