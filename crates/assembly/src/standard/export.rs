//! Exports: records and the contents that they name, in one document that proves itself.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use contexture_core::{Timestamp, vocabulary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContentDigest, RecordReference, StandardRecord, VERSION};
use crate::digest::Digest;

/// Records of the standard with the contents that they name, as one JSON document.
///
/// The standard defines records and nothing to carry them in; this is ours. Everything that a reader needs to check the
/// records is in the document, so a check needs neither a store nor a network.
///
/// # How each level is reached
///
/// [`check`](crate::check::check) reports how far an export comes; [`Level`](crate::check::Level) names the levels.
/// Each needs the one before it.
///
/// **L0 readable.** Records made from the types here are readable as they are.
///
/// **L1 turn trace.** For each [`ContextEnvelope`](super::ContextEnvelope), add the [`ContextSurface`](super::ContextSurface), the
/// [`ContextSelection`](super::ContextSelection), the [`ContextBudget`](super::ContextBudget), the [`ContextAssembly`](super::ContextAssembly) and the
/// [`ContextInjection`](super::ContextInjection) that it names, and an [`ContextItem`](super::ContextItem) for every item that any of them names.
/// In the selection, list every candidate and put each into `selected_item_refs` or, as
/// [`OmittedRef::Omitted`](super::OmittedRef::Omitted) with its reason, into `omitted_item_refs`. What lies outside (a
/// session, a policy decision, a trace) is an object with `kind` and `id`.
///
/// **L2 lifecycle.** Add an [`ContextEvent`](super::ContextEvent) whose `subject` is the id of the record it is about:
/// `context.surface.created`, `context.selection.completed`, `context.budget.applied`, `context.assembly.created` and
/// `context.injection.applied`; `context.compaction.completed` for a compaction, `context.missing.detected` for missing
/// context (with `…requested` and `…resolved` as its status says), and `context.redaction.applied` for each item, block
/// or assembly that was redacted. A compaction names its summary and has loss notes. A record never changes under its id:
/// another attempt has other ids. No record says that a turn is complete, a tool succeeded or something is permitted.
///
/// **L3 replayable.** Put the bytes of every block into [`Export::add_content`] and its digest into
/// [`AssemblyBlock::hash`](super::AssemblyBlock::hash). Do the same with what was sent and
/// [`ContextInjection::hash`](super::ContextInjection::hash); if what was sent is the blocks one after another, only the digest is
/// needed. Every [`SourceRef`](super::SourceRef) has a digest and says with
/// [`SourceRef::bound`](super::SourceRef::bound) whether it is pinned or live.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Export {
    /// The version of the document's form.
    #[serde(rename = "agent_context_export")]
    pub version: ExportVersion,
    /// The version of the standard that the records are written in.
    pub schema_version: String,
    /// When it was written.
    pub exported_at: Timestamp,
    /// What wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<RecordReference>,
    /// The records, in the order in which they came about.
    pub records: Vec<StandardRecord>,
    /// The contents that records name, each under its digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<ContentDigest, ExportedContent>,
    /// What somebody adds.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Fields that the form does not name.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

vocabulary! {
    /// A version of the form of exports.
    ExportVersion {
        /// The first.
        V1 = "1",
    }
}

/// Some bytes, as JSON can carry them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportedContent {
    /// The bytes of a text in UTF-8.
    Text(String),
    /// Any bytes, in base64 with padding.
    Base64(String),
}

impl Export {
    /// Starts an export without records.
    pub fn new(producer: impl Into<Option<RecordReference>>, exported_at: Timestamp) -> Self {
        Self {
            version: ExportVersion::V1,
            schema_version: VERSION.to_owned(),
            exported_at,
            producer: producer.into(),
            records: Vec::new(),
            contents: BTreeMap::new(),
            metadata: Map::new(),
            more: Map::new(),
        }
    }

    /// Adds a record.
    pub fn add(&mut self, record: impl Into<StandardRecord>) -> &mut Self {
        self.records.push(record.into());
        self
    }

    /// Adds a content, once however often it is added, and returns its digest for the records that name it.
    pub fn add_content(&mut self, bytes: &[u8]) -> Digest {
        let digest = Digest::of(bytes);
        self.contents.entry(digest.into()).or_insert_with(|| ExportedContent::of(bytes));
        digest
    }

    /// Reads an export.
    pub fn from_json(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Writes the export. Equal exports have equal bytes.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("records have a JSON form")
    }
}

impl ExportedContent {
    /// Takes bytes: a text where they are one.
    pub fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64(STANDARD.encode(bytes)),
        }
    }

    /// Returns the bytes; none where the base64 is none.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).ok(),
        }
    }
}
