//! Content at hand, cut so that what repeats is stored once.

use std::{collections::HashSet, ops::Range};

use contexture_core::ArtifactId;
use fastcdc::v2020::FastCDC;

use super::{
    ArtifactPart, Hot, MAX_HOT_BYTES, compose, count_purged, ensure, find, find_here, put_all, stream::CHUNK_BYTES,
    withheld,
};
use crate::{Error, Result, commit::Inserted, sql::Tx};

/// Shortest string that is stored by itself: images and long outputs come again in other lines and other files.
const LONG_STRING: usize = 48 * 1024;

/// Bounds of a chunk of content that repeats much of other content: smallest, usual, largest.
const FINE_CHUNK_BYTES: (usize, usize, usize) = (2 * 1024, 8 * 1024, 64 * 1024);

/// Content that is hashed, cut and compressed, ready to be stored.
#[derive(Debug, Clone)]
pub enum PreparedContent {
    /// One row.
    Row(Hot),
    /// Several rows.
    Parts {
        /// Digest of the whole.
        id: ArtifactId,
        /// The rows, in order.
        parts: Vec<Hot>,
    },
    /// Content that is stored already, of whatever size.
    Stored(ArtifactId),
}

impl PreparedContent {
    /// Prepares bytes. Long strings in quotes become rows of their own.
    pub fn of(bytes: Vec<u8>) -> Self {
        let pieces = pieces(&bytes);
        Self::cut(bytes, pieces)
    }

    /// Prepares bytes that repeat much of what is stored by this function already: a newer version of a document, the
    /// history that a compaction begins anew. They become many small rows, so that only what differs is added.
    pub fn fine(bytes: Vec<u8>) -> Self {
        let (min, usual, max) = FINE_CHUNK_BYTES;
        if bytes.len() <= max {
            return Self::Row(Hot::encode(bytes));
        }
        let chunks = FastCDC::new(&bytes, min, usual, max);
        let pieces = chunks.map(|chunk| chunk.offset..chunk.offset + chunk.length).collect();
        Self::cut(bytes, pieces)
    }

    fn cut(bytes: Vec<u8>, pieces: Vec<Range<usize>>) -> Self {
        if pieces.len() <= 1 {
            return Self::Row(Hot::encode(bytes));
        }
        let parts = pieces.into_iter().map(|piece| Hot::encode(bytes[piece].to_vec())).collect();
        Self::Parts { id: ArtifactId::of(&bytes), parts }
    }

    /// Returns the digest of the whole.
    pub fn id(&self) -> &ArtifactId {
        match self {
            Self::Row(hot) => hot.id(),
            Self::Parts { id, .. } | Self::Stored(id) => id,
        }
    }

    /// Returns the digests of the whole and of the rows that it consists of.
    fn ids(&self) -> impl Iterator<Item = ArtifactId> {
        let parts = match self {
            Self::Parts { parts, .. } => parts.as_slice(),
            Self::Row(_) | Self::Stored(_) => &[],
        };
        std::iter::once(*self.id()).chain(parts.iter().map(|part| *part.id()))
    }
}

/// Returns how many of the artifacts that some contents consist of were purged here, so that storing them has not brought
/// them back.
pub async fn count_purged_in(tx: &mut Tx<'_>, contents: &[&PreparedContent]) -> Result<u64> {
    if !withheld::any_in_space(tx).await? {
        return Ok(0);
    }
    let ids: HashSet<ArtifactId> = contents.iter().flat_map(|content| content.ids()).collect();
    count_purged(tx, &ids.into_iter().collect::<Vec<_>>()).await
}

/// Stores content, new or not, for the transaction that refers to it.
pub async fn put_content(tx: &mut Tx<'_>, content: &PreparedContent) -> Result<()> {
    match content {
        PreparedContent::Row(hot) => ensure(tx, hot).await,
        PreparedContent::Stored(id) => find(tx, id).await?.map(drop).ok_or(Error::NoArtifact(*id)),
        PreparedContent::Parts { id, parts } => put_parts(tx, id, parts).await,
    }
}

async fn put_parts(tx: &mut Tx<'_>, id: &ArtifactId, batch: &[Hot]) -> Result<()> {
    if let Some(found) = find_here(tx, &[*id]).await?.get(id) {
        return found.freshen(tx).await;
    }
    put_all(tx, batch).await?;
    let parts: Vec<ArtifactPart> = batch.iter().map(ArtifactPart::of).collect();
    let composed = compose(tx, id, &parts).await?;
    debug_assert_eq!(composed, Inserted::New);
    Ok(())
}

/// Cuts bytes at long strings, and what is still too large for a row by content.
fn pieces(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for string in long_strings(bytes) {
        cut(bytes, start..string.start, &mut pieces);
        cut(bytes, string.clone(), &mut pieces);
        start = string.end;
    }
    cut(bytes, start..bytes.len(), &mut pieces);
    pieces
}

fn cut(bytes: &[u8], piece: Range<usize>, pieces: &mut Vec<Range<usize>>) {
    if piece.len() > MAX_HOT_BYTES {
        let (min, usual, max) = CHUNK_BYTES;
        let chunks = FastCDC::new(&bytes[piece.clone()], min, usual, max);
        pieces.extend(chunks.map(|chunk| piece.start + chunk.offset..piece.start + chunk.offset + chunk.length));
    } else if !piece.is_empty() {
        pieces.push(piece);
    }
}

/// Finds stretches without a quote that are long enough.
fn long_strings(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if bytes.len() < LONG_STRING {
        return found;
    }
    let mut start = 0;
    for quote in memchr::memchr_iter(b'"', bytes) {
        if quote - start >= LONG_STRING {
            found.push(start..quote);
        }
        start = quote + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn noise(len: usize, seed: u8) -> String {
        let mut text = String::new();
        let mut hash = blake3::Hasher::new();
        while text.len() < len {
            hash.update(&[seed]);
            text.push_str(&hash.finalize().to_hex());
        }
        text.truncate(len);
        text
    }

    #[test]
    fn an_image_is_one_part_wherever_it_lies() {
        let image = noise(100_000, 1);
        let parts = |line: String| match PreparedContent::of(line.into_bytes()) {
            PreparedContent::Parts { parts, .. } => parts,
            PreparedContent::Row(_) | PreparedContent::Stored(_) => panic!("it is cut"),
        };
        let one = parts(format!(r#"{{"a":1,"data":"{image}"}}"#));
        let other = parts(format!(r#"{{"longer":"start","data":"{image}","more":[]}}"#));
        assert_eq!((one.len(), one[1].id()), (3, other[1].id()));
        assert_eq!(*one[1].id(), ArtifactId::of(image.as_bytes()));
    }

    #[test]
    fn small_content_is_one_row() {
        assert!(matches!(PreparedContent::of(noise(40_000, 2).into_bytes()), PreparedContent::Row(_)));
        assert!(matches!(PreparedContent::of(Vec::new()), PreparedContent::Row(_)));
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_whole(lengths in vec(0..120_000usize, 0..6)) {
            let strings: Vec<String> = lengths.iter().zip(0..).map(|(len, seed)| noise(*len, seed)).collect();
            let bytes = serde_json::to_vec(&strings).unwrap();
            let pieces = pieces(&bytes);
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= MAX_HOT_BYTES));
            prop_assert_eq!(pieces.into_iter().flat_map(|piece| bytes[piece].to_vec()).collect::<Vec<_>>(), bytes);
        }
    }
}
