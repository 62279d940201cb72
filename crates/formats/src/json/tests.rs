use proptest::{collection::vec, prelude::*, sample::select};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::*;

/// Says whether the slices are one whole value, or at which byte they stop being one.
fn scan_slices<'s>(slices: impl IntoIterator<Item = &'s [u8]>) -> Result<bool, (usize, FaultKind)> {
    let mut scanner = Scanner::new();
    let mut offset = 0;
    for slice in slices {
        let taken = scanner.push(slice).map_err(|fault| (offset + fault.at, fault.kind))?;
        let rest = &slice[taken..];
        assert!(rest.is_empty() || scanner.is_complete(), "bytes are left only after the value");
        let space = scan::space(rest);
        if space < rest.len() {
            return Err((offset + taken + space, FaultKind::Unexpected("the end")));
        }
        offset += slice.len();
    }
    Ok(scanner.unfinished().is_none())
}

fn accepts(text: &[u8]) -> bool {
    scan_slices([text]) == Ok(true)
}

fn serde_json_accepts(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

fn fault(text: &str) -> (usize, FaultKind) {
    scan_slices([text.as_bytes()]).unwrap_err()
}

#[test]
fn values_at_the_edges_of_the_grammar_are_taken_as_serde_json_takes_them() {
    let texts = [
        "",
        " ",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "-a",
        "1.",
        "1.0",
        ".5",
        "1e",
        "1e+",
        "1E-0",
        "1e5.0",
        "+1",
        "1 ",
        "1 2",
        "1x",
        "123456789012345678901234567890",
        "1e999999",
        "0x10",
        "NaN",
        "Infinity",
        "true",
        "tru",
        "truex",
        "True",
        "null ",
        "nul",
        "nulll",
        "false",
        "fals ",
        "\"\"",
        "\"",
        "\"a",
        "'a'",
        r#""\n""#,
        r#""\x""#,
        r#""\"#,
        r#""\u12"#,
        r#""\u12g4""#,
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        r#""\uABCD""#,
        "\"\t\"",
        "\"\x1f\"",
        "\"\x7f\"",
        "\"\u{e9}\"",
        "[]",
        "[ ]",
        "[,]",
        "[1,]",
        "[1 2]",
        "[1,2]",
        "[}",
        "{]",
        "[",
        "]",
        "{}",
        "{ }",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1,\"b\":2}",
        "{1:2}",
        "{\"a\" : [ { } , [ ] ] }",
        "\u{feff}{}",
        "{}{}",
        "[1]]",
        "\x0b1",
        "\u{a0}1",
        "//1",
    ];
    for text in texts {
        assert_eq!(accepts(text.as_bytes()), serde_json_accepts(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn a_fault_is_at_the_byte_that_does_not_belong() {
    let unexpected = |at, reason| (at, FaultKind::Unexpected(reason));
    assert_eq!(fault("[1,]"), unexpected(3, "expected a JSON value"));
    assert_eq!(fault("{\"a\":1,}"), unexpected(7, "expected a key in double quotes"));
    assert_eq!(fault("{\"a\" 1}"), unexpected(5, "expected ':' after a key"));
    assert_eq!(fault("{\"a\":1]"), unexpected(6, "expected ',' or '}'"));
    assert_eq!(fault("[1 2]"), unexpected(3, "expected ',' or ']'"));
    assert_eq!(fault("[-x]"), unexpected(2, "expected a digit"));
    assert_eq!(fault("[nuxl]"), unexpected(3, "expected true, false or null"));
    assert_eq!(fault("\"\n\""), unexpected(1, "a control character in a string has to be escaped"));
    assert_eq!(fault(r#""\x""#), unexpected(2, "expected one of \"\\/bfnrtu after a backslash"));
    assert_eq!(fault(r#""\u00g0""#), unexpected(5, "expected four hex digits after \\u"));
}

#[test]
fn nesting_ends_at_the_bound() {
    let nested = |levels: usize| {
        let opened = (0..levels).map(|n| if n % 3 == 0 { "{\"a\":" } else { "[" }).collect::<String>();
        let closed = (0..levels).rev().map(|n| if n % 3 == 0 { '}' } else { ']' }).collect::<String>();
        format!("{opened}0{closed}")
    };
    assert!(accepts(nested(MAX_DEPTH).as_bytes()));
    let too_deep = nested(MAX_DEPTH + 1);
    let at = too_deep.find('0').unwrap() - 1;
    assert_eq!(fault(&too_deep), (at, FaultKind::TooDeep));
}

#[test]
fn what_is_left_open_is_named() {
    for (text, open) in [
        ("", Some("before a value")),
        ("[\"a", Some("inside a string")),
        ("[\"a\\u1", Some("inside a string")),
        ("{\"a\":tr", Some("inside a literal")),
        ("[1.", Some("inside a number")),
        ("[1,", Some("inside an array")),
        ("[{\"a\":1", Some("inside a number")),
        ("[{\"a\":{}", Some("inside an object")),
        ("[{\"a\":{}}]", None),
        ("12", None),
        ("-", Some("inside a number")),
    ] {
        let mut scanner = Scanner::new();
        scanner.push(text.as_bytes()).unwrap();
        assert_eq!(scanner.unfinished(), open, "{text}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a\"\\\\\n\u{e9}\u{1f600}]{0,10}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a\\\\]{0,3}", inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Texts that are JSON, almost JSON, or made of its tokens.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let whole = || {
        (values(), any::<bool>()).prop_map(|(value, pretty)| {
            if pretty { serde_json::to_vec_pretty(&value).unwrap() } else { serde_json::to_vec(&value).unwrap() }
        })
    };
    let byte = || select(b"{}[]:,\"\\/u0123eE+-.tfnaA \n\t\x1f\x80\xff".as_slice());
    let mutated =
        (whole(), vec((any::<prop::sample::Index>(), byte(), 0..3u8), 1..4)).prop_map(|(mut text, changes)| {
            for (index, byte, change) in changes {
                let at = index.index(text.len().max(1));
                match change {
                    0 if at < text.len() => text[at] = byte,
                    1 if at < text.len() => drop(text.remove(at)),
                    _ => text.insert(at.min(text.len()), byte),
                }
            }
            text
        });
    let cut = (whole(), any::<prop::sample::Index>()).prop_map(|(mut text, index)| {
        text.truncate(index.index(text.len()));
        text
    });
    let tokens = ["{", "}", "[", "]", ",", ":", "\"k\"", "\"\\u00e9\"", "-1.5e+3", "0", "true", "null", "\"", " "];
    let soup = vec(select(tokens.to_vec()), 0..10).prop_map(|tokens| tokens.concat().into_bytes());
    prop_oneof![whole(), mutated, cut, soup]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn accepts_exactly_what_serde_json_accepts(text in texts()) {
        prop_assert_eq!(accepts(&text), serde_json_accepts(&text), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn slices_give_the_answer_of_the_whole(text in texts()) {
        let whole = scan_slices([text.as_slice()]);
        prop_assert_eq!(&scan_slices(text.chunks(1)), &whole);
        for cut in 0..=text.len() {
            let (head, tail) = text.split_at(cut);
            prop_assert_eq!(&scan_slices([head, tail]), &whole, "cut at {}", cut);
        }
    }
}
