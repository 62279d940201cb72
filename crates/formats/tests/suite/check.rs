//! What a well-formed part is, and what is said about one that is not.

use contexture_formats::{Checker, Concatenation, ContentPosition, FormatError, MAX_DEPTH, Measure};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::slices::{check, check_every_cut};

fn message(rule: Concatenation, content: &[u8]) -> String {
    check_every_cut(rule, content).expect_err("is not well formed").to_string()
}

fn measured(rule: Concatenation, content: &str) -> Measure {
    check_every_cut(rule, content.as_bytes()).unwrap_or_else(|error| panic!("{content:?}: {error}"))
}

#[test]
fn lines_are_objects_with_blank_lines_between() {
    let rule = Concatenation::Lines;
    for (content, objects, chars) in [
        ("", 0, 0),
        ("\n \r\n\t\n", 0, 6),
        ("{}", 1, 2),
        ("{}\n", 1, 3),
        ("{\"a\":[1,{}]}\r\n\r\n  {\"b\":\"\u{e9}\u{1f600}\\n\"}  \n{}", 3, 36),
    ] {
        let expected = Measure { messages: Some(objects), bytes: content.len() as u64, chars };
        assert_eq!(measured(rule, content), expected, "{content:?}");
    }
}

#[test]
fn broken_lines_are_reported_by_line_and_column() {
    let rule = Concatenation::Lines;
    for (content, expected) in [
        ("{}\n\n[1]\n", "line 3, column 1: expected a JSON object, as every line that is not blank holds one"),
        ("{}\n  7", "line 2, column 3: expected a JSON object, as every line that is not blank holds one"),
        ("{}\n{\"a\" 1}\n", "line 2, column 6: expected ':' after a key"),
        ("{} {}\n", "line 1, column 4: expected nothing more after the line's object"),
        ("{}\n{} x", "line 2, column 4: expected nothing more after the line's object"),
        ("{\"a\":\"b\n\"}\n", "line 1, column 8: the line ends inside a string"),
        ("{\n}\n", "line 1, column 2: the line ends inside an object"),
        ("{}\n{\"a\":\"b", "line 2, column 8: the content ends inside a string"),
        ("{}\n{\"a\":{}", "line 2, column 8: the content ends inside an object"),
    ] {
        assert_eq!(message(rule, content.as_bytes()), expected, "{content:?}");
    }
}

#[test]
fn text_that_is_not_utf8_is_reported_by_the_start_of_the_character() {
    assert_eq!(message(Concatenation::Lines, b"{}\n{\"a\":\"\xE2\x82\x28\"}"), "line 2, column 7: not UTF-8");
    assert_eq!(message(Concatenation::JsonArray, b"[\"\xFF\"]"), "byte 2: not UTF-8");
    // What is wrong first is reported first.
    assert_eq!(message(Concatenation::JsonArray, b"[1 \"\xFF\"]"), "byte 3: expected ',' or ']'");
    assert_eq!(
        message(Concatenation::Lines, b"{\"a\":\"\xE2\x82"),
        "line 1, column 9: the content ends inside a character"
    );
    assert_eq!(message(Concatenation::JsonArray, b"[\"\xF0\x9F"), "byte 4: the content ends inside a character");
}

#[test]
fn a_json_array_may_have_white_space_around_it() {
    let rule = Concatenation::JsonArray;
    for (content, elements) in
        [("[]", 0), (" [ \n] ", 0), ("[1]", 1), ("[[1,2],{\"a\":[3,4]}]\n", 2), ("\t[null , \"],[\", 3.5]", 3)]
    {
        let bytes = content.len() as u64;
        assert_eq!(measured(rule, content), Measure { messages: Some(elements), bytes, chars: bytes }, "{content:?}");
    }
}

#[test]
fn what_is_not_one_json_array_is_refused() {
    let rule = Concatenation::JsonArray;
    for (content, expected) in [
        ("", "byte 0: the content ends before the array"),
        ("  ", "byte 2: the content ends before the array"),
        (" {}", "byte 1: expected an array, as the content is exactly one"),
        ("[", "byte 1: the content ends inside an array"),
        ("[ ", "byte 2: the content ends inside an array"),
        ("[1,", "byte 3: the content ends inside an array"),
        ("[\"a", "byte 3: the content ends inside a string"),
        ("[] ]", "byte 3: expected nothing more after the array"),
        ("[]\n[]", "byte 3: expected nothing more after the array"),
        ("[,1]", "byte 1: expected a JSON value"),
        ("[1,]", "byte 3: expected a JSON value"),
    ] {
        assert_eq!(message(rule, content.as_bytes()), expected, "{content:?}");
    }
}

#[test]
fn nesting_is_bounded_in_every_rule() {
    let place = |offset: usize| ContentPosition::Byte { offset: offset as u64 };
    let open = vec![b'['; MAX_DEPTH + 1];
    assert_eq!(check(Concatenation::JsonArray, &open), Err(FormatError::TooDeep { place: place(MAX_DEPTH) }));
    let open = "{\"a\":".repeat(MAX_DEPTH + 1);
    let column = (MAX_DEPTH * 5 + 1) as u64;
    let place_in_line = ContentPosition::Line { line: 1, column, offset: column - 1 };
    assert_eq!(check(Concatenation::Lines, open.as_bytes()), Err(FormatError::TooDeep { place: place_in_line }));
    for head in [0x81, 0x9F] {
        let open = vec![head; MAX_DEPTH + 1];
        assert_eq!(check(Concatenation::CborArray, &open), Err(FormatError::TooDeep { place: place(MAX_DEPTH) }));
    }
    let tags = [vec![0x81], vec![0xC1; MAX_DEPTH]].concat();
    assert_eq!(check(Concatenation::CborArray, &tags), Err(FormatError::TooDeep { place: place(MAX_DEPTH) }));
}

#[test]
fn bytes_are_anything() {
    let content = b"\xFF{[\n\x80\xE2\x82\xAC";
    let expected = Measure { messages: None, bytes: 8, chars: 5 };
    assert_eq!(check_every_cut(Concatenation::Bytes, content), Ok(expected));
}

#[test]
fn the_first_error_stays() {
    let mut checker = Checker::new(Concatenation::JsonArray);
    let error = checker.push(b"[1 2").unwrap_err();
    assert_eq!(checker.push(b"]"), Err(error));
    assert_eq!(checker.finish(), Err(error));
}

/// Bytes that mean something to one of the rules, or nothing to any.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let telling = select(b"{}[]:,\"\\u0e-. \n\r\t\xE2\x82\xAC\x00\x81\x9F\xA1\xBF\x5F\x7F\x61\xC1\xF8\xFF".as_slice());
    vec(prop_oneof![4 => telling, 1 => any::<u8>()], 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_give_one_answer_however_they_are_cut(content in content()) {
        for rule in
            [Concatenation::Lines, Concatenation::JsonArray, Concatenation::CborArray, Concatenation::Bytes]
        {
            let _answer = check_every_cut(rule, &content);
        }
    }

    #[test]
    fn every_beginning_of_a_json_array_is_truncated(text in "[a\u{e9}\\]\\[{:]{0,6}", number in any::<f32>()) {
        let content = serde_json::to_vec(&([&text], (), [(true, number.is_nan(), number)], [text.as_str(); 2])).unwrap();
        prop_assert!(check(Concatenation::JsonArray, &content).is_ok());
        for end in 0..content.len() {
            let answer = check(Concatenation::JsonArray, &content[..end]);
            prop_assert!(matches!(answer, Err(FormatError::Truncated { place, .. }) if place.offset() == end as u64), "{:?}", answer);
        }
    }
}
