//! Reads documents part by part and keeps every mistake, so that all of them can be reported at once.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
};

use contexture_core::Word;
use serde_json::{Map, Value};

use crate::{
    mistake::{Mistake, MistakeKind},
    nearest::nearest,
};

/// The mistakes so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    mistakes: Vec<Mistake>,
}

/// An object whose fields are taken out one by one; what remains is not known.
#[derive(Debug)]
pub(crate) struct Fields {
    /// What stands before the name of a field in its path.
    prefix: String,
    object: Map<String, Value>,
    /// The names that were asked for.
    known: Vec<&'static str>,
}

impl Reader {
    /// Notes a mistake.
    pub(crate) fn add(&mut self, path: impl Into<String>, problem: impl Into<MistakeKind>) {
        self.mistakes.push(Mistake { path: path.into(), problem: problem.into() });
    }

    /// Returns what was read, unless there are mistakes.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Vec<Mistake>> {
        match read {
            Some(read) if self.mistakes.is_empty() => Ok(read),
            Some(_) | None => Err(self.mistakes),
        }
    }

    /// Returns how many mistakes there are so far.
    pub(crate) fn count(&self) -> usize {
        self.mistakes.len()
    }

    /// Takes the whole document as an object.
    pub(crate) fn document(&mut self, document: Value) -> Option<Fields> {
        let object = object(document).map_err(|problem| self.add("$", problem)).ok()?;
        Some(Fields { prefix: String::new(), object, known: Vec::new() })
    }

    /// Takes the value at a path as an object.
    pub(crate) fn object(&mut self, path: &str, value: Value) -> Option<Fields> {
        let object = object(value).map_err(|problem| self.add(path, problem)).ok()?;
        Some(Fields { prefix: format!("{path}."), object, known: Vec::new() })
    }

    /// Reads a field that must be there.
    pub(crate) fn required<T>(
        &mut self,
        fields: &mut Fields,
        name: &'static str,
        read: impl FnOnce(Value) -> Result<T, MistakeKind>,
    ) -> Option<T> {
        if !fields.has(name) {
            fields.take(name);
            self.add(fields.path(name), MistakeKind::Missing);
            return None;
        }
        self.optional(fields, name, read)
    }

    /// Reads a field that may be absent. One that is null counts as absent.
    pub(crate) fn optional<T>(
        &mut self,
        fields: &mut Fields,
        name: &'static str,
        read: impl FnOnce(Value) -> Result<T, MistakeKind>,
    ) -> Option<T> {
        let value = fields.take(name)?;
        read(value).map_err(|problem| self.add(fields.path(name), problem)).ok()
    }

    /// Reads a list that may be absent and in which no two are the same; what is wrong in it is named by its own place
    /// and left out.
    pub(crate) fn list<T: Clone + Eq + Hash>(
        &mut self,
        fields: &mut Fields,
        name: &'static str,
        parts: impl FnOnce(Value) -> Result<Vec<Value>, MistakeKind>,
        read: impl Fn(Value) -> Result<T, MistakeKind>,
    ) -> Option<Vec<T>> {
        let values = self.optional(fields, name, parts)?;
        let path = fields.path(name);
        let mut first_uses = HashMap::new();
        let mut distinct = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            match read(value) {
                Ok(value) => match first_uses.entry(value) {
                    Entry::Vacant(vacant) => {
                        distinct.push(vacant.key().clone());
                        vacant.insert(index);
                    }
                    Entry::Occupied(first) => {
                        let first = format!("{path}[{}]", first.get());
                        self.add(format!("{path}[{index}]"), MistakeKind::Repeated { first });
                    }
                },
                Err(problem) => self.add(format!("{path}[{index}]"), problem),
            }
        }
        Some(distinct)
    }

    /// Notes every field that nobody asked for.
    pub(crate) fn nothing_else(&mut self, fields: &Fields) {
        for name in fields.object.keys() {
            let nearest = nearest(name, fields.known.iter().copied());
            self.add(fields.path(name), MistakeKind::Unknown { known: fields.known.clone(), nearest });
        }
    }
}

impl Fields {
    /// Returns the path of a field.
    pub(crate) fn path(&self, name: &str) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if !name.is_empty() && name.chars().all(is_plain) {
            format!("{}{name}", self.prefix)
        } else {
            format!("{}{name:?}", self.prefix)
        }
    }

    /// Tells whether a field is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some_and(|value| !value.is_null())
    }

    /// Takes a field out; nothing where it is absent or null.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Value> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.object.remove(name).filter(|value| !value.is_null())
    }
}

/// The largest number that every reader of JSON takes for what it is.
const MAX_NUMBER: u64 = (1 << 53) - 1;

pub(crate) fn natural(value: Value) -> Result<u64, MistakeKind> {
    value.as_u64().ok_or_else(|| MistakeKind::mistyped("a whole number, 0 or more", value))
}

/// Reads a number that may be nothing and that every format can hold.
pub(crate) fn amount(value: Value) -> Result<u64, MistakeKind> {
    within(0, "a whole number, 0 or more", value)
}

/// Reads a number that may not be nothing and that every format can hold.
pub(crate) fn positive(value: Value) -> Result<u64, MistakeKind> {
    within(1, "a whole number, 1 or more", value)
}

fn within(least: u64, expected: &'static str, value: Value) -> Result<u64, MistakeKind> {
    match value.as_u64() {
        Some(number) if number > MAX_NUMBER => Err(MistakeKind::mistyped("a number below 2^53", value)),
        Some(number) if number >= least => Ok(number),
        Some(_) | None => Err(MistakeKind::mistyped(expected, value)),
    }
}

pub(crate) fn integer(value: Value) -> Result<i64, MistakeKind> {
    value.as_i64().ok_or_else(|| MistakeKind::mistyped("a whole number", value))
}

pub(crate) fn boolean(value: Value) -> Result<bool, MistakeKind> {
    value.as_bool().ok_or_else(|| MistakeKind::mistyped("true or false", value))
}

pub(crate) fn text(value: Value) -> Result<String, MistakeKind> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(MistakeKind::mistyped("a text", other)),
    }
}

/// Reads a text that has more than white space.
pub(crate) fn words(value: Value) -> Result<String, MistakeKind> {
    let text = text(value)?;
    if text.trim().is_empty() { Err(MistakeKind::Empty) } else { Ok(text) }
}

/// Reads a text that can stand in a line.
pub(crate) fn line(value: Value) -> Result<String, MistakeKind> {
    let text = words(value)?;
    if text.chars().any(char::is_control) { Err(MistakeKind::NotALine) } else { Ok(text) }
}

/// Reads a word of a vocabulary.
pub(crate) fn word<W: Word>(value: Value) -> Result<W, MistakeKind> {
    let text = text(value)?;
    W::ALL.iter().copied().find(|known| known.word() == text).ok_or_else(|| MistakeKind::word::<W>(text))
}

pub(crate) fn array(value: Value) -> Result<Vec<Value>, MistakeKind> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(MistakeKind::mistyped("a list", other)),
    }
}

/// Reads a list that has something in it.
pub(crate) fn filled(value: Value) -> Result<Vec<Value>, MistakeKind> {
    let values = array(value)?;
    if values.is_empty() { Err(MistakeKind::NoneGiven) } else { Ok(values) }
}

fn object(value: Value) -> Result<Map<String, Value>, MistakeKind> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(MistakeKind::mistyped("an object", other)),
    }
}
