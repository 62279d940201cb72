//! Joining parts is joining what they hold.

use contexture_formats::{Concatenation, ContentPosition, FormatError, JoinError, JoinPlan, Joiner, Measure};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

use crate::{
    cbor::{self, Width},
    slices::{check, join, join_every_way},
};

fn joined(plan: JoinPlan, parts: &[&str]) -> String {
    let (out, _) = join_every_way(plan, parts).unwrap();
    String::from_utf8(out).unwrap()
}

fn json(parts: &[&str]) -> String {
    joined(JoinPlan::JsonArray { parts: parts.len() as u64 }, parts)
}

#[test]
fn a_line_feed_is_added_only_between_lines() {
    for (parts, expected) in [
        (&["a\n", "b\n"][..], "a\nb\n"),
        (&["a", "b"], "a\nb"),
        (&["a", "", "", "b\n"], "a\nb\n"),
        (&["a", ""], "a"),
        (&["", "a"], "a"),
        (&["a\r\n", "\n", "b"], "a\r\n\nb"),
        (&["a\n\n", "b"], "a\n\nb"),
        (&["", ""], ""),
    ] {
        assert_eq!(joined(JoinPlan::Lines, parts), expected, "{parts:?}");
    }
}

#[test]
fn lines_are_counted_and_not_looked_into() {
    let parts: [&[u8]; 3] = [b"{}\n \n", b"not json \xFF\n", b"torn {"];
    let (out, measure) = join_every_way(JoinPlan::Lines, &parts).unwrap();
    assert_eq!(out, parts.concat());
    assert_eq!(measure, Measure { messages: Some(3), bytes: 22, chars: 22 });
}

#[test]
fn json_arrays_keep_what_is_between_their_brackets() {
    for (parts, expected) in [
        (&["[1]", "[2,3]"][..], "[1,2,3]"),
        (&["[]", "[1]", "[]", "[2]", "[]"], "[1,2]"),
        (&["[]", "[ ]"], "[]"),
        (&["[ ]", "[]"], "[ ]"),
        (&[" [\n  {\"a\": 1}\n]\n", " [\n  {\"b\" : [ ]}\n]\n"], " [\n  {\"a\": 1}\n,{\"b\" : [ ]}\n]\n"),
        (&["[\"],[\"]", "[ \"\\\"]\" , 0 ]  "], "[\"],[\",\"\\\"]\" , 0 ]  "),
        (&[" [ 1 , 2 ] \n"], " [ 1 , 2 ] \n"),
    ] {
        assert_eq!(json(parts), expected, "{parts:?}");
    }
}

#[test]
fn cbor_arrays_get_one_head() {
    let parts: [&[u8]; 4] =
        [&[0x82, 0x01, 0x80], &[0x9F, 0x61, b'a', 0xFF], &[0x80], &[0x98, 1, 0xFA, 255, 255, 255, 255]];
    let (out, measure) = join_every_way(JoinPlan::CborArray { parts: 4, elements: 4 }, &parts).unwrap();
    assert_eq!(out, [0x84, 0x01, 0x80, 0x61, b'a', 0xFA, 255, 255, 255, 255]);
    assert_eq!(measure, Measure { messages: Some(4), bytes: 10, chars: 10 });
}

#[test]
fn no_part_gives_an_empty_conversation() {
    let none: [&[u8]; 0] = [];
    let measure = |messages, bytes| Measure { messages, bytes, chars: bytes };
    for (plan, out, measure) in [
        (JoinPlan::Lines, &b""[..], measure(Some(0), 0)),
        (JoinPlan::JsonArray { parts: 0 }, b"[]", measure(Some(0), 2)),
        (JoinPlan::CborArray { parts: 0, elements: 0 }, b"\x80", measure(Some(0), 1)),
        (JoinPlan::Bytes, b"", measure(None, 0)),
    ] {
        assert_eq!(join(plan, &none, 1), Ok((out.to_vec(), measure)), "{plan:?}");
    }
}

#[test]
fn a_part_that_is_no_array_is_named() {
    let plan = JoinPlan::JsonArray { parts: 3 };
    let place = |offset| ContentPosition::Byte { offset };
    let error = join_every_way(plan, &["[1]", " {}"]).unwrap_err();
    assert_eq!(error, JoinError::Part { part: 2, source: FormatError::NotAnArray { place: place(1) } });
    assert_eq!(error.to_string(), "cannot join part 2");
    let ended = "before the array";
    let truncated = FormatError::Truncated { place: place(0), ended };
    let no_part = join_every_way(plan, &["[1]", "[]", ""]).unwrap_err();
    assert_eq!(no_part, JoinError::Part { part: 3, source: truncated });
    let plan = JoinPlan::CborArray { parts: 2, elements: 1 };
    let error = join_every_way(plan, &[[0x80, 0x80]]).unwrap_err();
    let trailing = FormatError::TrailingBytes { place: place(1), after: "the array" };
    assert_eq!(error, JoinError::Part { part: 1, source: trailing });
}

#[test]
fn a_plan_that_does_not_hold_is_an_error() {
    let two = JoinPlan::JsonArray { parts: 2 };
    assert_eq!(join_every_way(two, &["[1]"]), Err(JoinError::Parts { planned: 2, found: 1 }));
    assert_eq!(join_every_way(two, &["[1]", "[2]", "[3]"]), Err(JoinError::Parts { planned: 2, found: 3 }));
    let plan = JoinPlan::CborArray { parts: 2, elements: 3 };
    assert_eq!(join_every_way(plan, &[[0x81, 1], [0x81, 2]]), Err(JoinError::Elements { planned: 3, found: 2 }));
    // One part comes out as it is, so nothing depends on the count.
    let plan = JoinPlan::CborArray { parts: 1, elements: 3 };
    assert!(join_every_way(plan, &[[0x81, 1]]).is_ok());
}

fn objects() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![any::<i32>().prop_map(Value::from), "[a\\]\\[,\"\u{e9}\n]{0,6}".prop_map(Value::from)];
    vec(("[a-c\"]{1,2}", prop_oneof![leaf.clone(), vec(leaf, 0..3).prop_map(Value::from)]), 0..3)
        .prop_map(|pairs| Value::Object(pairs.into_iter().collect()))
}

/// Arrays and how each is written.
fn written_arrays() -> impl Strategy<Value = Vec<(Vec<Value>, String)>> {
    let space = || "[ \n\t\r]{0,2}";
    let array = (vec(objects(), 0..4), any::<bool>(), space(), space(), space());
    let written = array.prop_map(|(values, pretty, before, inside, after)| {
        let text = if pretty { serde_json::to_string_pretty(&values) } else { serde_json::to_string(&values) }.unwrap();
        let text = format!("{before}[{inside}{}{after}", &text[1..]);
        (values, text)
    });
    vec(written, 0..5)
}

/// Joins written arrays the plain way, with the whole of each at hand.
fn join_texts(texts: &[&str]) -> String {
    let mut out = String::new();
    let mut has_elements = false;
    for (n, text) in texts.iter().enumerate() {
        let (open, close) = (text.find('[').unwrap() + 1, text.rfind(']').unwrap());
        let elements = text[open..close].trim_start();
        if n == 0 {
            out.push_str(&text[..close]);
        } else if !elements.is_empty() {
            out.push_str(if has_elements { "," } else { "" });
            out.push_str(elements);
        }
        has_elements |= !elements.is_empty();
        if n + 1 == texts.len() {
            out.push_str(&text[close..]);
        }
    }
    if texts.is_empty() { "[]".into() } else { out }
}

/// Bytes of which many are line feeds and white space.
fn line_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(select(b"{}a\n\n \r\xC3\xA9".as_slice()), 0..8)
}

/// Counts the parts that lack their final line feed and have bytes after them.
fn open_ends(parts: &[Vec<u8>]) -> usize {
    let with_bytes: Vec<&Vec<u8>> = parts.iter().filter(|part| !part.is_empty()).collect();
    let followed = with_bytes.split_last().map_or(&[][..], |(_, followed)| followed);
    followed.iter().filter(|part| !part.ends_with(b"\n")).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn json_parts_join_to_the_elements_of_all(arrays in written_arrays()) {
        let texts: Vec<&str> = arrays.iter().map(|(_, text)| text.as_str()).collect();
        let plan = JoinPlan::JsonArray { parts: texts.len() as u64 };
        let (out, measure) = join_every_way(plan, &texts).unwrap();
        prop_assert_eq!(String::from_utf8(out.clone()).unwrap(), join_texts(&texts));
        let values: Vec<&Value> = arrays.iter().flat_map(|(values, _)| values).collect();
        let parsed: Vec<Value> = serde_json::from_slice(&out).unwrap();
        prop_assert_eq!(parsed.iter().collect::<Vec<_>>(), values);
        prop_assert_eq!(check(Concatenation::JsonArray, &out), Ok(measure));
    }

    #[test]
    fn cbor_parts_join_to_the_elements_of_all(
        arrays in vec((vec(cbor::items(), 0..4), cbor::widths()), 0..4),
    ) {
        let parts: Vec<Vec<u8>> = arrays.iter().map(|(items, width)| cbor::array(items, *width)).collect();
        let items: Vec<cbor::Item> = arrays.iter().flat_map(|(items, _)| items.clone()).collect();
        let plan = JoinPlan::CborArray { parts: parts.len() as u64, elements: items.len() as u64 };
        let (out, measure) = join_every_way(plan, &parts).unwrap();
        let expected = if let [part] = &parts[..] { part.clone() } else { cbor::array(&items, Width::Shortest) };
        prop_assert_eq!(&out, &expected);
        prop_assert_eq!(check(Concatenation::CborArray, &out), Ok(measure));
    }

    #[test]
    fn line_parts_join_to_the_lines_of_all(parts in vec(line_bytes(), 0..5)) {
        let (out, measure) = join_every_way(JoinPlan::Lines, &parts).unwrap();
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            let blank = |line: &&[u8]| line.iter().all(|byte| b" \r\t".contains(byte));
            bytes.split(|byte| *byte == b'\n').filter(|line| !blank(line)).map(<[u8]>::to_vec).collect()
        };
        let all: Vec<Vec<u8>> = parts.iter().flat_map(|part| lines(part)).collect();
        prop_assert_eq!(lines(&out), &all[..]);
        let chars = out.iter().filter(|byte| **byte != 0xA9).count() as u64;
        prop_assert_eq!(measure, Measure { messages: Some(all.len() as u64), bytes: out.len() as u64, chars });
        let kept: Vec<u8> = parts.concat();
        prop_assert_eq!(out.last(), kept.last());
        let added = open_ends(&parts);
        prop_assert_eq!(out.len(), kept.len() + added);
    }

    #[test]
    fn a_single_part_comes_out_as_it_went_in(
        lines in line_bytes(),
        arrays in written_arrays(),
        items in vec(cbor::items(), 0..4),
        width in cbor::widths(),
    ) {
        let encoded = cbor::array(&items, width);
        let mut singles = vec![
            (JoinPlan::Lines, lines.as_slice()),
            (JoinPlan::Bytes, lines.as_slice()),
            (JoinPlan::CborArray { parts: 1, elements: 0 }, encoded.as_slice()),
        ];
        singles.extend(arrays.iter().map(|(_, text)| (JoinPlan::JsonArray { parts: 1 }, text.as_bytes())));
        for (plan, part) in singles {
            let (out, _) = join_every_way(plan, &[part]).unwrap();
            prop_assert_eq!(out.as_slice(), part, "{:?}", plan);
        }
    }

    #[test]
    fn no_bytes_in_no_order_make_it_panic(
        steps in vec(prop_oneof![3 => line_bytes().prop_map(Some), 1 => vec(any::<u8>(), 0..4).prop_map(Some), 2 => Just(None)], 0..12),
        parts in 0..4u64,
        elements in any::<u64>(),
    ) {
        let plans =
            [JoinPlan::Lines, JoinPlan::JsonArray { parts }, JoinPlan::CborArray { parts, elements }, JoinPlan::Bytes];
        for plan in plans {
            let mut joiner = Joiner::new(plan);
            for step in &steps {
                let _answer = match step {
                    Some(bytes) => joiner.push(bytes).map(|_| ()),
                    None => joiner.end_part(),
                };
            }
            let _answer = joiner.finish();
        }
    }
}
