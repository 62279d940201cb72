//! UTF-8 validation of text that arrives in slices.

use std::str;

/// Holds back a character that a slice ends in the middle of.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    carry: [u8; 4],
    carried: usize,
    /// How many bytes were validated, those held back not among them.
    offset: u64,
}

/// What of the bytes so far is now known to be valid: first the character held back, then the text.
#[derive(Debug)]
pub(crate) struct Validated<'s> {
    character: [u8; 4],
    character_len: usize,
    pub(crate) text: &'s [u8],
    /// Where the character after them starts if it is broken.
    pub(crate) broken_at: Option<u64>,
}

impl Validated<'_> {
    pub(crate) fn character(&self) -> &[u8] {
        &self.character[..self.character_len]
    }
}

impl Utf8 {
    pub(crate) fn push<'s>(&mut self, bytes: &'s [u8]) -> Validated<'s> {
        let mut validated = Validated { character: [0; 4], character_len: 0, text: &[], broken_at: None };
        let mut rest = bytes;
        while self.carried > 0 {
            let Some((&byte, after)) = rest.split_first() else {
                return validated;
            };
            rest = after;
            self.carry[self.carried] = byte;
            self.carried += 1;
            match str::from_utf8(&self.carry[..self.carried]) {
                Ok(_) => {
                    (validated.character, validated.character_len) = (self.carry, self.carried);
                    self.offset += self.carried as u64;
                    self.carried = 0;
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.carried = 0;
                    validated.broken_at = Some(self.offset);
                    return validated;
                }
            }
        }
        validated.text = rest;
        if let Err(error) = str::from_utf8(rest) {
            let (text, tail) = rest.split_at(error.valid_up_to());
            validated.text = text;
            if error.error_len().is_some() {
                validated.broken_at = Some(self.offset + text.len() as u64);
            } else {
                self.carry[..tail.len()].copy_from_slice(tail);
                self.carried = tail.len();
            }
        }
        self.offset += validated.text.len() as u64;
        validated
    }

    /// Says whether the bytes so far end inside a character.
    pub(crate) const fn is_open(&self) -> bool {
        self.carried > 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn run(slices: &[&[u8]]) -> (Vec<u8>, Option<u64>, bool) {
        let mut utf8 = Utf8::default();
        let mut text = Vec::new();
        for slice in slices {
            let validated = utf8.push(slice);
            text.extend_from_slice(validated.character());
            text.extend_from_slice(validated.text);
            if validated.broken_at.is_some() {
                return (text, validated.broken_at, false);
            }
        }
        (text, None, utf8.is_open())
    }

    proptest! {
        #[test]
        fn slices_give_the_answer_of_the_whole(
            bytes in prop_oneof![vec(any::<u8>(), 0..12), ".{0,6}".prop_map(String::into_bytes)],
            keep in 0..20usize,
        ) {
            let bytes = &bytes[..keep.min(bytes.len())];
            let (text, broken_at, open) = match str::from_utf8(bytes) {
                Ok(_) => (bytes.to_vec(), None, false),
                Err(error) => {
                    let valid = error.valid_up_to();
                    let broken = error.error_len().is_some();
                    (bytes[..valid].to_vec(), broken.then_some(valid as u64), !broken)
                }
            };
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(run(&single), (text.clone(), broken_at, open));
            for cut in 0..=bytes.len() {
                let (head, tail) = bytes.split_at(cut);
                prop_assert_eq!(run(&[head, tail]), (text.clone(), broken_at, open), "cut at {}", cut);
            }
        }
    }
}
