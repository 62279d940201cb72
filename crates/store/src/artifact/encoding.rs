//! How the bytes of an artifact lie in its row.

use std::{fmt, str::FromStr};

use contexture_core::{ArtifactId, UnknownWord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest artifact that is one row; bigger ones are split into parts.
pub const MAX_HOT_BYTES: usize = 256 * 1024;

/// How an artifact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As it is.
    Raw,
    /// As one LZ4 block. Hot rows are read far more than they are kept, so speed goes before size.
    Lz4,
    /// As a list of other artifacts.
    Parts,
    /// Not any more: it was purged, and the same bytes do not bring it back.
    Withheld,
    /// Not yet: it did not come along, and is taken in when it does.
    Absent,
}

/// A small artifact ready to be stored: hashed and compressed before it reaches the writer.
#[derive(Debug, Clone)]
pub struct Hot {
    id: ArtifactId,
    size: u64,
    encoding: Encoding,
    body: Vec<u8>,
}

impl Hot {
    /// Hashes and compresses content of at most [`MAX_HOT_BYTES`].
    pub fn encode(content: Vec<u8>) -> Self {
        debug_assert!(content.len() <= MAX_HOT_BYTES, "larger artifacts are split into parts");
        let id = ArtifactId::of(&content);
        let size = content.len() as u64;
        let compressed = lz4_flex::block::compress(&content);
        let (encoding, body) =
            if compressed.len() < content.len() { (Encoding::Lz4, compressed) } else { (Encoding::Raw, content) };
        Self { id, size, encoding, body }
    }

    /// Returns the artifact's id.
    pub fn id(&self) -> &ArtifactId {
        &self.id
    }

    /// Returns the size of the content.
    pub fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }
}

impl Encoding {
    const ALL: [Self; 5] = [Self::Raw, Self::Lz4, Self::Parts, Self::Withheld, Self::Absent];

    /// Returns the word that the store writes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Lz4 => "lz4",
            Self::Parts => "parts",
            Self::Withheld => "withheld",
            Self::Absent => "absent",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Encoding {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL
            .into_iter()
            .find(|known| known.as_str() == word)
            .ok_or_else(|| UnknownWord::new(word, Self::ALL.iter().map(|known| known.as_str())))
    }
}
