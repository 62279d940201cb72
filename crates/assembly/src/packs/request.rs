//! What is asked of packs, read from JSON with every mistake named by its place.

use std::{collections::HashMap, fmt};

use contexture_core::UnknownWord;
use serde_json::{Map, Value};

use crate::{
    budget::Limits,
    candidate::{Candidate, CandidateId, Measured, Place, Priority},
    counter::TokenCounter,
    measure::{CharCount, TokenCount},
};

/// The limit of characters where a request names none.
pub const DEFAULT_MAX_CHARS: CharCount = CharCount::new(500_000);

/// Packs to choose from, and how much there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// How much there may be.
    pub limits: Limits,
    /// The packs, as they were listed.
    pub candidates: Vec<Candidate>,
}

/// Says why a text is no request.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is not JSON.
    #[error("it is not JSON")]
    Json(#[source] serde_json::Error),
    /// Parts of it are not what they should be.
    #[error("it has {} mistake{}", mistakes.len(), if mistakes.len() == 1 { "" } else { "s" })]
    Mistakes {
        /// Which, in the order of the text.
        mistakes: Vec<Mistake>,
    },
}

/// Something in a request that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Mistake {
    /// Where it is, such as `packs[0].priority`.
    pub path: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a part of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It must be there.
    #[error("it is missing")]
    Missing,
    /// It is something else.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: Found,
    },
    /// It is not one of the words that are known.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// Nothing can be named by it.
    #[error("an id needs at least one character")]
    EmptyId,
    /// Another pack has that id.
    #[error("packs[{first}] has this id already")]
    DuplicateId {
        /// Which one.
        first: usize,
    },
    /// Nothing is known by that name.
    #[error("nothing is known by this name; {known} are")]
    Unknown {
        /// What is.
        known: String,
    },
}

/// What a JSON value is, with the value where that is short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
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

impl Request {
    /// Reads a request from JSON and measures its texts. A field that is null counts as absent.
    pub fn parse(counter: &dyn TokenCounter, json: &[u8]) -> Result<Self, Refusal> {
        let document = serde_json::from_slice(json).map_err(Refusal::Json)?;
        let mut mistakes = Mistakes::default();
        let request = mistakes.request(counter, document);
        match request {
            Some(request) if mistakes.0.is_empty() => Ok(request),
            _ => Err(Refusal::Mistakes { mistakes: mistakes.0 }),
        }
    }
}

#[derive(Default)]
struct Mistakes(Vec<Mistake>);

/// An object whose fields are taken out one by one; what remains is not known.
struct Fields {
    /// What stands before the name of a field in its path.
    prefix: String,
    object: Map<String, Value>,
}

impl Mistakes {
    fn add(&mut self, path: impl Into<String>, problem: impl Into<Problem>) {
        self.0.push(Mistake { path: path.into(), problem: problem.into() });
    }

    fn request(&mut self, counter: &dyn TokenCounter, document: Value) -> Option<Request> {
        let object = object(document).map_err(|problem| self.add("$", problem)).ok()?;
        let mut fields = Fields { prefix: String::new(), object };
        let max_tokens = self.optional(&mut fields, "maxTokens", natural).map(TokenCount::new);
        let max_chars = self.optional(&mut fields, "maxChars", natural).map_or(DEFAULT_MAX_CHARS, CharCount::new);
        let packs = self.required(&mut fields, "packs", array).unwrap_or_default();
        self.nothing_else(&fields, "maxTokens, maxChars and packs");

        let mut first_uses: HashMap<CandidateId, usize> = HashMap::new();
        let mut candidates = Vec::with_capacity(packs.len());
        for (index, pack) in packs.into_iter().enumerate() {
            candidates.extend(self.candidate(counter, &mut first_uses, index, pack));
        }
        Some(Request { limits: Limits { max_tokens, max_chars }, candidates })
    }

    fn candidate(
        &mut self,
        counter: &dyn TokenCounter,
        first_uses: &mut HashMap<CandidateId, usize>,
        index: usize,
        pack: Value,
    ) -> Option<Candidate> {
        let object = object(pack).map_err(|problem| self.add(format!("packs[{index}]"), problem)).ok()?;
        let mut fields = Fields { prefix: format!("packs[{index}]."), object };
        let id = self.required(&mut fields, "id", id);
        if let Some(id) = &id
            && let Some(first) = first_uses.insert(id.clone(), index)
        {
            self.add(fields.path("id"), Problem::DuplicateId { first });
        }
        let priority = self.optional(&mut fields, "priority", priority).unwrap_or(Priority::Medium);
        let required = self.optional(&mut fields, "required", boolean).unwrap_or(false);
        let preserve = self.optional(&mut fields, "preserve", boolean).unwrap_or(false);
        let order = self.optional(&mut fields, "order", integer);
        let full = self.required(&mut fields, "full", text);
        let compact = self.optional(&mut fields, "compact", text);
        self.nothing_else(&fields, "id, priority, required, preserve, order, full and compact");
        Some(Candidate {
            id: id?,
            priority: if required { Priority::Required } else { priority },
            place: Place { order: order.unwrap_or(i64::try_from(index).unwrap_or(i64::MAX)), tie: index },
            preserve,
            segment: 0,
            part: crate::RunPart::Alone,
            full: Measured::new(counter, full?),
            compact: compact.and_then(|compact| Measured::new(counter, compact)),
        })
    }

    fn required<T>(&mut self, fields: &mut Fields, name: &str, read: fn(Value) -> Result<T, Problem>) -> Option<T> {
        if fields.object.get(name).is_none_or(Value::is_null) {
            fields.object.remove(name);
            self.add(fields.path(name), Problem::Missing);
            return None;
        }
        self.optional(fields, name, read)
    }

    fn optional<T>(&mut self, fields: &mut Fields, name: &str, read: fn(Value) -> Result<T, Problem>) -> Option<T> {
        let value = fields.object.remove(name).filter(|value| !value.is_null())?;
        read(value).map_err(|problem| self.add(fields.path(name), problem)).ok()
    }

    fn nothing_else(&mut self, fields: &Fields, known: &str) {
        for name in fields.object.keys() {
            self.add(fields.path(name), Problem::Unknown { known: known.to_owned() });
        }
    }
}

impl Fields {
    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

fn natural(value: Value) -> Result<u64, Problem> {
    value.as_u64().ok_or_else(|| mistaken("a whole number, 0 or more", value))
}

fn integer(value: Value) -> Result<i64, Problem> {
    value.as_i64().ok_or_else(|| mistaken("a whole number", value))
}

fn boolean(value: Value) -> Result<bool, Problem> {
    value.as_bool().ok_or_else(|| mistaken("true or false", value))
}

fn text(value: Value) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(mistaken("a text", other)),
    }
}

fn array(value: Value) -> Result<Vec<Value>, Problem> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(mistaken("a list", other)),
    }
}

fn object(value: Value) -> Result<Map<String, Value>, Problem> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(mistaken("an object", other)),
    }
}

fn id(value: Value) -> Result<CandidateId, Problem> {
    CandidateId::new(text(value)?).ok_or(Problem::EmptyId)
}

fn priority(value: Value) -> Result<Priority, Problem> {
    Ok(text(value)?.parse::<Priority>()?)
}

fn mistaken(expected: &'static str, value: Value) -> Problem {
    Problem::Type { expected, found: Found::from(value) }
}

impl From<Value> for Found {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl fmt::Display for Found {
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
