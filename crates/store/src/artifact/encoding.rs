//! How the bytes of an artifact lie in its row.

use std::{fmt, str::FromStr};

use contexture_core::{ArtifactId, UnknownWord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

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
}

/// A small artifact ready to be stored: hashed and compressed before it reaches the writer.
#[derive(Debug, Clone)]
pub struct Hot {
    id: ArtifactId,
    size: u64,
    encoding: Encoding,
    body: Vec<u8>,
}

/// An artifact's row, not yet decoded.
#[derive(Debug)]
pub struct EncodedArtifact {
    pub(crate) key: i64,
    /// Which artifact it is.
    pub id: ArtifactId,
    /// Its size once decoded.
    pub size: u64,
    /// How the body is written.
    pub encoding: Encoding,
    pub(crate) body: Option<Vec<u8>>,
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

impl EncodedArtifact {
    /// Decodes a row that holds the bytes themselves and checks them against the id.
    pub fn decode(self) -> Result<Vec<u8>> {
        let damaged = || Error::DamagedArtifact(self.id);
        let body = self.body.ok_or_else(damaged)?;
        let content = match self.encoding {
            Encoding::Raw => body,
            Encoding::Lz4 => {
                // The size comes from the row; a damaged one must not make us reserve the moon.
                let size = usize::try_from(self.size).ok().filter(|size| *size <= MAX_HOT_BYTES).ok_or_else(damaged)?;
                lz4_flex::block::decompress(&body, size).map_err(|_| damaged())?
            }
            Encoding::Parts => return Err(damaged()),
        };
        if content.len() as u64 == self.size && ArtifactId::of(&content) == self.id {
            Ok(content)
        } else {
            Err(damaged())
        }
    }
}

impl Encoding {
    const ALL: [Self; 3] = [Self::Raw, Self::Lz4, Self::Parts];

    /// Returns the word that the store writes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Lz4 => "lz4",
            Self::Parts => "parts",
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(hot: &Hot) -> EncodedArtifact {
        EncodedArtifact { key: 1, id: hot.id, size: hot.size, encoding: hot.encoding, body: Some(hot.body.clone()) }
    }

    proptest! {
        #[test]
        fn content_survives_its_row(content: Vec<u8>, repeat in 1usize..50) {
            let content = content.repeat(repeat);
            let hot = Hot::encode(content.clone());
            prop_assert!(hot.body.len() <= content.len());
            prop_assert_eq!(row(&hot).decode().unwrap(), content);
        }

        #[test]
        fn a_damaged_row_is_an_error_that_names_it(
            content in proptest::collection::vec(any::<u8>(), 1..500), at: prop::sample::Index, flip in 1u8..,
        ) {
            let hot = Hot::encode(content.repeat(3));
            let mut damaged = row(&hot);
            let body = damaged.body.as_mut().unwrap();
            let at = at.index(body.len());
            body[at] ^= flip;
            match damaged.decode() {
                Err(Error::DamagedArtifact(id)) => prop_assert_eq!(id, hot.id),
                // LZ4 has several encodings of one content; only the content counts.
                Ok(same) => prop_assert_eq!(same, content.repeat(3)),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn a_lying_size_reserves_nothing() {
        let hot = Hot::encode(vec![7; 1000]);
        let lying = EncodedArtifact { size: u64::MAX, ..row(&hot) };
        assert!(matches!(lying.decode(), Err(Error::DamagedArtifact(_))));
    }
}
