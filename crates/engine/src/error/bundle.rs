//! What can be wrong with a bundle.

use std::io;

use contexture_core::{ArtifactId, RecordError};

/// What is wrong with a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleProblem {
    /// It does not start as bundles do.
    #[error("does not start like a Contexture bundle")]
    Magic,
    /// A newer program wrote it.
    #[error("has version {found}; this program knows versions up to {known}")]
    Newer {
        /// Its version.
        found: u8,
        /// The newest known.
        known: u8,
    },
    /// It ends too early.
    #[error("is cut off")]
    Truncated,
    /// Its digest does not fit its content.
    #[error("is damaged: its content does not have the digest at its end")]
    Digest,
    /// A frame makes no sense.
    #[error("is damaged: {0}")]
    Frame(#[from] FrameProblem),
    /// A record in it cannot be read.
    #[error("holds a record that cannot be read: {0}")]
    Record(RecordError),
}

/// What is wrong with a frame of a bundle.
#[derive(Debug, thiserror::Error)]
pub enum FrameProblem {
    /// It cannot be decompressed.
    #[error(transparent)]
    Compression(io::Error),
    /// It is longer than a frame may be.
    #[error("a frame claims {length} bytes")]
    TooLong {
        /// How long it says it is.
        length: u32,
    },
    /// Its kind is not known.
    #[error("a frame of unknown kind {kind}")]
    UnknownKind {
        /// The kind.
        kind: u8,
    },
    /// It is too short to name an artifact.
    #[error("a short artifact frame")]
    ShortArtifact,
    /// It names an artifact without a size.
    #[error("an artifact frame of the wrong length")]
    ArtifactLength,
    /// What it says is not JSON, or not of its kind.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It comes after the end.
    #[error("something follows its end")]
    AfterEnd,
    /// It holds bytes where no artifact was announced.
    #[error("bytes of no artifact")]
    StrayBytes,
    /// The bytes of an artifact are fewer or more than was announced.
    #[error("an artifact does not have the size it claims")]
    ArtifactSize,
    /// The bytes of an artifact are not those its id names.
    #[error("{0} has other bytes")]
    OtherBytes(ArtifactId),
    /// It says that placeholders are where there are none, or not in their order.
    #[error("placeholders that are not there")]
    Placeholders,
    /// It belongs to an envelope that is not the one before it.
    #[error("a record of another envelope than came before it")]
    OtherEnvelope,
}
