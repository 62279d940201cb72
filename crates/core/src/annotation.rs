//! What is said about a commit after it was made. Annotations are only ever added; the latest wins.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Actor, CommitId, Count, LabelKey, Tag, Timestamp};

/// One statement about a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Annotation {
    /// Describes the understanding at this point; an empty text withdraws an earlier summary.
    Summary {
        /// The text.
        text: SummaryText,
    },
    /// Attaches a word.
    Tag {
        /// The word.
        tag: Tag,
    },
    /// Takes a word off again.
    Untag {
        /// The word.
        tag: Tag,
    },
    /// Sets a key to a value.
    Label {
        /// The key.
        key: LabelKey,
        /// The value.
        value: SummaryText,
    },
    /// Says what a compaction stands for.
    Coverage {
        /// The commits it covers and what it leaves out.
        #[serde(flatten)]
        coverage: Coverage,
    },
}

/// What a compaction's summary stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Oldest commit that the summary replaces.
    pub first: CommitId,
    /// Newest commit that the summary replaces.
    pub last: CommitId,
    /// How many commits that is.
    pub commits: Count,
    /// How many messages they hold.
    pub messages: Count,
    /// How many bytes they hold.
    pub bytes: Count,
    /// What the summary is known to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossNote>,
}

/// A thing that a summary leaves out, in its author's words.
pub type LossNote = SummaryText;

/// A text of bounded length that people read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct SummaryText(String);

/// Says why a text cannot be kept as an annotation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text has {bytes} bytes; at most {} are kept", SummaryText::MAX_BYTES)]
pub struct AnnotationError {
    bytes: usize,
}

/// An annotation with who made it and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Noted {
    /// What was said.
    #[serde(flatten)]
    pub annotation: Annotation,
    /// Who said it.
    pub author: Actor,
    /// When it was said.
    pub at: Timestamp,
}

/// The annotations in force: the fold of all that was said, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Annotations {
    /// The latest summary that is not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryText>,
    /// The words attached.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Tag>,
    /// The labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<LabelKey, SummaryText>,
    /// What a compaction covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

impl Annotations {
    /// Takes one more statement into account.
    pub fn apply(&mut self, annotation: Annotation) {
        match annotation {
            Annotation::Summary { text } => self.summary = (!text.as_str().is_empty()).then_some(text),
            Annotation::Tag { tag } => {
                self.tags.insert(tag);
            }
            Annotation::Untag { tag } => {
                self.tags.remove(&tag);
            }
            Annotation::Label { key, value } => {
                self.labels.insert(key, value);
            }
            Annotation::Coverage { coverage } => self.coverage = Some(coverage),
        }
    }
}

impl SummaryText {
    /// Longest text in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Takes a text up to the bound.
    pub fn new(text: impl Into<String>) -> Result<Self, AnnotationError> {
        let text = text.into();
        if text.len() > Self::MAX_BYTES { Err(AnnotationError { bytes: text.len() }) } else { Ok(Self(text)) }
    }

    /// Borrows the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SummaryText {
    type Error = AnnotationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<SummaryText> for String {
    fn from(text: SummaryText) -> Self {
        text.0
    }
}

impl fmt::Display for SummaryText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> SummaryText {
        SummaryText::new(text).unwrap()
    }

    #[test]
    fn the_latest_statement_wins_and_an_empty_summary_withdraws() {
        let mut folded = Annotations::default();
        let tag = Tag::new("green").unwrap();
        for annotation in [
            Annotation::Summary { text: text("first") },
            Annotation::Tag { tag: tag.clone() },
            Annotation::Summary { text: text("second") },
        ] {
            folded.apply(annotation);
        }
        assert_eq!(folded.summary, Some(text("second")));
        assert_eq!(folded.tags, BTreeSet::from([tag.clone()]));
        folded.apply(Annotation::Untag { tag });
        folded.apply(Annotation::Summary { text: text("") });
        assert_eq!(folded, Annotations::default());
    }

    #[test]
    fn an_over_long_text_is_refused() {
        assert!(SummaryText::new("x".repeat(SummaryText::MAX_BYTES)).is_ok());
        assert!(SummaryText::new("x".repeat(SummaryText::MAX_BYTES + 1)).is_err());
    }

    #[test]
    fn annotations_read_back_from_their_json() {
        let noted = Noted {
            annotation: Annotation::Label { key: LabelKey::new("cwd").unwrap(), value: text("/src") },
            author: Actor::new("ada").unwrap(),
            at: Timestamp::from_micros(0).unwrap(),
        };
        let json = serde_json::to_string(&noted).unwrap();
        assert_eq!(
            json,
            r#"{"kind":"label","key":"cwd","value":"/src","author":"ada","at":"1970-01-01T00:00:00.000000Z"}"#
        );
        assert_eq!(serde_json::from_str::<Noted>(&json).unwrap(), noted);
    }
}
