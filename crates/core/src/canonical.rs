//! Canonical JSON: one value, one text (RFC 8785).

use serde::Serialize;

/// Returns the canonical JSON bytes of a value.
///
/// Fails when the value has no JSON form: a map with keys that are not text, or a number that is not finite.
pub fn to_vec<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    serde_json_canonicalizer::to_vec(value)
}

#[cfg(test)]
mod tests {
    use proptest::{collection, prelude::*};
    use serde_json::{Value, json};

    use super::*;

    fn text(value: &Value) -> String {
        String::from_utf8(to_vec(value).unwrap()).unwrap()
    }

    #[test]
    fn keys_sort_by_utf16_code_unit_at_every_depth() {
        let value = json!({"b": {"\u{20ac}": 1, "\u{1f600}": 2, "\u{fb33}": 3, "10": 4, "9": 5}, "a": []});
        assert_eq!(text(&value), "{\"a\":[],\"b\":{\"10\":4,\"9\":5,\"\u{20ac}\":1,\"\u{1f600}\":2,\"\u{fb33}\":3}}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_writes_them() {
        let value = json!([-0.0, 1.0, 1e21, 1e20, 1e-6, 1e-7, 5e-324, 0.1, 9_007_199_254_740_991_i64]);
        assert_eq!(text(&value), "[0,1,1e+21,100000000000000000000,0.000001,1e-7,5e-324,0.1,9007199254740991]");
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-(1i64 << 53) + 1..1 << 53).prop_map(Value::from),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                collection::btree_map(".{0,6}", inner, 0..8).prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_text_is_a_fixed_point(value in values()) {
            let once = text(&value);
            let again = text(&serde_json::from_str(&once).unwrap());
            prop_assert_eq!(once, again);
        }
    }
}
