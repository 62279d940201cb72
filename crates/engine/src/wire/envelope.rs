//! Envelopes as programs read them.

use std::collections::BTreeMap;

use contexture_assembly::{
    envelope::{Envelope, Prefix},
    recipe::TargetSpec,
};
use contexture_core::EnvelopeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AssembledContext, ReplayedTarget};

/// An envelope with all that was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownEnvelope {
    /// Its id.
    pub envelope: EnvelopeId,
    /// What was decided.
    #[serde(flatten)]
    pub document: Envelope,
}

/// What was assembled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssembledEnvelope {
    /// The id of the envelope.
    pub envelope: EnvelopeId,
    /// How many texts had to be counted.
    pub texts_counted: u64,
    /// What was decided.
    #[serde(flatten)]
    pub document: Envelope,
    /// What each target is given, where that is text and did not go to a file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub renderings: BTreeMap<String, String>,
}

/// What a replay gave for a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayedRendering {
    /// The envelope.
    pub envelope: EnvelopeId,
    /// The target.
    pub target: TargetSpec,
    /// How many bytes came out.
    pub bytes: usize,
    /// Whether they are those that were stored.
    pub equal: bool,
    /// Whether the same was decided about every item.
    pub equal_decisions: bool,
    /// The first byte that is not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<u64>,
}

/// What is different between two envelopes, for one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvelopeDifference {
    /// The former.
    pub before: EnvelopeId,
    /// The latter.
    pub after: EnvelopeId,
    /// The target.
    pub target: TargetSpec,
    /// Tokens of the former.
    pub tokens_before: u64,
    /// Tokens of the latter.
    pub tokens_after: u64,
    /// How much both begin with, and which item ends that.
    pub prefix: Prefix,
    /// Items that came in.
    pub added: Vec<String>,
    /// Items that went out, and why.
    pub removed: Vec<RemovedItem>,
    /// Items that are in both, otherwise.
    pub changed: Vec<String>,
    /// What else is not the same: the recipe, the counter, the commit.
    pub settings: Vec<String>,
}

/// An item that is not in any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedItem {
    /// The item.
    pub item: String,
    /// Why it went out.
    pub reason: String,
}

impl AssembledEnvelope {
    /// Tells what was assembled, without what the targets are given.
    pub fn without_renderings(assembled: &AssembledContext) -> Self {
        let AssembledContext { envelope, document, texts_counted, .. } = assembled;
        Self {
            envelope: *envelope,
            texts_counted: *texts_counted,
            document: document.clone(),
            renderings: BTreeMap::new(),
        }
    }
}

impl From<&AssembledContext> for AssembledEnvelope {
    fn from(assembled: &AssembledContext) -> Self {
        let text = |(target, bytes): &(TargetSpec, Vec<u8>)| {
            Some((target.to_string(), String::from_utf8(bytes.clone()).ok()?))
        };
        let renderings = assembled.renderings.iter().filter_map(text).collect();
        Self { renderings, ..Self::without_renderings(assembled) }
    }
}

impl ReplayedRendering {
    /// Tells what a replay of an envelope gave for a target.
    pub fn of(envelope: EnvelopeId, replayed: &ReplayedTarget) -> Self {
        Self {
            envelope,
            target: replayed.target,
            bytes: replayed.bytes.len(),
            equal: replayed.is_equal,
            equal_decisions: replayed.has_equal_decisions,
            first_difference: replayed.first_difference,
        }
    }
}
