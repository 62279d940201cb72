//! The detector.

use std::borrow::Cow;

use crate::{
    Placeholder, RuleId, escape,
    families::families,
    found::{Found, resolve},
    tokens::{TokenShape, Tokens},
};

/// A secret in some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSpan {
    /// Where it begins.
    pub start: usize,
    /// How many bytes it takes as it is written, escapes included.
    pub length: usize,
    /// What kind of secret it is.
    pub rule: RuleId,
}

impl SecretSpan {
    /// Returns the first byte after it.
    pub fn end(&self) -> usize {
        self.start + self.length
    }
}

/// Finds secrets in bytes of any kind.
///
/// It looks only at the neighbourhood of what could be a secret, so the time is linear in the content, whatever it is.
#[derive(Debug)]
pub struct Scanner {
    rules: Vec<RuleId>,
    tokens: Tokens,
}

impl Scanner {
    /// Makes a scanner for every family that is known.
    pub fn new() -> Self {
        let mut rules = Vec::new();
        let mut shapes = Vec::new();
        for family in families() {
            shapes.extend(family.shapes.iter().map(|shape| TokenShape::new(shape, rules.len())));
            rules.push(family.rule());
        }
        Self { rules, tokens: Tokens::new(shapes) }
    }

    /// Returns the secrets in some content, in order; none overlaps another.
    ///
    /// A span never takes a part of an escape sequence or of a character, nor the quote that ends a JSON string. So JSON
    /// stays JSON when placeholders stand for spans. A placeholder is never a secret.
    pub fn scan(&self, bytes: &[u8]) -> Vec<SecretSpan> {
        resolve(self.candidates(bytes)).into_iter().map(|found| self.span(found)).collect()
    }

    /// Returns what a secret is once no escape is left: the same value, however often it was quoted.
    pub fn value<'b>(&self, bytes: &'b [u8], span: &SecretSpan) -> Cow<'b, [u8]> {
        escape::plain(&bytes[span.start..span.end()])
    }

    pub(crate) fn candidates(&self, bytes: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        self.tokens.find(bytes, &mut found);
        found.retain(|one| !Placeholder::touches(bytes, one.start, one.end));
        found
    }

    pub(crate) fn rule(&self, found: Found) -> RuleId {
        self.rules[found.rule].clone()
    }

    fn span(&self, found: Found) -> SecretSpan {
        SecretSpan { start: found.start, length: found.end - found.start, rule: self.rule(found) }
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}
