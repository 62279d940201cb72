//! Source references: where an item comes from.

use contexture_core::{Timestamp, vocabulary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{RecordReference, SelectorKind, SourceId, object::object};

object! {
    /// The origin of an item.
    SourceRef {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            source_id: SourceId,
            /// Where it is.
            uri: String,
            /// What it is; the standard leaves the words open.
            source_kind: String,
        }
        optional {
            /// Which part of it.
            selector: Selector,
            /// The digest of what was read.
            digest: String,
            /// Who vouches for it.
            authority: String,
            /// Under which licence it may be used.
            license: String,
            /// When it was read.
            retrieved_at: Timestamp,
            /// When it was last changed.
            modified_at: Timestamp,
        }
        lists {
            /// How it came about.
            provenance_refs: RecordReference,
            /// What other systems call it.
            external_mappings: Map<String, Value>,
        }
    }
}

vocabulary! {
    /// Whether what an item was made of can change under it.
    Binding {
        /// It cannot: the digest names the bytes for good.
        Pinned = "pinned",
        /// It can: the digest says what was read at that time.
        Live = "live",
    }
}

impl Binding {
    /// Where a source's metadata says it; the standard has no field for it.
    pub const KEY: &'static str = "binding";
}

impl SourceRef {
    /// Says in the metadata whether the source can change.
    #[must_use]
    pub fn bound(mut self, binding: Binding) -> Self {
        self.metadata.insert(Binding::KEY.to_owned(), Value::from(binding.as_str()));
        self
    }
}

/// Points to a part of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Selector {
    /// In the words of somebody else.
    Text(String),
    /// In one way.
    One(SelectorShape),
    /// In several ways.
    Several(Vec<SelectorShape>),
}

object! {
    /// One way to point to a part of a source; its fields depend on its kind.
    SelectorShape {
        required {}
        optional {
            /// In which way.
            r#type: SelectorKind,
        }
        lists {}
    }
}
