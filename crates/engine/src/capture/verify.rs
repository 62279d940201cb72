//! Proof that the store gives back a source file, byte for byte.

use std::{
    io::{self, BufRead as _, Read as _},
    path::Path,
};

use contexture_core::Machine;
use contexture_store::{artifact::ArtifactReader, source};
use futures_util::FutureExt as _;
use serde::Serialize;

use super::input::Input;
use crate::{Contexture, Error, Result};

/// Stretches that are read at once.
const SEGMENTS_PER_PAGE: u32 = 1024;

/// What a comparison of a file with the store has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Verified {
    /// The store gives back these first bytes of the file exactly; it holds so many more.
    Same {
        /// Bytes that were compared.
        bytes: u64,
        /// Bytes of the file that were not taken in.
        left: u64,
    },
    /// The store gives back something else from this byte on.
    Differs {
        /// The first byte that differs.
        at: u64,
    },
    /// The file was never taken in.
    Unknown,
}

impl Contexture {
    /// Compares a file with what the store would write in its place. Of a compressed file the bytes inside count.
    pub async fn verify_source(&self, machine: &Machine, path: &Path) -> Result<Verified> {
        let Some(known) = self.known_source(machine, path).await? else {
            return Ok(Verified::Unknown);
        };
        let reading = |source| Error::Io { attempt: "read the session", source };
        let mut file = Input::open(path).map_err(reading)?;
        let mut at = 0;
        let mut held: Option<(contexture_core::ArtifactId, Vec<u8>)> = None;
        let mut theirs = Vec::new();
        while at < known.size {
            let (machine, name, from) = (machine.clone(), known.path.clone(), at);
            let paging = self.store.read(self.scope(), move |tx| {
                let (machine, name) = (machine.clone(), name.clone());
                async move { source::segments(tx, &machine, &name, from, SEGMENTS_PER_PAGE).await }.boxed()
            });
            let page = paging.await?;
            if page.is_empty() {
                return Ok(Verified::Differs { at });
            }
            for segment in page {
                if segment.start != at {
                    return Ok(Verified::Differs { at });
                }
                // Steps are bounded, so the artifact of one fits into memory; neighbours are often of the same.
                let ours = match held.take() {
                    Some((id, bytes)) if id == segment.artifact => bytes,
                    _ => self.whole_artifact(segment.artifact).await?,
                };
                let (start, end) = (segment.part_start, segment.part_start.saturating_add(segment.length));
                let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
                let Some(stretch) = range.and_then(|(start, end)| ours.get(start..end)) else {
                    return Ok(Verified::Differs { at });
                };
                theirs.resize(stretch.len(), 0);
                if file.read_exact(&mut theirs).is_err() || theirs != stretch {
                    return Ok(Verified::Differs { at });
                }
                at += segment.length;
                held = Some((segment.artifact, ours));
            }
        }
        Ok(Verified::Same { bytes: at, left: rest(&mut file).map_err(reading)? })
    }

    pub(super) async fn whole_artifact(&self, id: contexture_core::ArtifactId) -> Result<Vec<u8>> {
        let mut reader = ArtifactReader::open(&self.store, &self.scope(), id).await?;
        let mut bytes = Vec::new();
        while let Some(piece) = reader.next().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}

/// Counts the bytes that are left.
fn rest(input: &mut Input) -> io::Result<u64> {
    let is_compressed = input.is_compressed();
    let mut left = 0;
    loop {
        let read = match input.fill_buf() {
            Ok([]) => return Ok(left),
            // Import has told of the damage.
            Err(_) if is_compressed => return Ok(left),
            read => read?.len(),
        };
        left += read as u64;
        input.consume(read);
    }
}
