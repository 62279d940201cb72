//! The words of a message, read past everything else.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::tolerant_json;

/// What an outline needs of a message's content, which is a text or an array of blocks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SpokenText {
    /// The text, or the text of all blocks.
    text: String,
    /// Whether a block sums up what came before.
    pub(super) sums_up: bool,
}

/// What an outline needs of a message.
#[derive(Deserialize)]
pub(super) struct MessageHead {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    pub(super) role: Option<String>,
    #[serde(default)]
    pub(super) content: SpokenText,
}

impl SpokenText {
    /// Returns the words if there are any but white space.
    pub(super) fn spoken(self) -> Option<String> {
        (!self.text.trim().is_empty()).then_some(self.text)
    }
}

impl<'de> Deserialize<'de> for SpokenText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = SpokenText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the content of a message")
    }

    fn visit_str<E>(self, text: &str) -> Result<SpokenText, E> {
        Ok(SpokenText { text: text.to_owned(), sums_up: false })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<SpokenText, A::Error> {
        let mut words = SpokenText::default();
        while let Some(Block(block)) = blocks.next_element()? {
            let Some(block) = block else { continue };
            match block.kind.as_deref() {
                Some("text" | "input_text" | "output_text") => {
                    if let Some(text) = block.text {
                        if !words.text.is_empty() {
                            words.text.push('\n');
                        }
                        words.text.push_str(&text);
                    }
                }
                Some("compaction") => words.sums_up |= block.content.is_some_and(|content| !content.is_empty()),
                _ => {}
            }
        }
        Ok(words)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<SpokenText, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(SpokenText::default())
    }

    fn visit_unit<E>(self) -> Result<SpokenText, E> {
        Ok(SpokenText::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<SpokenText, E> {
        Ok(SpokenText::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<SpokenText, E> {
        Ok(SpokenText::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<SpokenText, E> {
        Ok(SpokenText::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<SpokenText, E> {
        Ok(SpokenText::default())
    }
}

#[derive(Deserialize)]
struct Block<'r>(#[serde(borrow, deserialize_with = "tolerant_json::maybe")] Option<SpokenFields<'r>>);

#[derive(Deserialize)]
struct SpokenFields<'r> {
    #[serde(borrow, rename = "type", default, deserialize_with = "tolerant_json::maybe")]
    kind: Option<Cow<'r, str>>,
    #[serde(borrow, default, deserialize_with = "tolerant_json::maybe")]
    text: Option<Cow<'r, str>>,
    #[serde(borrow, default, deserialize_with = "tolerant_json::maybe")]
    content: Option<Cow<'r, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(json: &str) -> SpokenText {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn words_are_found_in_texts_and_blocks_and_nowhere_else() {
        assert_eq!(words(r#""a\nb""#).spoken().as_deref(), Some("a\nb"));
        let blocks =
            r#"[{"type":"text","text":"a"},{"type":"image","text":"x"},7,["text"],{"type":"input_text","text":"b"}]"#;
        assert_eq!(words(blocks).spoken().as_deref(), Some("a\nb"));
        for nothing in ["null", "true", "-1", "1", "0.5", "{\"text\":\"a\"}", "[]", "[{\"type\":\"text\"}]", "\" \\n\""]
        {
            assert_eq!(words(nothing).spoken(), None, "{nothing}");
        }
    }

    #[test]
    fn a_compaction_counts_only_when_it_says_something() {
        assert!(words(r#"[{"type":"compaction","content":"so far"}]"#).sums_up);
        assert!(!words(r#"[{"type":"compaction","content":null}]"#).sums_up);
        assert!(!words(r#"[{"type":"text","text":"t","content":"x"}]"#).sums_up);
    }
}
