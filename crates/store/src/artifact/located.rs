//! The seam between rows and bytes: where the bytes of an artifact are, and how they come from there.
//!
//! A transaction looks rows up and reads no content. What it returns is a [`LocatedArtifact`]; [`read`] and
//! [`ArtifactReader`] get the bytes outside of it, wherever they are, and prove them. That may wait, so a further place
//! (a pack, a remote store) is a further [`Whereabouts`] and nothing to those who read.

use std::sync::Arc;

use contexture_core::{ArtifactId, ByteReplacement, SecretMask};
use futures_util::FutureExt as _;

use super::{ARTIFACTS, Encoding, MAX_HOT_BYTES, WithheldCause, WithheldContent, artifact_id, locate, parts};
use crate::{
    Error, Result, Store,
    space::stored,
    sql::{RowReader, Scope},
    table::{Table, TableRow},
};

/// Parts that are read in one query.
const PARTS_PER_PAGE: u32 = 32;

/// An artifact whose bytes can be read without asking again where they are.
#[derive(Debug)]
pub struct LocatedArtifact {
    /// Which artifact it is.
    pub id: ArtifactId,
    /// How many bytes it has, as its row says.
    pub size: u64,
    pub(super) key: i64,
    pub(super) has_findings: bool,
    bytes: Whereabouts,
    /// What is seen of it otherwise than it is stored.
    replaced: Vec<ByteReplacement>,
    /// What it stands for, or should be and is not.
    withheld: Option<Arc<WithheldContent>>,
}

/// Where the bytes of an artifact are.
#[derive(Debug)]
enum Whereabouts {
    /// Here, as they are.
    Raw(Vec<u8>),
    /// Here, as one LZ4 block.
    Lz4(Vec<u8>),
    /// In other artifacts, which are listed under this key.
    Parts(i64),
    /// Its row should hold them and does not.
    Lost,
    /// Not here, and that is known.
    Withheld(WithheldCause),
}

impl TableRow for LocatedArtifact {
    const TABLE: &'static Table = &ARTIFACTS;
    const COLUMNS: &'static [&'static str] = &["key", "digest", "size", "encoding", "body", "has_findings"];

    /// The body is moved out of the row.
    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        let (key, id, size) = (row.integer()?, artifact_id(row.blob()?)?, row.unsigned()?);
        let encoding = stored::<Encoding>(row.text()?)?;
        let bytes = match (encoding, row.take_blob()?) {
            (Encoding::Parts, _) => Whereabouts::Parts(key),
            (Encoding::Raw, Some(body)) => Whereabouts::Raw(body),
            (Encoding::Lz4, Some(body)) => Whereabouts::Lz4(body),
            (Encoding::Raw | Encoding::Lz4, None) => Whereabouts::Lost,
            (Encoding::Withheld, _) => Whereabouts::Withheld(WithheldCause::Purged),
            (Encoding::Absent, _) => Whereabouts::Withheld(WithheldCause::LeftOut),
        };
        Ok(Self { id, size, key, has_findings: row.integer()? != 0, bytes, replaced: Vec::new(), withheld: None })
    }
}

impl LocatedArtifact {
    /// Has whoever reads it see other bytes in some places.
    pub(super) fn replace(&mut self, replacements: Vec<ByteReplacement>) {
        self.replaced = replacements;
    }

    pub(crate) fn key(&self) -> i64 {
        self.key
    }

    /// Returns why its content is not here, if it is not.
    pub(crate) fn cause(&self) -> Option<WithheldCause> {
        match self.bytes {
            Whereabouts::Withheld(cause) => Some(cause),
            Whereabouts::Raw(_) | Whereabouts::Lz4(_) | Whereabouts::Parts(_) | Whereabouts::Lost => None,
        }
    }

    /// Says what it stands for, or should be and is not.
    pub(super) fn standing_for(self, content: WithheldContent) -> Self {
        Self { withheld: Some(Arc::new(content)), ..self }
    }

    /// Returns what was taken away, or never came, and is not what is read here: all of the content, or some of it.
    pub fn withheld(&self) -> Option<&Arc<WithheldContent>> {
        self.withheld.as_ref()
    }

    /// Tells whether what is read is not what is stored.
    pub fn is_replaced(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Tells whether there is nothing to read.
    pub fn is_gone(&self) -> bool {
        self.cause().is_some()
    }

    /// Tells whether its bytes come in one piece, of at most [`MAX_HOT_BYTES`]; if not, in several.
    pub fn is_one_piece(&self) -> bool {
        self.parts_key().is_none()
    }

    /// Returns the key that its parts are listed under, if it is in parts.
    pub(crate) fn parts_key(&self) -> Option<i64> {
        match self.bytes {
            Whereabouts::Parts(key) => Some(key),
            Whereabouts::Raw(_) | Whereabouts::Lz4(_) | Whereabouts::Lost | Whereabouts::Withheld(_) => None,
        }
    }

    /// Returns the only piece and proves it.
    fn into_piece(self) -> Result<Vec<u8>> {
        let damaged = || Error::DamagedArtifact(self.id);
        let content = match self.bytes {
            Whereabouts::Raw(body) => body,
            Whereabouts::Lz4(body) => {
                // The size comes from the row; a damaged one must not make us reserve the moon.
                let size = usize::try_from(self.size).ok().filter(|size| *size <= MAX_HOT_BYTES).ok_or_else(damaged)?;
                lz4_flex::block::decompress(&body, size).map_err(|_| damaged())?
            }
            Whereabouts::Withheld(_) => {
                return Err(self.withheld.map_or_else(damaged, Error::Withheld));
            }
            // No part has parts.
            Whereabouts::Parts(_) | Whereabouts::Lost => return Err(damaged()),
        };
        if content.len() as u64 == self.size && ArtifactId::of(&content) == self.id {
            Ok(content)
        } else {
            Err(damaged())
        }
    }
}

/// Returns all bytes of an artifact, which fit into memory, and proves them.
pub async fn read(store: &Store, scope: &Scope, mut located: LocatedArtifact) -> Result<Vec<u8>> {
    if located.is_one_piece() {
        let mut mask = SecretMask::new(std::mem::take(&mut located.replaced));
        return located.into_piece().map(|piece| mask.apply(piece));
    }
    let mut reader = ArtifactReader::of(store, scope, located);
    let mut bytes = Vec::with_capacity(usize::try_from(reader.size()).unwrap_or_default());
    while let Some(piece) = reader.next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Reads an artifact piece by piece, proving each piece and the whole.
pub struct ArtifactReader {
    size: u64,
    mask: SecretMask,
    state: State,
}

enum State {
    OnePiece(LocatedArtifact),
    Parts(Box<PartsReader>),
    Done,
}

struct PartsReader {
    store: Store,
    scope: Scope,
    key: i64,
    id: ArtifactId,
    size: u64,
    offset: u64,
    whole: blake3::Hasher,
    ready: std::vec::IntoIter<(u64, LocatedArtifact)>,
}

impl ArtifactReader {
    /// Starts to read an artifact.
    pub async fn open(store: &Store, scope: &Scope, id: ArtifactId) -> Result<Self> {
        let located = store.read(scope.clone(), id, |tx, id| locate(tx, id).boxed()).await?;
        Ok(Self::of(store, scope, located))
    }

    /// Starts to read an artifact that was located already.
    pub fn of(store: &Store, scope: &Scope, mut located: LocatedArtifact) -> Self {
        let size = located.size;
        let mask = SecretMask::new(std::mem::take(&mut located.replaced));
        let state = match located.parts_key() {
            None => State::OnePiece(located),
            Some(key) => State::Parts(Box::new(PartsReader {
                store: store.clone(),
                scope: scope.clone(),
                key,
                id: located.id,
                size,
                offset: 0,
                whole: blake3::Hasher::new(),
                ready: Vec::new().into_iter(),
            })),
        };
        Self { size, mask, state }
    }

    /// Returns the size of the artifact, known before it is read. Where something else is seen than is stored, it is
    /// another.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the next piece, about [`MAX_HOT_BYTES`] at most; nothing at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.next_stored().await?.map(|piece| self.mask.apply(piece)))
    }

    async fn next_stored(&mut self) -> Result<Option<Vec<u8>>> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Done => Ok(None),
            State::OnePiece(located) => located.into_piece().map(Some),
            State::Parts(mut parts) => {
                let piece = parts.next().await?;
                if piece.is_some() {
                    self.state = State::Parts(parts);
                }
                Ok(piece)
            }
        }
    }
}

impl PartsReader {
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        if self.ready.len() == 0 && self.offset < self.size {
            let reading = self.store.read(self.scope.clone(), (self.key, self.offset), |tx, &(key, offset)| {
                parts(tx, key, offset, PARTS_PER_PAGE).boxed()
            });
            self.ready = reading.await?.into_iter();
        }
        match self.ready.next() {
            Some((start, part)) if start == self.offset => {
                let piece = part.into_piece()?;
                self.whole.update(&piece);
                self.offset += piece.len() as u64;
                Ok(Some(piece))
            }
            None if self.offset == self.size && ArtifactId::from(self.whole.finalize()) == self.id => Ok(None),
            Some(_) | None => Err(Error::DamagedArtifact(self.id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        artifact::Hot,
        sql::{Row, Value},
    };

    /// The row of an artifact as an engine returns it.
    fn row(hot: &Hot, size: u64, body: Option<Vec<u8>>) -> LocatedArtifact {
        let values = vec![
            Value::Integer(1),
            Value::Blob(hot.id().as_bytes().to_vec()),
            Value::Integer(size.cast_signed()),
            Value::Text(hot.encoding().as_str().to_owned()),
            body.map_or(Value::Null, Value::Blob),
            Value::Integer(0),
        ];
        LocatedArtifact::of(&mut Row::new(values)).unwrap()
    }

    fn whole(hot: &Hot) -> LocatedArtifact {
        row(hot, hot.size(), Some(hot.body().to_vec()))
    }

    proptest! {
        #[test]
        fn content_survives_its_row(content: Vec<u8>, repeat in 1usize..50) {
            let content = content.repeat(repeat);
            let hot = Hot::encode(content.clone());
            prop_assert!(hot.body().len() <= content.len());
            prop_assert_eq!(whole(&hot).into_piece().unwrap(), content);
        }

        #[test]
        fn a_damaged_row_is_an_error_that_names_it(
            content in proptest::collection::vec(any::<u8>(), 1..500), at: prop::sample::Index, flip in 1u8..,
        ) {
            let hot = Hot::encode(content.repeat(3));
            let mut body = hot.body().to_vec();
            let at = at.index(body.len());
            body[at] ^= flip;
            match row(&hot, hot.size(), Some(body)).into_piece() {
                Err(Error::DamagedArtifact(id)) => prop_assert_eq!(id, *hot.id()),
                // LZ4 has several encodings of one content; only the content counts.
                Ok(same) => prop_assert_eq!(same, content.repeat(3)),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn a_lying_size_reserves_nothing() {
        let hot = Hot::encode(vec![7; 1000]);
        let lying = row(&hot, u64::MAX, Some(hot.body().to_vec()));
        assert!(matches!(lying.into_piece(), Err(Error::DamagedArtifact(_))));
    }

    #[test]
    fn a_row_without_its_bytes_is_damaged() {
        let hot = Hot::encode(vec![7; 1000]);
        assert!(matches!(row(&hot, 1000, None).into_piece(), Err(Error::DamagedArtifact(id)) if id == *hot.id()));
    }
}
