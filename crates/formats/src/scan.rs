//! Searches over bytes, eight at a time where it pays.

/// Every byte is 1.
const ONES: u64 = u64::MAX / 255;
/// The highest bit of every byte.
const HIGHS: u64 = ONES << 7;

/// Returns where the first line feed is.
pub(crate) fn newline(bytes: &[u8]) -> Option<usize> {
    let at = find(bytes, |word| equal(word, b'\n'), |byte| byte == b'\n');
    (at < bytes.len()).then_some(at)
}

/// Returns how many bytes of a JSON string come before a quote, a backslash or a control character.
pub(crate) fn plain_text(bytes: &[u8]) -> usize {
    let below_space = |word: u64| word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    find(
        bytes,
        |word| equal(word, b'"') | equal(word, b'\\') | below_space(word),
        |byte| byte == b'"' || byte == b'\\' || byte < 0x20,
    )
}

/// Returns how many bytes of JSON white space the bytes start with.
pub(crate) fn space(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_space(**byte)).count()
}

/// Says whether JSON allows the byte between tokens.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Counts the UTF-16 code units that UTF-8 would become: one for each byte that starts a character, and another where
/// that character has four bytes.
pub(crate) fn utf16_units(bytes: &[u8]) -> u64 {
    // A block's count fits in a byte, which lets the compiler count sixteen bytes in one instruction.
    const BLOCK: usize = 127;
    let units = |byte: &u8| u8::from(byte & 0xC0 != 0x80) + u8::from(byte & 0xF8 == 0xF0);
    let in_block = |block: &[u8]| block.iter().fold(0u8, |count, byte| count + units(byte));
    bytes.chunks(BLOCK).map(|block| u64::from(in_block(block))).sum()
}

/// Marks the high bit of bytes that equal `byte`. Only the lowest mark is sure; those above it may be false.
const fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * byte as u64);
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

/// Returns the first position that `marks` or `wanted` tell, or the length.
fn find(bytes: &[u8], marks: impl Fn(u64) -> u64, wanted: impl Fn(u8) -> bool) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return n * 8 + (marks.trailing_zeros() / 8) as usize;
        }
    }
    let before = words.len() * 8;
    before + tail.iter().position(|byte| wanted(*byte)).unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Bytes around every bound that the searches compare with.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let near = prop::sample::select(
            [0, 9, 10, 11, 31, 32, 33, 34, 35, 91, 92, 93, 127, 128, 138, 160, 162, 191, 192, 220, 239, 240, 255]
                .as_slice(),
        );
        vec(prop_oneof![3 => Just(b'a'), 1 => near], 0..400)
    }

    proptest! {
        #[test]
        fn searches_agree_with_a_look_at_every_byte(bytes in bytes()) {
            prop_assert_eq!(newline(&bytes), bytes.iter().position(|b| *b == b'\n'));
            let stop = bytes.iter().position(|b| *b < 32 || *b == b'"' || *b == b'\\');
            prop_assert_eq!(plain_text(&bytes), stop.unwrap_or(bytes.len()));
        }

        #[test]
        fn units_are_those_of_utf16(text in "[a\u{e9}\u{20ac}\u{1f600}]{0,400}") {
            prop_assert_eq!(utf16_units(text.as_bytes()), text.encode_utf16().count() as u64);
            // What is no text counts at most two for a byte, and never overflows.
            let broken = vec![0xF0; text.len()];
            prop_assert_eq!(utf16_units(&broken), 2 * text.len() as u64);
        }
    }
}
