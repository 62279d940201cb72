//! Texts and lists with bounds, and receipts for what is beyond them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;

/// What stands where a text was cut.
const CUT: &str = "...";

/// What was left out of a part of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateReceipt {
    /// How many characters of a text, or how many parts of a list.
    pub count: u64,
    /// The digest of the whole text, or of what was left out of a list. In lists that grow it is chained.
    pub digest: Digest,
}

/// What was left out, by the names of the parts.
pub type StateReceipts = BTreeMap<String, StateReceipt>;

/// Cuts the parts of a report, and keeps receipts.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) receipts: StateReceipts,
}

impl Bounds {
    /// Returns a text of several lines.
    pub(super) fn text(&mut self, name: &str, text: Option<&str>, max: usize) -> Option<String> {
        self.bounded(name, text?.trim(), max)
    }

    /// Returns a text as one line.
    pub(super) fn line(&mut self, name: &str, text: Option<&str>, max: usize) -> Option<String> {
        self.bounded(name, &one_line(text?), max)
    }

    /// Returns the last lines of a list.
    pub(super) fn lines(&mut self, name: &str, lines: &[String], max: usize, max_chars: usize) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|line| one_line(line)).filter(|line| !line.is_empty()).collect();
        let kept = self.last(name, lines, max);
        let numbered = kept.into_iter().enumerate();
        numbered.filter_map(|(n, line)| self.bounded(&format!("{name}[{n}]"), &line, max_chars)).collect()
    }

    /// Returns the last parts of a list.
    pub(super) fn last<T: Serialize>(&mut self, name: &str, mut parts: Vec<T>, max: usize) -> Vec<T> {
        let kept = parts.split_off(parts.len().saturating_sub(max));
        if !parts.is_empty() {
            let json = serde_json::to_vec(&parts).expect("parts have text keys");
            self.receipts
                .insert(name.to_owned(), StateReceipt { count: parts.len() as u64, digest: Digest::of(&json) });
        }
        kept
    }

    fn bounded(&mut self, name: &str, text: &str, max: usize) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let chars = text.chars().count();
        if chars <= max {
            return Some(text.to_owned());
        }
        let kept: String = text.chars().take(max - CUT.len()).collect();
        let count = (chars - (max - CUT.len())) as u64;
        self.receipts.insert(name.to_owned(), StateReceipt { count, digest: Digest::of(text.as_bytes()) });
        Some(kept + CUT)
    }
}

/// Returns a text without line ends and repeated spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first field that is there.
pub(super) fn field<'v>(value: Option<&'v Value>, names: &[&str]) -> Option<&'v Value> {
    let value = value?;
    names.iter().find_map(|name| value.get(*name).filter(|field| !field.is_null()))
}

/// Returns the first field that is a text.
pub(super) fn text_field<'v>(value: Option<&'v Value>, names: &[&str]) -> Option<&'v str> {
    field(value, names).and_then(Value::as_str)
}

/// Returns a truth value, which some write as a text.
pub(super) fn truth(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(value) => Some(*value),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns the parts of a list as texts; of objects one of the named fields.
pub(super) fn list(value: Option<&Value>, names: &[&str]) -> Vec<String> {
    let parts = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let told = |part: &Value| match part {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => Some(text_field(Some(part), names).map_or_else(|| part.to_string(), str::to_owned)),
        other => Some(other.to_string()),
    };
    parts.iter().filter_map(told).collect()
}
