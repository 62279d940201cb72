//! Words near which secrets stand, searched for all at once.

use aho_corasick::{AhoCorasick, packed};

use crate::{assignment::Assignments, found::Found, pem, tokens::Tokens, url};

/// What a word leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Assignment,
    Header,
    Signature,
    Url,
    PrivateKey,
    Code,
    /// The start of a token whose characters are more than those of runs.
    Token,
}

/// Four bytes each, because the search compares up to four at a time.
const WORDS: [(&str, Lead); 52] = [
    ("assw", Lead::Assignment),
    ("ASSW", Lead::Assignment),
    ("sphr", Lead::Assignment),
    ("SPHR", Lead::Assignment),
    ("_pass", Lead::Assignment),
    ("_PASS", Lead::Assignment),
    ("\"pass", Lead::Assignment),
    ("pwd=", Lead::Assignment),
    ("_pwd", Lead::Assignment),
    ("_PWD", Lead::Assignment),
    ("Pwd=", Lead::Assignment),
    ("ecre", Lead::Assignment),
    ("ECRE", Lead::Assignment),
    ("oken", Lead::Assignment),
    ("OKEN", Lead::Assignment),
    ("_key", Lead::Assignment),
    ("_KEY", Lead::Assignment),
    ("-key", Lead::Assignment),
    ("-Key", Lead::Assignment),
    ("iKey", Lead::Assignment),
    ("sKey", Lead::Assignment),
    ("tKey", Lead::Assignment),
    ("eKey", Lead::Assignment),
    ("nKey", Lead::Assignment),
    ("rKey", Lead::Assignment),
    ("ikey", Lead::Assignment),
    ("IKEY", Lead::Assignment),
    ("Bear", Lead::Header),
    ("bear", Lead::Header),
    ("Basic ", Lead::Header),
    ("sig=", Lead::Signature),
    ("VATE", Lead::PrivateKey),
    ("ABSK", Lead::Token),
    ("fm1_", Lead::Token),
    ("fm2_", Lead::Token),
    ("whsec_", Lead::Token),
    ("AQEyhm", Lead::Token),
    ("AQEmhm", Lead::Token),
    ("AQEnhm", Lead::Token),
    ("AQEthm", Lead::Token),
    ("\\u00", Lead::Code),
    (":\\/\\/", Lead::Url),
    ("s://", Lead::Url),
    ("p://", Lead::Url),
    ("l://", Lead::Url),
    ("b://", Lead::Url),
    ("v://", Lead::Url),
    ("r://", Lead::Url),
    ("h://", Lead::Url),
    ("t://", Lead::Url),
    ("e://", Lead::Url),
    ("a://", Lead::Url),
];

/// The search for the words.
#[derive(Debug)]
pub(crate) struct Anchors {
    search: Search,
}

#[derive(Debug)]
enum Search {
    Vectors(packed::Searcher),
    /// On machines without vectors.
    Automaton(AhoCorasick),
}

impl Anchors {
    pub(crate) fn new() -> Self {
        let words = || WORDS.iter().map(|(word, _)| word);
        let mut vectors = packed::Config::new().builder();
        vectors.extend(words());
        let search = match vectors.build() {
            Some(searcher) => Search::Vectors(searcher),
            None => Search::Automaton(AhoCorasick::new(words()).expect("a few short words are no automaton too large")),
        };
        Self { search }
    }

    /// Reports what stands near the words, and returns where characters are escaped that need not be.
    pub(crate) fn find(
        &self,
        bytes: &[u8],
        tokens: &Tokens,
        assignments: &Assignments,
        found: &mut Vec<Found>,
    ) -> Vec<usize> {
        let mut codes = Vec::new();
        let mut look = |pattern: usize, start: usize, end: usize| match WORDS[pattern].1 {
            Lead::Assignment => assignments.find(bytes, start, end, found),
            Lead::Header => assignments.find_header(bytes, end, found),
            Lead::Signature => assignments.find_signature(bytes, end, found),
            Lead::Url => url::find(bytes, end, assignments.marked, found),
            Lead::PrivateKey => pem::find(bytes, start, assignments.marked, found),
            Lead::Code => codes.push(start),
            Lead::Token => tokens.find_word(bytes, start, found),
        };
        match &self.search {
            Search::Vectors(searcher) => {
                searcher.find_iter(bytes).for_each(|hit| look(hit.pattern().as_usize(), hit.start(), hit.end()));
            }
            Search::Automaton(automaton) => {
                automaton.find_iter(bytes).for_each(|hit| look(hit.pattern().as_usize(), hit.start(), hit.end()));
            }
        }
        codes
    }
}
