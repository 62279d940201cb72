//! CBOR against a generator of well-formed items and a second, recursive reader.

use contexture_formats::{Concatenation, ContentPosition, FormatError, Measure};
use proptest::{collection::vec, prelude::*, sample};

use crate::slices::{check, check_every_cut};

/// An item and the freedom that its encoding has.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// An unsigned or negative integer, a simple value or a float: a first byte and the bytes of its argument.
    Plain(Vec<u8>),
    Text(Vec<u8>, Width),
    /// A byte string in pieces.
    Pieces(Vec<Vec<u8>>),
    Array(Vec<Item>, Width),
    Map(Vec<(Item, Item)>, Width),
    Tag(u8, Box<Item>),
}

/// How a length is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Width {
    Shortest,
    EightBytes,
    /// Not at all: a break ends the item. A text takes it for the shortest.
    Open,
}

impl Item {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Plain(bytes) => bytes.clone(),
            Self::Text(text, width) => {
                let width = if matches!(width, Width::Open) { Width::Shortest } else { *width };
                [head(0x60, text.len(), width), text.clone()].concat()
            }
            Self::Pieces(pieces) => {
                let pieces =
                    pieces.iter().map(|piece| [head(0x40, piece.len(), Width::Shortest), piece.clone()].concat());
                [vec![0x5F], pieces.collect::<Vec<_>>().concat(), vec![0xFF]].concat()
            }
            Self::Array(items, width) => {
                enclose(0x80, items.len(), *width, &items.iter().map(Self::encode).collect::<Vec<_>>().concat())
            }
            Self::Map(pairs, width) => {
                let inner = pairs.iter().map(|(key, value)| [key.encode(), value.encode()].concat());
                enclose(0xA0, pairs.len(), *width, &inner.collect::<Vec<_>>().concat())
            }
            Self::Tag(tag, item) => [vec![0xC0 | tag], item.encode()].concat(),
        }
    }
}

/// Returns an array of the items.
pub(crate) fn array(items: &[Item], width: Width) -> Vec<u8> {
    Item::Array(items.to_vec(), width).encode()
}

fn enclose(kind: u8, len: usize, width: Width, inner: &[u8]) -> Vec<u8> {
    let end: &[u8] = if matches!(width, Width::Open) { &[0xFF] } else { &[] };
    [&head(kind, len, width), inner, end].concat()
}

fn head(kind: u8, len: usize, width: Width) -> Vec<u8> {
    let short = u8::try_from(len).expect("the generator makes nothing long");
    match width {
        Width::Shortest if short < 24 => vec![kind | short],
        Width::Shortest => vec![kind | 0x18, short],
        Width::EightBytes => vec![kind | 0x1B, 0, 0, 0, 0, 0, 0, 0, short],
        Width::Open => vec![kind | 0x1F],
    }
}

pub(crate) fn widths() -> impl Strategy<Value = Width> {
    prop_oneof![3 => Just(Width::Shortest), 1 => Just(Width::EightBytes), 1 => Just(Width::Open)]
}

pub(crate) fn items() -> impl Strategy<Value = Item> {
    let plain = prop_oneof![
        (0x00..=0x17u8).prop_map(|first| vec![first]),
        (0x20..=0x37u8).prop_map(|first| vec![first]),
        (0xE0..=0xF7u8).prop_map(|first| vec![first]),
        (32..=255u8).prop_map(|simple| vec![0xF8, simple]),
        any::<u16>().prop_map(|half| [&[0xF9], &half.to_be_bytes()[..]].concat()),
        any::<u32>().prop_map(|int| [&[0x1A], &int.to_be_bytes()[..]].concat()),
        any::<u64>().prop_map(|int| [&[0x3B], &int.to_be_bytes()[..]].concat()),
        any::<f64>().prop_map(|float| [&[0xFB], &float.to_be_bytes()[..]].concat()),
    ];
    let leaf = prop_oneof![
        plain.prop_map(Item::Plain),
        (vec(any::<u8>(), 0..30), widths()).prop_map(|(text, width)| Item::Text(text, width)),
        vec(vec(any::<u8>(), 0..4), 0..3).prop_map(Item::Pieces),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..4), widths()).prop_map(|(items, width)| Item::Array(items, width)),
            (vec((inner.clone(), inner.clone()), 0..3), widths()).prop_map(|(pairs, width)| Item::Map(pairs, width)),
            (0..24u8, inner).prop_map(|(tag, item)| Item::Tag(tag, Box::new(item))),
        ]
    })
}

/// What is wrong with bytes that are not one array.
#[derive(Debug, PartialEq, Eq)]
enum Flaw {
    Truncated,
    Malformed,
    Trailing,
    NotAnArray,
}

impl From<FormatError> for Flaw {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Truncated { .. } => Self::Truncated,
            FormatError::NotCbor { .. } => Self::Malformed,
            FormatError::TrailingBytes { .. } => Self::Trailing,
            FormatError::NotAnArray { .. } => Self::NotAnArray,
            other => panic!("{other}: not an error that these bytes can have"),
        }
    }
}

/// Reads one array the plain way, with the whole of it at hand, and returns how many elements it has.
fn read_array(bytes: &[u8]) -> Result<u64, Flaw> {
    let first = *bytes.first().ok_or(Flaw::Truncated)?;
    if first >> 5 != 4 {
        return Err(Flaw::NotAnArray);
    }
    let mut rest = bytes;
    let elements = read_item(&mut rest)?;
    if rest.is_empty() { Ok(elements) } else { Err(Flaw::Trailing) }
}

/// Reads one item and returns how many items or pairs it has if it holds any.
fn read_item(rest: &mut &[u8]) -> Result<u64, Flaw> {
    let first = take(rest, 1)?[0];
    let (major, detail) = (first >> 5, first & 31);
    let argument = match detail {
        0..=23 => u64::from(detail),
        24..=27 => {
            let bytes = take(rest, 1 << (detail - 24))?;
            bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
        }
        31 => return read_open(rest, major),
        _ => return Err(Flaw::Malformed),
    };
    match major {
        2 | 3 => take(rest, argument).map(|_| 0),
        4 | 5 => {
            for _ in 0..argument {
                for _ in 4..=major {
                    read_item(rest)?;
                }
            }
            Ok(argument)
        }
        6 => read_item(rest).map(|_| 0),
        7 if detail == 24 && argument < 32 => Err(Flaw::Malformed),
        _ => Ok(0),
    }
}

fn read_open(rest: &mut &[u8], major: u8) -> Result<u64, Flaw> {
    if !matches!(major, 2..=5) {
        return Err(Flaw::Malformed);
    }
    let mut count = 0;
    loop {
        let next = *rest.first().ok_or(Flaw::Truncated)?;
        if next == 0xFF {
            take(rest, 1)?;
            return Ok(count);
        }
        if major < 4 && (next >> 5 != major || next & 31 == 31) {
            return Err(Flaw::Malformed);
        }
        read_item(rest)?;
        if major == 5 {
            read_item(rest)?;
        }
        count += 1;
    }
}

fn take<'b>(rest: &mut &'b [u8], len: u64) -> Result<&'b [u8], Flaw> {
    let len = usize::try_from(len).ok().filter(|len| *len <= rest.len()).ok_or(Flaw::Truncated)?;
    let (taken, after) = rest.split_at(len);
    *rest = after;
    Ok(taken)
}

#[test]
fn what_is_not_one_well_formed_array_is_reported_by_its_byte() {
    for (content, expected) in [
        (&[][..], "byte 0: the content ends before the array"),
        (&[0xA0], "byte 0: expected an array, as the content is exactly one"),
        (&[0xD9, 0xD9, 0xF7, 0x80], "byte 0: expected an array, as the content is exactly one"),
        (&[0x99, 0], "byte 2: the content ends inside the head of an item"),
        (&[0x82, 0x01], "byte 2: the content ends inside an array, a map, a tag or a string in pieces"),
        (&[0x81, 0x62, b'a'], "byte 3: the content ends inside a string"),
        (&[0x80, 0x80], "byte 1: expected nothing more after the array"),
        (&[0x9F, 0xFF, 0xFF], "byte 2: expected nothing more after the array"),
        (&[0x81, 0x1C], "byte 1: the low five bits of an item's first byte are reserved"),
        (&[0x9E], "byte 0: the low five bits of an item's first byte are reserved"),
        (&[0x81, 0x1F], "byte 1: only strings, arrays and maps may have an open length"),
        (&[0x81, 0xDF], "byte 1: only strings, arrays and maps may have an open length"),
        (&[0x81, 0xFF], "byte 1: a break where an item is missing"),
        (&[0x9F, 0xC1, 0xFF], "byte 2: a break where an item is missing"),
        (&[0x81, 0xBF, 0x01, 0xFF], "byte 3: a map ends between a key and its value"),
        (
            &[0x81, 0x7F, 0x41, 0x00, 0xFF],
            "byte 2: a string in pieces holds only strings of its own kind and known length",
        ),
        (
            &[0x81, 0x5F, 0x5F, 0xFF, 0xFF],
            "byte 2: a string in pieces holds only strings of its own kind and known length",
        ),
        (&[0x81, 0xF8, 0x1F], "byte 1: a simple value below 32 has to be in the first byte"),
    ] {
        let answer = check_every_cut(Concatenation::CborArray, content);
        assert_eq!(answer.map_err(|error| error.to_string()), Err(expected.to_owned()), "{content:02x?}");
    }
}

#[test]
fn a_length_that_nothing_could_have_is_not_believed() {
    let huge = [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
    for kind in [0x9B, 0xBB, 0x5B] {
        let content = [&[0x81, kind], &huge[1..], &[0x00, 0x00]].concat();
        let ended =
            if kind == 0x5B { "inside a string" } else { "inside an array, a map, a tag or a string in pieces" };
        let expected = FormatError::Truncated { place: ContentPosition::Byte { offset: 12 }, ended };
        assert_eq!(check_every_cut(Concatenation::CborArray, &content), Err(expected));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_well_formed_array_passes_and_its_beginnings_and_continuations_do_not(
        items in vec(items(), 0..5),
        width in widths(),
        more in any::<u8>(),
    ) {
        let content = array(&items, width);
        let bytes = content.len() as u64;
        let expected = Measure { messages: Some(items.len() as u64), bytes, chars: bytes };
        prop_assert_eq!(check_every_cut(Concatenation::CborArray, &content), Ok(expected));
        for end in 0..content.len() {
            let answer = check(Concatenation::CborArray, &content[..end]);
            prop_assert!(
                matches!(answer, Err(FormatError::Truncated { place, .. }) if place.offset() == end as u64),
                "{answer:?} at {end}"
            );
        }
        let trailing = FormatError::TrailingBytes { place: ContentPosition::Byte { offset: bytes }, after: "the array" };
        prop_assert_eq!(check(Concatenation::CborArray, &[content, vec![more]].concat()), Err(trailing));
    }

    #[test]
    fn a_changed_array_is_taken_as_the_recursive_reader_takes_it(
        items in vec(items(), 0..5),
        width in widths(),
        changes in vec((any::<sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut content = array(&items, width);
        for (index, byte) in changes {
            let at = index.index(content.len());
            content[at] = byte;
        }
        let answer = check_every_cut(Concatenation::CborArray, &content);
        let elements = answer.map(|measure| measure.messages.unwrap()).map_err(Flaw::from);
        prop_assert_eq!(elements, read_array(&content), "{:02x?}", content);
    }
}
