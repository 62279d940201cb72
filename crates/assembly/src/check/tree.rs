//! JSON that is read with a look at every name, because a name that stands twice in an object is lost otherwise.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How many names that stand twice are kept.
const MAX_TWICE: usize = 100;

/// A document and the names that stand twice in one of its objects.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) value: Value,
    /// The ways to them, outermost first.
    pub(super) twice: Vec<Vec<Step>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Field(String),
    Item(usize),
}

/// Reads one document. Nesting is bounded by the parser.
pub(super) fn read(json: &[u8]) -> Result<Tree, serde_json::Error> {
    let mut watch = Watch::default();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = Node(&mut watch).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Tree { value, twice: watch.twice })
}

#[derive(Default)]
struct Watch {
    at: Vec<Step>,
    twice: Vec<Vec<Step>>,
}

struct Node<'w>(&'w mut Watch);

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            self.0.at.push(Step::Item(list.len()));
            let item = items.next_element_seed(Node(self.0))?;
            self.0.at.pop();
            match item {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            self.0.at.push(Step::Field(name.clone()));
            let value = fields.next_value_seed(Node(self.0))?;
            if object.contains_key(&name) && self.0.twice.len() < MAX_TWICE {
                self.0.twice.push(self.0.at.clone());
            }
            self.0.at.pop();
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_that_stands_twice_is_found() {
        let tree = read(br#"{"a": [{"b": 1, "b": 2}], "a": null}"#).unwrap();
        assert_eq!(tree.value, json!({"a": null}));
        let field = |name: &str| Step::Field(name.to_owned());
        assert_eq!(tree.twice, [vec![field("a"), Step::Item(0), field("b")], vec![field("a")]]);
    }

    #[test]
    fn nesting_is_bounded() {
        for open in ["[", "{\"a\":"] {
            assert!(read(open.repeat(1_000_000).as_bytes()).is_err());
        }
    }

    proptest! {
        #[test]
        fn it_reads_what_others_read(bytes in proptest::collection::vec(proptest::sample::select(&b"{}[],:\"a1-.e tnulf"[..]), 0..24)) {
            let expected = serde_json::from_slice::<Value>(&bytes).ok();
            prop_assert_eq!(read(&bytes).ok().map(|tree| tree.value), expected);
        }
    }
}
