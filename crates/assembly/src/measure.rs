//! How long a text is: in tokens, and in the characters that limits are written in.

use std::{fmt, iter::Sum, ops::Add};

use serde::Serialize;

macro_rules! count {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(u64);

        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// Takes a number as such a count.
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// Returns the number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// Returns how much more this is than another count; nothing where it is not more.
            #[must_use]
            pub const fn beyond(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
                counts.fold(Self::ZERO, Add::add)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

count!(
    /// A number of tokens, as some counter counts them.
    TokenCount
);
count!(
    /// A number of characters, each a UTF-16 code unit: what JavaScript calls a string's length.
    CharCount
);

/// All lengths of something, or the room for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// In tokens.
    pub tokens: TokenCount,
    /// In characters.
    pub chars: CharCount,
    /// In bytes.
    pub bytes: u64,
    /// In items.
    pub items: u64,
}

impl Size {
    /// Room for anything.
    pub const MAX: Self =
        Self { tokens: TokenCount::new(u64::MAX), chars: CharCount::new(u64::MAX), bytes: u64::MAX, items: u64::MAX };

    /// Tells whether something of another size fits into this one.
    pub fn holds(&self, other: &Self) -> bool {
        other.tokens <= self.tokens
            && other.chars <= self.chars
            && other.bytes <= self.bytes
            && other.items <= self.items
    }

    /// Returns the first length that is more than there is room for, by its noun, with how much it is and how much it may
    /// be.
    pub(crate) fn exceeding(&self, room: &Self) -> Option<(&'static str, u64, u64)> {
        let lengths = [
            ("token", self.tokens.get(), room.tokens.get()),
            ("item", self.items, room.items),
            ("byte", self.bytes, room.bytes),
            ("character", self.chars.get(), room.chars.get()),
        ];
        lengths.into_iter().find(|(_, length, room)| length > room)
    }

    /// Returns a part of the room; items are not shared.
    #[must_use]
    pub fn share(&self, parts: u64) -> Self {
        let parts = parts.max(1);
        Self {
            tokens: TokenCount::new(self.tokens.get() / parts),
            chars: CharCount::new(self.chars.get() / parts),
            bytes: self.bytes / parts,
            items: self.items,
        }
    }

    /// Returns what is left when something is taken away.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self {
            tokens: self.tokens.beyond(other.tokens),
            chars: self.chars.beyond(other.chars),
            bytes: self.bytes.saturating_sub(other.bytes),
            items: self.items.saturating_sub(other.items),
        }
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            chars: self.chars + other.chars,
            bytes: self.bytes.saturating_add(other.bytes),
            items: self.items.saturating_add(other.items),
        }
    }
}

impl CharCount {
    /// Measures a text.
    pub fn of(text: &str) -> Self {
        // A character of four bytes is two units, and every other is one. The sum of a block fits into a byte, so that many
        // bytes are looked at together.
        const BLOCK: usize = 64;
        let units = |byte: &u8| u8::from(byte & 0xC0 != 0x80) + u8::from(*byte >= 0xF0);
        let sum = |bytes: &[u8]| u64::from(bytes.iter().map(units).sum::<u8>());
        let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
        Self(blocks.iter().map(|block| sum(block)).sum::<u64>() + sum(rest))
    }
}

/// Returns the longest beginning of a text that has no more characters than that; none of them is cut in two.
pub(crate) fn head(text: &str, max_chars: CharCount) -> &str {
    let mut length = 0;
    let end = text.char_indices().find_map(|(place, letter)| {
        length += letter.len_utf16() as u64;
        (length > max_chars.get()).then_some(place)
    });
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_character_is_cut_in_two() {
        let cut = |max| head("a😀é😀", CharCount::new(max));
        assert_eq!((0..=7).map(cut).collect::<Vec<_>>(), ["", "a", "a", "a😀", "a😀é", "a😀é", "a😀é😀", "a😀é😀"]);
    }

    proptest! {
        #[test]
        fn characters_are_utf16_code_units(text in "\\PC*") {
            prop_assert_eq!(CharCount::of(&text).get(), text.encode_utf16().count() as u64);
        }

        #[test]
        fn a_head_is_as_long_as_allowed(text in "\\PC*", max in 0u64..40) {
            let kept = head(&text, CharCount::new(max));
            prop_assert!(text.starts_with(kept) && CharCount::of(kept).get() <= max);
            let next = text[kept.len()..].chars().next();
            prop_assert!(next.is_none_or(|next| CharCount::of(kept).get() + next.len_utf16() as u64 > max));
        }
    }
}
