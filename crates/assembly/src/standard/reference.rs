//! Pointers to other records, whose grammar the standard leaves open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A text or an object that somebody else defines: mostly the id of a record, or what tells more about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RecordReference {
    /// A text, such as the id of a record.
    Id(String),
    /// An object, such as a kind and an id, or the whole record.
    Object(Map<String, Value>),
}
