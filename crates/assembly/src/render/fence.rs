//! Fences: lines that content cannot forge, because they carry a word that is in none of it.

use memchr::memmem;

use crate::item::Item;

/// Separates the words of fences from every other use of BLAKE3.
const CONTEXT: &str = "contexture fence v1";
/// Digits of the word.
const DIGITS: usize = 12;
/// Longest title in a fence.
const MAX_TITLE: usize = 120;

/// The word that fences carry.
///
/// It is derived from the stream alone, so that assemblies of a stream begin with the same bytes and a replay is equal;
/// where it is in the content, the next one is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    key: [u8; 32],
    word: String,
    is_first: bool,
}

impl Fence {
    /// Makes the fence of a stream for content that is given as one text.
    pub fn new(stream: &str, content: &[u8]) -> Self {
        let mut fence = Self::first(stream);
        while fence.is_in(content) {
            fence = fence.next();
        }
        fence
    }

    /// Makes the fence of a stream for content that does not hold its word.
    pub(crate) fn first(stream: &str) -> Self {
        Self::of(blake3::derive_key(CONTEXT, stream.as_bytes()), true)
    }

    /// Makes the fence to take where the word of this one is in the content.
    pub(crate) fn next(&self) -> Self {
        Self::of(blake3::derive_key(CONTEXT, &self.key), false)
    }

    /// Tells whether no other was passed over.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Tells whether content holds the word.
    pub(crate) fn is_in(&self, content: &[u8]) -> bool {
        memmem::find(content, self.word.as_bytes()).is_some()
    }

    fn of(key: [u8; 32], is_first: bool) -> Self {
        Self { key, word: hex::encode(key)[..DIGITS].to_owned(), is_first }
    }

    /// Returns the line that opens what a heading names.
    pub(super) fn line(&self, heading: &str) -> String {
        format!("<<{} {heading}>>\n", self.word)
    }

    /// Puts fences around the text of an item.
    pub(super) fn around(&self, item: Option<&Item>, text: &str) -> String {
        let heading = item.map_or_else(|| "note".to_owned(), heading);
        let gap = if text.ends_with('\n') { "" } else { "\n" };
        [&self.line(&heading), text, gap, &self.line("end")].concat()
    }
}

/// Says in one line what an item is.
fn heading(item: &Item) -> String {
    let Some(title) = &item.title else { return item.kind.to_string() };
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let title: String = title.chars().map(plain).take(MAX_TITLE).collect();
    format!("{} {title}", item.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_that_holds_the_word_gets_another() {
        let first = Fence::new("stream", b"");
        assert_eq!(first, Fence::new("stream", b"anything"));
        assert_ne!(first, Fence::new("another", b""));
        let forged = first.around(None, "text");
        let second = Fence::new("stream", forged.as_bytes());
        assert_ne!(first, second);
        assert!(!forged.contains(&second.word));
    }
}
