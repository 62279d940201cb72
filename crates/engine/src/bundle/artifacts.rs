//! Artifacts in a bundle: as they are, or left out with what is shown for them.

use std::{collections::BTreeSet, io::Write, sync::Arc};

use contexture_core::{ArtifactId, Fingerprint, SecretFinding};
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    artifact::{self, ArtifactReader, LocatedArtifact},
    commit::LineSegment,
    finding,
};

use super::{
    export::Writing,
    frame::{Holds, LeftOutFrame},
};
use crate::{Error, Result};

/// Why content with secrets in it does not go along.
const MASKED: &str = "exported masked";

/// What the artifacts of a bundle are like, which is decided before it is begun.
#[derive(Debug, Default)]
pub(super) struct BundledContents {
    /// The secrets that are in them.
    pub(super) secrets: BTreeSet<Fingerprint>,
    /// Whether the content of some is not here.
    pub(super) is_partial: bool,
}

impl BundledContents {
    pub(super) async fn add_commits(&mut self, tx: &mut Tx<'_>, segment: LineSegment) -> Result<(), StoreError> {
        self.secrets.extend(finding::fingerprints_in(tx, segment).await?);
        self.is_partial = self.is_partial || artifact::any_withheld_in(tx, segment).await?;
        Ok(())
    }

    pub(super) async fn add(&mut self, tx: &mut Tx<'_>, artifacts: &[ArtifactId]) -> Result<(), StoreError> {
        self.secrets.extend(finding::fingerprints_of(tx, artifacts).await?);
        self.is_partial = self.is_partial || artifact::any_withheld(tx, artifacts).await?;
        Ok(())
    }
}

/// An artifact that goes into a bundle.
pub(super) struct BundledArtifact {
    id: ArtifactId,
    located: LocatedArtifact,
    /// What is written instead of its content, if that does not go along.
    left_out: Option<LeftOutFrame>,
    /// What is masked in what goes along.
    findings: Vec<SecretFinding>,
}

impl BundledArtifact {
    pub(super) async fn locate(tx: &mut Tx<'_>, id: ArtifactId) -> Result<Self, StoreError> {
        let located = artifact::locate(tx, &id).await?;
        let findings = if located.is_replaced() { finding::of(tx, &located.id).await? } else { Vec::new() };
        let reason = match located.withheld() {
            Some(content) => Some(content.reason.clone()),
            None => located.is_replaced().then(|| MASKED.to_owned()),
        };
        let left_out = match reason {
            Some(reason) => {
                let size = artifact::stat(tx, &id).await?.size;
                Some(LeftOutFrame { artifact: id, size, reason, substitute: None })
            }
            None => None,
        };
        Ok(Self { id, located, left_out, findings })
    }
}

impl<W: Write> Writing<W> {
    /// Writes an artifact that is not in the bundle yet.
    pub(super) async fn artifact(&mut self, store: &Store, scope: &Scope, bundled: BundledArtifact) -> Result<()> {
        let BundledArtifact { id, located, left_out, findings } = bundled;
        let Some(mut left_out) = left_out else {
            return self.content(&id, ArtifactReader::of(store, scope, located)).await;
        };
        if self.holds != Holds::LeftOut {
            // It came about after the version was written.
            return Err(match located.withheld() {
                Some(content) => StoreError::Withheld(Arc::clone(content)).into(),
                None => Error::SecretsInside { secrets: findings.len() as u64 },
            });
        }
        if !located.is_gone() {
            let shown = located.id;
            let (substitute, size) = digest(ArtifactReader::of(store, scope, located)).await?;
            if substitute == id || self.seen.insert(substitute) {
                self.frames.placeholders(&placed(&findings))?;
                self.sized_content(&substitute, size, ArtifactReader::open(store, scope, shown).await?).await?;
            }
            if substitute == id {
                // It was stored masked.
                return Ok(());
            }
            left_out.substitute = Some(substitute);
        }
        self.summary.left_out_artifacts += 1;
        self.frames.left_out(&left_out)
    }

    async fn content(&mut self, id: &ArtifactId, reader: ArtifactReader) -> Result<()> {
        self.sized_content(id, reader.size(), reader).await
    }

    async fn sized_content(&mut self, id: &ArtifactId, size: u64, mut reader: ArtifactReader) -> Result<()> {
        self.frames.artifact(id, size)?;
        while let Some(piece) = reader.next().await? {
            self.frames.bytes(&piece)?;
            self.summary.artifact_bytes += piece.len() as u64;
        }
        self.summary.artifacts += 1;
        Ok(())
    }
}

/// Reads to the end and returns the id and the size of what was read.
async fn digest(mut reader: ArtifactReader) -> Result<(ArtifactId, u64)> {
    let (mut hasher, mut size) = (blake3::Hasher::new(), 0);
    while let Some(piece) = reader.next().await? {
        hasher.update(&piece);
        size += piece.len() as u64;
    }
    Ok((hasher.finalize().into(), size))
}

/// Returns where the placeholders are in content whose secrets are masked.
fn placed(findings: &[SecretFinding]) -> Vec<SecretFinding> {
    let mut placed = Vec::with_capacity(findings.len());
    // Where the last one ended before and after.
    let (mut from, mut to) = (0, 0);
    for finding in findings {
        // One that overlaps is hidden with the one before it.
        if finding.start >= from {
            let (start, length) = (to + (finding.start - from), finding.placeholder().len() as u64);
            placed.push(SecretFinding { start, length, ..finding.clone() });
            to = start + length;
        }
        from = from.max(finding.end());
    }
    placed
}

#[cfg(test)]
mod tests {
    use contexture_core::{RuleId, SecretCover, SecretMask};

    use super::*;

    #[test]
    fn placeholders_hide_themselves_where_they_are_said_to_be() {
        let finding = |start, length, cover| SecretFinding {
            start,
            length,
            rule: RuleId::new("test").unwrap(),
            fingerprint: Fingerprint::from_bytes([7; 8]),
            cover,
        };
        let findings =
            [finding(4, 6, SecretCover::Named), finding(8, 4, SecretCover::Named), finding(15, 3, SecretCover::Sized)];
        let masked = SecretMask::hiding(&findings).apply(b"one SECRETUM, TOP, and more".to_vec());
        let placed = placed(&findings);
        assert_eq!(placed.len(), 2);
        assert_eq!(SecretMask::hiding(&placed).apply(masked.clone()), masked);
        for place in placed {
            let (start, end) = (usize::try_from(place.start).unwrap(), usize::try_from(place.end()).unwrap());
            assert_eq!(masked[start..end], *place.placeholder().as_bytes());
        }
    }
}
