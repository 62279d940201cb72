//! Stores as programs read of them.

use contexture_store::{
    collect::Collected,
    inspect::Inspection,
    private::ExposedFile,
    stats::{Footprint, Stats},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorePath {
    /// A directory, or a URL without its password.
    pub path: String,
}

/// What a look at a store found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectedStore {
    /// A directory, or a URL without its password.
    pub path: String,
    /// What of it others can read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<ExposedFile>,
    /// What is there.
    #[serde(flatten)]
    pub inspection: Inspection,
}

/// How much a space holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceStats {
    /// What it holds.
    #[serde(flatten)]
    pub space: Stats,
    /// What the store takes on disk, with all its spaces.
    pub files: Footprint,
}

/// What a collection removed, or would remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CollectedArtifacts {
    /// Whether nothing was removed because only a count was asked for.
    pub dry_run: bool,
    /// What it comes to.
    #[serde(flatten)]
    pub collected: Collected,
    /// Bytes of the store's file that hold nothing now; absent where the engine gives them back by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_bytes: Option<u64>,
    /// What the store takes on disk now, with all its spaces.
    pub files: Footprint,
}
