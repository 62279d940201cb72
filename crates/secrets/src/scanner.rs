//! The detector.

use std::borrow::Cow;

use crate::{
    AllowList, Placeholder, RuleId, UserRules,
    anchors::Anchors,
    assignment::Assignments,
    escape, escaped_code,
    families::{MARKED, families},
    found::{Found, resolve},
    tokens::{TokenShape, Tokens},
    users::Users,
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
    anchors: Anchors,
    assignments: Assignments,
    users: Users,
    allow: AllowList,
}

impl Scanner {
    /// Makes a scanner for every family that is known.
    pub fn new() -> Self {
        Self::with_rules(&UserRules::default())
    }

    /// Makes a scanner for every family that is known and for what a user adds, less what the user allows.
    pub fn with_rules(user: &UserRules) -> Self {
        let mut rules = Vec::new();
        let mut shapes = Vec::new();
        let mut named = Vec::new();
        for family in families() {
            shapes.extend(family.shapes.iter().map(|shape| TokenShape::new(shape, rules.len())));
            named.extend(family.context.map(|context| (rules.len(), context)));
            rules.push(family.rule());
        }
        // The table ends with those that are recognised one by one.
        let marked = rules.len() - MARKED.len();
        let mut users = Users::default();
        for rule in &user.rules {
            users.add(rule, rules.len());
            rules.push(rule.id.clone());
        }
        Self {
            rules,
            tokens: Tokens::new(shapes, marked),
            anchors: Anchors::new(),
            assignments: Assignments { named, marked },
            users,
            allow: user.allow.clone(),
        }
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
        let mut codes = self.look(bytes, &mut found);
        codes.retain(|&code| escaped_code::hides(bytes, code));
        for decoded in escaped_code::decode(bytes, &codes) {
            let mut hidden = Vec::new();
            self.look(&decoded.text, &mut hidden);
            hidden.retain(|one| !Placeholder::touches(&decoded.text, one.start, one.end));
            found.extend(hidden.into_iter().map(|one| decoded.place(one)));
        }
        found.retain(|one| !Placeholder::touches(bytes, one.start, one.end) && !self.allows(bytes, *one));
        found
    }

    fn allows(&self, bytes: &[u8], found: Found) -> bool {
        if self.allow.rules.contains(&self.rules[found.rule]) {
            return true;
        }
        if self.allow.values.is_empty() && self.allow.prefixes.is_empty() {
            return false;
        }
        let value = escape::plain(&bytes[found.start..found.end]);
        self.allow.values.iter().any(|allowed| allowed.as_bytes() == &*value)
            || self.allow.prefixes.iter().any(|allowed| value.starts_with(allowed.as_bytes()))
    }

    /// Reports what stands in some bytes, and returns where characters are escaped by their number.
    fn look(&self, bytes: &[u8], found: &mut Vec<Found>) -> Vec<usize> {
        self.tokens.find(bytes, found);
        self.users.find(bytes, found);
        self.anchors.find(bytes, &self.tokens, &self.assignments, found)
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
