//! What kind of letter a character is, as far as it decides where a text is split.

/// The classes a character belongs to, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Classes(u8);

impl Classes {
    /// No class: signs, and the end of a text.
    pub(super) const NONE: Self = Self(0);
    /// Letters that begin a word: upper case and title case.
    pub(super) const UPPER: Self = Self(1);
    /// Letters that go on with a word: lower case.
    pub(super) const LOWER: Self = Self(1 << 1);
    /// Letters that know no case.
    pub(super) const CASELESS: Self = Self(1 << 2);
    /// Marks upon letters.
    pub(super) const MARK: Self = Self(1 << 3);
    /// Digits and other numbers.
    pub(super) const NUMBER: Self = Self(1 << 4);
    /// White space, line ends included.
    pub(super) const SPACE: Self = Self(1 << 5);
    /// What ends a line.
    pub(super) const NEWLINE: Self = Self(1 << 6);
    /// All letters.
    pub(super) const LETTER: Self = Self::UPPER.or(Self::LOWER).or(Self::CASELESS);

    /// Returns the classes of both.
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tells whether they have a class in common.
    pub(super) const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the classes of a character.
    pub(super) fn of(character: char) -> Self {
        let code = character as usize;
        Self(CLASSES[usize::from(BLOCKS[code >> 8]) << 8 | (code & 0xff)])
    }

    /// Returns the classes of a character of ASCII.
    pub(super) fn of_ascii(byte: u8) -> Self {
        Self(CLASSES[usize::from(byte)])
    }
}

/// The block of each 256 characters; characters of ASCII are in the first.
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/letters.blocks"));
/// The classes of the characters of each block.
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/letters.classes"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_in_the_classes_of_unicode() {
        let classes =
            ['A', 'ǅ', 'a', 'ß', 'ʰ', '日', '\u{300}', '7', '½', ' ', '\u{3000}', '\n', '!', '😀'].map(Classes::of);
        let newline = Classes::SPACE.or(Classes::NEWLINE);
        let (none, number) = (Classes::NONE, Classes::NUMBER);
        let expected = [
            Classes::UPPER,
            Classes::UPPER,
            Classes::LOWER,
            Classes::LOWER,
            Classes::CASELESS,
            Classes::CASELESS,
            Classes::MARK,
            number,
            number,
            Classes::SPACE,
            Classes::SPACE,
            newline,
            none,
            none,
        ];
        assert_eq!(classes, expected);
    }

    #[test]
    fn a_byte_of_ascii_is_in_the_classes_of_its_character() {
        for byte in 0..128 {
            assert_eq!(Classes::of_ascii(byte), Classes::of(char::from(byte)));
        }
    }
}
