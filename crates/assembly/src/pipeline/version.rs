//! Versions of the pipeline: what was assembled once is made again by the rules of its time.

use contexture_formats::USUAL_PROVIDER;
use serde::{Deserialize, Serialize};

/// The rules that inputs are assembled by.
///
/// Frozen inputs name them, so that a replay gives the bytes and the decisions of then. A rule that changes what comes
/// out is a new version; how fast it comes out is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub enum PipelineVersion {
    /// Required items are in whatever the budget says, and reasons name limits that nobody set. Inputs that name no
    /// version are of this one.
    #[default]
    First,
    /// Required items that do not fit are refused unless the recipe includes them, a reason names the limit that it is
    /// about, and a session for Codex names who serves its models.
    Second,
}

/// Says that inputs were frozen by a newer program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the pipeline of version {0} is not known here; a newer program made this")]
pub struct UnknownPipeline(u32);

impl PipelineVersion {
    /// The newest one, which new assemblies follow.
    pub const NEWEST: Self = Self::Second;

    /// Returns who serves the models of a session that is written for a runtime, as it is named there.
    pub(crate) const fn provider(self) -> Option<&'static str> {
        match self {
            Self::First => None,
            Self::Second => Some(USUAL_PROVIDER),
        }
    }

    /// Tells whether it is the one that is not written down.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(crate) fn is_first(&self) -> bool {
        *self == Self::First
    }
}

impl From<PipelineVersion> for u32 {
    fn from(version: PipelineVersion) -> Self {
        match version {
            PipelineVersion::First => 1,
            PipelineVersion::Second => 2,
        }
    }
}

impl TryFrom<u32> for PipelineVersion {
    type Error = UnknownPipeline;

    fn try_from(number: u32) -> Result<Self, UnknownPipeline> {
        match number {
            1 => Ok(Self::First),
            2 => Ok(Self::Second),
            other => Err(UnknownPipeline(other)),
        }
    }
}
