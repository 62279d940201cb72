//! Values of flags that the library has no single type for.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use contexture::{
    Contexture, Expect, Reference, Stop, Tier,
    core::{
        Annotation, AnnotationError, CommitKind, Count, EnvelopePrefix, LabelKey, NameError, Stream, SummaryText,
        Trigger,
    },
};
use contexture_capture::Runtime;

use crate::error::Result;

/// The word that stands for no commit.
const NONE: &str = "none";

/// A commit, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartPoint {
    /// None: a fresh start.
    Nothing,
    /// This one.
    At(Reference),
}

/// How far back to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopAt {
    /// To the nearest compaction or snapshot.
    Compaction,
    /// To the root.
    Root,
    /// To this ancestor.
    Commit(Reference),
}

/// Where on a chain to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum At {
    /// At its last commit.
    Last,
    /// At this one.
    Commit(Reference),
}

/// A `KEY=VALUE` label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelValue {
    key: LabelKey,
    value: SummaryText,
}

/// Says that a text is no label.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabelError {
    #[error("write KEY=VALUE")]
    NoEquals,
    #[error(transparent)]
    Key(#[from] NameError),
    #[error(transparent)]
    Value(#[from] AnnotationError),
}

/// An envelope as a person names it.
#[derive(Debug, Clone)]
pub(crate) enum EnvelopeName {
    /// By its id, or the beginning of it.
    Prefix(EnvelopePrefix),
    /// The last one, or the last of a stream, or so many before it.
    Last(Option<Stream>, u32),
}

/// An id that somebody's runtime gave: `turn_id=42`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Correlation {
    key: &'static str,
    value: String,
}

/// Says that a text is no such id.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CorrelationError {
    #[error("write KEY=VALUE")]
    NoEquals,
    #[error("{key:?} is not one of {}", Correlation::KEYS.join(", "))]
    Key { key: String },
}

impl Correlation {
    /// The ids that records of the standard carry.
    const KEYS: [&'static str; 11] = [
        "runtime_id",
        "session_id",
        "thread_id",
        "turn_id",
        "task_id",
        "run_id",
        "attempt_id",
        "step_id",
        "tool_call_id",
        "action_id",
        "evidence_id",
    ];

    /// Returns the key and the id.
    pub(crate) fn into_parts(self) -> (String, String) {
        (self.key.to_owned(), self.value)
    }
}

impl FromStr for Correlation {
    type Err = CorrelationError;

    fn from_str(text: &str) -> Result<Self, CorrelationError> {
        let (key, value) = text.split_once('=').ok_or(CorrelationError::NoEquals)?;
        let known = Self::KEYS.into_iter().find(|known| *known == key || known.strip_suffix("_id") == Some(key));
        let key = known.ok_or_else(|| CorrelationError::Key { key: key.to_owned() })?;
        Ok(Self { key, value: value.to_owned() })
    }
}

impl FromStr for StartPoint {
    type Err = contexture::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == NONE { Ok(Self::Nothing) } else { text.parse().map(Self::At) }
    }
}

impl StartPoint {
    /// Takes this as where a head must be.
    pub(crate) async fn expect(&self, engine: &Contexture) -> Result<Expect> {
        match self {
            Self::Nothing => Ok(Expect::Absent),
            Self::At(reference) => Ok(Expect::At(engine.find(reference).await?)),
        }
    }
}

impl FromStr for StopAt {
    type Err = contexture::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "compaction" => Ok(Self::Compaction),
            "root" => Ok(Self::Root),
            other => other.parse().map(Self::Commit),
        }
    }
}

impl FromStr for At {
    type Err = contexture::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "last" { Ok(Self::Last) } else { text.parse().map(Self::Commit) }
    }
}

impl StopAt {
    /// Finds the commit that is named.
    pub(crate) async fn resolve(&self, engine: &Contexture) -> Result<Stop> {
        match self {
            Self::Compaction => Ok(Stop::Compaction),
            Self::Root => Ok(Stop::Root),
            Self::Commit(reference) => Ok(Stop::At(engine.find(reference).await?)),
        }
    }
}

impl FromStr for LabelValue {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let (key, value) = text.split_once('=').ok_or(LabelError::NoEquals)?;
        Ok(Self { key: LabelKey::new(key)?, value: SummaryText::new(value)? })
    }
}

impl LabelValue {
    /// Returns the key and the value.
    pub(crate) fn into_parts(self) -> (LabelKey, SummaryText) {
        (self.key, self.value)
    }
}

impl From<LabelValue> for Annotation {
    fn from(label: LabelValue) -> Self {
        Self::Label { key: label.key, value: label.value }
    }
}

/// Reads a text that is kept as an annotation.
pub(crate) fn text(text: &str) -> Result<SummaryText, AnnotationError> {
    SummaryText::new(text)
}

/// Reads a count.
pub(crate) fn count(text: &str) -> Result<Count, Box<dyn std::error::Error + Send + Sync>> {
    Ok(text.parse::<u64>()?.try_into()?)
}

/// Reads what a commit is to its parent, and lists the words in help texts.
pub(crate) fn commit_kind() -> impl TypedValueParser<Value = CommitKind> {
    PossibleValuesParser::new(CommitKind::ALL.iter().map(|kind| kind.as_str())).try_map(|word| word.parse())
}

/// Reads what caused a checkpoint, and lists the words in help texts.
pub(crate) fn trigger() -> impl TypedValueParser<Value = Trigger> {
    PossibleValuesParser::new(Trigger::ALL.iter().map(|trigger| trigger.as_str())).try_map(|word| word.parse())
}

/// Reads the name of an agent, and lists them in help texts.
pub(crate) fn runtime() -> impl TypedValueParser<Value = Runtime> {
    let parse = |word: String| Runtime::resumable().find(|it| it.as_str() == word).ok_or("no runtime");
    PossibleValuesParser::new(Runtime::resumable().map(Runtime::as_str)).try_map(parse)
}

/// Does the same for agents that cannot be resumed too.
pub(crate) fn any_runtime() -> impl TypedValueParser<Value = Runtime> {
    let parse = |word: String| Runtime::named(&word).ok_or("no runtime");
    PossibleValuesParser::new(Runtime::ALL.iter().map(|runtime| runtime.as_str())).try_map(parse)
}

/// Reads how faithful a translation must be, and lists the words in help texts.
pub(crate) fn tier() -> impl TypedValueParser<Value = Tier> {
    let parse = |word: String| Tier::ALL.iter().copied().find(|tier| tier.as_str() == word).ok_or("no tier");
    PossibleValuesParser::new(Tier::ALL.iter().map(|tier| tier.as_str())).try_map(parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_needs_a_key_and_may_hold_further_equals_signs() {
        let label: LabelValue = "query=a=b".parse().unwrap();
        assert_eq!((label.key.as_str(), label.value.as_str()), ("query", "a=b"));
        assert!("query".parse::<LabelValue>().is_err() && "=b".parse::<LabelValue>().is_err());
    }
}
