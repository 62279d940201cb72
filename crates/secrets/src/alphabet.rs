//! Sets of characters that secrets are made of.

/// A set of ASCII characters, held as the classes that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alphabet(u16);

const LOW_DIGIT: u16 = 1;
const DIGIT_OF_BASE32: u16 = 1 << 1;
const LOWER_HEX: u16 = 1 << 2;
const LOWER_REST: u16 = 1 << 3;
const UPPER_HEX: u16 = 1 << 4;
const UPPER_REST: u16 = 1 << 5;
const UNDERSCORE: u16 = 1 << 6;
const HYPHEN: u16 = 1 << 7;
const DOT: u16 = 1 << 8;
const PLUS_SLASH: u16 = 1 << 9;
const EQUALS: u16 = 1 << 10;
const TILDE: u16 = 1 << 11;
const PERCENT: u16 = 1 << 12;
const DOLLAR: u16 = 1 << 13;
const COLON: u16 = 1 << 14;

/// The classes of every byte.
const CLASSES: [u16; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'0' | b'1' | b'8' | b'9' => LOW_DIGIT,
            b'2'..=b'7' => DIGIT_OF_BASE32,
            b'a'..=b'f' => LOWER_HEX,
            b'g'..=b'z' => LOWER_REST,
            b'A'..=b'F' => UPPER_HEX,
            b'G'..=b'Z' => UPPER_REST,
            b'_' => UNDERSCORE,
            b'-' => HYPHEN,
            b'.' => DOT,
            b'+' | b'/' => PLUS_SLASH,
            b'=' => EQUALS,
            b'~' => TILDE,
            b'%' => PERCENT,
            b'$' => DOLLAR,
            b':' => COLON,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

impl Alphabet {
    /// `0` to `9`.
    pub const DIGITS: Self = Self(LOW_DIGIT | DIGIT_OF_BASE32);
    /// Digits and `a` to `f`.
    pub const HEX: Self = Self(Self::DIGITS.0 | LOWER_HEX);
    /// Digits and `A` to `F`.
    pub const UPPER_HEX: Self = Self(Self::DIGITS.0 | UPPER_HEX);
    /// Letters.
    pub const LETTERS: Self = Self(LOWER_HEX | LOWER_REST | UPPER_HEX | UPPER_REST);
    /// Capital letters and digits.
    pub const UPPER: Self = Self(Self::DIGITS.0 | UPPER_HEX | UPPER_REST);
    /// Small letters and digits.
    pub const LOWER: Self = Self(Self::DIGITS.0 | LOWER_HEX | LOWER_REST);
    /// Capital letters and the digits 2 to 7.
    pub const BASE32: Self = Self(DIGIT_OF_BASE32 | UPPER_HEX | UPPER_REST);
    /// Letters and digits.
    pub const ALNUM: Self = Self(Self::DIGITS.0 | Self::LETTERS.0);
    /// Letters, digits, `_` and `-`.
    pub const WORD: Self = Self(Self::ALNUM.0 | UNDERSCORE | HYPHEN);
    /// Letters, digits, `_`, `-` and `.`.
    pub const DOTTED: Self = Self(Self::WORD.0 | DOT);
    /// Letters, digits, `_`, `-` and `=`.
    pub const PADDED_WORD: Self = Self(Self::WORD.0 | EQUALS);
    /// Letters, digits, `+`, `/` and `=`.
    pub const BASE64: Self = Self(Self::ALNUM.0 | PLUS_SLASH | EQUALS);
    /// Letters, digits, `-`, `_`, `.` and `~`.
    pub const UNRESERVED: Self = Self(Self::DOTTED.0 | TILDE);
    /// Hex digits and `-`, as identifiers of 128 bits are written.
    pub const UUID: Self = Self(Self::HEX.0 | HYPHEN);

    /// The alphabets that users may name.
    pub(crate) const NAMED: [(&str, Self); 11] = [
        ("digits", Self::DIGITS),
        ("hex", Self::HEX),
        ("letters", Self::LETTERS),
        ("upper", Self::UPPER),
        ("lower", Self::LOWER),
        ("base32", Self::BASE32),
        ("alnum", Self::ALNUM),
        ("word", Self::WORD),
        ("dotted", Self::DOTTED),
        ("base64", Self::BASE64),
        ("unreserved", Self::UNRESERVED),
    ];

    /// Tells whether a byte is one of the characters.
    #[inline]
    pub const fn has(self, byte: u8) -> bool {
        CLASSES[byte as usize] & self.0 != 0
    }

    /// Tells whether every character of the other is one of these.
    pub const fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Tells how many bytes at the start are of the alphabet, looking at no more than so many.
    pub fn reach(self, bytes: &[u8], most: usize) -> usize {
        let bytes = &bytes[..bytes.len().min(most)];
        bytes.iter().position(|&byte| !self.has(byte)).unwrap_or(bytes.len())
    }
}
