//! Searches for what users describe. It takes a pass for each of their rules that the table's search cannot find.

use memchr::memmem::Finder;

use crate::{Mark, UserRule, assignment, found::Found, found::Strength, tokens::TokenShape};

/// What the rules of a user look for.
#[derive(Debug, Default)]
pub(crate) struct Users {
    prefixes: Vec<(Finder<'static>, TokenShape)>,
    keywords: Vec<(Finder<'static>, usize, UserRule)>,
}

impl Users {
    pub(crate) fn add(&mut self, rule: &UserRule, index: usize) {
        match &rule.mark {
            Mark::Prefix(prefix) => {
                let shape = TokenShape::of_user(prefix, rule.alphabet, rule.length, index);
                self.prefixes.push((Finder::new(prefix.as_bytes()).into_owned(), shape));
            }
            Mark::Keywords(words) => {
                for word in words {
                    let capital = word[..1].to_ascii_uppercase() + &word[1..];
                    for form in [word.clone(), word.to_ascii_uppercase(), capital] {
                        self.keywords.push((Finder::new(form.as_bytes()).into_owned(), index, rule.clone()));
                    }
                }
            }
        }
    }

    pub(crate) fn find(&self, bytes: &[u8], found: &mut Vec<Found>) {
        for (finder, shape) in &self.prefixes {
            for start in finder.find_iter(bytes) {
                if crate::tokens::begins(bytes, start)
                    && let Some(end) = shape.end(bytes, start)
                {
                    found.push(Found { start, end, rule: shape.rule, strength: Strength::Itself });
                }
            }
        }
        for (finder, index, rule) in &self.keywords {
            for at in finder.find_iter(bytes) {
                let end = at + finder.needle().len();
                found.extend(assignment::of_user(bytes, at, end, rule).map(|(start, end)| Found {
                    start,
                    end,
                    rule: *index,
                    strength: Strength::Context,
                }));
            }
        }
    }
}
