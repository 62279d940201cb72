//! Records come out whole and in place, however the bytes of a session are cut.

use contexture_formats::{Framing, RawRecord, RecordProblem, SectionRule, Splitter};
use proptest::{collection::vec, prelude::*};

use crate::cbor::{self, Width};

const MAX: u64 = 1 << 20;

/// A record that outlives its slice.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    bytes: Vec<u8>,
    offset: u64,
    number: u64,
    is_unfinished: bool,
}

impl From<RawRecord<'_>> for Kept {
    fn from(RawRecord { bytes, offset, number, is_unfinished, .. }: RawRecord<'_>) -> Self {
        Self { bytes: bytes.to_vec(), offset, number, is_unfinished }
    }
}

type Split = (Vec<Kept>, Result<(), RecordProblem>);

fn split<'s>(framing: Framing, slices: impl IntoIterator<Item = &'s [u8]>) -> Split {
    let mut records = Vec::new();
    let mut keep = |record: RawRecord<'_>| records.push(Kept::from(record));
    let mut splitter = Splitter::new(framing, MAX);
    for slice in slices {
        if let Err(problem) = splitter.push(slice, &mut keep) {
            assert_eq!(splitter.push(b"[]", &mut |_| panic!("nothing follows")), Err(problem.clone()));
            return (records, Err(problem));
        }
    }
    let finished = splitter.finish(&mut keep);
    (records, finished)
}

/// Splits the content whole, byte by byte and in two, checks that the answers are the same, and returns it.
fn split_every_way(framing: Framing, content: &[u8]) -> Split {
    let whole = split(framing, [content]);
    assert_eq!(split(framing, content.chunks(1)), whole, "byte by byte");
    for cut in 0..=content.len() {
        let (head, tail) = content.split_at(cut);
        assert_eq!(split(framing, [head, tail]), whole, "cut at {cut}");
    }
    for Kept { bytes, offset, .. } in &whole.0 {
        let at = usize::try_from(*offset).unwrap();
        assert_eq!(&content[at..at + bytes.len()], bytes, "a record is where it says");
    }
    whole
}

fn texts((records, finished): &Split) -> Vec<&str> {
    assert_eq!(*finished, Ok(()));
    records.iter().map(|record| std::str::from_utf8(&record.bytes).unwrap()).collect()
}

#[test]
fn lines_keep_their_line_feeds_and_a_last_one_without_is_marked() {
    let (records, finished) = split_every_way(Framing::Lines, b"{}\n\n{\"a\":\r\n{");
    finished.unwrap();
    let kept =
        |bytes: &[u8], offset, number, is_unfinished| Kept { bytes: bytes.into(), offset, number, is_unfinished };
    assert_eq!(
        records,
        [
            kept(b"{}\n", 0, 1, false),
            kept(b"\n", 3, 2, false),
            kept(b"{\"a\":\r\n", 4, 3, false),
            kept(b"{", 11, 4, true),
        ]
    );
    assert_eq!(split(Framing::Lines, [&b""[..]]), (vec![], Ok(())));
}

#[test]
fn blank_lines_are_told_apart() {
    let mut blank = Vec::new();
    let mut splitter = Splitter::new(Framing::Lines, MAX);
    splitter.push(b"\n {}\n \t\r\n", &mut |record| blank.push(record.is_blank())).unwrap();
    assert_eq!(blank, [true, false, true]);
}

#[test]
fn elements_of_a_json_array_come_without_what_is_between_them() {
    let content = b" [ {\"a\":[1,\"]\"]} ,\n-1.5e3,\"x\\\"\",[],null , 12 ]\n";
    let split = split_every_way(Framing::JsonArray, content);
    assert_eq!(texts(&split), ["{\"a\":[1,\"]\"]}", "-1.5e3", "\"x\\\"\"", "[]", "null", "12"]);
    assert_eq!(split.0.iter().map(|record| record.offset).collect::<Vec<_>>(), [3, 19, 26, 32, 35, 42]);
    assert_eq!(texts(&split_every_way(Framing::JsonArray, b"[]")), [""; 0]);
}

#[test]
fn the_elements_before_a_broken_one_are_handed_on() {
    for (content, elements, problem) in [
        (&b"[1,{}x]"[..], 2, "byte 5: expected ',' or ']'"),
        (b"[1 2]", 1, "byte 3: expected ',' or ']'"),
        (b"[1,]", 1, "byte 3: expected a JSON value"),
        (b"[1,{\"a\"]", 1, "byte 7: expected ':' after a key"),
        (b"{}", 0, "byte 0: expected an array, as the content is exactly one"),
        (b"[1] 2", 1, "byte 4: expected nothing more after the array"),
        (b"[1,{", 1, "byte 4: the content ends inside an object"),
        (b"[12", 0, "byte 3: the content ends inside an array"),
        (b"", 0, "byte 0: the content ends before the array"),
    ] {
        let (records, finished) = split_every_way(Framing::JsonArray, content);
        assert_eq!((records.len(), finished.unwrap_err().to_string().as_str()), (elements, problem));
    }
    let (records, finished) = split_every_way(Framing::CborArray, &[0x83, 0x01, 0x82, 0x02, 0x03, 0x1F]);
    assert_eq!(records.iter().map(|record| record.bytes.clone()).collect::<Vec<_>>(), [vec![1], vec![0x82, 2, 3]]);
    assert!(finished.is_err());
}

#[test]
fn a_document_is_one_record_up_to_its_bound() {
    let mut splitter = Splitter::new(Framing::Document, 6);
    let mut documents = Vec::new();
    splitter.push(b"{\"a", &mut |_| panic!("it has not ended")).unwrap();
    splitter.push(b"\":", &mut |_| panic!("it has not ended")).unwrap();
    splitter.finish(&mut |record| documents.push(Kept::from(record))).unwrap();
    assert_eq!(documents, [Kept { bytes: b"{\"a\":".to_vec(), offset: 0, number: 1, is_unfinished: false }]);

    let mut splitter = Splitter::new(Framing::Document, 6);
    splitter.push(b"123456", &mut |_| panic!("it has not ended")).unwrap();
    let problem = splitter.push(b"7", &mut |_| panic!("it is too large")).unwrap_err();
    assert_eq!(problem.to_string(), "the document has more than 6 bytes");
    assert_eq!(splitter.finish(&mut |_| panic!("it is too large")), Err(problem));
}

#[test]
fn a_record_beyond_the_bound_is_told_without_its_bytes() {
    let cases: [(Framing, &[u8], u64); 4] = [
        (Framing::Lines, b"123\n12345678\n12\n", 9),
        (Framing::JsonArray, b"[1,\"345678\",2]", 8),
        (Framing::CborArray, &[0x83, 1, 0x66, b'a', b'b', b'c', b'd', b'e', b'f', 2], 7),
        (Framing::Document, b"1234567", 7),
    ];
    for (framing, bytes, long) in cases {
        for slice in 1..=bytes.len() {
            let mut sizes = Vec::new();
            let mut take = |record: RawRecord<'_>| {
                assert_eq!(record.is_too_long(), record.size > 6);
                assert!(record.is_too_long() || record.bytes.len() as u64 == record.size);
                assert_eq!((sizes.len() + 1) as u64, record.number);
                sizes.push(record.size);
            };
            let mut splitter = Splitter::bounded(framing, 6);
            bytes.chunks(slice).for_each(|piece| splitter.push(piece, &mut take).unwrap());
            splitter.finish(&mut take).unwrap();
            assert!(sizes.contains(&long), "{framing:?} {slice} {sizes:?}");
            assert_eq!(sizes.len(), if framing == Framing::Document { 1 } else { 3 });
        }
    }
}

#[test]
fn a_line_in_many_slices_costs_no_more_than_its_length() {
    // A rescan of the line with every slice would look at 64 TiB here.
    let line = vec![b'a'; 32 << 20];
    let mut lengths = Vec::new();
    let mut splitter = Splitter::new(Framing::Lines, MAX);
    for slice in line.chunks(8) {
        splitter.push(slice, &mut |_| panic!("it has not ended")).unwrap();
    }
    splitter.push(b"\n", &mut |record| lengths.push(record.bytes.len())).unwrap();
    assert_eq!(lengths, [line.len() + 1]);
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&["1", "-0.5", "null", "true", "\"\"", "\"a,]}\"", "\"\\\"\"", " { } "][..]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(" , "))),
            inner.prop_map(|value| format!("{{\"k\" :{value}}}")),
        ]
    })
}

proptest! {
    #[test]
    fn lines_add_up_to_the_input(content in vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..60)) {
        let (records, finished) = split_every_way(Framing::Lines, &content);
        prop_assert_eq!(finished, Ok(()));
        let joined: Vec<u8> = records.iter().flat_map(|record| record.bytes.clone()).collect();
        prop_assert_eq!(joined, content);
        for (n, record) in records.iter().enumerate() {
            prop_assert_eq!(record.number, n as u64 + 1);
            let feed = record.bytes.iter().position(|byte| *byte == b'\n');
            prop_assert_eq!(feed, (!record.is_unfinished).then_some(record.bytes.len() - 1));
        }
    }

    #[test]
    fn elements_of_json_arrays_come_back(elements in vec(json(), 0..6)) {
        let content = format!("[{}]", elements.join(","));
        let trimmed: Vec<&str> = elements.iter().map(|element| element.trim()).collect();
        let split = split_every_way(Framing::JsonArray, content.as_bytes());
        prop_assert_eq!(texts(&split), trimmed);
    }

    #[test]
    fn elements_of_cbor_arrays_come_back(items in vec(cbor::items(), 0..5), width in cbor::widths()) {
        let (records, finished) = split_every_way(Framing::CborArray, &cbor::array(&items, width));
        prop_assert_eq!(finished, Ok(()));
        let elements: Vec<Vec<u8>> = items.iter().map(cbor::Item::encode).collect();
        prop_assert_eq!(records.into_iter().map(|record| record.bytes).collect::<Vec<_>>(), elements);
    }

    #[test]
    fn whatever_the_bytes_cutting_changes_nothing(
        content in vec(prop_oneof![any::<u8>(), prop::sample::select(&b"[]{},:\"1 \x82\x9f\xff"[..])], 0..24)
    ) {
        let sections = [SectionRule::Aider, SectionRule::SpecStory].map(Framing::Sections);
        for framing in [Framing::Lines, Framing::JsonArray, Framing::CborArray, Framing::Document].into_iter().chain(sections) {
            let (records, _) = split_every_way(framing, &content);
            prop_assert!(records.len() <= content.len().max(1));
        }
    }
}

#[test]
fn an_array_of_open_length_ends_at_its_break() {
    let items = [cbor::Item::Plain(vec![0x01]), cbor::Item::Text(b"ab".to_vec(), Width::Shortest)];
    let (records, finished) = split_every_way(Framing::CborArray, &cbor::array(&items, Width::Open));
    finished.unwrap();
    assert_eq!(records.iter().map(|record| (record.offset, record.number)).collect::<Vec<_>>(), [(1, 1), (2, 2)]);
}
