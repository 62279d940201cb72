//! Artifacts as programs read them.

use contexture_core::ArtifactId;
use contexture_store::artifact::StoredArtifact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An artifact that was stored or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredArtifact {
    /// Its id.
    pub id: ArtifactId,
    /// Its size in bytes.
    pub size: u64,
    /// Bytes that were not stored before, where some were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_bytes: Option<u64>,
}

impl From<&StoredArtifact> for MeasuredArtifact {
    fn from(stored: &StoredArtifact) -> Self {
        Self { id: stored.id, size: stored.size, new_bytes: Some(stored.new_bytes) }
    }
}
