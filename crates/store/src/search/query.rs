//! Queries: one language for every engine.

use std::{fmt::Write as _, ops::Range, str::FromStr};

use super::word_split::{Words, fold};
use crate::sql::Dialect;

/// Most words and phrases of a query.
const MAX_TERMS: usize = 64;

/// What a text must hold and must not hold: `word`, `"a phrase"`, `pre*`, and each with `-` before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    required: Vec<Term>,
    excluded: Vec<Term>,
}

/// Words that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    /// As they are compared. Never empty.
    words: Vec<String>,
    /// Whether the last of them may go on.
    is_prefix: bool,
}

/// Says why a text is no query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It has no words.
    #[error("{text:?} holds no word to look for")]
    Empty {
        /// The text.
        text: String,
    },
    /// It only says what must not be there.
    #[error("{text:?} only says what must not be there")]
    OnlyExcluded {
        /// The text.
        text: String,
    },
    /// A phrase does not end.
    #[error("the phrase {phrase} does not end with a quotation mark")]
    OpenPhrase {
        /// The phrase.
        phrase: String,
    },
    /// It has too many words.
    #[error("a query has at most {MAX_TERMS} words and phrases")]
    TooLong,
}

impl FromStr for Query {
    type Err = QueryError;

    fn from_str(text: &str) -> Result<Self, QueryError> {
        let mut query = Self { required: Vec::new(), excluded: Vec::new() };
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let excludes = |after: &str| after.starts_with(|first: char| first == '"' || first.is_alphanumeric());
            let side = match rest.strip_prefix('-').filter(|after| excludes(after)) {
                Some(after) => {
                    rest = after;
                    &mut query.excluded
                }
                None => &mut query.required,
            };
            let (term, after) = next_term(rest)?;
            side.extend(term);
            rest = after.trim_start();
        }
        if query.required.len() + query.excluded.len() > MAX_TERMS {
            return Err(QueryError::TooLong);
        }
        match (query.required.is_empty(), query.excluded.is_empty()) {
            (true, true) => Err(QueryError::Empty { text: text.to_owned() }),
            (true, false) => Err(QueryError::OnlyExcluded { text: text.to_owned() }),
            (false, _) => Ok(query),
        }
    }
}

/// Takes a phrase or a word off a text that is not empty.
fn next_term(text: &str) -> Result<(Option<Term>, &str), QueryError> {
    let (words, rest) = if let Some(phrase) = text.strip_prefix('"') {
        phrase.split_once('"').ok_or_else(|| QueryError::OpenPhrase { phrase: text.to_owned() })?
    } else {
        let parts = |letter: char| letter == '"' || letter == '*' || letter.is_whitespace();
        text.split_at(text.find(parts).unwrap_or(text.len()))
    };
    let after = rest.strip_prefix('*');
    let is_prefix = after.is_some() && words.ends_with(char::is_alphanumeric);
    Ok((Term::of(words, is_prefix), after.unwrap_or(rest)))
}

impl Query {
    /// Returns the places in a text that it matches, as ranges of bytes with the number of the term, by where they start.
    pub fn find(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let ranges: Vec<Range<usize>> = Words::of(text).collect();
        let mut folded = Vec::with_capacity(ranges.len());
        for range in &ranges {
            let mut word = String::new();
            fold(&text[range.clone()], &mut word);
            folded.push(word);
        }
        let mut found = Vec::new();
        for (number, term) in self.required.iter().enumerate() {
            for (place, words) in folded.windows(term.words.len()).enumerate() {
                if term.fits(words) {
                    let last = place + term.words.len() - 1;
                    found.push((ranges[place].start..ranges[last].end, number));
                }
            }
        }
        found.sort_by_key(|(range, number)| (range.start, *number));
        found
    }

    /// Writes the query as an engine takes it. Whatever the query, the engine understands it.
    pub(super) fn expression(&self, dialect: Dialect) -> String {
        let join = |terms: &[Term], between: &str| {
            terms.iter().map(|term| term.expression(dialect)).collect::<Vec<_>>().join(between)
        };
        let (and, not) = match dialect {
            Dialect::Sqlite => (" AND ", " NOT "),
            Dialect::Postgres => (" & ", " & !"),
        };
        let mut expression = format!("({})", join(&self.required, and));
        for term in &self.excluded {
            // Writing to a String cannot fail.
            let _written = write!(expression, "{not}{}", term.expression(dialect));
        }
        expression
    }
}

impl Term {
    fn of(text: &str, is_prefix: bool) -> Option<Self> {
        let folded = |range: Range<usize>| {
            let mut word = String::new();
            fold(&text[range], &mut word);
            word
        };
        let words: Vec<String> = Words::of(text).map(folded).collect();
        (!words.is_empty()).then_some(Self { words, is_prefix })
    }

    /// Tells whether as many words as it has are its words.
    fn fits(&self, words: &[String]) -> bool {
        let (last, first) = self.words.split_last().expect("a term has words");
        let (found_last, found_first) = words.split_last().expect("as many words are compared");
        first == found_first && if self.is_prefix { found_last.starts_with(last) } else { found_last == last }
    }

    fn expression(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::Sqlite => format!("\"{}\"{}", self.words.join(" "), if self.is_prefix { " *" } else { "" }),
            Dialect::Postgres => {
                let words: Vec<_> = self.words.iter().map(|word| format!("'{word}'")).collect();
                format!("({}{})", words.join(" <-> "), if self.is_prefix { ":*" } else { "" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(text: &str) -> Query {
        text.parse().unwrap()
    }

    #[test]
    fn a_query_has_one_meaning_on_every_engine() {
        let both = |text: &str| [Dialect::Sqlite, Dialect::Postgres].map(|dialect| query(text).expression(dialect));
        assert_eq!(both("Foo"), [r#"("foo")"#, "(('foo'))"]);
        assert_eq!(both("src/main.rs"), [r#"("src main rs")"#, "(('src' <-> 'main' <-> 'rs'))"]);
        assert_eq!(
            both(r#"a "B c" pre* -d -"e f""#),
            [
                r#"("a" AND "b c" AND "pre" *) NOT "d" NOT "e f""#,
                "(('a') & ('b' <-> 'c') & ('pre':*)) & !('d') & !('e' <-> 'f')",
            ]
        );
        assert_eq!(query("--amend"), query("amend"));
        assert_eq!(query("a - b"), query("a b"));
        assert_eq!(query("src/*"), query("src"));
        assert_eq!(query("NEAR(a b)"), query(r#""near a" b"#));
        assert_eq!(query(r#"a"b c"d"#), query(r#"a "b c" d"#));
    }

    #[test]
    fn what_is_no_query_is_told_why() {
        let refused = |text: &str| text.parse::<Query>().unwrap_err().to_string();
        assert_eq!(refused(""), r#""" holds no word to look for"#);
        assert_eq!(refused("-- ** \"\""), r#""-- ** \"\"" holds no word to look for"#);
        assert_eq!(refused("-a"), r#""-a" only says what must not be there"#);
        assert_eq!(refused("a \"b c"), "the phrase \"b c does not end with a quotation mark");
        assert_eq!(refused(&"a ".repeat(65)), "a query has at most 64 words and phrases");
    }

    #[test]
    fn matches_are_found_where_they_lie() {
        let find = |text: &str, content: &str| query(text).find(content);
        assert_eq!(find("main.rs lib", "Lib, src/main.rs; main"), [(0..3, 1), (9..16, 0)]);
        assert_eq!(find("ma*", "main Mast am"), [(0..4, 0), (5..9, 0)]);
        assert_eq!(find("a", "b"), []);
    }

    proptest! {
        #[test]
        fn any_text_is_a_query_or_told_why_it_is_not(text in "\\PC{0,40}", word in "[a-z*\"-]{0,20}") {
            for text in [text, word] {
                if let Ok(query) = text.parse::<Query>() {
                    prop_assert!(!query.expression(Dialect::Postgres).is_empty());
                }
            }
        }
    }
}
