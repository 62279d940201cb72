//! Looking through what a bundle brings, and proving what it says of placeholders.

use std::sync::Arc;

use contexture_core::{ArtifactId, SecretFinding, SecretMask};

use super::frame::{Frame, MOST_PLACEHOLDERS};
use crate::{FrameProblem, Result, SecretGuard, secrets::SecretMarker};

/// The placeholders of the artifact that comes next.
#[derive(Debug, Default)]
pub(super) struct Placeholders(Vec<SecretFinding>);

impl Placeholders {
    /// Makes sure that a frame may follow those that are known.
    pub(super) fn expect(&self, frame: &Frame) -> Result<()> {
        match frame {
            Frame::Artifact { .. } | Frame::Placeholders(_) => Ok(()),
            _ if self.0.is_empty() => Ok(()),
            _ => Err(FrameProblem::Placeholders.into()),
        }
    }

    pub(super) fn add(&mut self, more: Vec<SecretFinding>) -> Result<()> {
        let end = self.0.last().map_or(0, SecretFinding::end);
        if more.first().is_some_and(|first| first.start < end) || self.0.len() + more.len() > MOST_PLACEHOLDERS {
            return Err(FrameProblem::Placeholders.into());
        }
        self.0.extend(more);
        Ok(())
    }

    pub(super) fn take(&mut self) -> Vec<SecretFinding> {
        std::mem::take(&mut self.0)
    }
}

/// Looks through an artifact of a bundle, piece by piece.
pub(super) struct Screening {
    marker: SecretMarker,
    content: blake3::Hasher,
    placeholders: Vec<SecretFinding>,
    /// What is shown where the placeholders are believed.
    mask: SecretMask,
    shown: blake3::Hasher,
}

impl Screening {
    pub(super) fn begin(guard: &Arc<SecretGuard>, placeholders: Vec<SecretFinding>) -> Self {
        let mask = SecretMask::hiding(&placeholders);
        let (content, shown) = Default::default();
        Self { marker: SecretMarker::new(guard), content, placeholders, mask, shown }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.marker.push(bytes);
        self.content.update(bytes);
        if !self.placeholders.is_empty() {
            self.shown.update(&self.mask.apply(bytes.to_vec()));
        }
    }

    /// Returns what was found, if the content is what its id says.
    ///
    /// A bundle may say what it likes of placeholders: one that changed what is shown would hide what is no secret, so it is
    /// believed only where exactly it stands.
    pub(super) fn finish(self, id: &ArtifactId) -> Result<Vec<SecretFinding>> {
        let content = self.content.finalize();
        if ArtifactId::from(content) != *id {
            return Err(FrameProblem::OtherBytes(*id).into());
        }
        if !self.placeholders.is_empty() && (self.shown.finalize() != content || !self.mask.is_done()) {
            return Err(FrameProblem::Placeholders.into());
        }
        let mut findings = self.marker.finish();
        findings.extend(self.placeholders);
        findings.sort_by_key(|finding| finding.start);
        Ok(findings)
    }
}
