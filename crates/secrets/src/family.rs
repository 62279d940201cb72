//! What a kind of secret looks like, as facts: prefix, alphabet, length, checksum.

use crate::{Alphabet, RuleId};

/// A kind of secret and how it is recognised.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// What findings, placeholders and allow lists call it.
    pub id: &'static str,
    /// What it is, for people.
    pub name: &'static str,
    /// The ways in which such secrets are written.
    pub shapes: &'static [Shape],
    /// How it is recognised where it has no prefix of its own.
    pub context: Option<Context>,
}

impl Family {
    /// Returns the id as findings carry it.
    pub const fn rule(&self) -> RuleId {
        RuleId::built_in(self.id)
    }
}

/// A secret that says itself what it is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// What it starts with.
    pub prefix: &'static str,
    /// What follows, in order.
    pub parts: &'static [Part],
    /// What must be true of it as a whole.
    pub check: ShapeCheck,
}

/// A stretch of a secret. It takes as many characters as it may.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// So many characters of an alphabet, at least and at most.
    Of(Alphabet, usize, usize),
    /// Exactly this text.
    Text(&'static str),
}

/// What must be true of a secret beyond its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShapeCheck {
    /// Nothing.
    Shape,
    /// Digits and letters follow the prefix, or many letters that are no words, and they do not repeat as examples do.
    Mixed,
    /// The last six characters are the CRC32 of the thirty before them, in base 62, or else it is mixed.
    Crc32,
    /// Its first part is the header of a JSON web token.
    JsonWebToken,
}

/// A secret without a prefix: an assignment whose name says whose it is and whose value has the right form.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Words of which the name has one, in small letters, without `_` and `-`.
    pub words: &'static [&'static str],
    /// What the value is made of.
    pub alphabet: Alphabet,
    /// The least and greatest length of the value.
    pub length: (usize, usize),
}

/// Describes secrets with prefixes.
pub(crate) const fn prefixed(id: &'static str, name: &'static str, shapes: &'static [Shape]) -> Family {
    Family { id, name, shapes, context: None }
}

/// Describes secrets that only the name of what they are assigned to tells apart.
pub(crate) const fn named(
    id: &'static str,
    name: &'static str,
    words: &'static [&'static str],
    alphabet: Alphabet,
    length: (usize, usize),
) -> Family {
    Family { id, name, shapes: &[], context: Some(Context { words, alphabet, length }) }
}

/// A prefix and one stretch of an alphabet.
pub(crate) const fn shape(prefix: &'static str, parts: &'static [Part]) -> Shape {
    Shape { prefix, parts, check: ShapeCheck::Mixed }
}

/// A prefix and parts of which the table knows more than their form.
pub(crate) const fn checked(prefix: &'static str, parts: &'static [Part], check: ShapeCheck) -> Shape {
    Shape { prefix, parts, check }
}
