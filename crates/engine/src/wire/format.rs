//! Formats as programs read of them.

use contexture_formats::KnownFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A format that is known by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormatDocument {
    /// The name that a commit carries.
    pub name: String,
    /// What it is, in one line.
    pub description: String,
    /// How its parts are joined.
    pub joined_as: String,
}

impl From<&KnownFormat> for FormatDocument {
    fn from(format: &KnownFormat) -> Self {
        let KnownFormat { name, description, rule, .. } = format;
        Self { name: (*name).to_owned(), description: (*description).to_owned(), joined_as: rule.to_string() }
    }
}
