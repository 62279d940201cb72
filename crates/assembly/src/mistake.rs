//! Mistakes in a document: where each is, and what is wrong there.

use std::fmt;

use contexture_core::{NameError, TimeError, Word};
use serde_json::Value;

use crate::{
    counter::UnknownCounter,
    nearest::nearest,
    recipe::{Rule, UnknownTarget},
};

/// Something in a document that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Mistake {
    /// Where it is, such as `packs[0].priority`.
    pub path: String,
    /// What is wrong with it.
    pub problem: MistakeKind,
}

/// What is wrong with a part of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MistakeKind {
    /// It must be there.
    #[error("it is missing")]
    Missing,
    /// It is something else.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: ActualValue,
    },
    /// It is not one of the words that are known.
    #[error("{word:?} is not one of {}{}", known.join(", "), meant(*nearest))]
    Word {
        /// What is there.
        word: String,
        /// What may be there.
        known: Vec<&'static str>,
        /// Which of them was probably meant.
        nearest: Option<&'static str>,
    },
    /// Nothing is known by that name.
    #[error("nothing is known by this name; {}", instead(*nearest, known))]
    Unknown {
        /// What is.
        known: Vec<&'static str>,
        /// Which of them was probably meant.
        nearest: Option<&'static str>,
    },
    /// It says nothing.
    #[error("it is empty")]
    Empty,
    /// It is a list of nothing.
    #[error("it needs at least one")]
    NoneGiven,
    /// Nothing can be named by it.
    #[error("an id needs at least one character")]
    EmptyId,
    /// It names something and is more than a line.
    #[error("it must be one line without control characters")]
    NotALine,
    /// Another part has that id.
    #[error("{first} has this {what} already")]
    Taken {
        /// What no two may have in common.
        what: &'static str,
        /// Which has it.
        first: String,
    },
    /// Another part is the same.
    #[error("{first} is the same")]
    Repeated {
        /// Which one.
        first: String,
    },
    /// There are too many.
    #[error("there are at most {max}")]
    TooMany {
        /// How many there may be.
        max: usize,
    },
    /// It means nothing beside what else is said.
    #[error("it is only for {word}")]
    OnlyFor {
        /// For what.
        word: &'static str,
    },
    /// It is in use for something else.
    #[error("this {what} has a meaning of its own")]
    Reserved {
        /// What it is.
        what: &'static str,
    },
    /// It cannot be a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No token counter is called so.
    #[error(transparent)]
    Counter(#[from] UnknownCounter),
    /// It is not a time.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// It says of no target who that is.
    #[error(transparent)]
    Target(#[from] UnknownTarget),
    /// It breaks a rule of recipes.
    #[error(transparent)]
    Rule(#[from] Rule),
}

/// What a value is, with the value where that is short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActualValue {
    /// The null value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A text.
    Text,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl MistakeKind {
    pub(crate) fn mistyped(expected: &'static str, value: Value) -> Self {
        Self::Type { expected, found: ActualValue::from(value) }
    }

    /// Says that a text is no word of a vocabulary.
    pub(crate) fn word<W: Word>(word: String) -> Self {
        Self::word_of(word, W::ALL.iter().map(|known| known.word()).collect())
    }

    /// Says that a text is none of some words.
    pub(crate) fn word_of(word: String, known: Vec<&'static str>) -> Self {
        let nearest = nearest(&word, known.iter().copied());
        Self::Word { word, known, nearest }
    }
}

/// Returns the end of a sentence that asks whether a word was meant.
pub(crate) fn meant(nearest: Option<&str>) -> String {
    nearest.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default()
}

fn instead(nearest: Option<&str>, known: &[&str]) -> String {
    match (nearest, known) {
        (Some(word), _) => format!("did you mean `{word}`?"),
        (None, []) => "nothing is".to_owned(),
        (None, [only]) => format!("{only} is"),
        (None, [start @ .., last]) => format!("{} and {last} are", start.join(", ")),
    }
}

impl From<Value> for ActualValue {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<&Value> for ActualValue {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl fmt::Display for ActualValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(number),
            Self::Text => f.write_str("a text"),
            Self::Array => f.write_str("a list"),
            Self::Object => f.write_str("an object"),
        }
    }
}
